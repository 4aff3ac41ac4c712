"""Column-path multicast: up to two worms per column with destinations."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..consumption import ConsumptionClasses
from ..headers import AddressList
from ..routing import E_CUBE
from ..topologies.base import Topology
from ..worms import MessageBatch, Worms
from .grouping import destination_key, grouped_worms
from .mesh import MeshScheme

__all__ = ["ColumnPath", "ColumnPathLiteral"]


class ColumnPath(MeshScheme):
    """Send each column one worm for its destinations in rows above the source, and one for those below.

    A column is a line along dimension 0, which e-cube routes last. A worm goes along the source's row to its column,
    and then along the column away from the row, nearest destination first. A destination in the source's row joins the
    worm upwards of its column; if there is only a worm downwards, the destination joins that worm.

    Cost: at most two start-ups per column. Source: [Boppana98], section 2.2, and Corollary 3 for the two consumption
    classes. By the paper's text a destination in the source's row always joins the worm upwards (`ColumnPathLiteral`).
    By the paper's text, random multicasts to 1 to 19 nodes on 8x8 take 3.84 hops per destination. By `ColumnPath`,
    random multicasts to 1 to 19 nodes on 8x8 take 3.75 hops per destination; section 4.1 of the paper states 3.76.
    Ours: columns are served in ascending order, upwards before downwards.
    """

    name = "column-path"
    description = "a worm up and a worm down each column with destinations, by e-cube"
    provenance = "[Boppana98], section 2.2 (rule of the source's row by its averages; order of sending: ours)"
    in_two_dimensions = "destinations in the source's row join either worm of their column"
    in_more_dimensions = "columns are the lines along dimension 0, which e-cube routes last"
    relation = E_CUBE
    header = AddressList
    literal = False
    """A destination in the source's row always belongs to the worm upwards."""

    def classes_on(self, topology: Topology) -> ConsumptionClasses:
        """Return two classes: down and up the columns. The hop into a worm's first destination may belong to no
        class."""
        return ConsumptionClasses((("0+",), ("0-",)), by="next")

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, at most two per column."""
        columns = topology.nodes // topology.shape[0]
        keys = _keys(topology.nodes, columns, self.literal, *messages)
        return grouped_worms(messages, keys, topology.nodes)


class ColumnPathLiteral(ColumnPath):
    """Column-path by the paper's text: a destination in the source's row always joins or makes the worm upwards.

    So a column with destinations below the source's row and a destination in this row needs two worms. Cost, source and
    what is ours: as for `ColumnPath`.
    """

    name = "column-path-literal"
    description = "column-path, destinations in the source's row always with the worm upwards"
    provenance = "[Boppana98], section 2.2 (order of sending: ours)"
    in_two_dimensions = "as printed"
    literal = True


BELOW, ABOVE = 1, 2


@compiled_from(LINEAR)
def _keys(nodes, columns, literal, sources, destination_offsets, destinations):
    """Return a sort key of each destination: column and direction of its worm (upwards first), then rows from the
    source (see `grouped_worms`)."""
    keys = np.empty(len(destinations), np.int64)
    sides = np.zeros(columns, np.int8)  # for each column: whether it has destinations above and below the source's row
    for message in range(len(sources)):
        first, end = destination_offsets[message], destination_offsets[message + 1]
        row = sources[message] // columns
        for visit in range(first, end):
            to_row, column = divmod(destinations[visit], columns)
            if to_row != row:
                sides[column] |= BELOW if to_row > row else ABOVE
        for visit in range(first, end):
            node = np.int64(destinations[visit])
            to_row, column = divmod(node, columns)
            downwards = to_row > row or (to_row == row and not literal and sides[column] == BELOW)
            keys[visit] = destination_key(2 * column + downwards, abs(to_row - row), node, nodes)
        for visit in range(first, end):
            sides[destinations[visit] % columns] = 0
    return keys
