"""A network as plain data: what composition, routing and plans need to know of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from .coordinates import Places, places_by_level

__all__ = ["Places", "Topology"]

Integers = npt.NDArray[np.int32]

#: All nodes but the source, where destinations are named.
ALL = "all"


class _PlacesOfTopology:
    """The field `Topology.places`: what it was made with, or else a layout by levels, made when first asked for."""

    def __get__(self, topology: "Topology | None", owner: type) -> Places:
        if topology is None:
            return None  # type: ignore[return-value]  # the field's default
        if vars(topology).get("_places") is None:
            vars(topology)["_places"] = places_by_level(topology)
        return vars(topology)["_places"]

    def __set__(self, topology: "Topology", places: Places | None) -> None:
        vars(topology)["_places"] = places


@dataclass(frozen=True, eq=False)
class Topology:
    """A network of switches, the links between them, and the nodes attached to them.

    Nodes and switches are numbered apart. In a direct network (a mesh) node i sits at switch i. An indirect one has
    switches without nodes, several nodes at a switch, or nodes that inject at one switch and consume at another. All
    arrays are read-only.

    Parameters
    ----------
    name : str
        The specification that builds it, in its shortest form: ``"mesh:8x8"``.
    kind : str
        The part before the colon: ``"mesh"``.
    shape : tuple of int
        Extents of the coordinates. Ids are row-major in it: the last coordinate runs fastest.
    ports : tuple of tuple of str, [switches][ports]
        Port names of each switch. An input and an output share index and name; they need not lead to the same place.
    links : int32 array [links, 4]
        One row a unidirectional link between two switches: from switch, its output port, to switch, its
        input port; links may be parallel. A port that is in no row and has no node is left open.
    injections, consumptions : int32 array [nodes, 2]
        Where a node injects, switch and input port, and where it consumes, switch and output port. One node a port.
    coordinates : int32 array [nodes, dimensions]
        Coordinates of the nodes, in the order in which they are written.
    labels : int32 array [nodes], optional
        Place of each node on the Hamiltonian path, where the kind has one.
    switch_names : tuple of str, optional
        Names of the switches; by default the ids of the nodes in a direct network, and ``s0``, ``s1``, ... in others.
    places : Places, optional
        Where switches and nodes are drawn; by default by the levels of the breadth-first tree from the root.
    root : int
        Switch from which breadth-first trees grow.
    origin : str, optional
        What `topology` builds it from again; by default its name, of a file's network what the user wrote.
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
    root: int = 0
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
        """Whether node i, and no other, sits at switch i."""
        own = np.arange(self.switches)
        return all(ends.ndim == 2 and np.array_equal(ends[:, 0], own) for ends in (self.injections, self.consumptions))

    @cached_property
    def neighbours(self) -> Integers:
        """Switch behind each output port, int32 [switches, most ports of a switch]; -1 where none is."""
        return self.at_ports(self.links[:, :2], self.links[:, 2])

    @cached_property
    def link_of_port(self) -> Integers:
        """Row in `links` of each output port, int32 [switches, most ports of a switch]; -1 where none is."""
        return self.at_ports(self.links[:, :2], np.arange(len(self.links)))

    @cached_property
    def node_of_output(self) -> Integers:
        """Node that consumes at each output port, int32 [switches, most ports of a switch]; -1 where none does."""
        return self.at_ports(self.consumptions, np.arange(self.nodes))

    @cached_property
    def node_of_input(self) -> Integers:
        """Node that injects at each input port, int32 [switches, most ports of a switch]; -1 where none does."""
        return self.at_ports(self.injections, np.arange(self.nodes))

    def at_ports(self, ports: npt.NDArray[np.integer], values: npt.NDArray[np.integer]) -> Integers:
        """Lay values out by the ports that they belong to.

        Parameters
        ----------
        ports : int array [values, 2]
            Switch and port of each.
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
        """Labels of the nodes, int32 [nodes]; refused with a sentence where the kind has none."""
        if self.labels is None:
            raise WormcastError(f"topology: {self.name} has no Hamiltonian labels, meshes have them")
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
        """Name of a node as a user writes it: its coordinates, ``"3.2"``, or its switch's own name, ``"cpu-0"``."""
        return self._node_names[node]

    @cached_property
    def _node_names(self) -> list[str]:
        return list(self._named_nodes) or [".".join(map(str, at)) for at in self.coordinates.tolist()]

    @cached_property
    def _named_nodes(self) -> dict[str, int]:
        """Nodes by the names of their switches, where these are names of a user's, and none looks like anything else
        that `node` takes."""
        if not self.direct or not all(any(letter.isalpha() for letter in name) and name != ALL
                                      for name in self.switch_names):
            return {}
        return {name: node for node, name in enumerate(self.switch_names)}

    def switch_title(self, switch: int) -> str:
        """Name of a switch in text: its node's coordinates in a direct network, else its own."""
        return self.node_name(switch) if self.direct else self.switch_names[switch]

    def node(self, specification: int | str) -> int:
        """Find the id of the node that a user names.

        Parameters
        ----------
        specification : int or str
            ``20`` or ``"20"`` is an id, ``"3.2"`` are coordinates, ``"@25"`` is a Hamiltonian label. ``"cpu-0"`` is the
            name of a switch with one node.

        Raises
        ------
        WormcastError
            It is none of these, or lies outside the topology.
        """
        if not isinstance(specification, (int, np.integer, str)):
            raise WormcastError(f"node: {specification!r} is neither a whole number nor text")
        text = str(specification).strip()
        if text in self._named_nodes:
            return self._named_nodes[text]
        if text.startswith("@"):
            label = self._number(text[1:], text)
            self._require_inside(label, self.nodes, text, "labels")
            return int(self.node_of_label[label])
        if "." not in text:
            node = self._number(text, text)
            self._require_inside(node, self.nodes, text, "ids")
            return node
        fields = text.split(".")
        if len(fields) != len(self.shape):
            has = "names its nodes by their ids" if len(self.shape) == 1 else f"has {len(self.shape)}"
            raise WormcastError(f"node: {text!r} has {len(fields)} coordinates, {self.name} {has}")
        node = 0
        for field, extent in zip(fields, self.shape, strict=True):
            coordinate = self._number(field, text)
            self._require_inside(coordinate, extent, text, "coordinates here")
            node = node * extent + coordinate
        return node

    def node_set(self, specifications: str | Iterable[int | str]) -> list[int]:
        """Find the ids of several nodes, in the order given: ``"5.0,@25,7"`` or any iterable of such."""
        if isinstance(specifications, str):
            names = specifications.split(",") if specifications.strip() else []
            if not all(map(str.strip, names)):
                raise WormcastError(f"node: {specifications!r} has no node beside a comma, commas stand between nodes")
            specifications = names
        return [self.node(one) for one in specifications]

    def destination_set(self, specifications: str | Iterable[int | str], source: int) -> list[int]:
        """Find the ids of a multicast's destinations, as `node_set`; ``"all"`` is every node but the source."""
        if isinstance(specifications, str) and specifications.strip() == ALL:
            return [node for node in range(self.nodes) if node != source]
        return self.node_set(specifications)

    def _number(self, digits: str, text: str) -> int:
        if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
            corner = ".".join(str(extent - 1) for extent in self.shape)
            coordinates = "" if len(self.shape) == 1 else f", coordinates (up to {corner})"
            label = "" if self.labels is None else f" or a label (up to @{self.nodes - 1})"
            name = f", or a name as {self._node_names[0]}" if self._named_nodes else ""
            raise WormcastError(f"node: {text!r} is none of {self.name}, allowed is an id (up to {self.nodes - 1})"
                                f"{coordinates}{label}{name}")
        return int(digits)

    def _require_inside(self, value: int, extent: int, text: str, what: str) -> None:
        if value >= extent:
            raise WormcastError(f"node: {text!r} is outside {self.name}, {what} go from 0 to {extent - 1}")

    def describe(self) -> dict[str, Any]:
        """Everything above as plain data for JSON; ports by name."""
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
        """Switch and port of a node; those where it consumes too, if they are others."""
        (switch, port), (to_switch, to_port) = self.injections[node].tolist(), self.consumptions[node].tolist()
        place: dict[str, Any] = {"switch": switch, "port": self.ports[switch][port]}
        if (switch, port) != (to_switch, to_port):
            place["consumes"] = {"switch": to_switch, "port": self.ports[to_switch][to_port]}
        return place
