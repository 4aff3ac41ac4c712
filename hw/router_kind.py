"""Kinds of switches: what those of a network have in common, by what their ports lead to."""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.topologies.base import Topology
from wormcast.algorithms.topologies.joined import LINK, NODE, built_alike, same_end, way_back

__all__ = ["SwitchKind", "switch_kinds"]

Ids = npt.NDArray[np.int64]

#: A name of a dimension with a sign behind it.
SIGNED = re.compile("([A-Za-z][A-Za-z0-9]*)([+-])")

WORDS = {"+": "plus", "-": "minus"}

#: What names of a switch's own ports and parts begin with.
RESERVED = {"allocator", "clk", "fault", "minus", "order", "plus", "rst", "strap", "tables", "token"}


@dataclass(frozen=True, eq=False)
class SwitchKind:
    """Switches that are one piece of hardware: they differ in their straps and tables alone.

    ::

        network_inputs[i]  ─▶ input i ─┐ ┌─ output o ─▶ network_outputs[o]
        injections[n]      ─▶ behind  ─┘ └─ behind   ─▶ ejections[n]

    Ports are numbered twice. The topology has one number for an input and an output of a name; the hardware has one row
    of inputs, those from other switches first and then those from nodes, and one of outputs, likewise. Each row is in
    the order of the topology's numbers.

    Parameters
    ----------
    members : int array
        Ids of its switches, ascending.
    names : tuple of str
        Names of the topology's ports.
    network_inputs, network_outputs : tuple of int
        Topology's numbers of the ports that links from and to other switches are joined to.
    injections, ejections : tuple of int
        Topology's numbers of the ports by which nodes inject and consume.
    back : tuple of (int or None)
        For each network input the network output (a number of the hardware) that leads to the same one neighbour in
        every member where both are joined; None if there is none: no worm needs that turn.
    own : tuple of (int or None)
        For each of the injections the one of the ejections, counted from 0, that belongs to the same node in every
        member; None if there is none.
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
        """Name of a topology's port as it appears in signals: ``x_plus`` of ``x+``."""
        return self._signal_names[port]

    def title(self, port: str) -> str:
        """Name of one of a switch's ports as the topology has it: ``x+`` of ``x_plus``.

        Of a port that a node has for each link, ``n_x_plus``, it is both names: ``n_x+``.
        """
        ours = dict(zip(self._signal_names, self.names, strict=True))
        both = {f"{first}_{second}": f"{ours[first]}_{ours[second]}" for first in ours for second in ours}
        return (both | ours)[port]

    @cached_property
    def _signal_names(self) -> tuple[str, ...]:
        """Names of all ports as names of signals: distinct ones, and without an underscore, as that begins what is
        appended to them."""
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
        """What hardware depends on: two kinds with equal ones are the same."""
        return (self.names, self.network_inputs, self.network_outputs, self.injections, self.ejections, self.back,
                self.own)

    def nodes_at(self, topology: Topology) -> npt.NDArray[np.int32]:
        """Nodes that consume at the ejections of each member, int32 [members, ejections]; -1 where there is none."""
        return topology.node_of_output[self.members[:, None], list(self.ejections)]

    @property
    def output_numbers(self) -> Ids:
        """For each of the topology's ports the number of the output, of a node's the kind's ejection behind the links;
        int64 [ports], -1 where none is built."""
        numbers = np.full(len(self.names), -1, np.int64)
        numbers[[*self.network_outputs, *self.ejections]] = range(len(self.network_outputs) + len(self.ejections))
        return numbers


def switch_kinds(topology: Topology) -> tuple[SwitchKind, ...]:
    """Group the switches of a network by what their ports lead to, in the order of their first members.

    Ports that are left open are built as `built_ports` says.
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
