"""Conversion between words of instances and planes of bits, in LLVM IR.

A *plane* is one bit of 512 instances: eight numbers of 64 bits. Eight planes hold the eight bits of one byte of a word,
for all 512 instances.
"""

from collections.abc import Iterable

from .port_words import Word

__all__ = ["PLANE_BYTES", "PLANE_WIDTH", "conversions", "planes_of", "used_bytes"]

PLANE_WIDTH = 512
"""Number of instances that one pass of a kernel steps if each bit is a vector."""

PLANE_BYTES = PLANE_WIDTH // 8
GROUPS = PLANE_WIDTH // 64


def planes_of(word: Word) -> int:
    """Return the number of planes of a word: its number of bits, rounded up to a multiple of 8."""
    return -(-word.bits // 8) * 8


class _Text:
    """Lines of an LLVM function."""

    def __init__(self, affine: bool) -> None:
        self.affine = affine
        self.lines: list[str] = []

    def put(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def run(self, text: str) -> None:
        self.put("add i64 0, 0")
        self.lines[-1] = f"  {text}"

    def shuffled(self, kind: str, a: str, b: str, order: list[int]) -> str:
        """Return the elements of two vectors in a new order."""
        places = ", ".join(f"i32 {place}" for place in order)
        return self.put(f"shufflevector {kind} {a}, {kind} {b}, <{len(order)} x i32> <{places}>")

    def turned(self, value: str) -> str:
        """Transpose each group of 8 bytes, a square of 8 x 8 bits, in a vector of 64 bytes."""
        if self.affine:
            reverse = [8 * row + 7 - column for row in range(8) for column in range(8)]
            matrix = self.shuffled("<64 x i8>", value, "poison", reverse)
            diagonal = ", ".join(f"i8 {1 << column}" for _ in range(8) for column in range(8))
            return self.put(f"call <64 x i8> @llvm.x86.vgf2p8affineqb.512(<64 x i8> <{diagonal}>, "
                            f"<64 x i8> {matrix}, i8 0)")
        # H. S. Warren, Hacker's Delight, 7-3
        now = self.put(f"bitcast <64 x i8> {value} to <8 x i64>")
        for by, mask in ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0)):
            moved = self.put(f"lshr <8 x i64> {now}, splat (i64 {by})")
            other = self.put(f"xor <8 x i64> {now}, {moved}")
            swap = self.put(f"and <8 x i64> {other}, splat (i64 {mask})")
            back = self.put(f"shl <8 x i64> {swap}, splat (i64 {by})")
            half = self.put(f"xor <8 x i64> {now}, {swap}")
            now = self.put(f"xor <8 x i64> {half}, {back}")
        return self.put(f"bitcast <8 x i64> {now} to <64 x i8>")

    def dealt(self, value: str) -> str:
        """Move byte 8 x i + k of a vector of 64 bytes to position 8 x k + i."""
        return self.shuffled("<64 x i8>", value, "poison", [8 * i + k for k in range(8) for i in range(8)])

    def crossed(self, rows: list[str]) -> list[str]:
        """Transpose eight rows of eight numbers."""
        for step in (1, 2, 4):
            low = [k if not k & step else k - step + 8 for k in range(8)]
            high = [k + step if not k & step else k + 8 for k in range(8)]
            new = list(rows)
            for i in range(8):
                if not i & step:
                    new[i] = self.shuffled("<8 x i64>", rows[i], rows[i + step], low)
                    new[i + step] = self.shuffled("<8 x i64>", rows[i], rows[i + step], high)
            rows = new
        return rows

    def at(self, base: str, offset: int) -> str:
        return self.put(f"getelementptr i8, ptr {base}, i64 {offset}")


