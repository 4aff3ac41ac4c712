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
        """Move byte 8 x i + k to 8 x k + i."""
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
    """Return LLVM functions that convert parts of words to planes, ``@planes_SxB``, and back, ``@words_SxB``.

    S is the number of bytes of a part per instance, B the number of these bytes that are used. Each function has two
    arguments: the address of a tile in the part's array, and the address of the part's planes. ``affine``: the
    processor transposes squares of bits in one instruction (GFNI).
    """
    kinds = sorted({(word.dtype.itemsize, used_bytes(word, part)) for word in words for part in range(word.parts)})
    return "".join(make(size, used, affine) for size, used in kinds for make in (_to_planes, _to_words))


def _to_planes(size: int, used: int, affine: bool) -> str:
    text = _Text(affine)
    for byte in range(used):
        rows = []
        for group in range(GROUPS):
            pointer = text.at("%word", 64 * group * size)
            value = text.put(f"load <{64 * size} x i8>, ptr {pointer}, align 64")
            if size > 1:
                value = text.shuffled(f"<{64 * size} x i8>", value, "poison", [byte + size * i for i in range(64)])
            value = text.dealt(text.turned(value))
            rows.append(text.put(f"bitcast <64 x i8> {value} to <8 x i64>"))
        for bit, plane in enumerate(text.crossed(rows)):
            pointer = text.at("%planes", PLANE_BYTES * (8 * byte + bit))
            text.run(f"store <8 x i64> {plane}, ptr {pointer}, align 64")
    return _function(f"planes_{size}x{used}", text)


def _to_words(size: int, used: int, affine: bool) -> str:
    text = _Text(affine)
    columns = []
    for byte in range(used):
        rows = []
        for bit in range(8):
            pointer = text.at("%planes", PLANE_BYTES * (8 * byte + bit))
            rows.append(text.put(f"load <8 x i64>, ptr {pointer}, align 64"))
        groups = [text.put(f"bitcast <8 x i64> {row} to <64 x i8>") for row in text.crossed(rows)]
        columns.append([text.turned(text.dealt(group)) for group in groups])
    for group in range(GROUPS):
        parts = [columns[byte][group] if byte < used else "zeroinitializer" for byte in range(size)]
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
    return _function(f"words_{size}x{used}", text)


def _function(name: str, text: _Text) -> str:
    return "\n".join([f"define internal void @{name}(ptr noalias %word, ptr noalias %planes) #0 {{", *text.lines,
                      "  ret void", "}", ""])
