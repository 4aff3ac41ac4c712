"""Trees of unicasts on tori once more, word by word from [Hou], with places (x, y), sets and dictionaries.

Slow and plain on purpose, and it imports nothing of the package. A unicast is (sender, receiver, step, signs), places
from 0 to n - 1, x routed first; signs (x, y) are -1 where a tie goes down.
"""

import itertools

DCF_1 = {(0, 0): [[(2, 1), (-1, -1), (0, 2), (0, -1)], [(1, 0)]], (2, 1): [[], [(1, 1), (3, 1), (2, 0), (2, 2)]],
         (-1, -1): [[], [(-2, -1), (-1, 0), (-1, -2)]], (0, 2): [[], [(1, 2), (0, 1)]], (0, -1): [[], [(1, -1)]]}
DCF_2 = {**DCF_1, (0, 0): [[(2, 1), (0, 2), (-1, -1), (0, -1)], [(1, 0)]], (0, 2): [[], [(1, 2), (-1, 2), (0, 1)]],
         (-1, -1): [[], [(-2, -1), (-1, 0)]]}
EDN = {(0, 0): [[(0, 2), (2, 1), (-2, -1)], [(1, 0), (-1, 0), (0, 1)]], (0, 2): [[], [(1, 2), (-1, 2), (0, 3)]],
       (2, 1): [[], [(3, 1), (1, 1), (2, 2)]], (-2, -1): [[], [(-1, -1), (-3, -1), (-2, 0)]]}
Z = {(0, 0): [[(1, 0), (0, 1), (-1, 1)]]}


def blocks(n, *sizes_and_blocks):
    """The unicasts of a block with units of each size in turn, run by all who have the message; a set."""
    found, informed, step = set(), [(0, 0)], 0
    for size, block in sizes_and_blocks:
        steps = len(block[0, 0])
        here = []
        for (x, y), (sender, sends) in itertools.product(informed, block.items()):
            for more, targets in enumerate(sends, 1):
                for target in targets:
                    start, end = (((x + size * a) % n, (y + size * b) % n) for a, b in (sender, target))
                    down = tuple(-1 if a < b else 1 for a, b in zip(target, sender, strict=True))
                    found.add((start, end, step + more, down))
                    here.append(end)
        informed += here
        step += steps
    return found


def way(n, start, end, signs):
    """The channels (place, place) of a unicast, x first, the shorter way around; a tie as the signs say."""
    (x, y), taken = start, []
    while x != end[0]:
        x2 = (x + _direction(n, start[0], end[0], signs[0])) % n
        taken.append(((x, y), (x2, y)))
        x = x2
    while y != end[1]:
        y2 = (y + _direction(n, start[1], end[1], signs[1])) % n
        taken.append(((x, y), (x, y2)))
        y = y2
    return taken


def _direction(n, at, to, sign):
    up = (to - at) % n
    return sign if 2 * up == n else 1 if 2 * up < n else -1


def contention(root, unicasts, channels):
    """Pairs of a step with a channel in common, and of all pairs with one the first of Theorem 1's conditions or None.

    ``unicasts``: (sender, receiver, step), ``channels``: of each in order.
    """
    reach = {}  # R of each node, by Definition 2, taken again and again until nothing is new
    nodes = {root} | {receiver for _, receiver, _ in unicasts}
    for node in nodes:
        reach[node] = {node}
    grown = True
    while grown:
        grown = False
        for node, (sender, receiver, _) in itertools.product(nodes, unicasts):
            if sender in reach[node] and receiver not in reach[node]:
                reach[node].add(receiver)
                grown = True
    same_step, conditions = set(), {}
    for (i, one), (j, other) in itertools.product(enumerate(unicasts), repeat=2):
        if (one[2], i) >= (other[2], j) or not set(channels[i]) & set(channels[j]):
            continue
        (u, v, t), (x, _, tau) = one, other
        if t == tau:
            same_step.add((i, j))
        conditions[i, j] = None
        if x in reach[v]:
            conditions[i, j] = 1
        elif u == x and channels[i][0] == channels[j][0]:
            conditions[i, j] = 3
        elif any(sender == u and step > t and channels[k][0] == channels[i][0] and x in reach[w]
                 for k, (sender, w, step) in enumerate(unicasts)):
            conditions[i, j] = 4
    return same_step, conditions
