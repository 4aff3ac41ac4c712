"""Random lists of messages: from few worms that come together to networks that are full."""

import numpy as np

from wormcast.algorithms import Topology

from .arena import Batch

__all__ = ["LOADS", "draw", "scale"]

#: Payload flits to deliver per node and cycle while messages are created: from below saturation, which is at some
#: tenths, to four times what a consumption link takes.
LOADS = (0.1, 4.0)

#: Most messages of a list, for each node, and fewest: what is staged, few worms that come together.
MESSAGES_OF_A_NODE, FEWEST = 8, 2

#: Shares of unicasts among the messages.
UNICASTS = (0.0, 0.0, 0.5, 0.9)

#: Payload flits to deliver for each node, at most: a batch is to take no longer than the others.
MOST_FLITS = 4096


def draw(topology: Topology, lanes: int, lengths: tuple[int, int], most: int | None, seed: int, number: int
         ) -> tuple[Batch, float]:
    """Draw a batch: lists of messages that are alike in all but chance, and their load, see `LOADS`.

    How many messages a list has, how long and to how many nodes they are at most, and how many of them are unicasts,
    is drawn once for the batch; so is the load, and from it follows the time in which they are created. So some batches
    keep networks full and others stage few worms that come together.

    Parameters
    ----------
    lanes : int
        How many lists.
    lengths : (int, int)
        Fewest and most payload flits of a message.
    most : int or None
        Messages of a list; None: as many as keep a network full.
    seed, number : int
        Of the search, and of the batch in it: the same ones draw the same.
    """
    rng, nodes = np.random.default_rng((seed, number)), topology.nodes
    length = scale(rng, *lengths)
    reach = min(nodes - 1, scale(rng, 1, nodes - 1) + 1)  # most destinations
    unicasts = rng.choice(UNICASTS)
    each = length * (1 + (1 - unicasts) * (reach - 1) / 2)  # flits to deliver, of a message
    full = max(FEWEST, min(MESSAGES_OF_A_NODE * nodes, int(MOST_FLITS * nodes / each)))
    messages = scale(rng, FEWEST, min(full, most or full))
    load = float(LOADS[0] * (LOADS[1] / LOADS[0]) ** rng.random())
    window = max(1, round(messages * each / nodes / load))
    total = lanes * messages
    counts = np.where(rng.random(total) < unicasts, 1, rng.integers(1, reach + 1, total))
    order = np.argsort(rng.random((total, nodes), np.float32), axis=1)
    chosen = np.arange(nodes - 1) < counts[:, None]
    batch = Batch(
        lane=np.repeat(np.arange(lanes), messages),
        at=rng.integers(0, window, total),
        source=order[:, 0].astype(np.int32),
        length=rng.integers(max(lengths[0], length // 2), length + 1, total),
        offsets=np.cumsum([0, *counts]),
        destinations=order[:, 1:][chosen].astype(np.int32))
    return batch, load


def scale(rng: np.random.Generator, least: int, most: int) -> int:
    """A number from least to most, small ones as likely as large ones: uniform in its logarithm."""
    return min(most, int(least * ((most + 1) / least) ** rng.random()))
