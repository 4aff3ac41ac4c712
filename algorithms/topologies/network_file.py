"""Networks as TOML files. A network that is written to a file and read again equals the original network."""

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import WormcastError, located
from ..file_schema import ALLOWED, FileSchema, given
from ..phrases import count
from ..toml_file import read_toml as read_entries
from .base import Topology
from .coordinates import FARTHEST, Places, places_around
from .parameters import MOST_PORTS
from .validation import validate_topology

__all__ = ["NETWORK", "read_toml", "to_toml"]

#: Largest number of switches of a file, and largest extent of its coordinates.
MOST = 4096

TEXT = {"type": "string", "minLength": 1, ALLOWED: "text that is not empty"}
NAME = {**TEXT, ALLOWED: "a name"}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
WHOLE = {"type": "integer", "minimum": 0, "maximum": (1 << 31) - 1}
EXTENT = {"type": "integer", "minimum": 1, "maximum": MOST}
SWITCH = {"anyOf": [{**WHOLE, ALLOWED: "a switch, from 0 to the number of switches - 1, or its name"}, NAME],
          ALLOWED: "a switch, by number or name"}
PORT = {"anyOf": [{**WHOLE, ALLOWED: "a port, by number from 0 or by name"}, NAME],
        ALLOWED: "a port, by number or name"}
END = {"type": "array", "items": [SWITCH, PORT], "minItems": 2, "maxItems": 2, ALLOWED: "[switch, port]"}
LINK = {"type": "array", "minItems": 2, "maxItems": 4, ALLOWED: "[switch, switch] or [switch, output, switch, input]",
        "items": {"anyOf": [{**WHOLE, ALLOWED: "a number from 0, or a name"}, TEXT], ALLOWED: "a number or a name"}}
COORDINATE = {"type": "number", "minimum": -FARTHEST, "maximum": FARTHEST}
PLACES = {"type": "array", "items": {"type": "array", "items": COORDINATE, "minItems": 2, "maxItems": 3,
                                     ALLOWED: "two numbers, or three in all places"}}

#: Schema of the files of `read_toml`.
NETWORK = FileSchema("a network", {
    "type": "object", "required": ["switches", "nodes", "links"], "additionalProperties": False,
    "properties": {
        "name": TEXT,
        "kind": TEXT,
        "shape": {"type": "array", "items": EXTENT, "description": "Extents of the coordinates"},
        "root": {"anyOf": [*SWITCH["anyOf"], {"type": "array", "items": SWITCH, "minItems": 1}],
                 ALLOWED: "a switch, or a list of switches"},
        "switches": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST}, {**TEXTS, "maxItems": MOST}],
                     ALLOWED: f"a number up to {MOST}, or a list of names"},
        "ports": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST_PORTS}, TEXTS,
                            {"type": "array", "items": {**TEXTS, "minItems": 0}, "minItems": 1}],
                  ALLOWED: f"a number per switch up to {MOST_PORTS}, a list of their names, or one list of names for "
                           "each switch"},
        "nodes": {"type": "array", "items": {"anyOf": [*SWITCH["anyOf"], END], ALLOWED: "a switch, or [switch, port]"}},
        "consumptions": {"type": "array", "items": END},
        "links": {"type": "array", "items": LINK},
        "labels": {"type": "array", "items": WHOLE, "description": "Of each node, along a Hamiltonian path"},
        "places": PLACES, "node_places": PLACES, "sink_places": PLACES,
    }})


