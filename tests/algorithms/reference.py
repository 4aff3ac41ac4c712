"""The schemes and relations once more, word by word from [Boppana98] and [Amnah], with coordinates and dictionaries.

Slow and plain on purpose, and it imports nothing of the package. It has tests of its own (test_reference).
Nodes are row-major ids outside and tuples of coordinates inside; a mesh is its shape.
"""

import functools
import itertools
import math

from .k_binomial import reference as k_binomial


@functools.cache
def coordinates(shape, node):
    result = []
    for extent in reversed(shape):
        node, coordinate = divmod(node, extent)
        result.insert(0, coordinate)
    return tuple(result)


def number(shape, place):
    node = 0
    for extent, coordinate in zip(shape, place, strict=True):
        node = node * extent + coordinate
    return node


@functools.cache
def label(shape, node):
    place = coordinates(shape, node)
    if len(shape) == 2:  # [Boppana98], section 2.1: rows from the top, even ones to the right, odd ones back
        row, column = place
        return shape[1] * row + (column if row % 2 == 0 else shape[1] - 1 - column)
    if len(shape) == 3:  # [Amnah]
        (n, _, r), (x, y, z) = shape, place
        if y % 2 == 0:
            return n * r * y + n * z + (x if z % 2 == 0 else n - 1 - x)
        return n * r * y + n * (r - 1 - z) + (n - 1 - x if z % 2 == 0 else x)
    return back_and_forth(shape).index(place)


def back_and_forth(shape):
    """All places of a mesh along a path: forwards through the first slice, back through the next, and so on."""
    if not shape:
        return [()]
    rest = back_and_forth(shape[1:])
    return [(slice_, *place) for slice_ in range(shape[0]) for place in (rest if slice_ % 2 == 0 else rest[::-1])]


@functools.cache
def neighbours(shape, node):
    place = coordinates(shape, node)
    result = []
    for dimension, step in itertools.product(range(len(shape)), (1, -1)):
        moved = list(place)
        moved[dimension] += step
        if 0 <= moved[dimension] < shape[dimension]:
            result.append(number(shape, moved))
    return result


@functools.cache
def hamiltonian_step(shape, at, to):
    """R(u, v): towards a higher label the neighbour with the largest one not above it, and the reverse."""
    near = {label(shape, node): node for node in neighbours(shape, at)}
    goal = label(shape, to)
    if label(shape, at) < goal:
        return near[max(one for one in near if one <= goal)]
    return near[min(one for one in near if one >= goal)]


@functools.cache
def e_cube_step(shape, at, to):
    """The last coordinate first: in two dimensions change the column, then the row."""
    here, there = list(coordinates(shape, at)), coordinates(shape, to)
    dimension = max(d for d in range(len(shape)) if here[d] != there[d])
    here[dimension] += 1 if there[dimension] > here[dimension] else -1
    return number(shape, here)


@functools.cache
def row_first_step(shape, at, to):
    """The first hop of Lin, McKinley and Ni: to the neighbour in the row, if the destination is in a column on its side
    and the neighbour's label is on the destination's side; else by R."""
    (row, column), (_, goal) = coordinates(shape, at), coordinates(shape, to)
    for node in neighbours(shape, at):
        to_row, to_column = coordinates(shape, node)
        if to_row == row and (goal - column) * (to_column - column) > 0 and (
                label(shape, node) - label(shape, at)) * (label(shape, to) - label(shape, at)) > 0:
            return node
    return hamiltonian_step(shape, at, to)


def path(step, shape, source, destinations, first=None):
    """Nodes of a path by `step`; its first hop by `first`, if that is given."""
    nodes = [source]
    for to in destinations:
        while nodes[-1] != to:
            nodes.append((first or step if len(nodes) == 1 else step)(shape, nodes[-1], to))
    return nodes


# Each scheme lists its worms as (sender, worm after whose receipt it is sent or None, destinations as visited).


def at_once(source, groups):
    return [(source, None, visits) for visits in groups if visits]


def individual(shape, source, destinations):
    """Section 2: one worm each; in ascending ids."""
    return at_once(source, [[node] for node in sorted(destinations)])


def by_label(shape, source, destinations):
    """The destinations of higher labels, ascending, and those of lower ones, descending."""
    own = label(shape, source)
    ordered = sorted(destinations, key=lambda node: label(shape, node))
    return [d for d in ordered if label(shape, d) > own], [d for d in ordered[::-1] if label(shape, d) < own]


def dual_path(shape, source, destinations):
    """Section 2.1."""
    return at_once(source, by_label(shape, source, destinations))


