"""A user's own network: a hypercube with one router per node, in which each bit of a node's id is a dimension.

    wormcast topology hypercube.py:four --plot hypercube.svg
    wormcast check hypercube.py:four individual --relation hypercube.py
"""

import numpy as np

from wormcast.algorithms import Places, Relation, Topology


def hypercube(dimensions):
    ids = np.arange(2**dimensions)
    port = np.arange(dimensions)
    # output d leads to the node whose id differs in bit d, and input d comes from the same node
    links = np.stack(np.broadcast_arrays(ids[:, None], port, ids[:, None] ^ 1 << port, port), axis=-1).reshape(-1, 4)
    own = np.stack([ids, np.full_like(ids, dimensions)], axis=1)
    bits = ids[:, None] >> port & 1
    # even bits give x and odd bits y, in the order of a Gray code: ids of neighbours differ in one bit
    codes = np.stack([(bits * np.where(port % 2 == axis, 2 ** (port // 2), 0)).sum(axis=1) for axis in (0, 1)], axis=1)
    places = np.bitwise_xor.reduce([codes >> shift for shift in range(dimensions)]).astype(float)
    return Topology(
        name=f"hypercube-{dimensions}",
        kind="hypercube",
        shape=(len(ids),),
        ports=((*(f"d{dimension}" for dimension in range(dimensions)), "local"),) * len(ids),
        links=links.astype(np.int32),
        injections=own.astype(np.int32),
        consumptions=own.astype(np.int32),
        coordinates=ids.reshape(-1, 1).astype(np.int32),
        places=Places(places, places),
    )


def three():
    return hypercube(3)


def four():
    return hypercube(4)


class LowestBitFirst(Relation):
    """Dimension order: a worm first changes the lowest bit in which node and destination differ. Free of deadlock."""

    name = "lowest-bit-first"
    description = "hypercube: dimension order, the lowest bit first"

    def table(self, topology):
        ids = np.arange(topology.nodes)
        differ = ids[:, None] ^ ids
        lowest = np.log2(np.maximum(differ & -differ, 1)).astype(np.int8)
        return np.where(differ, lowest, topology.consumptions[:, 1]).astype(np.int8)
