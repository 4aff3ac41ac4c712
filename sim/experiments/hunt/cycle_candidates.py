"""Lists of a few messages that may realise a cycle of dependencies found by `check`."""

from itertools import pairwise

import numpy as np

from wormcast.algorithms import Topology, WormcastError
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.routing import as_built

from ...build.network import Network
from ...host import Message
from .batch_runs import MessageLists
from .draw import scale

__all__ = ["CycleWorm", "draw_around_cycle", "worms_of_a_cycle"]

CycleWorm = tuple[int, tuple[int, ...]]
"""Source of a worm that holds a resource of a cycle, and the worm's next one or two stops."""

#: Greatest number of nodes of a network for which `check` is called. For networks with more nodes than this, `check`
#: takes seconds.
MOST_NODES = 256

#: Largest ratio of a list's messages to its different messages.
#: A deadlock may need a message on each virtual channel of a link.
COPIES = 3

#: Greatest number of cycles within which the messages of a list are created.
WINDOW = 256


def worms_of_a_cycle(network: Network) -> tuple[CycleWorm, ...]:
    """Return the worms of a deadlock, or of a shortest cycle of dependencies, that `check` finds.

    The result is empty if `check` finds no deadlock and no cycle, or refuses the network. The result is also empty for
    networks with more than `MOST_NODES` nodes, for which `check` is not called.
    """
    topology, scheme, configuration = network.topology, network.scheme, network.configuration
    if topology.nodes > MOST_NODES:
        return ()
    try:
        analysis = check(
            topology, scheme,
            relation=as_built(scheme.relation, topology, configuration.ties, configuration.vc_classes),
            consumption=configuration.consumption, classes=network.consumption_rule, vcs=configuration.vcs,
            ejection=configuration.ejection, slots=configuration.slots,
            tokens=None if configuration.tokens is None else configuration.tokens == "on",
            places=False if scheme.forwarded and configuration.ni == "fpfs" else None)
    except WormcastError:
        return ()
    return tuple(dict.fromkeys((one.source, one.stops) for one in analysis.worms or analysis.cycle))


def draw_around_cycle(worms: tuple[CycleWorm, ...], topology: Topology, lanes: int, lengths: tuple[int, int],
                      most: int, seed: int, number: int) -> tuple[MessageLists, float]:
    """Draw a batch of lists of messages whose worms may hold the resources of a cycle of dependencies.

    Each `CycleWorm` becomes a message or part of a message. Consecutive `CycleWorm` tuples may form one message,
    because one worm may hold several resources of the cycle. A drawn list may repeat messages. Drawn once for the
    batch: the joined worms, the greatest length, the number of messages of a list, and the number of cycles within
    which messages are created. Like `draw`, the function returns the batch with its load: payload flits to deliver per
    node and cycle.

    Parameters
    ----------
    worms : tuple of CycleWorm
        Two or more, in the order of the cycle.
    topology, lanes, lengths, most, seed, number
        See `draw`.
    """
    rng = np.random.default_rng((seed, number, len(worms)))
    length, window = scale(rng, *lengths), scale(rng, 1, WINDOW)
    sent = _joined(worms, int(rng.integers(2, min(len(worms), most) + 1)), rng)
    again = scale(rng, 1, min(most, COPIES * len(sent)) - len(sent) + 1) - 1
    lists = []
    for _ in range(lanes):
        chosen = [*sent, *(sent[place] for place in rng.integers(0, len(sent), again))]
        at = rng.integers(0, window, len(chosen)).tolist()
        flits = rng.integers(max(lengths[0], length // 2), length + 1, len(chosen)).tolist()
        lists.append([Message(when, source, stops, long)
                      for when, (source, stops), long in zip(at, chosen, flits, strict=True)])
    created = sum(message.length * len(message.destinations) for one in lists for message in one)
    return MessageLists.of(lists), created / lanes / topology.nodes / window


def _joined(worms: tuple[CycleWorm, ...], parts: int, rng: np.random.Generator) -> list[CycleWorm]:
    """Cut the cycle of worms into ``parts`` parts, and join the worms of each part to one worm.

    The joined worm has the source of the part's first worm, and the stops of all worms of the part.
    """
    start = int(rng.integers(len(worms)))
    around = (*worms[start:], *worms[:start])
    cuts = [0, *sorted(1 + rng.permutation(len(worms) - 1)[:parts - 1]), len(worms)]
    found = []
    for first, last in pairwise(cuts):
        source = around[first][0]
        found.append((source, tuple(dict.fromkeys(
            stop for _, stops in around[first:last] for stop in stops if stop != source))))
    return found
