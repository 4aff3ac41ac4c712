"""Lists of messages staged around a cycle that `check` finds: few worms, of which many deadlock."""

from itertools import pairwise

import numpy as np

from wormcast.algorithms import Topology, WormcastError, check
from wormcast.algorithms.routing import as_built

from ...build.network import Network
from ...host import Message
from .arena import Batch
from .draw import scale

__all__ = ["Leg", "legs_of_a_cycle", "stage"]

Leg = tuple[int, tuple[int, ...]]
"""Where a worm comes from, and its next stops."""

#: Nodes of networks in which a cycle is looked for: it takes seconds in larger ones.
MOST_NODES = 256

#: Messages of a list, for each leg, at most: each virtual channel of a link may have to be held, and what feeds it.
COPIES = 3

#: Cycles within which messages of a list are created, at most.
WINDOW = 256


def legs_of_a_cycle(network: Network) -> tuple[Leg, ...]:
    """Give the worms that hold the resources of a shortest cycle of dependencies.

    There are none where no deadlock is possible, and where the network is too large or of a kind that is not analysed.
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


def stage(legs: tuple[Leg, ...], topology: Topology, lanes: int, lengths: tuple[int, int], most: int, seed: int,
          number: int) -> tuple[Batch, float]:
    """Draw a batch of lists in which each leg is a message, or part of one, and some messages are there again.

    Legs that follow each other around the cycle may be one message, as one worm may hold what both hold. Which ones
    are, how long messages are, at most, how many a list has and within how many cycles they are created is drawn once
    for the batch. It says what load that is, as `draw` does.

    Parameters
    ----------
    legs : tuple of Leg
        In the order of the cycle, two or more.
    topology, lanes, lengths, most, seed, number
        As `draw` has them.
    """
    rng = np.random.default_rng((seed, number, len(legs)))
    length, window = scale(rng, *lengths), scale(rng, 1, WINDOW)
    sent = _joined(legs, int(rng.integers(2, min(len(legs), most) + 1)), rng)
    again = scale(rng, 1, min(most, COPIES * len(sent)) - len(sent) + 1) - 1
    lists = []
    for _ in range(lanes):
        chosen = [*sent, *(sent[place] for place in rng.integers(0, len(sent), again))]
        at = rng.integers(0, window, len(chosen)).tolist()
        flits = rng.integers(max(lengths[0], length // 2), length + 1, len(chosen)).tolist()
        lists.append([Message(when, source, stops, long)
                      for when, (source, stops), long in zip(at, chosen, flits, strict=True)])
    created = sum(message.length * len(message.destinations) for one in lists for message in one)
    return Batch.of(lists), created / lanes / topology.nodes / window


def _joined(legs: tuple[Leg, ...], parts: int, rng: np.random.Generator) -> list[Leg]:
    """Cut the cycle into so many parts, each of which goes from where its first leg comes from to all its stops."""
    start = int(rng.integers(len(legs)))
    around = (*legs[start:], *legs[:start])
    cuts = [0, *sorted(1 + rng.permutation(len(legs) - 1)[:parts - 1]), len(legs)]
    found = []
    for first, last in pairwise(cuts):
        source = around[first][0]
        found.append((source, tuple(dict.fromkeys(
            stop for _, stops in around[first:last] for stop in stops if stop != source))))
    return found
