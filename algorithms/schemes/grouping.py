"""Worms from keys: the last step of schemes that divide the destinations of a message among worms."""

import numpy as np
import numpy.typing as npt

from ..compiled import LINEAR, compiled_from
from ..worms import AT_ONCE, MessageBatch, Worms

__all__ = ["destination_key", "grouped_worms"]


def grouped_worms(messages: MessageBatch, keys: npt.NDArray[np.int64], nodes: int) -> Worms:
    """Make one worm per group of destinations of a message.

    The message's source sends all worms, one after the other. None of the worms waits for a receipt.

    Parameters
    ----------
    messages : MessageBatch
    keys : int64 array [all destinations]
        `destination_key` of each destination. The function sorts the keys in place, within each message.
    nodes : int
        Number of nodes of the network.
    """
    return Worms(*_grouped(messages.sources, messages.destination_offsets, keys, nodes))


@compiled_from(LINEAR)
def destination_key(group, place, node, nodes):
    """Return a destination's key for `grouped_worms`, of numbers or of arrays (compiled).

    Parameters
    ----------
    group : int64
        Group of the destination, from 0; numbers may have gaps. Worms are sent in the order of their groups.
    place : int
        Place of the destination in its worm, from 0 to `nodes` - 1. Places may have gaps. A worm visits its
        destinations in the order of their places.
    node : int
        The destination.
    nodes : int64
        Number of nodes of the network.
    """
    return (group * nodes + place) * nodes + node


@compiled_from(LINEAR)
def _grouped(sources, destination_offsets, keys, nodes):
    messages, visits = len(sources), len(keys)
    message_offsets = np.zeros(messages + 1, np.int64)
    source = np.empty(visits, np.int32)
    rank = np.empty(visits, np.int32)
    visit_offsets = np.zeros(visits + 1, np.int64)
    ordered = np.empty(visits, np.int32)
    worm = 0
    for message in range(messages):
        first, end = destination_offsets[message], destination_offsets[message + 1]
        keys[first:end].sort()
        group = np.int64(-1)
        for visit in range(first, end):
            rest, node = divmod(keys[visit], nodes)
            ordered[visit] = node
            if rest // nodes != group:
                group = rest // nodes
                source[worm] = sources[message]
                rank[worm] = worm - message_offsets[message]
                visit_offsets[worm] = visit
                worm += 1
        message_offsets[message + 1] = worm
    visit_offsets[worm] = visits
    return (
        message_offsets,
        source[:worm].copy(),
        rank[:worm].copy(),
        np.full(worm, AT_ONCE),
        visit_offsets[: worm + 1].copy(),
        ordered,
    )
