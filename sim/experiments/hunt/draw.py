"""Random lists of messages: some with a few worms that share links, some that fill the network with worms."""

import numpy as np

from wormcast.algorithms import Topology

from .batch_runs import MessageLists

__all__ = ["LOADS", "draw", "scale"]

#: Least and greatest load while messages are created, in payload flits to deliver per node and cycle, if all messages
#: of the batch had the greatest length. (Their mean length is about three quarters of it.) Networks saturate at a load
#: of a few tenths. The greatest load is four times the bandwidth of a consumption link.
LOADS = (0.1, 4.0)

#: Greatest number of messages of a list per node, and least number of messages of a list.
MESSAGES_OF_A_NODE, FEWEST = 8, 2

#: Shares of unicasts among the messages of a batch. For each batch, one share of UNICASTS is drawn.
UNICASTS = (0.0, 0.0, 0.5, 0.9)

#: Greatest mean number of payload flits to deliver per node, as for `LOADS`, if a list has more than FEWEST messages.
#: MOST_FLITS bounds the simulation time of a batch.
MOST_FLITS = 4096


def draw(topology: Topology, lanes: int, lengths: tuple[int, int], most: int | None, seed: int, number: int
         ) -> tuple[MessageLists, float]:
    """Draw a batch of lists of messages, all from one distribution, and return it with its load (`LOADS`).

    Drawn once for the batch: the number of messages of a list, the greatest length and number of destinations, the
    share of unicasts, and the load. The load determines the number of cycles within which messages are created. Some
    batches fill the network with worms, and others have only a few worms on common links.

    Parameters
    ----------
    lanes : int
        Number of lists.
    lengths : (int, int)
        Least and greatest number of payload flits of a message.
    most : int or None
        Greatest number of messages of a list. `MESSAGES_OF_A_NODE` and `MOST_FLITS` also limit the messages of a list.
    seed, number : int
        Seed of the search, and number of the batch. The same seed and the same batch number draw the same batch.
    """
    rng, nodes = np.random.default_rng((seed, number)), topology.nodes
    length = scale(rng, *lengths)
    reach = min(nodes - 1, scale(rng, 1, nodes - 1) + 1)  # greatest number of destinations of a message
    unicasts = rng.choice(UNICASTS)
    # mean number of flits to deliver of a message, if its length is the greatest
    each = length * (1 + (1 - unicasts) * (reach - 1) / 2)
    full = max(FEWEST, min(MESSAGES_OF_A_NODE * nodes, int(MOST_FLITS * nodes / each)))
    messages = scale(rng, FEWEST, min(full, most or full))
    load = float(LOADS[0] * (LOADS[1] / LOADS[0]) ** rng.random())
    window = max(1, round(messages * each / nodes / load))
    total = lanes * messages
    counts = np.where(rng.random(total) < unicasts, 1, rng.integers(1, reach + 1, total))
    order = np.argsort(rng.random((total, nodes), np.float32), axis=1)
    chosen = np.arange(nodes - 1) < counts[:, None]
    batch = MessageLists(
        lane=np.repeat(np.arange(lanes), messages),
        at=rng.integers(0, window, total),
        source=order[:, 0].astype(np.int32),
        length=rng.integers(max(lengths[0], length // 2), length + 1, total),
        offsets=np.cumsum([0, *counts]),
        destinations=order[:, 1:][chosen].astype(np.int32))
    return batch, load


def scale(rng: np.random.Generator, least: int, most: int) -> int:
    """Draw a number from ``least`` to ``most``, uniformly on a logarithmic scale."""
    return min(most, int(least * ((most + 1) / least) ** rng.random()))
