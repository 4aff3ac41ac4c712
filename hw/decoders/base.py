"""What every header decoder is: a switch's ports, and the straps that tell one switch from the next."""

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
from .tabled import RouteRows, TableBits

if TYPE_CHECKING:
    from amaranth.lib.data import StructLayout

__all__ = ["ANY_CHANNEL", "Decoder"]

ANY_CHANNEL = ConsumptionClasses()


class Decoder(ABC):
    """Says where a switch's worms go, on the buffers' write side. One instance serves a whole switch.

    Parameters
    ----------
    kind : SwitchKind
        The switch's ports.
    injection : "one" or "all"
        One injection port for each node, or one for each node and port to another switch.
    ejection : "one" or "all"
        One ejection port for each node, or one for each node and way in from which worms can end there: each input
        from another switch, and each other node of this one.
    consumption : ConsumptionClasses
        Which consumption channels a worm may reserve.
    vc_classes : int
        Classes of virtual channels of the outputs to other switches: class k of K has channels k*V/K to
        (k+1)*V/K - 1 of V.

    Attributes
    ----------
    inputs, outputs : tuple of str
        Names of the ports: those from and to other switches first, then those from and to nodes.
    links_in, ejection : int
        How many of them are those of other switches, of the inputs and of the outputs.
    injections : tuple of tuple of int
        Inputs from each node, in the order of the kind's injections. With ``all`` the k-th leads to the k-th output
        alone, and to other nodes here.
    ejections : tuple of tuple of int
        Outputs to each node, in the order of the kind's ejections.
    straps : dict of str to int
        Static inputs of the switch (coordinates, ids), and their widths in bits.
    enters_empty : bool
        A worm takes a virtual channel of a link only while the buffer there is empty.
    absorbs : bool
        A worm ends at the first of its destinations. What is left of its header leaves with the payload, by the
        consumption channel: the node's interface sends both on. A worm takes a consumption channel only while its
        buffer is empty.
    table_bits : TableBits or None
        Bits by which an entry of an input's table is written, where the decoder has tables: then `decode` is given
        ``table`` among the straps.
    """

    straps: dict[str, int]
    table_bits: TableBits | None = None
    enters_empty = False
    absorbs = False

    def __init__(self, kind: SwitchKind, *, injection: str = "one", ejection: str = "one",
                 consumption: ConsumptionClasses = ANY_CHANNEL, vc_classes: int = 1):
        for field_, value, allowed in (("injection", injection, INJECTION), ("ejection", ejection, EJECTION)):
            if value not in allowed:
                raise WormcastError(f"decoder.{field_}: {value!r} is given, allowed are {', '.join(allowed)}")
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
        self._exits: list[list[int]] = [[] for _ in self.inputs]
        names, ejections = list(outputs), []
        for e, p in enumerate(kind.ejections):
            first = len(names)
            # all that a node sends is for others
            ends = [way for n, way in enumerate(ways_in, -self.links_in) if n < 0 or kind.own[n] != e]
            names += [f"{kind.name(p)}_{name}" for name, _ in ends] if ejection == "all" else [kind.name(p)]
            ejections.append(tuple(range(first, len(names))))
            for k, (_, ports) in enumerate(ends):
                for port in ports:
                    self._exits[port].append(first + (k if ejection == "all" else 0))
        self.ejections = tuple(ejections)
        self.outputs = tuple(names)

    @property
    def signature(self) -> str:
        """What it is built of, in words: two decoders with equal ones are the same hardware."""
        parts = {name: value for name, value in sorted(vars(self).items()) if name != "kind"}
        return f"{type(self).__name__} {self.kind.signature} {parts}"

    @property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of the inputs from nodes."""
        return self.inputs[self.links_in:]

    def exits(self, port: int) -> list[int]:
        """Ejection ports that a worm from input ``port`` can end at."""
        return self._exits[port]

    def delivers(self, port: int) -> bool:
        """Whether a worm from input ``port`` can have a node of this switch among its destinations."""
        return bool(self._exits[port])

    def reaches(self, port: int) -> list[int]:
        """Outputs to other switches that a worm from input ``port`` may go on to."""
        if port >= self.links_in:
            own = next(ports for ports in self.injections if port in ports)
            return [own.index(port)] if self._port_each else list(range(self.ejection))
        return [o for o in range(self.ejection) if o != self.kind.back[port] and self.turns(port, o)]

    def turns(self, port: int, output: int) -> bool:
        """Whether some worm may go from input ``port`` to another switch's ``output``."""
        return True

    @property
    def table_layout(self) -> StructLayout | None:
        """How an entry of an input's table is written."""
        return self.table_bits and self.table_bits.layout

    @property
    def table_count(self) -> int:
        """Tables of a switch, by the numbers that the bus calls them: those of the inputs come first."""
        return len(self.inputs)

    def phases(self, routes: Routes, kind: SwitchKind) -> npt.NDArray[np.int32]:
        """Phase of the worms that come by each input, int32 [inputs, members]; -1 where nothing is joined to it."""
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
        """What the memories of a kind's members hold, where the decoder has tables; refuses as `strap_values` does."""
        return []

    @abstractmethod
    def strap_values(self, routes: Routes, kind: SwitchKind) -> dict[str, list[int]]:
        """Values of the straps of a kind's members; refuses routes that the decoder is not built for."""


def _numbered(first: int, groups: list[list[str]]) -> tuple[tuple[int, ...], ...]:
    """Count on from a number: those of each group's names."""
    found, at = [], first
    for names in groups:
        found.append(tuple(range(at, at + len(names))))
        at += len(names)
    return tuple(found)
