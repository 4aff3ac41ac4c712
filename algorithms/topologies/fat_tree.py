"""Fat trees: k-ary n-trees of equal switches, with the same number of links up and down."""

import dataclasses

import numpy as np
import numpy.typing as npt

from .base import Topology
from .coordinates import places_in_grid
from .parameters import MOST_NODES, MOST_PORTS, MOST_SWITCHES, read_parameters, whole_number

__all__ = ["digits_of", "fat_tree", "read_fat_tree"]

Integers = npt.NDArray[np.int32]


def fat_tree(parameters: str) -> Topology:
    """Build the fat tree with these parameters: ``"k=2,levels=3"``, a k-ary n-tree for k**levels nodes.

    There are ``levels`` levels of k**(levels-1) switches. A switch has k ports ``d0`` to ``d{k-1}`` down (a leaf
    switch: ``n0`` to ``n{k-1}``, to its nodes) and, below the highest level, k ports ``u0`` to ``u{k-1}`` up. So each
    node of a subtree has a link of its own out of the subtree. With k=2, levels=2::

        level 1      s2      s3        roots
                    /  \\    /  \\
                   |    \\  /    |
                   |     \\/     |
                   |     /\\     |
                   |    /  \\    |
        level 0    s0 --    -- s1      leaves, with ports n0 and n1 to their nodes
                  /  \\        /  \\
                 0    1      2    3    nodes

    Level 0 has the leaf switches. The switch with number w in level l is l*k**(levels-1)+w. The base-k digits of w are
    numbered from the most significant one, which is digit 0. Two switches of levels l and l+1 are joined if the
    digits of their numbers are equal, except perhaps digit levels-2-l. Port ``d{i}`` of the upper switch leads to the
    lower switch whose digit levels-2-l is i, and port ``u{i}`` of the lower switch to the upper switch whose digit
    levels-2-l is i. Nodes n*k to n*k+k-1 are at leaf switch n.

    All switches of the highest level are roots of up*/down* routing.

    Source: [Leiserson85] for fat trees; [Petrini97] for this form of equal switches.

    Raises
    ------
    WormcastError
        A parameter is unknown, missing or out of its range. A fat tree has at most 4096 nodes and 1024 switches.
    """
    k, levels = read_fat_tree(parameters)
    width = k ** (levels - 1)
    w = np.arange(width)
    digits = digits_of(w, k, levels - 1)
    links = []
    for level in range(levels - 1):
        free = levels - 2 - level
        for port in range(k):
            joined = digits.copy()
            joined[:, free] = port
            above = np.ravel_multi_index(tuple(joined.T), (k,) * (levels - 1)) + (level + 1) * width
            below, up, down = level * width + w, k + port, digits[:, free]
            links += [np.stack([below, np.full(width, up), above, down], axis=1),
                      np.stack([above, down, below, np.full(width, up)], axis=1)]
    rows = np.concatenate(links)
    downwards, upwards = tuple(f"d{port}" for port in range(k)), tuple(f"u{port}" for port in range(k))
    own = tuple(f"n{port}" for port in range(k))
    node = np.arange(k * width)
    ends = np.stack([node // k, node % k], axis=1).astype(np.int32)
    network = Topology(
        name=f"fat-tree:k={k},levels={levels}",
        kind="fat-tree",
        shape=(k * width,),
        ports=((*own, *upwards),) * width + ((*downwards, *upwards),) * (width * (levels - 2)) + (downwards,) * width,
        links=rows[np.lexsort((rows[:, 1], rows[:, 0]))].astype(np.int32),
        injections=ends,
        consumptions=ends.copy(),
        coordinates=node.astype(np.int32).reshape(-1, 1),
        root=tuple(range((levels - 1) * width, levels * width)),
    )
    row, column = np.divmod(np.arange(levels * width), width)
    return dataclasses.replace(network, places=places_in_grid(network, column, levels - 1 - row))


def read_fat_tree(parameters: str) -> tuple[int, int]:
    """Read k and levels from the text after ``fat-tree:``, or refuse it."""
    specification = f"fat-tree:{parameters}"
    given = read_parameters("fat-tree", parameters, {"k": None, "levels": None})
    k = whole_number(specification, "k", given["k"], 2, MOST_PORTS // 2)
    most = max(levels for levels in range(2, 13)
               if k**levels <= MOST_NODES and levels * k ** (levels - 1) <= MOST_SWITCHES)
    levels = whole_number(specification, "levels", given["levels"], 2, most,
                          reason=f"with k={k}: up to {MOST_NODES} nodes and {MOST_SWITCHES} switches")
    return k, levels


def digits_of(numbers: npt.NDArray[np.integer], k: int, count: int) -> Integers:
    """Return the base-k digits of numbers, the most significant first, int32 [numbers, count]."""
    return np.stack(np.unravel_index(numbers, (k,) * count), axis=1).astype(np.int32)
