"""Reading the signals that are asked for out of a VCD file."""

import contextlib
import gzip
import itertools
import re
import tempfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wormcast.algorithms import WormcastError

from .fst import is_fst, write_vcd

__all__ = ["Signal", "Wave"]

CHANGES = b"01xXzZ"

#: How compressed files begin.
GZIP = b"\x1f\x8b"

#: Bytes that tell one format from another.
BEGIN = 16

#: Words that stand between changes and say nothing of them.
BESIDE = {b"$dumpall", b"$dumpoff", b"$dumpon", b"$dumpvars", b"$end"}

#: Bits of a vector behind its name.
RANGE = re.compile(r"(.+?)\[(\d+):(\d+)\]")


@dataclass(frozen=True)
class Signal:
    """A signal as it is declared: its size in bits, and the file's short name for it."""

    size: int
    ident: bytes


class Wave:
    """A VCD file, as IEEE 1364-2005, 18.2, has it: comments and signals. It may be compressed by gzip, or be FST.

    Words may be parted by any white space. Libraries read these files too, but the one that is used to declare them
    stops at names that begin with ``$``, and others at empty strings; both take longer.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    comments : list of str
        Those of its header.
    signals : dict of str to Signal
        By name, scopes joined by dots.

    Raises
    ------
    WormcastError
        It cannot be read, or it is no such file.
    ToolMissing
        It is an FST file, and the library for these is not there.
    """

    def __init__(self, path: Path):
        self._path = self._source = path
        self.comments: list[str] = []
        self._rest = b""
        with self._opened() as file:
            begin = file.read(BEGIN)
        if is_fst(begin):
            self._folder = tempfile.TemporaryDirectory()  # it is there as long as this object
            self._source = Path(self._folder.name, "wave.vcd")
            write_vcd(path, self._source)
        self.signals: dict[str, Signal] = {}
        with self._opened() as file:
            self._read_header(file)
            self._changes_at = file.tell()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with self._source.open("rb") as plain:
                if plain.read(2) == GZIP:
                    with gzip.open(self._source) as file:
                        yield file  # type: ignore[misc]
                else:
                    plain.seek(0)
                    yield plain
        except (OSError, EOFError, zlib.error) as error:
            raise WormcastError(f"{self._path} cannot be read: {getattr(error, 'strerror', None) or error}") from error

    def _read_header(self, file: BinaryIO) -> None:
        scopes: list[str] = []
        for words in self._statements(file):
            match words:
                case ["$enddefinitions", "$end"]:
                    return
                case ["$comment", *text, "$end"]:
                    self.comments.append(" ".join(text))
                case ["$scope", _, name, "$end"]:
                    scopes.append(name)
                case ["$upscope", "$end"] if scopes:
                    scopes.pop()
                case ["$var", _, size, ident, name, *_, "$end"] if size.isdigit():
                    name = self._without_range(name.removeprefix("\\"), int(size))
                    self.signals[".".join((*scopes, name))] = Signal(int(size), ident.encode())
                case ["$date" | "$version" | "$timescale", *_, "$end"]:
                    pass
                case _:
                    raise self._no_vcd()
        if not self.signals:
            raise self._no_vcd()
        raise WormcastError(f"{self._path} is damaged: it ends amid the names of its signals")

    @staticmethod
    def _without_range(name: str, size: int) -> str:
        """A name without the bits of all of the signal that some tools write behind it."""
        found = RANGE.fullmatch(name)
        return found[1] if found and abs(int(found[2]) - int(found[3])) + 1 == size else name

    def _statements(self, file: BinaryIO) -> Iterator[list[str]]:
        """Give the words from a keyword to its ``$end``; what stands behind the last of them on its line is kept."""
        words: list[str] = []
        while line := file.readline():
            try:
                some = line.decode("ascii").split()
            except UnicodeDecodeError:
                raise self._no_vcd() from None
            for place, word in enumerate(some, 1):
                if not words and not word.startswith("$"):
                    raise self._no_vcd()
                words.append(word)
                if word == "$end":
                    if words[0] == "$enddefinitions":
                        self._rest = " ".join(some[place:]).encode()
                    yield words
                    words = []

    def _no_vcd(self) -> WormcastError:
        return WormcastError(f"{self._path} is given, it is no VCD file")

    def changes(self, idents: Collection[bytes]) -> Iterator[tuple[int, list[tuple[bytes, bytes]]]]:
        """Give each time in the file, and what changes then: short names, and values as they are written.

        Bits come as they are, vectors without their ``b``, strings without their ``s``. Those before the first time
        count to it.

        Raises
        ------
        WormcastError
            A line is damaged, or a time lies before the one before it.
        """
        wanted, others = set(idents), {signal.ident for signal in self.signals.values()}.difference(idents)
        found: list[tuple[bytes, bytes]] = []
        time = None
        with self._opened() as file:
            file.seek(self._changes_at)
            for word, value in self._words(file, others):
                if word is None:
                    if time is not None:
                        yield time, found
                        found = []
                    if not value.isdigit() or int(value) < (time or 0):
                        raise self._damaged(b"#" + value)
                    time = int(value)
                elif word in wanted:
                    found.append((word, value))
                else:
                    raise self._damaged(value + b" " + word)
        if time is not None:
            yield time, found

    def _words(self, file: BinaryIO, others: Collection[bytes]) -> Iterator[tuple[bytes | None, bytes]]:
        """Give changes, each a short name and a value, but for those of ``others``; and times, which have no name."""
        waiting, aside = b"", False  # a value whose name follows; whether a comment goes on
        for line in itertools.chain([self._rest], file):
            for word in line.split():
                if aside:
                    aside = word != b"$end"
                elif waiting:
                    if word not in others:
                        yield word, waiting[1:]
                    waiting = b""
                elif word[0] in CHANGES:
                    if word[1:] not in others:
                        if len(word) == 1:
                            raise self._damaged(line)
                        yield word[1:], word[:1]
                elif word[0] in b"bsrBR":
                    waiting = word
                elif word[0] == 35:  # '#'
                    yield None, word[1:]
                elif word == b"$comment":
                    aside = True
                elif word not in BESIDE:
                    raise self._damaged(line)
        if waiting:
            raise WormcastError(f"{self._path} is damaged: it ends amid a change")

    def _damaged(self, line: bytes) -> WormcastError:
        text = line[:40].decode("ascii", "replace").strip()
        return WormcastError(f"{self._path} is damaged: {text!r} is no change of a signal, and no later time")
