"""A network as plain data."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..phrases import count
from .coordinates import Places, places_by_default

__all__ = ["Places", "Topology"]

Integers = npt.NDArray[np.int32]

#: Text with which a user selects all nodes but the source as destinations.
ALL = "all"


class _PlacesOfTopology:
    """The field `Topology.places`: the given value, else `places_by_default`, computed at the first use."""

    def __get__(self, topology: "Topology | None", owner: type) -> Places:
        if topology is None:
            return None  # type: ignore[return-value]  # the field's default
        if vars(topology).get("_places") is None:
            vars(topology)["_places"] = places_by_default(topology)
        return vars(topology)["_places"]

    def __set__(self, topology: "Topology", places: Places | None) -> None:
        vars(topology)["_places"] = places


@dataclass(frozen=True, eq=False)
class Topology:
    """A network of switches, the links between them, and the nodes attached to them.

    Nodes and switches have separate numbers. In a direct network (a mesh) node i is at switch i. An indirect network
    may have switches without nodes, several nodes at a switch, or nodes that inject at one switch and consume at
    another. All arrays are read-only.

    Parameters
    ----------
    name : str
        Name of the network. For the kinds of this package, `name` is a specification that builds the network:
        ``"mesh:8x8"``.
    kind : str
        Kind of the network, such as ``"mesh"``. For the kinds of this package, the part of the name before the colon.
    shape : tuple of int
        Extents of the coordinates. Node ids are row-major in `shape`: the last coordinate runs fastest.
    ports : tuple of tuple of str, [switches][ports]
        Port names of each switch. An input and an output of the same index have the same name, but may be linked to
        different switches.
    links : int32 array [links, 4]
        One row per unidirectional link between two switches: from switch, its output port, to switch, its input port.
        Links may be parallel. A port without a link and without a node is open.
    injections : int32 array [nodes, 2]
        Switch and input port where each node injects. No two nodes have the same input port.
    consumptions : int32 array [nodes, 2]
        Switch and output port where each node consumes. No two nodes have the same output port.
    coordinates : int32 array [nodes, dimensions]
        Coordinates of the nodes, in the order in which users write them.
    labels : int32 array [nodes], optional
        Index of each node on the Hamiltonian path, if the kind has one.
    switch_names : tuple of str, optional
        Names of the switches. The default names are the ids of the nodes in a direct network, else ``s0``, ``s1``, ...
    places : Places, optional
        Positions of switches and nodes in drawings. By default, a ring, with or without chords, is drawn as a ring.
        The default layout of other networks follows the levels of the breadth-first tree from the root.
    root : int or tuple of int
        Switch from which breadth-first trees grow, or several: the top switches of a fat tree.
    origin : str, optional
        Specification from which the function `topology` builds the network again. The default of `origin` is the
        network's name; for a network from a file, the text that the user gave.
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    ports: tuple[tuple[str, ...], ...]
    links: Integers
    injections: Integers
    consumptions: Integers
    coordinates: Integers
    labels: Integers | None = None
    switch_names: tuple[str, ...] = ()
    places: _PlacesOfTopology = _PlacesOfTopology()
    root: int | tuple[int, ...] = 0
    origin: str = ""

    def __post_init__(self) -> None:
        for field in ("links", "injections", "consumptions", "coordinates", "labels"):
            if isinstance(value := getattr(self, field), (list, tuple)):
                object.__setattr__(self, field, value := np.array(value))
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        if not self.origin:
            object.__setattr__(self, "origin", self.name)
        if not self.switch_names:
            names = map(str, range(self.switches)) if self.direct else (f"s{k}" for k in range(self.switches))
            object.__setattr__(self, "switch_names", tuple(names))

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.injections)

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.ports)

    @cached_property
    def direct(self) -> bool:
        """Node i is the only node at switch i, for all i."""
        own = np.arange(self.switches)
        return all(ends.ndim == 2 and np.array_equal(ends[:, 0], own) for ends in (self.injections, self.consumptions))

    @cached_property
    def neighbours(self) -> Integers:
        """Switch behind each output port, int32 [switches, most ports of a switch]; -1 if there is none."""
        return self.at_ports(self.links[:, :2], self.links[:, 2])

    @cached_property
    def link_of_port(self) -> Integers:
        """Row in `links` of each output port, int32 [switches, most ports of a switch]; -1 if there is none."""
        return self.at_ports(self.links[:, :2], np.arange(len(self.links)))

    @cached_property
    def node_of_output(self) -> Integers:
        """Node that consumes at each output port, int32 [switches, most ports of a switch]; -1 if there is none."""
        return self.at_ports(self.consumptions, np.arange(self.nodes))

    @cached_property
    def node_of_input(self) -> Integers:
        """Node that injects at each input port, int32 [switches, most ports of a switch]; -1 if there is none."""
        return self.at_ports(self.injections, np.arange(self.nodes))

    def at_ports(self, ports: npt.NDArray[np.integer], values: npt.NDArray[np.integer]) -> Integers:
        """Arrange values in a table of switches and ports.

        Parameters
        ----------
        ports : int array [values, 2]
            Switch and port of each value.
        values : int array [values]

        Returns
        -------
        int32 array [switches, most ports of a switch]
            Read-only; -1 at all other ports.
        """
        table = np.full((self.switches, max(map(len, self.ports))), -1, np.int32)
        table[ports[:, 0], ports[:, 1]] = values
        table.setflags(write=False)
        return table

    @property
    def hamiltonian_labels(self) -> Integers:
        """Labels of the nodes, int32 [nodes]. A topology without labels raises `WormcastError`."""
        if self.labels is None:
            raise WormcastError(f"topology: {self.name} has no Hamiltonian labels. Allowed: meshes, and files with "
                                "labels.")
        return self.labels

    @cached_property
    def node_of_label(self) -> Integers:
        """Inverse of the labels, int32 [nodes]: the nodes along the Hamiltonian path."""
        order = np.argsort(self.hamiltonian_labels).astype(np.int32)
        order.setflags(write=False)
        return order

    def label(self, node: int) -> int:
        """Hamiltonian label of a node."""
        return int(self.hamiltonian_labels[node])

    def node_name(self, node: int) -> str:
        """Return the name of a node as a user writes it: coordinates, ``"3.2"``, or its switch's name, ``"cpu-0"``."""
        return self._node_names[node]

    @cached_property
    def _node_names(self) -> list[str]:
        own = {node: name for name, node in self._named_nodes.items()}
        return [own.get(node, ".".join(map(str, at))) for node, at in enumerate(self.coordinates.tolist())]

    @cached_property
    def _named_nodes(self) -> dict[str, int]:
        """Nodes by switch name, for the names that `node` accepts. Names without a letter, and the name ``all``, are
        left out, as they have other meanings."""
        if not self.direct:
            return {}
        return {name: node for node, name in enumerate(self.switch_names)
                if name != ALL and any(letter.isalpha() for letter in name)}

    def node_title(self, node: int) -> str:
        """Return the id of a node, followed by its name in parentheses if the name is another text: ``"20 (3.2)"``."""
        name = self.node_name(node)
        return name if name == str(node) else f"{node} ({name})"

    def switch_title(self, switch: int) -> str:
        """Return the name of a switch in text: its node's name in a direct network, else its own."""
        return self.node_name(switch) if self.direct else self.switch_names[switch]

    def node(self, specification: int | str, what: str = "node") -> int:
        """Return the id of the node that a user names.

        Parameters
        ----------
        specification : int or str
            ``20`` or ``"20"`` is an id, ``"3.2"`` are coordinates, ``"@25"`` is a Hamiltonian label, ``"cpu-0"`` is the
            name of a switch with one node.
        what : str
            First word of refusals: the option that names the node.

        Raises
        ------
        WormcastError
            The specification is none of these, or is outside the topology.
        """
        if not isinstance(specification, (int, np.integer, str)):
            raise WormcastError(f"{what}: {specification!r} is not valid. Allowed: a whole number or text.")
        text = str(specification).strip()
        if text in self._named_nodes:
            return self._named_nodes[text]
        if len(words := text.split()) > 1:
            raise WormcastError(f"{what}: {text!r} is not valid. Allowed: commas between nodes, as in "
                                f"{','.join(words)}.")
        if text.startswith("@"):
            label = -1 if self.labels is None else self._number(text[1:])
            self._require_inside(label, self.nodes, text, what)
            return int(self.node_of_label[label])
        if "." not in text:
            node = self._number(text)
            self._require_inside(node, self.nodes, text, what)
            return node
        fields = text.split(".")
        if len(fields) != len(self.shape):
            has = "1, an id" if len(self.shape) == 1 else f"{len(self.shape)}"
            raise WormcastError(f"{what}: {text!r} has {count(len(fields), 'coordinate')} in {self.name}. Needed: "
                                f"{has}.")
        node = 0
        for field, extent in zip(fields, self.shape, strict=True):
            coordinate = self._number(field)
            self._require_inside(coordinate, extent, text, what)
            node = node * extent + coordinate
        return node

    def node_set(self, specifications: str | Iterable[int | str], what: str = "node") -> list[int]:
        """Return the ids of several nodes, in the order given: ``"5.0,@25,7"`` or an iterable of nodes. Refusals begin
        with ``what``."""
        if isinstance(specifications, str):
            names = specifications.split(",") if specifications.strip() else []
            if not all(map(str.strip, names)):
                given = ",".join(name.strip() for name in names if name.strip())
                raise WormcastError(f"{what}: {specifications!r} is not valid: a node is missing beside a comma. "
                                    f"Needed, for example: {given or '0'}.")
            specifications = names
        return [self.node(one, what) for one in specifications]

    def destination_set(self, specifications: str | Iterable[int | str], source: int) -> list[int]:
        """Return the ids of a multicast's destinations, as `node_set`. ``"all"`` is every node but the source."""
        if isinstance(specifications, str) and specifications.strip() == ALL:
            return [node for node in range(self.nodes) if node != source]
        if (isinstance(specifications, str) and ALL in map(str.strip, specifications.split(","))
                and ALL not in self._named_nodes):
            raise WormcastError(f"destinations: {specifications!r} is not valid: {ALL} is listed with other nodes. "
                                f"Allowed: {ALL} alone, or nodes.")
        return self.node_set(specifications, "destinations")

    @property
    def _corner(self) -> str:
        """Largest coordinates."""
        return ".".join(str(extent - 1) for extent in self.shape)

    @staticmethod
    def _number(digits: str) -> int:
        """Return the number with these digits; -1 for other text."""
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1

    def _require_inside(self, value: int, extent: int, text: str, what: str) -> None:
        """Refuse a value from ``extent`` on. The value -1 stands for text that names no node."""
        if not 0 <= value < extent:
            kinds = [f"an id (up to {self.nodes - 1})",
                     *([f"coordinates (up to {self._corner})"] if len(self.shape) > 1 else []),
                     *([f"a label (up to @{self.nodes - 1})"] if self.labels is not None else []),
                     *([f"a name such as {next(iter(self._named_nodes))}"] if self._named_nodes else [])]
            allowed = " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
            raise WormcastError(f"{what}: {text!r} is not in {self.name}. Allowed: {allowed}.")

    def describe(self) -> dict[str, Any]:
        """Return the network as plain data for JSON. Ports are written by name."""
        return {
            "topology": self.name,
            "kind": self.kind,
            "shape": list(self.shape),
            "nodes": [
                {
                    "id": node,
                    "coordinates": self.coordinates[node].tolist(),
                    "label": None if self.labels is None else self.label(node),
                    **self._attachment(node),
                }
                for node in range(self.nodes)
            ],
            "switches": [{"id": switch, "name": name, "ports": list(ports)}
                         for switch, (name, ports) in enumerate(zip(self.switch_names, self.ports, strict=True))],
            "links": [
                {"from": start, "out": self.ports[start][leave], "to": end, "in": self.ports[end][enter]}
                for start, leave, end, enter in self.links.tolist()
            ],
        }

    def _attachment(self, node: int) -> dict[str, Any]:
        """Switch and port where a node injects; also those where it consumes, if they differ."""
        (switch, port), (to_switch, to_port) = self.injections[node].tolist(), self.consumptions[node].tolist()
        place: dict[str, Any] = {"switch": switch, "port": self.ports[switch][port]}
        if (switch, port) != (to_switch, to_port):
            place["consumes"] = {"switch": to_switch, "port": self.ports[to_switch][to_port]}
        return place