def to_toml(topology: Topology) -> str:
    """Write a network as the text of a TOML file, which `read_toml` reads back as an equal network."""
    default = dataclasses.replace(topology, switch_names=()).switch_names
    ports: Sequence[Any] = topology.ports[0] if len(set(topology.ports)) == 1 else topology.ports

    def place(end: Sequence[int]) -> list[Any]:
        return [end[0], topology.ports[end[0]][end[1]]]

    nodes, consumptions = ([place(end) for end in ends.tolist()] for ends in
                           (topology.injections, topology.consumptions))
    places = topology.places
    entries: dict[str, Any] = {
        "name": topology.name,
        "kind": topology.kind,
        "shape": list(topology.shape) if len(topology.shape) > 1 else None,
        "root": list(topology.root) if isinstance(topology.root, tuple) else topology.root or None,
        "switches": topology.switches if topology.switch_names == default else list(topology.switch_names),
        "ports": list(ports) if isinstance(ports[0], str) else [list(names) for names in ports],
        "nodes": nodes,
        "consumptions": consumptions if consumptions != nodes else None,
        "links": [[*place(row[:2]), *place(row[2:])] for row in topology.links.tolist()],
        "labels": None if topology.labels is None else topology.labels.tolist(),
        "places": places.switches.tolist(),
        "node_places": places.nodes.tolist(),
        "sink_places": None if places.sinks is None else places.sinks.tolist(),
    }
    head = "# A network for wormcast. Nodes: [switch, port]. Links, each one way: [switch, output, switch, input].\n"
    return head + "".join(f"{key} = {_written(value)}\n" for key, value in entries.items() if value is not None)


