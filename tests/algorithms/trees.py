"""Any tree of unicasts as a scheme, and random ones."""

import numpy as np

from wormcast.algorithms import AT_ONCE, Worms
from wormcast.algorithms.schemes.unicast import UnicastScheme

__all__ = ["Given", "random_tree"]


class Given(UnicastScheme):
    """The tree of one multicast: a list of (sender, receiver, step), in which each follows its release."""

    name = "given"
    provenance = "tests"
    kinds = ()

    def __init__(self, tree):
        self.tree = tree

    def worms(self, topology, messages):
        receipt, sent, rank, after = {int(messages.sources[0]): AT_ONCE}, {}, [], []
        for row, (sender, receiver, _) in enumerate(self.tree):
            after.append(receipt[sender])
            rank.append(sent.get(sender, 0))
            sent[sender] = rank[-1] + 1
            receipt[receiver] = row
        senders, receivers, steps = (np.array(column) for column in zip(*self.tree, strict=True))
        count = len(self.tree)
        return Worms(np.array([0, count]), senders.astype(np.int32), np.array(rank, np.int32),
                     np.array(after, np.int64), np.arange(count + 1), receivers.astype(np.int32),
                     steps=steps.astype(np.int32))


def random_tree(random, nodes, count):
    """A root and a tree to so many random nodes: each is sent to by a random one, in a step after all of its others."""
    order = random.permutation(nodes)[:count + 1].tolist()
    last = {order[0]: 0}
    tree = []
    for node in order[1:]:
        sender = order[random.integers(len(last))]
        last[sender] += 1
        last[node] = last[sender]
        tree.append((sender, node, last[sender]))
    return order[0], tree
