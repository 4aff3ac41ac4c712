"""Kinds of switches: groups of a network's switches with equal ports and therefore equal hardware."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.topologies.base import Topology
from wormcast.algorithms.topologies.port_uses import LINK, NODE, built_alike, same_end, way_back

__all__ = ["SwitchKind", "switch_kinds"]

Ids = npt.NDArray[np.int64]

#: Port name that consists of the name of a dimension and a sign.
SIGNED = re.compile("([A-Za-z][A-Za-z0-9]*)([+-])")

WORDS = {"+": "plus", "-": "minus"}

#: Beginnings of the names of a switch's own ports and units, and a name that members of a bundle cannot have.
RESERVED = {"allocator", "clk", "fault", "minus", "order", "plus", "rst", "signature", "strap", "tables", "token"}


@dataclass(frozen=True, eq=False)
class SwitchKind:
    """Switches with equal hardware, which differ in their straps and tables only.

    ::

        network_inputs[i]  ─▶ input i ─┐ ┌─ output o ─▶ network_outputs[o]
        injections[n]      ─▶ behind  ─┘ └─ behind   ─▶ ejections[n]

    Ports have two numbers. In the topology, an input and an output with the same name have one number. The hardware
    numbers inputs and outputs separately: ports from or to other switches first, then those of nodes, each in the order
    of the topology's numbers.

    Parameters
    ----------
    members : int array
        Ids of its switches, ascending.
    names : tuple of str
        Names of the topology's ports.
    network_inputs, network_outputs : tuple of int
        Topology's numbers of the ports with links from other switches, and of those with links to other switches.
    injections, ejections : tuple of int
        Topology's numbers of the injection and the ejection ports.
    back : tuple of (int or None)
        For each network input, the hardware's number of the network output to the same neighbour; None without such an
        output. The entry of ``back`` is equal in all switches of the kind that have both links. Worms do not take the
        turn from a network input to its output in ``back``, except worms of a `CopyingDecoder`.
    own : tuple of (int or None)
        For each injection port, the index in ``ejections`` of the same node's ejection port, equal in all switches of
        the kind; None without such an ejection port.
    """

    members: Ids
    names: tuple[str, ...]
    network_inputs: tuple[int, ...]
    network_outputs: tuple[int, ...]
    injections: tuple[int, ...]
    ejections: tuple[int, ...]
    back: tuple[int | None, ...]
    own: tuple[int | None, ...]

    def name(self, port: int) -> str:
        """Return the name of a topology's port in signal names: ``x_plus`` for ``x+``."""
        return self._signal_names[port]

    def title(self, port: str) -> str:
        """Return the topology's name of a switch's port: ``x+`` for ``x_plus``.

        A node's port that serves only one link, such as ``n_x_plus``, has the names of the node's port and of the
        link's port: ``n_x+``.
        """
        ours = dict(zip(self._signal_names, self.names, strict=True))
        both = {f"{first}_{second}": f"{ours[first]}_{ours[second]}" for first in ours for second in ours}
        return (both | ours)[port]

    @cached_property
    def _signal_names(self) -> tuple[str, ...]:
        """Signal names of all ports. All names are distinct."""
        stay = {name for name in self.names if re.fullmatch("[A-Za-z][A-Za-z0-9]*", name)} - RESERVED
        found: list[str] = []
        for name in self.names:
            signed = SIGNED.fullmatch(name)
            said = f"{signed[1]}_{WORDS[signed[2]]}" if signed else re.sub("[^A-Za-z0-9]", "", name)
            if not said[:1].isalpha() or said in RESERVED:
                said = f"port{said}"
            while said in found or said in stay - {name}:
                said += "x"
            found.append(said)
        return tuple(found)

    @property
    def signature(self) -> tuple:
        """All properties that the hardware depends on: kinds with equal signatures are the same hardware."""
        return (self.names, self.network_inputs, self.network_outputs, self.injections, self.ejections, self.back,
                self.own)

    def nodes_at(self, topology: Topology) -> npt.NDArray[np.int32]:
        """Return the node at each ejection port of each of the kind's switches, int32 [members, ejections]; -1:
        none."""
        return topology.node_of_output[self.members[:, None], list(self.ejections)]

    @property
    def output_numbers(self) -> Ids:
        """The hardware's number of the output at each of the topology's ports, int64 [ports]; -1 without an output."""
        numbers = np.full(len(self.names), -1, np.int64)
        numbers[[*self.network_outputs, *self.ejections]] = range(len(self.network_outputs) + len(self.ejections))
        return numbers


def switch_kinds(topology: Topology) -> tuple[SwitchKind, ...]:
    """Group the switches of a network by their ports and links, in the order of their first members.

    `built_ports` decides whether hardware is built for ports without a link.
    """
    return tuple(_kind(topology, *group) for group in built_alike(topology))


def _kind(topology: Topology, members: Ids, names: tuple[str, ...], into: tuple[str, ...],
          out: tuple[str, ...]) -> SwitchKind:
    inputs, outputs = ([p for p, use in enumerate(uses) if use == LINK] for uses in (into, out))
    injections, ejections = ([p for p, use in enumerate(uses) if use == NODE] for uses in (into, out))
    sources = topology.node_of_input[members[:, None], injections]
    nodes = topology.node_of_output[members[:, None], ejections]
    return SwitchKind(
        members, names, tuple(inputs), tuple(outputs), tuple(injections), tuple(ejections),
        back=way_back(topology, members, inputs, outputs), own=same_end(sources, nodes, injections, ejections),
    )
