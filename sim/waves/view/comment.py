"""Reader of a waveform's comment: the JSON object that describes the network and its worms."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wormcast.algorithms import Topology, WormcastError, topology
from wormcast.algorithms.channels import link_rows
from wormcast.algorithms.parse_fault import FAULTS, parse_fault

from ...common.text import count
from .damage import damaged
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
    """The network, the links and the worms of a waveform, read from its comment.

    Parameters
    ----------
    path : Path
        Waveform file, for errors.
    texts : sequence of str
        Comments of the file. One of the comments must begin with ``wormcast {``.

    Attributes
    ----------
    topology : Topology
    scheme : str
    replicates : bool
        Switches replicate worms; False if the comment lacks this fact.
    vc_classes : int
        Classes of virtual channels that the relation distinguishes; 1 if the comment lacks this number.
    configuration : dict
    first, end, period : int
        First cycle, cycle after the last one, and clock period in femtoseconds.
    links : tuple of RecordedLink
    scopes : list of str
        Scope of each link's signals.
    worms : dict of int to RecordedWorm
    deadlock : dict or None

    Raises
    ------
    WormcastError
        The comment was not written by ``run`` or ``load``, or the network cannot be built again.
    """

    def __init__(self, path: Path, texts: Sequence[str]):
        self._path = path
        text = next((one for one in texts if one.startswith(f"{PREFIX}{{")), None)
        if text is None:
            raise WormcastError(f"{path} has no worms. Needed: a waveform that run or load has written with engine "
                                "bulk.")
        try:
            data = json.loads(text.removeprefix(PREFIX))
        except FAULTS as error:
            raise damaged(path, f"its comment is not JSON, {parse_fault(error)}") from error
        self._check(data, FIELDS, "")
        self.topology = self._build(data["topology"], data.get("origin", data["topology"]))
        self.scheme: str = data["scheme"]
        self.replicates: bool = data.get("replicates") is True
        found = data.get("vc_classes")
        self.vc_classes: int = found if type(found) is int else 1
        self.configuration: dict[str, Any] = data["configuration"]
        self.first, self.end, self.period = data["first"], data["end"], data["period_fs"]
        if not (0 <= self.first < self.end and self.period > 0):
            raise self._damaged(f"cycles {self.first} to {self.end} of {self.period} fs")
        for number, one in enumerate(data["links"]):
            self._check(one, LINK, f"link {number}")
            if one["vcs"] < 1:
                raise self._damaged(f"link {number} with {count(one['vcs'], 'virtual channel')}")
            ends = self._ends_of(one["kind"], one["name"])
            if ends is None:
                raise self._damaged(f"link {number} the name {one['name']!r}, which no link of the network has")
            if ends != (one["from"], one["to"]):
                raise self._damaged(f"link {number} the ends {[one['from'], one['to']]}, which are not the ends of "
                                    "this link in the network")
        for number, one in enumerate(data["worms"]):
            self._check(one, WORM, f"worm {number}")
            self._check_nodes(one["source"], f"source of worm {number}")
            self._check_nodes(one["destinations"], f"destinations of worm {number}")
        deadlock = data.get("deadlock")
        if deadlock is not None:
            self._check(deadlock, {"at": int, "cycle": list}, "deadlock")
            for number, one in enumerate(deadlock["cycle"]):
                self._check(one, STEP, f"step {number} of the deadlock")
        self.links = tuple(RecordedLink(one["name"], one["kind"], one["from"], one["to"], one["vcs"])
                           for one in data["links"])
        self.scopes = [one["scope"] for one in data["links"]]
        self.worms = {one["worm"]: RecordedWorm(one["worm"], one["message"], one["source"], tuple(one["destinations"]),
                                                one["length"]) for one in data["worms"]}
        self.deadlock: dict[str, Any] | None = deadlock

    def _build(self, name: str, origin: Any) -> Topology:
        """Build the network that the waveform names. A user's own network is built from the user's file."""
        if type(origin) is not str:
            raise self._damaged(f"origin as {origin!r}")
        try:
            found = topology(origin)
        except WormcastError as error:
            if origin == name:
                raise self._damaged(str(error)) from error
            raise WormcastError(f"{self._path} needs network {name} from {origin}, which cannot be built again: "
                                f"{error}") from error
        if found.name != name:
            recorded = "without a name" if name == origin else f"with the name {name}"
            raise WormcastError(f"{self._path} was recorded with network {origin} {recorded}, and {origin} now defines "
                                f"{found.name}. Needed: the file as it was.")
        return found

    def _ends_of(self, kind: str, name: str) -> tuple[int, int] | None:
        """Return source and target of the link with this name, or None if the network has no such link."""
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

    def _check(self, data: Any, fields: dict[str, type], what: str) -> None:
        if not isinstance(data, dict):
            raise self._damaged(f"{what} as {data!r}")
        for name, kind in fields.items():
            if type(data.get(name)) is not kind:
                raise self._damaged(f"{name}{what and f' of {what}'} as {data.get(name)!r}")

    def _check_nodes(self, data: Any, what: str) -> None:
        nodes = data if isinstance(data, list) else [data]
        if not nodes or not all(type(node) is int and 0 <= node < self.topology.nodes for node in nodes):
            raise self._damaged(f"{what} as {data!r}, and {self.topology.name} has nodes 0 to "
                                f"{self.topology.nodes - 1}")

    def _damaged(self, what: str) -> WormcastError:
        return damaged(self._path, f"its comment gives {what}")