def multipath(shape, source, destinations):
    """Section 2.1: the destinations in a quadrant around the source together."""
    column = coordinates(shape, source)[1]
    upward, downward = by_label(shape, source, destinations)
    return at_once(source, [
        [d for d in half if (coordinates(shape, d)[1] >= column) == right]
        for right in (True, False) for half in (upward, downward)
    ])  # fmt: skip


def multipath_lmn(shape, source, destinations):
    """Lin, McKinley and Ni: those on the side of the neighbour in the source's row, and the others."""
    row, column = coordinates(shape, source)
    parts = []
    for half, sign in zip(by_label(shape, source, destinations), (1, -1), strict=True):
        beside = []
        for neighbour in neighbours(shape, source):
            to_row, to_column = coordinates(shape, neighbour)
            if to_row == row and (label(shape, neighbour) - label(shape, source)) * sign > 0:
                beside = [d for d in half if coordinates(shape, d)[1] >= to_column] if to_column > column else [
                    d for d in half if coordinates(shape, d)[1] <= to_column
                ]  # fmt: skip
        parts.append((beside, [d for d in half if d not in beside]))
    (up_first, up_rest), (down_first, down_rest) = parts
    return at_once(source, [up_first, down_first, up_rest, down_rest])


def six_phase(shape, source, destinations):
    """[Amnah], SP: D_U1 has the greater x, D_U2 the smaller, D_U3 the source's; likewise below."""
    x = coordinates(shape, source)[0]
    upward, downward = by_label(shape, source, destinations)
    sides = [lambda other: other > x, lambda other: other < x, lambda other: other == x]
    return at_once(source, [
        [d for d in half if side(coordinates(shape, d)[0])] for side in sides for half in (upward, downward)
    ])  # fmt: skip


def gtdmpm(shape, source, destinations):
    """Reconstructed: the source's column, row along x, row along z, rising and falling diagonals; in batches."""
    x, _, z = coordinates(shape, source)

    def kind(node):
        dx, dz = coordinates(shape, node)[0] - x, coordinates(shape, node)[2] - z
        if dx == dz == 0:
            return (0,)
        if dz == 0:
            return (1,)
        if dx == 0:
            return (2,)
        return (3, dx + dz, 0) if dx * dz > 0 else (3, dx - dz, 1)

    parts = []
    for place, half in enumerate(by_label(shape, source, destinations)):
        parts += [(one, place, [d for d in half if kind(d) == one]) for one in {kind(d) for d in half}]
    by_link, batches = {}, []
    for one, place, part in sorted(parts):
        link = path(hamiltonian_step, shape, source, part)[1]
        batches.append((by_link.get(link, 0), one, place, part))
        by_link[link] = by_link.get(link, 0) + 1
    return at_once(source, [part for *_, part in sorted(batches)])


def column_path(shape, source, destinations, literal=False):
    """Section 2.2; a column is all that have the coordinates after the first in common."""
    row, *_ = coordinates(shape, source)
    groups = []
    for column in sorted({coordinates(shape, d)[1:] for d in destinations}):
        rows = {r for r, *rest in (coordinates(shape, d) for d in destinations) if tuple(rest) == column}
        above, below = {r for r in rows if r < row}, {r for r in rows if r > row}
        if row in rows:
            (below if below and not above and not literal else above).add(row)
        groups += [[(r, *column) for r in sorted(above, reverse=True)], [(r, *column) for r in sorted(below)]]
    return at_once(source, [[number(shape, place) for place in group] for group in groups])


def column_path_literal(shape, source, destinations):
    return column_path(shape, source, destinations, literal=True)


def e_mcast(shape, source, destinations):
    """Section 2.3: a worm serves what lies on its e-cube path to its end.

    Ends are found dimension by dimension. Of the worms that there are, the one whose path goes farthest along a line
    serves that line; who is beyond it makes a worm more.
    """
    home = coordinates(shape, source)
    ends = {}  # by (dimension, line, side): the end of each worm
    served = {}
    for dimension in range(len(shape)):
        lines = {}
        for node in destinations:
            place = coordinates(shape, node)
            if [a != b for a, b in zip(place, home, strict=True)].index(True) == dimension:
                side = place[dimension] > home[dimension]
                lines.setdefault((dimension, place[dimension + 1 :], side), []).append(node)
        more = {}
        for key, nodes in lines.items():
            _, line, side = key

            def along(place, line=line, side=side, dimension=dimension):
                """Return the distance of a place from home on this line, 0 if the place is not on it."""
                on_it = place[:dimension] == home[:dimension] and place[dimension + 1 :] == line
                away = place[dimension] - home[dimension]
                return abs(away) if on_it and (away > 0) == side else 0

            reaches = {
                other: max(along(coordinates(shape, node)) for node in path(e_cube_step, shape, source, [end]))
                for other, end in ends.items()
            }
            best = max(sorted(reaches), key=lambda other: reaches[other], default=None)
            for node in nodes:
                far = along(coordinates(shape, node))
                if best is not None and far <= reaches[best]:
                    served.setdefault(best, []).append(node)
                else:
                    served.setdefault(key, []).append(node)
                    more[key] = max(more.get(key, node), node, key=lambda one: along(coordinates(shape, one)))
        ends |= more

    def distance(node):
        """Rises along an e-cube path."""
        return math.dist(coordinates(shape, node), home)

    return at_once(source, [sorted(served[key], key=distance) for key in sorted(ends)])


