"""Reading the signals that are asked for out of a VCD file."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wormcast.algorithms import WormcastError

__all__ = ["Signal", "Wave"]

CHANGES = b"01xXzZ"

#: How lines begin that stand between changes and say nothing of them.
BESIDE = (b"$dump", b"$end", b"$comment")


@dataclass(frozen=True)
class Signal:
    """A signal as it is declared: its size in bits, and the file's short name for it."""

    size: int
    ident: bytes


class Wave:
    """A VCD file: its first comment, and the signals by their names.

    Libraries read these files too, but the one that is used to declare them stops at names that begin with ``$``, and
    others at empty strings; both take longer.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    comment : str
        Empty if there is none.
    signals : dict of str to Signal
        By name, scopes joined by dots.

    Raises
    ------
    WormcastError
        It cannot be read, or it is no VCD file.
    """

    def __init__(self, path: Path):
        self._path = path
        self.comment = ""
        self.signals: dict[str, Signal] = {}
        try:
            with path.open("rb") as file:
                self._read_header(file)
                self._changes_at = file.tell()
        except OSError as error:
            raise WormcastError(f"{path} cannot be read: {error.strerror}") from error

    def _read_header(self, file: BinaryIO) -> None:
        scopes: list[str] = []
        for words in self._statements(file):
            match words:
                case ["$enddefinitions", "$end"]:
                    return
                case ["$comment", *text, "$end"]:
                    self.comment = self.comment or " ".join(text)
                case ["$scope", _, name, "$end"]:
                    scopes.append(name)
                case ["$upscope", "$end"] if scopes:
                    scopes.pop()
                case ["$var", _, size, ident, name, *_, "$end"] if size.isdigit():
                    self.signals[".".join((*scopes, name.removeprefix("\\")))] = Signal(int(size), ident.encode())
                case ["$date" | "$version" | "$timescale", *_, "$end"]:
                    pass
                case _:
                    raise self._no_vcd()
        if not self.signals:
            raise self._no_vcd()
        raise WormcastError(f"{self._path} is damaged: it ends amid the names of its signals")

    def _statements(self, file: BinaryIO) -> Iterator[list[str]]:
        words: list[str] = []
        while line := file.readline():
            try:
                words += line.decode("ascii").split()
            except UnicodeDecodeError:
                raise self._no_vcd() from None
            if words and not words[0].startswith("$"):
                raise self._no_vcd()
            if words and words[-1] == "$end":
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
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                raise WormcastError(f"{self._path} is damaged: it ends amid a line")
            file.seek(self._changes_at)
            for line in file:
                kind = line[0]
                if kind == 35:  # '#'
                    if time is not None:
                        yield time, found
                        found = []
                    if not line[1:-1].isdigit() or int(line[1:]) < (time or 0):
                        raise self._damaged(line)
                    time = int(line[1:])
                elif kind in CHANGES:
                    ident = line[1:-1]
                    if ident in wanted:
                        found.append((ident, line[:1]))
                    elif ident not in others:
                        raise self._damaged(line)
                elif kind in b"bsrBR":
                    value, _, ident = line[1:-1].rpartition(b" ")
                    if ident in wanted:
                        found.append((ident, value))
                    elif ident not in others:
                        raise self._damaged(line)
                elif kind != 10 and not line.startswith(BESIDE):
                    raise self._damaged(line)
        if time is not None:
            yield time, found

    def _damaged(self, line: bytes) -> WormcastError:
        text = line[:40].decode("ascii", "replace").strip()
        return WormcastError(f"{self._path} is damaged: {text!r} is no change of a signal, and no later time")
