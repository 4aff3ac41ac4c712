"""File of messages, one line of JSON for each, in one format for all commands."""

import contextlib
import functools
import gzip
import io
import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.errors import located
from wormcast.algorithms.file_schema import ALLOWED, FileSchema, given
from wormcast.algorithms.parse_fault import FAULTS, parse_fault

from ..common.reading import GZIP, reading
from ..host import Message

__all__ = ["Line", "MessageFile", "message_schema", "messages_in", "unreceived", "write_messages"]

#: Length limit of a line in bytes.
#: A message to all nodes of the largest mesh, with the nodes' names, needs less than an eighth of this limit.
LONGEST_LINE = 1 << 20

#: Largest number of allowed messages that a refusal lists.
LISTED = 8

#: Word for all other nodes in place of a list of destinations.
ALL = "all"

NODE = {"anyOf": [{"type": "integer"}, {"type": "string"}], ALLOWED: "a node, by number or name"}
EARLIER = {"type": "integer", "minimum": 0, ALLOWED: "the number of an earlier message"}


@functools.cache
def message_schema(most_cycles: int, most_length: int) -> FileSchema:
    """Return the JSON Schema of a line; see `MessageFile` for the limits."""
    return FileSchema("a message", {
        "type": "object", "required": ["cycle", "source", "destinations", "length"], "additionalProperties": False,
        ALLOWED: "a JSON object with cycle, source, destinations, length",
        "properties": {
            "cycle": {"type": "integer", "minimum": 0, "maximum": most_cycles, "description": "Cycle of creation"},
            "source": NODE,
            "destinations": {"anyOf": [{"enum": [ALL]}, {"type": "array", "items": NODE, "minItems": 1}],
                             ALLOWED: f"a list of nodes, one or more, or {ALL!r}"},
            "length": {"type": "integer", "minimum": 1, "maximum": most_length, "description": "Payload flits"},
            "after": {"anyOf": [EARLIER, {"type": "array", "items": EARLIER}],
                      ALLOWED: "the number of an earlier message, or a list of these numbers",
                      "description": "Earlier messages that the message's source must have received"},
        }})


class _Twice(dict[str, Any]):
    """JSON object with a key that occurs twice."""

    key: str


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a dict from a JSON object's keys and values; if a key occurs twice, a `_Twice` with this key."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice = _Twice(found)
    keys = [key for key, _ in pairs]
    twice.key = next(key for key in keys if keys.count(key) > 1)
    return twice


def _require_once(entry: Any) -> None:
    """Refuse an object with a key that occurs twice."""
    if isinstance(entry, _Twice):
        raise WormcastError(f"the key {given(entry.key)} is not valid: it occurs twice. Allowed: each key once.")


def _renamed(entry: Any) -> Any:
    """Check an entry of a JSON list, and return the entry with the key ``cycle`` in place of ``at``."""
    _require_once(entry)
    if not isinstance(entry, dict) or "at" not in entry:
        return entry
    if "cycle" in entry:
        raise WormcastError("the keys 'at' and 'cycle' are not valid together: both are the cycle. Allowed: one.")
    return {"cycle" if key == "at" else key: value for key, value in entry.items()}


class Line(NamedTuple):
    """Line of a file of messages; ``end`` is the position of the byte after the line."""

    cycle: int
    source: int
    destinations: list[int]
    length: int
    after: list[int]
    end: int


