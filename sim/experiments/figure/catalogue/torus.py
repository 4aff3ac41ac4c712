"""Column-path on a torus: each column's destinations by the shorter way around it, either way, by e-cube."""

from collections.abc import Sequence

from wormcast.algorithms import E_CUBE, ConsumptionClasses, PlainScheme, Topology


class ColumnPath(PlainScheme):
    """A worm each way around each column; one that crosses the ring's edge may stop before it and after it."""

    name = "column-path-torus"
    kinds = ("torus",)
    relation = E_CUBE
    # what is left of a worm at a stop is a worm of its own: the same way around, and not as far
    pairs_are_complete = True
    divided = False

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Give a class to each way around the column."""
        return ConsumptionClasses((("0+",), ("0-",)))

    def visits(self, topology: Topology, source: int, destinations: list[int]) -> Sequence[Sequence[int]]:
        """Divide the destinations by column and by the way around it; by the ring's edge, too, if `divided`."""
        rows, columns = topology.shape
        worms: dict[tuple[int, bool, bool], list[tuple[int, int]]] = {}
        for node in destinations:
            ahead = (node // columns - source // columns) % rows
            back = 2 * ahead > rows
            beyond = node // columns > source // columns if back else node // columns < source // columns
            worm = worms.setdefault((node % columns, back, beyond and self.divided), [])
            worm.append((rows - ahead if back else ahead, node))
        return [[node for _, node in sorted(worm)] for _, worm in sorted(worms.items())]


class Divided(ColumnPath):
    """The same, with a worm of its own for what lies beyond the ring's edge: no worm stops before it and crosses it."""

    name = "column-path-torus-divided"
    divided = True
