"""Column-path on a torus: worms go by e-cube, and around each column in the direction shorter to the destination."""

from collections.abc import Sequence

from wormcast.algorithms import E_CUBE, ConsumptionClasses, PlainScheme, Topology


class ColumnPath(PlainScheme):
    """Column-path with one worm per column and direction. A worm may stop both before and after a wrap-around link."""

    name = "column-path-torus"
    kinds = ("torus",)
    relation = E_CUBE
    # the part of a worm from any stop on is a possible worm of this scheme, too: same direction, fewer hops
    pairs_are_complete = True
    divided = False

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return one consumption class per direction around the column."""
        return ConsumptionClasses((("0+",), ("0-",)))

    def visits(self, topology: Topology, source: int, destinations: list[int]) -> Sequence[Sequence[int]]:
        """Return the destinations of each worm. There is one worm per column and direction.

        If `divided`, another worm goes to a column's destinations beyond its wrap-around link in this direction.
        """
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
    """Column-path with separate worms for destinations beyond a column's wrap-around link.

    No worm crosses a wrap-around link of its column after a stop at a destination.
    """

    name = "column-path-torus-divided"
    divided = True
