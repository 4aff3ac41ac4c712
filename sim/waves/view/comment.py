"""What a waveform file says of itself: the JSON object in its first comment."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wormcast.algorithms import Topology, WormcastError, topology
from wormcast.algorithms.channels import link_rows

from .history import RecordedLink, RecordedWorm

__all__ = ["Comment"]

PREFIX = "wormcast "
FIELDS = {"topology": str, "scheme": str, "configuration": dict, "first": int, "end": int, "period_fs": int,
          "links": list, "worms": list}
LINK = {"name": str, "kind": str, "from": int, "to": int, "vcs": int, "scope": str}
NAMES = {"injection": re.compile(r"inj:(\d+):\d+"), "consumption": re.compile(r"cons:(\d+)#\d+"),
         "slots": re.compile(r"retrans:(\d+)")}
STEP = {"worm": int, "holds": list, "waits": list}
WORM = {"worm": int, "message": int, "source": int, "destinations": list, "length": int}


class Comment:
    """The network, and what is shown of it.

    Parameters
    ----------
    path : Path
        Of the waveform file, for errors.
    texts : sequence of str
        Its comments, one of which begins with `PREFIX`.

    Attributes
    ----------
    topology : Topology
    scheme : str
    configuration : dict
    first, end, period : int
        First cycle and the one behind the last; femtoseconds of a cycle.
    links : tuple of RecordedLink
    scopes : list of str
        Where the signals of each link are declared.
    worms : dict of int to RecordedWorm
    deadlock : dict or None

    Raises
    ------
    WormcastError
        It is not what ``run`` and ``load`` write.
    """

    def __init__(self, path: Path, texts: Sequence[str]):
        self._path = path
        text = next((one for one in texts if one.startswith(f"{PREFIX}{{")), None)
        if text is None:
            raise WormcastError(f"{path} tells nothing of worms, it must be a waveform that run or load has written "
                                "by engine bulk")
        try:
            said = json.loads(text.removeprefix(PREFIX))
        except (ValueError, RecursionError) as error:
            raise WormcastError(f"{path} is damaged: its comment is no JSON: {error}") from error
        self._check(said, FIELDS, "it")
        self.topology = self._build(said["topology"], said.get("origin", said["topology"]))
        self.scheme: str = said["scheme"]
        self.configuration: dict[str, Any] = said["configuration"]
        self.first, self.end, self.period = said["first"], said["end"], said["period_fs"]
        if not (0 <= self.first < self.end and self.period > 0):
            raise self._damaged(f"cycles {self.first} to {self.end} of {self.period} fs")
        for number, one in enumerate(said["links"]):
            self._check(one, LINK, f"link {number}")
            if one["vcs"] < 1:
                raise self._damaged(f"vcs of link {number} as {one['vcs']}")
            ends = self._ends_of(one["kind"], one["name"])
            if ends is None:
                raise self._damaged(f"name of link {number} as {one['name']!r}")
            if ends != (one["from"], one["to"]):
                raise self._damaged(f"ends of link {number} as {[one['from'], one['to']]}")
        for number, one in enumerate(said["worms"]):
            self._check(one, WORM, f"worm {number}")
            self._check_nodes([one["source"]], f"source of worm {number}")
            self._check_nodes(one["destinations"], f"destinations of worm {number}")
        deadlock = said.get("deadlock")
        if deadlock is not None:
            self._check(deadlock, {"at": int, "cycle": list}, "deadlock")
            for number, one in enumerate(deadlock["cycle"]):
                self._check(one, STEP, f"step {number} of the deadlock")
        self.links = tuple(RecordedLink(one["name"], one["kind"], one["from"], one["to"], one["vcs"])
                           for one in said["links"])
        self.scopes = [one["scope"] for one in said["links"]]
        self.worms = {one["worm"]: RecordedWorm(one["worm"], one["message"], one["source"], tuple(one["destinations"]),
                                                one["length"]) for one in said["worms"]}
        self.deadlock: dict[str, Any] | None = deadlock

    def _build(self, name: str, origin: Any) -> Topology:
        """Build the network again, from the file that it came from if it is a user's own."""
        if type(origin) is not str:
            raise self._damaged(f"origin of it as {origin!r}")
        try:
            found = topology(origin)
        except WormcastError as error:
            if origin == name:
                raise self._damaged(str(error)) from error
            raise WormcastError(f"{self._path} is of network {name} from {origin}, which cannot be built again: "
                                f"{error}") from error
        if found.name != name:
            raise WormcastError(f"{self._path} is of network {name}, but {origin} gives {found.name} now")
        return found

    def _ends_of(self, kind: str, name: str) -> tuple[int, int] | None:
        """Where a link of this name begins and ends; None if the network has none."""
        if kind == "network":
            row = link_rows(self.topology).get(name.removeprefix("link:")) if name.startswith("link:") else None
            return None if row is None else (int(self.topology.links[row, 0]), int(self.topology.links[row, 2]))
        found = NAMES[kind].fullmatch(name) if kind in NAMES else None
        node = int(found[1]) if found else self.topology.nodes
        if node >= self.topology.nodes:
            return None
        if kind == "injection":
            return node, int(self.topology.injections[node, 0])
        return int(self.topology.consumptions[node, 0]), node

    def _check(self, said: Any, fields: dict[str, type], what: str) -> None:
        if not isinstance(said, dict):
            raise self._damaged(f"{what} as {said!r}")
        for name, kind in fields.items():
            if type(said.get(name)) is not kind:
                raise self._damaged(f"{name} of {what} as {said.get(name)!r}")

    def _check_nodes(self, nodes: list[Any], what: str) -> None:
        if not nodes or not all(type(node) is int and 0 <= node < self.topology.nodes for node in nodes):
            raise self._damaged(f"{what} as {nodes!r}")

    def _damaged(self, what: str) -> WormcastError:
        return WormcastError(f"{self._path} is damaged: its comment gives {what}")
