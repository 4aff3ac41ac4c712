"""Base class of all header decoders: a switch's ports and straps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.consumption import ConsumptionClasses
from wormcast.algorithms.ejection import EJECTION
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.routing import Routes

from ..options import INJECTION
from ..router_kind import SwitchKind
from .table_memory import RouteRows, TableBits

if TYPE_CHECKING:
    from amaranth.lib.data import StructLayout

__all__ = ["ANY_CHANNEL", "Decoder"]

ANY_CHANNEL = ConsumptionClasses()


class Decoder(ABC):
    """Header decoder of a switch, on the write side of the buffers. One decoder object serves all inputs of a switch.

    Parameters
    ----------
    kind : SwitchKind
        The switch's ports.
    injection : "one" or "all"
        ``one``: one injection port for each node; ``all``: one for each node and each output to another switch.
    ejection : "one" or "all"
        ``one``: one ejection port for each node; ``all``: one for each node and each source of worms that can end
        there. The sources of worms for a node are the inputs from other switches, and the other nodes of this switch.
    consumption : ConsumptionClasses
        The consumption channels that a worm may reserve at a stop on its way, by the class of its hop.
    vc_classes : int
        Number of classes of virtual channels of the outputs to other switches: class k of K has channels k*V/K to
        (k+1)*V/K - 1 of V.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of the ports: ports from and to other switches first, then ports from and to nodes.
    links_in, ejection : int
        Number of inputs from other switches; number of outputs to other switches, which is the index of the first
        ejection port.
    injections : tuple of tuple of int
        For each injection port of ``kind``, in the order of `SwitchKind.injections`: indices of the inputs from its
        node. With injection ``all``, the k-th input from a node leads only to the k-th output to another switch, and to
        other nodes of this switch.
    ejections : tuple of tuple of int
        For each ejection port of ``kind``, in the order of `SwitchKind.ejections`: indices of the outputs to its node.
    straps : dict of str to int
        Static inputs of the switch (coordinates, ids), and their widths in bits.
    enters_empty : bool
        True: a worm takes a virtual channel of a link only while the buffer at the receiving end is empty.
    absorbs : bool
        True: a worm ends at the first of its destinations. The rest of an absorbed worm's header and its payload leave
        by the consumption channel, and the node's interface retransmits both. With ``absorbs``, a worm takes a
        consumption channel only while the channel's buffer is empty.
    table_bits : TableBits or None
        Widths of an address and an entry of the input tables; None if the decoder has no tables in memories. For a
        decoder with tables, the argument ``straps`` of `decode` also has the entry ``table``.
    """

    straps: dict[str, int]
    table_bits: TableBits | None = None
    enters_empty = False
    absorbs = False

    def __init__(self, kind: SwitchKind, *, injection: str = "one", ejection: str = "one",
                 consumption: ConsumptionClasses = ANY_CHANNEL, vc_classes: int = 1):
        for field_, value, allowed in (("injection", injection, INJECTION), ("ejection", ejection, EJECTION)):
            if value not in allowed:
                raise WormcastError(f"{type(self).__name__}.{field_}: {value!r} is not valid. Allowed: "
                                    f"{', '.join(allowed)}.")
        self.kind = kind
        self.injection = injection
        self.consumption = consumption
        self.vc_classes = vc_classes
        inputs, outputs = ([kind.name(p) for p in ports] for ports in (kind.network_inputs, kind.network_outputs))
        self.links_in, self.ejection = len(inputs), len(outputs)
        self._port_each = injection == "all" and bool(outputs)
        injections = [[f"{kind.name(p)}_{name}" for name in outputs] if self._port_each else [kind.name(p)]
                      for p in kind.injections]
        self.injections = _numbered(self.links_in, injections)
        self.inputs = (*inputs, *(name for names in injections for name in names))
        ways_in = [*((name, (i,)) for i, name in enumerate(inputs)),
                   *((kind.name(p), ports) for p, ports in zip(kind.injections, self.injections, strict=True))]
        self._ejection_ports: list[list[int]] = [[] for _ in self.inputs]
        names, ejections = list(outputs), []
        for e, p in enumerate(kind.ejections):
            first = len(names)
            # a node sends nothing to itself
            ends = [way for n, way in enumerate(ways_in, -self.links_in) if n < 0 or kind.own[n] != e]
            names += [f"{kind.name(p)}_{name}" for name, _ in ends] if ejection == "all" else [kind.name(p)]
            ejections.append(tuple(range(first, len(names))))
            for k, (_, ports) in enumerate(ends):
                for port in ports:
                    self._ejection_ports[port].append(first + (k if ejection == "all" else 0))
        self.ejections = tuple(ejections)
        self.outputs = tuple(names)

    @property
    def signature(self) -> str:
        """Description of the hardware as text. Decoders with equal signatures have the same hardware."""
        parts = {name: value for name, value in sorted(vars(self).items()) if name != "kind"}
        return f"{type(self).__name__} {self.kind.signature} {parts}"

    @property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of the inputs from nodes."""
        return self.inputs[self.links_in:]

    def ejection_ports(self, port: int) -> list[int]:
        """Return the ejection ports at which a worm from input ``port`` can end."""
        return self._ejection_ports[port]

    def delivers(self, port: int) -> bool:
        """Return whether a worm from input ``port`` can have a node of this switch among its destinations."""
        return bool(self._ejection_ports[port])

    def reaches(self, port: int) -> list[int]:
        """Return the outputs to other switches that a worm from input ``port`` may take."""
        if port >= self.links_in:
            own = next(ports for ports in self.injections if port in ports)
            return [own.index(port)] if self._port_each else list(range(self.ejection))
        return [o for o in range(self.ejection) if o != self.kind.back[port] and self.turns(port, o)]

    def turns(self, port: int, output: int) -> bool:
        """Return whether a worm may turn from input ``port`` to ``output``, which leads to another switch."""
        return True

    @property
    def table_layout(self) -> StructLayout | None:
        """Layout of a write to an input's table; None without tables."""
        return self.table_bits and self.table_bits.layout

    @property
    def table_count(self) -> int:
        """Number of tables of a switch. On the configuration bus the tables of the inputs have the first numbers."""
        return len(self.inputs)

    def phases(self, routes: Routes, kind: SwitchKind) -> npt.NDArray[np.int32]:
        """Return the routing phase of the worms of each input, int32 [inputs, members].

        The phase is -1 for a network input without a link, and 0 for an injection port without a node.
        """
        topology = routes.topology
        known = topology.at_ports(topology.links[:, 2:], routes.phase_of_link)
        found = np.zeros((len(self.inputs), len(kind.members)), np.int32)
        found[:self.links_in] = known[kind.members][:, list(kind.network_inputs)].T
        sources = topology.node_of_input[kind.members]
        for port, inputs in zip(kind.injections, self.injections, strict=True):
            nodes = sources[:, port]
            found[list(inputs)] = np.where(nodes < 0, 0, routes.phase_of_node[nodes])
        return found

    def memories(self, routes: Routes, kind: SwitchKind) -> list[RouteRows]:
        """Return the contents of the table memories of a kind's members; empty without such memories.

        Routes that the memories cannot hold are refused.
        """
        return []

    @abstractmethod
    def strap_values(self, routes: Routes, kind: SwitchKind) -> dict[str, list[int]]:
        """Return the strap values of a kind's members, by strap.

        Some decoders refuse routes that they do not support.
        """


def _numbered(first: int, groups: list[list[str]]) -> tuple[tuple[int, ...], ...]:
    """Number the names of all groups consecutively from `first`."""
    found, at = [], first
    for names in groups:
        found.append(tuple(range(at, at + len(names))))
        at += len(names)
    return tuple(found)
