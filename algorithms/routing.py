"""Routing relations: which way a worm leaves a switch for its next destination.

A relation is data: bound to a topology it is one table, ``table[switch, node]`` = output port. Paths, plans,
deadlock analysis and route memories all read that table. A new relation is one class with one method.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .compiled import compiled
from .errors import WormcastError, told
from .topologies.base import Topology
from .topologies.mesh import mesh_directions
from .worms import Worms

__all__ = ["E_CUBE", "HAMILTONIAN", "ECube", "Hamiltonian", "Relation", "Routes", "next_hop", "walk"]


class Relation(ABC):
    """A deterministic relation: the output port depends on the switch and the next destination alone."""

    name: str
    description: str = ""

    @abstractmethod
    def table(self, topology: Topology) -> npt.NDArray[np.int8]:
        """Compute the table of output ports, int8 [switches, nodes]; a node's own switch answers its port.

        Raises
        ------
        WormcastError
            The relation is not defined on this topology.
        """

    def on(self, topology: Topology) -> "Routes":
        """Bind the relation to a topology, whatever its author did.

        Raises
        ------
        WormcastError
            Its table cannot be computed, or is none.
        """
        try:
            return self._on(topology)
        except WormcastError:
            raise
        except Exception as error:
            raise WormcastError(
                f"relation {self.name}: no table for {topology.name} can be had from it "
                f"({told(error, type(self).__module__)})"
            ) from error

    @lru_cache(maxsize=16)  # noqa: B019  (relations live as long as the program)
    def _on(self, topology: Topology) -> "Routes":
        return Routes(self, topology, self.table(topology))


class ECube(Relation):
    """Dimension order, last dimension first: in a row to the right column, then in that column.

    Source: [Boppana98], section 2 ("row first").
    """

    name = "e-cube"
    description = "dimension order, last dimension first: along the row, then along the column"

    def table(self, topology: Topology) -> npt.NDArray[np.int8]:
        """Compute the table; defined on meshes."""
        if topology.kind != "mesh":
            raise WormcastError(f"relation e-cube: {topology.name} is no mesh, e-cube is defined on meshes")
        local = topology.ports[0].index("local")
        table = np.full((topology.nodes, topology.nodes), local, np.int8)
        # Backwards, as later writes win: the last dimension comes first among the ports and in the route.
        for port, (dimension, step) in reversed(list(enumerate(mesh_directions(topology.shape)))):
            at = topology.coordinates[:, None, dimension]
            to = topology.coordinates[None, :, dimension]
            table[(to - at) * step > 0] = port
        return table


class Hamiltonian(Relation):
    """R of Lin and Ni: the neighbour nearest to the destination's label without passing it.

    Towards a higher label: the neighbour with the largest label not above the destination's; towards a lower
    one: the neighbour with the smallest label not below it. Labels along a path only rise or only fall, which
    is why it cannot deadlock; on two-dimensional meshes its paths are also shortest, beyond that not always.
    Source: [Boppana98], section 2.1; [Amnah] has the same.
    """

    name = "hamiltonian"
    description = "R of Lin and Ni: the neighbour nearest to the destination's label without passing it"

    def table(self, topology: Topology) -> npt.NDArray[np.int8]:
        """Compute the table; defined where nodes have Hamiltonian labels and a switch each."""
        labels = topology.hamiltonian_labels
        own, to = labels[:, None], labels[None, :]
        table = np.broadcast_to(topology.consumptions[:, 1].astype(np.int8), (len(labels), len(labels))).copy()
        nearest = np.broadcast_to(own, table.shape)
        for port in range(topology.neighbours.shape[1]):
            neighbour = topology.neighbours[:, port]
            label = labels[neighbour][:, None]  # of a missing neighbour: masked in the next line
            there = (neighbour >= 0)[:, None]
            better = there & (((nearest < label) & (label <= to)) | ((to <= label) & (label < nearest)))
            table[better] = port
            nearest = np.where(better, label, nearest)
        return table


@dataclass(frozen=True, eq=False)
class Routes:
    """A relation on a topology.

    Parameters
    ----------
    relation : Relation
        Whose table it is.
    topology : Topology
        On which network.
    table : int8 array [switches, nodes]
        Output port of a switch towards a node: the node's own port at its own switch, -1 where the relation
        has no way from here.

    Raises
    ------
    WormcastError
        The table has another shape, or names a port that has no link and is not the node's own.
    """

    relation: Relation
    topology: Topology
    table: npt.NDArray[np.int8]

    def __post_init__(self) -> None:
        topology, table = self.topology, self.table
        if not isinstance(table, np.ndarray):
            raise WormcastError(f"relation {self.relation.name}: its table is a {type(table).__name__}, not an array")
        expected = (topology.switches, topology.nodes)
        most = topology.neighbours.shape[1]
        if table.shape != expected or table.dtype != np.int8 or table.min() < -1 or table.max() >= most:
            raise WormcastError(
                f"relation {self.relation.name}: the table for {topology.name} must be int8 {list(expected)} "
                f"with ports from -1 to {most - 1}, it is {table.dtype} {list(table.shape)} "
                f"with ports from {table.min()} to {table.max()}"
            )
        behind = topology.neighbours[np.arange(topology.switches)[:, None], table]
        own = np.zeros(expected, bool)
        own[topology.consumptions[:, 0], np.arange(topology.nodes)] = True
        own &= table == topology.consumptions[:, 1]
        astray = np.argwhere((table >= 0) & (behind < 0) & ~own)
        if len(astray):
            switch, node = astray[0]
            raise WormcastError(
                f"relation {self.relation.name}: towards node {node} it leaves switch {switch} of "
                f"{topology.name} by port {table[switch, node]}, where there is no link"
            )
        table.setflags(write=False)

    def next_hop(self, switch: int, node: int) -> int:
        """Give the switch after this one on the way to a node, -1 at the end of the way."""
        return int(next_hop(self.table, self.topology.neighbours, switch, node))

    def path(self, source: int, destinations: Iterable[int]) -> list[int]:
        """List the switches from a source through destinations in visiting order, both ends included.

        Raises
        ------
        WormcastError
            The relation does not lead there.
        """
        switches = [int(self.topology.injections[source, 0])]
        segment = np.empty(self.topology.switches, np.int32)
        for node in destinations:
            hops = walk(self.table, self.topology.neighbours, switches[-1], node, segment)
            if hops < 0:
                raise WormcastError(
                    f"relation {self.relation.name}: it does not lead from switch {switches[-1]} "
                    f"to node {node} in {self.topology.name}"
                )
            switches += segment[:hops].tolist()
        return switches

    def hops(self, worms: Worms) -> npt.NDArray[np.int64]:
        """Count the links that each of many worms takes, int64 [worms].

        Raises
        ------
        WormcastError
            The relation does not lead there.
        """
        starts = self.topology.injections[worms.source, 0]
        counts = _hops(
            self.table, self.topology.neighbours, starts, worms.destination_offsets, worms.destinations
        )
        if counts.size and counts.min() < 0:
            worm = int(counts.argmin())
            self.path(int(worms.source[worm]), worms.visits(worm).tolist())  # says which hop
        return counts


E_CUBE = ECube()
HAMILTONIAN = Hamiltonian()


@compiled
def next_hop(table, neighbours, switch, node):
    """Give the switch after this one on the way to a node, -1 at the end of the way (compiled)."""
    port = table[switch, node]
    return neighbours[switch, port] if port >= 0 else -1


@compiled
def walk(table, neighbours, switch, node, visited):
    """Follow the relation to a node, writing each switch entered to `visited` (compiled).

    Gives the number of hops; -1 where there is no way, or where it is longer than `visited`, which with an
    entry for each switch means that it is a circle.
    """
    hops = 0
    port = table[switch, node]
    while port >= 0:
        switch = neighbours[switch, port]
        if switch < 0:
            return hops
        if hops == len(visited):
            return -1
        visited[hops] = switch
        hops += 1
        port = table[switch, node]
    return -1


@compiled
def _hops(table, neighbours, starts, destination_offsets, destinations):
    counts = np.zeros(len(starts), np.int64)
    visited = np.empty(len(neighbours), np.int32)
    for worm in range(len(starts)):
        switch = starts[worm]
        for visit in range(destination_offsets[worm], destination_offsets[worm + 1]):
            hops = walk(table, neighbours, switch, destinations[visit], visited)
            if hops < 0:
                counts[worm] = -1
                break
            counts[worm] += hops
            if hops > 0:
                switch = visited[hops - 1]
    return counts