def u_mesh(shape, source, destinations):
    """McKinley and others: sort by the coordinate routed first, and halve."""
    chain = sorted([source, *destinations], key=lambda node: coordinates(shape, node)[::-1])
    worms, holders = [], [(source, None, chain)]
    for holder, receipt, piece in holders:
        while len(piece) > 1:
            lower, upper = piece[: len(piece) // 2], piece[len(piece) // 2 :]
            to, handed, piece = (upper[0], upper, lower) if holder in lower else (lower[-1], lower, upper)
            holders.append((to, len(worms), handed))
            worms.append((holder, receipt, [to]))
    return worms


def chain_tree(best):
    """Sivaram and others: the nodes in the same order, turned; blocks cut from the right end, in each recursively."""
    def order(shape, source, destinations):
        chain = sorted([source, *destinations], key=lambda node: coordinates(shape, node)[::-1])
        at = chain.index(source)
        chain = chain[at:] + chain[:at]
        doublings = (len(chain) - 1).bit_length()
        allowed = range(1, doublings + 1) if best else [doublings]
        tree = k_binomial.tree(chain, min(allowed, key=lambda k: k_binomial.first_steps(len(chain), k)))
        worms = []

        def send(holder, receipt):
            first = len(worms)
            worms.extend((holder, receipt, [to]) for to in tree[holder])
            for place, to in enumerate(tree[holder], start=first):
                send(to, place)

        send(source, None)
        return worms

    return order


# Which hops have a class of consumption channels, and by which hop a worm chooses (Corollaries 3, 4; section 4).


def by_labels(shape, start, end):
    return 0 if label(shape, end) > label(shape, start) else 1


def by_column(shape, start, end):
    away = coordinates(shape, end)[0] - coordinates(shape, start)[0]
    return {1: 0, -1: 1, 0: None}[away]


def by_direction(shape, start, end):
    pairs = list(zip(coordinates(shape, start), coordinates(shape, end), strict=True))
    (dimension,) = (d for d, (a, b) in enumerate(pairs) if a != b)
    earlier = sum(extent > 1 for extent in shape[dimension + 1 :])  # routed before; one node has no direction
    return 2 * earlier + (pairs[dimension][1] < pairs[dimension][0])


CLASSES = {
    "individual": None, "u-mesh": None, "binomial": None, "k-binomial": None,
    "dual-path": (by_labels, "next"), "multipath": (by_labels, "next"), "multipath-lmn": (by_labels, "next"),
    "tp": (by_labels, "next"), "sp": (by_labels, "next"), "gtdmpm": (by_labels, "next"),
    "column-path": (by_column, "next"), "column-path-literal": (by_column, "next"), "e-mcast": (by_direction, "last"),
}  # fmt: skip


def classes(name, shape, nodes, visits):
    """Class at each destination of a worm whose path is `nodes`; None at the last."""
    if CLASSES[name] is None:
        return [None] * len(visits)
    of_hop, by = CLASSES[name]
    result = []
    for node in visits[:-1]:
        at = nodes.index(node)
        last = of_hop(shape, nodes[at - 1], node)
        following = of_hop(shape, node, nodes[at + 1])
        result.append(following if by == "next" and following is not None else last)
    return [*result, None]


SCHEMES = {
    "individual": (individual, e_cube_step),
    "dual-path": (dual_path, hamiltonian_step),
    "multipath": (multipath, hamiltonian_step),
    "multipath-lmn": (multipath_lmn, hamiltonian_step),
    "column-path": (column_path, e_cube_step),
    "column-path-literal": (column_path_literal, e_cube_step),
    "e-mcast": (e_mcast, e_cube_step),
    "u-mesh": (u_mesh, e_cube_step),
    "binomial": (chain_tree(best=False), e_cube_step),
    "k-binomial": (chain_tree(best=True), e_cube_step),
    "tp": (dual_path, hamiltonian_step),
    "sp": (six_phase, hamiltonian_step),
    "gtdmpm": (gtdmpm, hamiltonian_step),
}

#: First hops of schemes whose worms leave their source in another way than they go on.
FIRST_HOPS = {"multipath-lmn": row_first_step}
