"""Reader of selected signals in a VCD file."""

import contextlib
import gzip
import itertools
import re
import tempfile
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wormcast.algorithms import WormcastError

from ...common.reading import GZIP, reading
from .damage import damaged
from .fst import is_fst, write_vcd

__all__ = ["Signal", "Wave"]

CHANGES = b"01xXzZ"

#: Number of bytes at the start of a file that are read to recognise an FST file.
BEGIN = 16

#: Keywords between changes that the reader skips.
BESIDE = {b"$dumpall", b"$dumpoff", b"$dumpon", b"$dumpvars", b"$end"}

#: A vector's name followed by the range of its bits.
RANGE = re.compile(r"(.+?)\[(\d+):(\d+)\]")


@dataclass(frozen=True)
class Signal:
    """A declared signal: its size in bits, and the identifier code in the file."""

    size: int
    ident: bytes


class Wave:
    """A VCD file by IEEE 1364-2005, 18.2: comments and signals. The file may be compressed with gzip, or be FST.

    White space of any kind separates words. Libraries that read VCD files are slower, and incomplete: the library
    ``vcd`` fails on names that begin with ``$``, others fail on empty strings.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    comments : list of str
        Comments of the header.
    signals : dict of str to Signal
        Declared signals by full name, in which dots separate scopes.

    Raises
    ------
    WormcastError
        The file cannot be read, or is not a VCD file.
    ToolMissing
        The file is FST, and the FST library is not installed.
    """

    def __init__(self, path: Path):
        self._path = self._source = path
        self.comments: list[str] = []
        self._rest = b""
        with self._opened() as file:
            begin = file.read(BEGIN)
        if is_fst(begin):
            self._folder = tempfile.TemporaryDirectory()  # the folder is deleted when this object is deleted
            self._source = Path(self._folder.name, "wave.vcd")
            write_vcd(path, self._source)
        self.signals: dict[str, Signal] = {}
        with self._opened() as file:
            self._read_header(file)
            self._changes_at = file.tell()

    @contextlib.contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        with reading("waveform", self._path), self._source.open("rb") as plain:
            if plain.read(2) == GZIP:
                with gzip.open(self._source) as file:
                    yield file  # type: ignore[misc]
            else:
                plain.seek(0)
                yield plain

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
                case ["$date" | "$version" | "$timescale" | "$attrbegin" | "$attrend", *_, "$end"]:
                    pass
                case _:
                    raise self._no_vcd()
        if not self.signals:
            raise self._no_vcd()
        raise damaged(self._path, "it ends within the declarations of its signals")

    @staticmethod
    def _without_range(name: str, size: int) -> str:
        """Return a name without the full range of bits that some tools append."""
        found = RANGE.fullmatch(name)
        return found[1] if found and abs(int(found[2]) - int(found[3])) + 1 == size else name

    def _statements(self, file: BinaryIO) -> Iterator[list[str]]:
        """Yield the words from each keyword to its ``$end``.

        Words after ``$enddefinitions $end`` in the same line are stored in ``_rest``.
        """
        words: list[str] = []
        while line := file.readline():
            if b"\0" in line:
                raise self._no_vcd()
            some = line.removeprefix(BOM_UTF8).decode("utf-8", "replace").split()
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
        return WormcastError(f"{self._path} is not valid: it is no VCD file. Allowed: waveforms that run or load wrote "
                             "with --vcd, also compressed by gzip or converted to FST.")

    def changes(self, idents: Collection[bytes]) -> Iterator[tuple[int, list[tuple[bytes, bytes]]]]:
        """Yield each time in the file with its changes of the signals ``idents``: identifier codes and written values.

        Values of vectors lack the leading ``b``, values of strings the ``s``. Changes before the first time are yielded
        with the first time.

        Raises
        ------
        WormcastError
            A line is damaged, or a time is less than the previous one.
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
                        raise self._damaged(b"#" + value, file)
                    time = int(value)
                elif word in wanted:
                    found.append((word, value))
                else:
                    raise self._damaged(value + b" " + word, file)
        if time is not None:
            yield time, found

    def _words(self, file: BinaryIO, others: Collection[bytes]) -> Iterator[tuple[bytes | None, bytes]]:
        """Yield changes as (identifier code, value), except changes of the identifier codes ``others``, and times as
        (None, time)."""
        # waiting: value whose identifier code is the next word; aside: inside a comment of the file
        waiting, aside = b"", False
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
                            raise self._damaged(line, file)
                        yield word[1:], word[:1]
                elif word[0] in b"bsrBR":
                    waiting = word
                elif word[0] == 35:  # '#'
                    yield None, word[1:]
                elif word == b"$comment":
                    aside = True
                elif word not in BESIDE:
                    raise self._damaged(line, file)
        if waiting:
            raise damaged(self._path, "it ends within a change")

    def _damaged(self, line: bytes, file: BinaryIO) -> WormcastError:
        """Return the error for a damaged line, which is the line read last."""
        end, number = file.tell(), 0
        file.seek(0)
        while file.tell() < end and file.readline():
            number += 1
        text = line[:40].decode("ascii", "replace").strip()
        return damaged(self._path, f"line {number}, {text!r}, is neither a change of a signal "
                             "nor a later time")