def _written(value: Any) -> str:
    """Write a value in TOML. A list of lists has one line per entry."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return "[\n" + "".join(f"  {_written(one)},\n" for one in value) + "]"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False)  # JSON and TOML write numbers and one-line text alike


def read_toml(path: str) -> Topology:
    """Read a network from a TOML file.

    ::

        switches = 4                                # the number of switches, or a list of their names
        nodes = [0, 0, 1, 2, 3]                     # the switch of each node, or its [switch, port]
        links = [[0, 1], [1, 2], [2, 3], [3, 0]]    # both ways; [switch, output, switch, input] is one way

    The keys of this example are needed. Switches and ports are numbers or names. A link or node without a port gets the
    lowest free port: first the links in their order, and then the nodes. Optional keys:

    - ``ports``: number of ports per switch, their names in all switches, or one list of names per switch. By default, a
      switch has the ports that it needs: ports of links ``p0``, ``p1`` and so on, and ports of nodes ``n0``, ``n1`` and
      so on.
    - ``consumptions``: [switch, port] where each node consumes, for all nodes. By default, each node consumes at the
      switch and port at which it injects.
    - ``name``: name of the network, default the file's path. ``kind``: default ``own``. ``root``: a switch, or a
      list of switches, default 0.
    - ``shape``: extents of the coordinates; node ids are row-major in ``shape``.
    - ``labels``: label of each node, along a Hamiltonian path.
    - ``places`` of switches, ``node_places`` and ``sink_places``: positions in drawings, two or three numbers each
      (`Places`).

    Raises
    ------
    WormcastError
        The file does not exist, is not TOML, has an unknown or missing key, or describes no valid network.
    """
    return _Reader(path, read_entries(Path(path), "topology")).topology()


class _Reader:
    """The entries of a file, and the ports that are used so far."""

    def __init__(self, path: str, entries: dict[str, Any]) -> None:
        self.path = path
        self.entries = entries
        try:
            NETWORK.require(entries)
        except WormcastError as error:
            raise self.refusal(str(error)) from error
        self.names = self._switches()
        self.number = {name: switch for switch, name in enumerate(self.names)}
        self.given_ports = self._ports()
        self.outputs: list[set[int]] = [set() for _ in range(self.switches)]
        self.inputs: list[set[int]] = [set() for _ in range(self.switches)]
        #: Used ports of each switch, each with the key of a link or node that uses it.
        self.users: list[set[tuple[int, str]]] = [set() for _ in range(self.switches)]

    def refusal(self, sentence: str) -> WormcastError:
        """Return an error that has the file's path and `sentence`."""
        return WormcastError(located(sentence, self.path))

    def topology(self) -> Topology:
        """Build the network."""
        consumptions = None
        if "consumptions" in self.entries:
            consumptions = [self._end(f"consumptions[{number}]", one, self.outputs)
                            for number, one in enumerate(self.entries["consumptions"])]
        nodes = [self._end(f"nodes[{number}]", one, self.inputs, *([self.outputs] if consumptions is None else []))
                 if isinstance(one, list) else self._switch(f"nodes[{number}]", one)
                 for number, one in enumerate(self.entries["nodes"])]
        for key, word in (("consumptions", "place"), ("labels", "label"), ("node_places", "position"),
                          ("sink_places", "position")):
            if len(self.entries.get(key, nodes)) != len(nodes):
                raise self.refusal(f"{key} has {count(len(self.entries[key]), word)}. Needed: "
                                   f"{count(len(nodes), word)}, one per node.")
        links = self._links()
        node_ports: list[set[int]] = [set() for _ in range(self.switches)]
        ends = []
        for number, node in enumerate(nodes):
            if isinstance(node, int):
                taken = [self.inputs] if consumptions else [self.inputs, self.outputs]
                node = (node, self._free(f"nodes[{number}]", node, taken))
                node_ports[node[0]].add(node[1])
            ends.append(node)
        own = np.array(ends, np.int32).reshape(-1, 2)
        shape = tuple(self.entries.get("shape", (len(own),)))
        if int(np.prod(np.array(shape, object))) != len(own):
            raise self.refusal(f"shape {list(shape)} is not valid. Needed: extents whose product is the number of "
                               f"nodes, {len(own)}.")
        coordinates = np.stack(np.unravel_index(np.arange(len(own)), shape), axis=1) if len(own) else own
        found = validate_topology(Topology(
            name=self.entries.get("name", self.path),
            kind=self.entries.get("kind", "own"),
            shape=shape,
            ports=self._port_names(node_ports),
            links=np.array(links, np.int32).reshape(-1, 4),
            injections=own,
            consumptions=own.copy() if consumptions is None else np.array(consumptions, np.int32).reshape(-1, 2),
            coordinates=coordinates.astype(np.int32),
            labels=np.array(self.entries["labels"], np.int64) if "labels" in self.entries else None,
            switch_names=() if isinstance(self.entries["switches"], int) else tuple(self.names),
            root=self._root(),
        ), self.path)
        return self._placed(found)

    def _root(self) -> int | tuple[int, ...]:
        """Return the switch, or the switches, from which breadth-first trees grow."""
        root = self.entries.get("root", 0)
        if isinstance(root, list):
            return tuple(self._switch(f"root[{number}]", one) for number, one in enumerate(root))
        return self._switch("root", root)

    def _placed(self, topology: Topology) -> Topology:
        """Return the network with the positions in drawings that the file states."""
        for key in ("node_places", "sink_places"):
            if key in self.entries and "places" not in self.entries:
                raise self.refusal(f"places are missing, but the file has {key}. Needed: places, a list with "
                                   "the position of each switch.")
        if "places" not in self.entries:
            return topology
        switches, nodes, sinks = (
            np.array(self._alike(key), float) if key in self.entries else None
            for key in ("places", "node_places", "sink_places"))
        assert switches is not None
        if len(switches) != topology.switches:
            raise self.refusal(f"places has {count(len(switches), 'position')}. Needed: "
                               f"{count(topology.switches, 'position')}, one per switch.")
        around = places_around(topology, switches)
        places = Places(switches, around.nodes if nodes is None else nodes,
                        around.sinks if nodes is None and sinks is None else sinks)
        return validate_topology(dataclasses.replace(topology, places=places), self.path)

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.names)

    def _switches(self) -> list[str]:
        switches = self.entries["switches"]
        if isinstance(switches, int):
            return [f"s{switch}" for switch in range(switches)]
        twice = next((name for name, count in Counter(switches).items() if count > 1), None)
        if twice is not None:
            raise self.refusal(f"switches: the name {twice!r} is not valid: it occurs twice. Allowed: distinct names.")
        return list(switches)

    def _ports(self) -> list[list[str]] | None:
        """Names of the ports of each switch. The value is None if the file has no key ``ports``."""
        ports = self.entries.get("ports")
        if ports is None:
            return None
        if isinstance(ports, int):
            return [[f"p{port}" for port in range(ports)]] * self.switches
        if isinstance(ports[0], str):
            return [ports] * self.switches
        if len(ports) != self.switches:
            raise self.refusal(f"ports has {count(len(ports), 'list')} of names. Needed: "
                               f"{count(self.switches, 'list')}, one per switch.")
        return list(ports)

    def _links(self) -> list[list[int]]:
        links: list[list[int]] = []
        both: list[tuple[int, str, int, int]] = []
        for number, one in enumerate(self.entries["links"]):
            if len(one) == 3:
                raise self.refusal(f"links[{number}]: {given(one)} is not valid. Allowed: {LINK[ALLOWED]}.")
            key = f"links[{number}]"
            start, end = (self._switch(key, one[place]) for place in (0, len(one) // 2))
            if start == end:
                raise WormcastError(f"{key} in {self.path} leads from switch {self.names[start]} to itself. Needed: "
                                    "two different switches.")
            if len(one) == 4:
                links.append([*self._end(key, one[:2], self.outputs), *self._end(key, one[2:], self.inputs)])
            else:
                both.append((len(links), key, start, end))
                links += [[], []]  # filled below, with the lowest free ports
        for row, key, start, end in both:
            out, into = (self._free(key, switch, [self.inputs, self.outputs]) for switch in (start, end))
            links[row:row + 2] = [start, out, end, into], [end, into, start, out]
        return links

    def _port_names(self, node_ports: list[set[int]]) -> tuple[tuple[str, ...], ...]:
        """Names of all ports. Default names distinguish ports of links and of nodes."""
        if self.given_ports is not None:
            return tuple(map(tuple, self.given_ports))
        names = []
        for outputs, inputs, own in zip(self.outputs, self.inputs, node_ports, strict=True):
            of_nodes = sorted(own)
            names.append(tuple(f"n{of_nodes.index(port)}" if port in own else f"p{port}"
                               for port in range(max(outputs | inputs, default=-1) + 1)))
        return tuple(names)

    def _free(self, key: str, switch: int, both: list[list[set[int]]]) -> int:
        """Reserve the lowest port of a switch that is free in all these lists of used ports (inputs, outputs or both).
        """
        taken = set().union(*(ports[switch] for ports in both))
        port = next(port for port in range(len(taken) + 1) if port not in taken)
        if self.given_ports is not None and port >= len(self.given_ports[switch]):
            users = [user for port, user in sorted(self.users[switch])]
            used = f"whose ports are used by {', '.join(dict.fromkeys(users))}" if users else "which has no ports"
            raise WormcastError(f"{key} in {self.path} has no free port at switch {self.names[switch]}, {used}. "
                                "Needed: more ports, or fewer links and nodes at this switch.")
        self.users[switch].add((port, key))
        for ports in both:
            ports[switch].add(port)
        return port

    def _end(self, key: str, end: Any, *taken: list[set[int]]) -> tuple[int, int]:
        """Read [switch, port] and mark the port as used."""
        switch, port = self._switch(key, end[0]), end[1]
        names = None if self.given_ports is None else self.given_ports[switch]
        if isinstance(port, str) and names and port in names:
            port = names.index(port)
        most = MOST_PORTS if names is None else len(names)
        if not isinstance(port, int) or port >= most:
            allowed = f"numbers from 0 to {most - 1}, as ports is not given" if names is None else ", ".join(names)
            raise self.refusal(f"{key}: port {given(port)} of switch {self.names[switch]} is not valid. Allowed: "
                               f"{allowed}.")
        self.users[switch].add((port, key))
        for ports in taken:
            ports[switch].add(port)
        return switch, port

    def _switch(self, key: str, switch: Any) -> int:
        if isinstance(switch, str) and switch in self.number:
            return self.number[switch]
        if isinstance(switch, int) and switch < self.switches:
            return switch
        raise self.refusal(f"{key}: switch {given(switch)} is not valid. Allowed: 0 to {self.switches - 1}, and their "
                           "names.")

    def _alike(self, key: str) -> list[list[float]]:
        """Return the positions that the file has under a key. Each position must have as many coordinates as the first
        position of a switch."""
        places: list[list[float]] = self.entries[key]
        dimensions = len(next(iter(self.entries["places"]), (0, 0)))
        other = next((number for number, one in enumerate(places) if len(one) != dimensions), None)
        if other is not None:
            raise self.refusal(f"{key}[{other}]: {given(places[other])} is not valid. Needed: {dimensions} numbers, as "
                               "many as the other places have.")
        return places