@dataclass(frozen=True)
class MessageFile:
    """File of JSON lines, each of them a message.

    A line is ``{"cycle": C, "source": NODE, "destinations": [NODE, ...], "length": L}``. A line may also have
    ``"after": K`` or ``"after": [K, ...]``: numbers of earlier messages that the line's source must have received. The
    file's first message has number 0. A file that begins with ``[`` is one JSON list of messages, in which the key
    ``cycle`` may also be named ``at``. A JSON list is read into memory as a whole. A byte order mark at the start and
    blank lines are ignored: a blank line has no number.

    A `MessageFile` object keeps no content of the file in memory.

    Parameters
    ----------
    path : str
        File name. The file is compressed with gzip if its name ends in ``.gz``.
    what : str
        Name in error messages: the option that selects the file.
    most_cycles, most_length : int
        Greatest cycle and greatest length that a message may have. Larger values are refused.
    """

    path: str
    what: str
    most_cycles: int
    most_length: int

    def read(self, topology: Topology, start: int = 0, number: int = 0) -> Iterator[Line]:
        """Read the lines from byte ``start`` on, at which message ``number`` begins.

        Raises
        ------
        WormcastError
            The file cannot be read, or a line is not a message of this network. A line is checked when it is read.
        """
        end = start
        with reading(self.what, Path(self.path)), open(self.path, "rb") as opened:
            lines = self._lines(opened)
            if start:
                lines.seek(start)
            while text := lines.readline(LONGEST_LINE):
                begins, end = not end, end + len(text)
                if begins:
                    text = text.removeprefix(BOM_UTF8)
                if not text.strip():
                    continue
                with self.named(number):
                    line = self._line(topology, text, number, end)
                yield line
                number += 1

    def _lines(self, opened: io.BufferedReader) -> IO[bytes]:
        """Return the file's lines; if the file is a JSON list, one line for each entry."""
        compressed = self.path.endswith(".gz")
        if compressed and (begin := opened.peek(2)[:2]) and begin != GZIP:
            raise WormcastError(f"{self.what}: {self.path} is not compressed, though its name ends in .gz. Needed: a "
                                "file compressed by gzip, or a name without .gz.")
        lines: Any = gzip.open(opened) if compressed else opened  # noqa: SIM115
        if not lines.peek(1).removeprefix(BOM_UTF8).lstrip().startswith(b"["):
            return lines
        try:
            entries = json.loads(lines.read().decode("utf-8-sig"), object_pairs_hook=_object)
        except FAULTS as error:
            raise WormcastError(f"{self.what}: {self.path} is not valid: it begins with [ and is not a JSON list "
                                f"({parse_fault(error)}). Allowed: a JSON list, or a JSON object in each "
                                "line.") from error
        renamed = []
        for number, entry in enumerate(entries):
            with self.named(number):
                renamed.append(_renamed(entry))
        return io.BytesIO("".join(json.dumps(entry) + "\n" for entry in renamed).encode())

    @contextlib.contextmanager
    def named(self, number: int) -> Iterator[None]:
        """Put the number of a message in front of the refusals that this context raises."""
        try:
            yield
        except WormcastError as error:
            raise self.refused(number, str(error)) from error

    def refused(self, number: int, why: str) -> WormcastError:
        """Return the error that refuses a message, with the message's number."""
        return WormcastError(located(why, f"message {number} of {self.path} (the first is 0)"))

    def without_messages(self) -> WormcastError:
        """Return the error that refuses a file without messages."""
        return WormcastError(f"{self.what}: {self.path} is not valid: it has no messages. Allowed: one or more "
                             "messages.")

    def _line(self, topology: Topology, text: bytes, number: int, end: int) -> Line:
        """Parse and check a line."""
        schema = message_schema(self.most_cycles, self.most_length)
        if len(text) == LONGEST_LINE:
            raise WormcastError(f"the line is too long. Allowed: fewer than {LONGEST_LINE} bytes, with the "
                                "end of the line.")
        try:
            entry = json.loads(text.decode(), object_pairs_hook=_object)
        except FAULTS as error:
            raise WormcastError(f"the line is not JSON ({parse_fault(error, one_line=True)}). Allowed: "
                                f"{schema.document[ALLOWED]}, in one line.") from error
        if not isinstance(entry, dict):
            raise WormcastError(f"{given(entry)} is not valid. Allowed: {schema.document[ALLOWED]}.")
        _require_once(entry)
        schema.require(entry)
        nodes, after = entry["destinations"], entry.get("after", [])
        source = _node(topology, entry["source"], "source")
        destinations = (topology.destination_set(ALL, source) if nodes == ALL
                        else [_node(topology, node, "destinations") for node in nodes])
        everyone = [source, *destinations]
        if len(set(everyone)) < len(everyone):
            place, twice = next((place, node) for place, node in enumerate(destinations)
                                if node in everyone[:place + 1])
            raise WormcastError(f"destinations: {given(nodes[place])} is not valid: it "
                                f"{'is the source' if twice == source else 'occurs twice'}. "
                                "Allowed: distinct nodes other than the source.")
        if not isinstance(after, list):
            after = [after]
        if after and not number:
            raise WormcastError(f"after: {given(entry['after'])} is not valid: the first message has no earlier "
                                "messages. Allowed: a first message without after.")
        if max(after, default=-1) >= number or len(set(after)) < len(after):
            fault, reason = next(((other, "is not the number of an earlier message") for other in after
                                  if other >= number), (Counter(after).most_common(1)[0][0], "occurs twice"))
            raise WormcastError(f"after: {given(entry['after'])} is not valid: {fault} {reason}. Allowed: earlier "
                                "messages with the source of this message among their destinations, each at most once.")
        return Line(entry["cycle"], source, destinations, entry["length"], after, end)


def _node(topology: Topology, node: Any, what: str) -> int:
    return node if type(node) is int and 0 <= node < topology.nodes else topology.node(node, what)


def messages_in(file: MessageFile, topology: Topology) -> list[Message]:
    """Read all messages of a file, one or more. The messages' cycles may be in any order."""
    messages = [Message(line.cycle, line.source, tuple(line.destinations), line.length, tuple(line.after))
                for line in file.read(topology)]
    if not messages:
        raise file.without_messages()
    return messages


def unreceived(other: int, number: int, source: str, known: Iterable[int]) -> WormcastError:
    """Return the error that refuses an entry of a message's key ``after`` that the message's source does not receive.

    Parameters
    ----------
    other, number : int
        The entry, and the message with this entry.
    source : str
        Source of the message.
    known : iterable of int
        Earlier messages that the source receives. At most `LISTED` and one more are read.
    """
    reason = ("the first message has no earlier messages" if not number else
              "it is not the number of an earlier message" if not 0 <= other < number else
              f"message {other} does not go to node {source}, the source of message {number}")
    first = [*islice(known, LISTED + 1)]
    listed = ", ".join(map(str, first[:LISTED])) + ", ..." * (len(first) > LISTED)
    return WormcastError(f"after: {other} is not valid: {reason}. Allowed: earlier messages with the destination "
                         f"{source}: {listed or 'none'}.")


def write_messages(messages: Iterable[Message], topology: Topology, path: Path) -> None:
    """Write messages as JSON lines, with the names of nodes."""
    lines = []
    for message in messages:
        line = {"cycle": message.at, "source": topology.node_name(message.source),
                "destinations": [topology.node_name(node) for node in message.destinations], "length": message.length}
        lines.append(json.dumps(line | ({"after": list(message.after)} if message.after else {})) + "\n")
    path.write_text("".join(lines))
