"""Statements of [Sivaram98], section 4.3: packets along trees, first packet first served."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..k_binomial import BEST, best_k, covered, steps, tree_worms
from ..packet_steps import packet_steps
from ..schemes.chain_tree import ChainTree
from ..topologies import Topology
from ..worms import AT_ONCE, Worms, unicasts
from .statement import TheoremCheck

__all__ = ["PacketTree", "pipelined"]

SOURCE = "Sivaram98"

MOST_NODES = 64
"""Largest number of nodes of the analysed trees."""

MOST_PACKETS = 8

MOST_OF_ALL = 9
"""Largest number of nodes on which all ordered trees are tried: 1430 trees."""


@dataclass(frozen=True, eq=False)
class PacketTree:
    """K-binomial tree, with nodes numbered along their chain, and the steps in which packets arrive."""

    nodes: int
    k: int

    @cached_property
    def _found(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        chain = np.arange(self.nodes, dtype=np.int32)
        worms = tree_worms(chain, np.array([0, self.nodes - 1]), k=self.k, forwarded=True)
        arrivals = np.zeros((self.nodes, MOST_PACKETS), np.int64)
        arrivals[worms.destinations] = packet_steps(worms, MOST_PACKETS, "fpfs")
        parents = np.zeros(self.nodes, np.int64)
        parents[worms.destinations] = worms.source
        return arrivals, parents, np.bincount(worms.source, minlength=self.nodes)

    @property
    def arrivals(self) -> npt.NDArray[np.int64]:
        """Step in which each packet arrives at each node, int64 [nodes, packets]; 0 at the root."""
        return self._found[0]

    @property
    def parents(self) -> npt.NDArray[np.int64]:
        """Parent of each node, int64 [nodes]; 0 for the root."""
        return self._found[1]

    @property
    def children(self) -> npt.NDArray[np.int64]:
        """Number of children of each node, int64 [nodes]."""
        return self._found[2]

    @property
    def delays(self) -> npt.NDArray[np.int64]:
        """Steps from each packet to the next at each node (Definition 1), int64 [nodes, packets - 1]; 0 at the root."""
        return np.diff(self.arrivals, axis=1)

    @property
    def completed(self) -> npt.NDArray[np.int64]:
        """Step in which each packet has reached all nodes, int64 [packets]."""
        return self.arrivals.max(axis=0)

    @property
    def root_has_most(self) -> bool:
        """No node has more children than the root, as the paper assumes."""
        return bool(self.children[0] == self.children.max())


def pipelined(topology: Topology, scheme: ChainTree) -> list[TheoremCheck]:
    """Decide Lemmas 1 to 4 and Theorems 1 to 3 for the trees of a scheme whose packets network interfaces forward.

    The statements depend only on the number of nodes of the network. The statements are decided for trees of every size
    from 2 nodes to all nodes of the network, at most 64, with up to 8 packets. Theorem 3 is also decided against all
    ordered trees on at most 9 nodes.
    """
    most = min(topology.nodes, MOST_NODES)
    chosen = None if scheme.k == BEST else scheme.k
    trees = [PacketTree(nodes, k) for nodes in range(2, most + 1)
             for k in ([chosen] if chosen else range(1, (nodes - 1).bit_length() + 1))]
    return list(_statements(trees, most))


def _statements(trees: list[PacketTree], most: int) -> Iterator[TheoremCheck]:
    about = f"{len(trees)} trees on 2 to {most} nodes"
    fit = [tree for tree in trees if tree.root_has_most]
    beside = len(trees) - len(fit)
    excluded = (f". The paper excludes {beside} other trees, in which a node has more children than the root"
                if beside else "")

    def stated(name: str, section: str, sentence: str, counts: dict[str, int], wrong: int) -> TheoremCheck:
        return TheoremCheck(name, f"section {section}", sentence, wrong == 0, found=counts | {"wrong": wrong},
                         source=SOURCE)

    first = sum(not (tree.delays[1:] == np.maximum(tree.delays[tree.parents[1:]],
                                                   tree.children[tree.parents[1:], None])).all() for tree in trees)
    yield stated("Lemma 1", "4.3.2", f"in {_share(len(trees) - first, len(trees))} of {about}, the steps between two "
                 "packets at a node are the steps between them at its parent, or the parent's number of children, "
                 "whichever is larger",
                 {"trees": len(trees)}, first)
    second = sum(not (tree.delays[1:] == tree.children[0]).all() for tree in fit)
    yield stated("Lemma 2", "4.3.2", f"in {_share(len(fit) - second, len(fit))} of {len(fit)} trees, the steps between "
                 f"two packets at every node are the root's number of children{excluded}", {"trees": len(fit)}, second)
    third = sum(not any((np.diff(tree.completed) == tree.delays[node]).all()
                        for node in np.flatnonzero(tree.arrivals[:, 0] == tree.completed[0])) for tree in trees)
    yield stated("Lemma 3", "4.3.2", f"in {_share(len(trees) - third, len(trees))} of {about}, two packets "
                 "have reached all nodes as many steps apart as they arrive at a node that is reached last",
                 {"trees": len(trees)}, third)
    apart = sum(not (np.diff(tree.completed) == tree.children[0]).all() for tree in fit)
    largest = sum(not (np.diff(tree.completed) == tree.children.max()).all() for tree in trees)
    yield stated("Theorem 1", "4.3.2", f"in {_share(len(fit) - apart, len(fit))} of {len(fit)} trees, two packets have "
                 f"reached all nodes as many steps apart as the root has children{excluded}. They are as many steps "
                 "apart as the largest number of children of a node in "
                 f"{_share(len(trees) - largest, len(trees))} of {len(trees)} trees",
                 {"trees": len(fit), "largest": largest}, apart)
    lags = np.arange(MOST_PACKETS)
    late = sum(not (tree.completed == tree.completed[0] + lags * tree.children[0]).all() for tree in fit)
    bound = np.array([[steps(tree.nodes, tree.k, m) for m in range(1, MOST_PACKETS + 1)] for tree in trees])
    took = np.array([tree.completed for tree in trees])
    more, fewer = int((took > bound).sum()), int((took < bound).sum())
    yield stated("Theorem 2", "4.3.2", f"{_share(len(fit) - late, len(fit))} of {len(fit)} trees take L1 + (m - 1) "
                 f"d steps for m packets, where d is the root's number of children{excluded}. Of {took.size} cases "
                 f"with m up to {MOST_PACKETS}, {more or 'none'} take more than L1 + (m - 1) k steps, and {fewer} take "
                 "fewer",
                 {"trees": len(fit), "cases": took.size, "more": more, "fewer": fewer}, late + more)
    fourth = sum(not covered(last - 1, tree.k) < tree.nodes <= covered(last, tree.k)
                 for tree, last in zip(trees, took[:, 0].tolist(), strict=True))
    yield stated("Lemma 4", "4.3.3", f"in {_share(len(trees) - fourth, len(trees))} of {about}, the first packet "
                 "reaches all nodes in s steps, the least s for which N(s, k) nodes suffice",
                 {"trees": len(trees)}, fourth)
    beaten, cases = _theorem_3(trees)
    yield stated("Theorem 3", "4.3.3", f"in {_share(cases - beaten, cases)} of {cases} cases, no tree takes fewer "
                 "steps than the tree with the best k", {"cases": cases}, beaten)
    tried, beaten, cases = _against_all_trees(min(most, MOST_OF_ALL))
    yield stated("All trees", "4.3.3", f"in {_share(cases - beaten, cases)} of {cases} cases with at most "
                 f"{min(most, MOST_OF_ALL)} nodes, none of all {tried} ordered trees takes fewer steps than the best k",
                 {"trees": tried, "cases": cases}, beaten)


def _theorem_3(trees: list[PacketTree]) -> tuple[int, int]:
    """Return the number of cases (nodes, packets) in which another k takes fewer steps than the best k, and of all
    cases."""
    least: dict[int, npt.NDArray[np.int64]] = {}
    for tree in trees:
        least[tree.nodes] = np.minimum(least.get(tree.nodes, tree.completed), tree.completed)
    cases = [(nodes, m) for nodes in least for m in range(1, MOST_PACKETS + 1)]
    return sum(steps(nodes, best_k(nodes, m), m) > int(least[nodes][m - 1]) for nodes, m in cases), len(cases)


def _against_all_trees(most: int) -> tuple[int, int, int]:
    """Try all ordered trees on 2 to ``most`` nodes.

    Return the number of trees, the number of cases (nodes, packets) in which a tree takes fewer steps than the
    k-binomial tree with the best k, and the number of all cases.
    """
    tried = beaten = cases = 0
    for nodes in range(2, most + 1):
        trees = list(ordered_trees(nodes))
        least = packet_steps(_worms(trees), MOST_PACKETS, "fpfs").reshape(len(trees), nodes - 1, -1).max(1).min(0)
        tried, cases = tried + len(trees), cases + MOST_PACKETS
        beaten += sum(int(least[m - 1]) < steps(nodes, best_k(nodes, m), m) for m in range(1, MOST_PACKETS + 1))
    return tried, beaten, cases


def ordered_trees(nodes: int) -> Iterator[tuple[int, ...]]:
    """Yield all ordered trees, each as the parents of nodes 1, 2 and so on, numbered in preorder from the root, 0."""
    if nodes == 1:
        yield ()
        return
    for parents in ordered_trees(nodes - 1):
        parent = nodes - 2  # the new node is the last child of a node on the path from the root to the last node
        while True:
            yield (*parents, parent)
            if parent == 0:
                break
            parent = parents[parent - 1]


def _worms(trees: list[tuple[int, ...]]) -> Worms:
    """Return the worms of trees of one size, each tree as a message."""
    parents = np.array(trees, np.int32)
    count, edges = parents.shape
    rank = np.array([[parents[tree, :edge].tolist().count(parents[tree, edge]) for edge in range(edges)]
                     for tree in range(count)], np.int32)
    first = np.arange(count, dtype=np.int64)[:, None] * edges
    after = np.where(parents == 0, AT_ONCE, first + parents - 1)
    nodes = np.broadcast_to(np.arange(1, edges + 1, dtype=np.int32), parents.shape)
    return unicasts(np.arange(count + 1, dtype=np.int64) * edges, parents.ravel(), rank.ravel(), after.ravel(),
                    nodes.ravel()).forwarded_by_interfaces()


def _share(holds: int, of: int) -> str:
    return "all" if holds == of else str(holds)
