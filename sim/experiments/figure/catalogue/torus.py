"""Column-path on a torus: worms reach each column's destinations in the shorter direction around it, by e-cube."""

from collections.abc import Sequence

from wormcast.algorithms import E_CUBE, ConsumptionClasses, PlainScheme, Topology


class ColumnPath(PlainScheme):
    """One worm per column and direction. A worm that crosses the ring's edge may stop before and after it."""

    name = "column-path-torus"
    kinds = ("torus",)
    relation = E_CUBE
    # the rest of a worm at a stop is a worm of the scheme, too: in the same direction, and shorter
    pairs_are_complete = True
    divided = False

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return one consumption class per direction around the column."""
        return ConsumptionClasses((("0+",), ("0-",)))

    def visits(self, topology: Topology, source: int, destinations: list[int]) -> Sequence[Sequence[int]]:
        """Divide the destinations by column and by direction around it; by the ring's edge, too, if `divided`."""
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
    """Column-path with separate worms for destinations beyond the ring's edge.

    No worm stops before the edge and then crosses it.
    """

    name = "column-path-torus-divided"
    divided = True
