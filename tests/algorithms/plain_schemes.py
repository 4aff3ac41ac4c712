"""Schemes and relations of two-dimensional meshes word by word from paper 002, and any list of worms as a scheme.

Slow and plain on purpose; what is tested here takes nothing from the package but the frame of a scheme.
"""

import numpy as np

from wormcast.algorithms import AddressList, ConsumptionClasses, Scheme
from wormcast.algorithms.routing import E_CUBE
from wormcast.algorithms.worms import AT_ONCE, Worms


def label(columns, node):
    """Section 2.1: rows from the top, even ones to the right, odd ones back."""
    row, column = divmod(node, columns)
    return columns * row + (column if row % 2 == 0 else columns - 1 - column)


def hamiltonian_step(rows, columns, at, to):
    """R(u, v): towards a higher label the neighbour with the largest one not above it, and the reverse."""
    row, column = divmod(at, columns)
    around = [(row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)]
    near = {label(columns, r * columns + c): r * columns + c for r, c in around if 0 <= r < rows and 0 <= c < columns}
    goal = label(columns, to)
    if label(columns, at) < goal:
        return near[max(one for one in near if one <= goal)]
    return near[min(one for one in near if one >= goal)]


def e_cube_step(rows, columns, at, to):
    """Row first: change the column, then the row."""
    (row, column), (to_row, to_column) = divmod(at, columns), divmod(to, columns)
    if column != to_column:
        return row * columns + column + (1 if to_column > column else -1)
    return (row + (1 if to_row > row else -1)) * columns + column


def individual(rows, columns, source, destinations):
    """A worm for each destination."""
    return [[node] for node in sorted(destinations)]


def dual_path(rows, columns, source, destinations):
    """Higher labels ascending, lower ones descending."""
    ordered = sorted(destinations, key=lambda node: label(columns, node))
    above = [node for node in ordered if label(columns, node) > label(columns, source)]
    return [visits for visits in (above, ordered[: len(ordered) - len(above)][::-1]) if visits]


def column_path(rows, columns, source, destinations):
    """Section 2.2: for each column one worm to the rows above and one to those below.

    A destination in the source's own row goes with the worm above, or with the one below if there is no other.
    """
    row = source // columns
    worms = []
    for column in range(columns):
        mine = sorted(d for d in destinations if d % columns == column)
        same = [d for d in mine if d // columns == row]
        above = [d for d in reversed(mine) if d // columns < row]
        below = [d for d in mine if d // columns > row]
        if above or not below:
            above = same + above
        else:
            below = same + below
        worms += [visits for visits in (above, below) if visits]
    return worms


def e_mcast(rows, columns, source, destinations):
    """Section 2.3: as column-path, but the farthest worm on each side takes the destinations of the source's row."""
    row, own = divmod(source, columns)
    worms = {}
    for column in range(columns):
        mine = sorted(d for d in destinations if d % columns == column and d // columns != row)
        for up in (True, False):
            visits = [d for d in (reversed(mine) if up else mine) if (d // columns < row) == up]
            if visits:
                worms[column, up] = visits
    for side in (1, -1):
        left = sorted(((d % columns - own) * side, d) for d in destinations if d // columns == row)
        left = [(distance, d) for distance, d in left if distance > 0]
        reaches = {key: (key[0] - own) * side for key in worms if (key[0] - own) * side > 0}
        farthest = max(reaches.values(), default=0)
        if farthest:
            key = max(key for key, reach in reaches.items() if reach == farthest)
            worms[key] = [d for distance, d in left if distance <= farthest] + worms[key]
            left = [(distance, d) for distance, d in left if distance > farthest]
        if left:
            worms[own, side] = [d for _, d in left]
    return list(worms.values())


class Listed(Scheme):
    """A scheme made of a function (rows, columns, source, destinations) -> lists of visits."""

    description = "for tests"
    provenance = "tests"
    kinds = ("mesh",)
    header = AddressList

    def __init__(self, name, function, classes=":next", relation=E_CUBE):
        self.name = name
        self.function = function
        self.consumption = ConsumptionClasses.parse(classes)
        self.relation = relation

    def classes_on(self, topology):
        return self.consumption

    def worms(self, topology, sources, destination_offsets, destinations):
        message_offsets, source, rank, offsets, visits = [0], [], [], [0], []
        for message, sender in enumerate(sources.tolist()):
            mine = destinations[destination_offsets[message] : destination_offsets[message + 1]].tolist()
            for place, worm in enumerate(self.function(*topology.shape, sender, mine)):
                source.append(sender)
                rank.append(place)
                visits += worm
                offsets.append(len(visits))
            message_offsets.append(len(source))
        return Worms(
            np.array(message_offsets, np.int64), np.array(source, np.int32), np.array(rank, np.int32),
            np.full(len(source), AT_ONCE), np.array(offsets, np.int64), np.array(visits, np.int32),
        )


COLUMN_PATH = Listed("column-path", column_path, "0+/0-:next")
E_MCAST = Listed("e-mcast", e_mcast, "1+/1-/0+/0-:last")