def used_bytes(word: Word, part: int) -> int:
    """Return the number of used bytes in a 64-bit part of a word."""
    return -(-min(word.bits - 64 * part, 64) // 8)


def conversions(words: Iterable[Word], affine: bool) -> str:
    """Return LLVM functions that convert parts of words to planes, and planes to words.

    ``@planes_S(word, planes, shift)`` converts one byte of all words. S is the number of bytes of a part per instance.
    ``word`` is the address of a tile's parts of words. ``planes`` is the address of eight planes, one for each bit of
    the byte. ``shift`` is the position of the byte's first bit. ``@words_SxB(word, planes)`` makes all words of S
    bytes, B of them used, from their planes. ``affine``: the processor transposes squares of bits in one instruction
    (GFNI).
    """
    kinds = sorted({(word.dtype.itemsize, used_bytes(word, part)) for word in words for part in range(word.parts)})
    return "".join((*(_to_planes(size, affine) for size in sorted({size for size, _ in kinds})), _to_bytes(affine),
                    *(_to_words(size, used) for size, used in kinds)))


def _to_planes(size: int, affine: bool) -> str:
    text, rows, kind = _Text(affine), [], f"<64 x i{8 * size}>"
    if size > 1:
        first = text.put(f"insertelement {kind} poison, i{8 * size} %shift, i32 0")
        shift = text.shuffled(kind, first, "poison", [0] * 64)
    for group in range(GROUPS):
        pointer = text.at("%word", 64 * group * size)
        value = text.put(f"load {kind}, ptr {pointer}, align 64")
        if size > 1:
            value = text.put(f"trunc {kind} {text.put(f'lshr {kind} {value}, {shift}')} to <64 x i8>")
        rows.append(text.put(f"bitcast <64 x i8> {text.dealt(text.turned(value))} to <8 x i64>"))
    for bit, plane in enumerate(text.crossed(rows)):
        pointer = text.at("%planes", PLANE_BYTES * bit)
        text.run(f"store <8 x i64> {plane}, ptr {pointer}, align 64")
    return _function(f"planes_{size}", f"ptr noalias %word, ptr noalias %planes, i{8 * size} %shift", text)


def _to_bytes(affine: bool) -> str:
    """Return a function that makes one byte of each of 512 words from its eight planes."""
    text, rows = _Text(affine), []
    for bit in range(8):
        pointer = text.at("%planes", PLANE_BYTES * bit)
        rows.append(text.put(f"load <8 x i64>, ptr {pointer}, align 64"))
    for group, row in enumerate(text.crossed(rows)):
        value = text.turned(text.dealt(text.put(f"bitcast <8 x i64> {row} to <64 x i8>")))
        pointer = text.at("%bytes", 64 * group)
        text.run(f"store <64 x i8> {value}, ptr {pointer}, align 64")
    return _function("bytes", "ptr noalias %bytes, ptr noalias %planes", text)


def _to_words(size: int, used: int) -> str:
    text = _Text(affine=False)
    room = text.put(f"alloca i8, i64 {used * PLANE_WIDTH}, align 64")
    for byte in range(used):
        pointers = text.at(room, byte * PLANE_WIDTH), text.at("%planes", 8 * PLANE_BYTES * byte)
        text.run(f"call void @bytes(ptr {pointers[0]}, ptr {pointers[1]})")
    for group in range(GROUPS):
        parts = ["zeroinitializer"] * size
        for byte in range(used):
            pointer = text.at(room, byte * PLANE_WIDTH + 64 * group)
            parts[byte] = text.put(f"load <64 x i8>, ptr {pointer}, align 64")
        length = 64
        while len(parts) > 1:
            # interleave the elements of two neighbouring parts
            width = size // len(parts)
            order = [side * length + place * width + k
                     for place in range(length // width) for side in (0, 1) for k in range(width)]
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [text.shuffled(f"<{length} x i8>", a, b, order) for a, b in pairs]
            length *= 2
        pointer = text.at("%word", 64 * group * size)
        text.run(f"store <{length} x i8> {parts[0]}, ptr {pointer}, align 64")
    return _function(f"words_{size}x{used}", "ptr noalias %word, ptr noalias %planes", text)


def _function(name: str, parameters: str, text: _Text) -> str:
    return "\n".join([f"define internal void @{name}({parameters}) #0 {{", *text.lines, "  ret void", "}", ""])
