"""The schemes and relations once more, word by word from paper 002, with coordinates and dictionaries.

Slow and plain on purpose, and it imports nothing of the package. It has tests of its own (test_reference).
"""


def label(columns, node):
    """Section 2.1: rows from the top, even ones to the right, odd ones back."""
    row, column = divmod(node, columns)
    return columns * row + (column if row % 2 == 0 else columns - 1 - column)


def neighbours(rows, columns, node):
    row, column = divmod(node, columns)
    around = [(row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)]
    return [r * columns + c for r, c in around if 0 <= r < rows and 0 <= c < columns]


def hamiltonian_step(rows, columns, at, to):
    """R(u, v): towards a higher label the neighbour with the largest one not above it, and the reverse."""
    near = {label(columns, node): node for node in neighbours(rows, columns, at)}
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


def path(step, rows, columns, source, destinations):
    nodes = [source]
    for to in destinations:
        while nodes[-1] != to:
            nodes.append(step(rows, columns, nodes[-1], to))
    return nodes


def dual_path(rows, columns, source, destinations):
    """List (class, destinations in visiting order): higher labels ascending, lower ones descending."""
    own = label(columns, source)
    upward = sorted((d for d in destinations if label(columns, d) > own), key=lambda d: label(columns, d))
    downward = sorted((d for d in destinations if label(columns, d) < own), key=lambda d: -label(columns, d))
    return [(way, visits) for way, visits in ((0, upward), (1, downward)) if visits]


def individual(rows, columns, source, destinations):
    """List (class, destinations): one worm each, ascending ids; -1 stands for any class."""
    return [(-1, [node]) for node in sorted(destinations)]


SCHEMES = {"individual": (individual, e_cube_step), "dual-path": (dual_path, hamiltonian_step)}
