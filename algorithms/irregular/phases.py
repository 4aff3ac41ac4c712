"""Senders and steps of worms: the greedy and the less greedy algorithm ([Sivaram98], section 5.2.5)."""

import numpy as np

from ..compiled import LINEAR, compiled_from
from ..topologies.base import Topology
from ..worms import AT_ONCE, MessageBatch, Worms
from .chains import chain_arrays, chain_keys

__all__ = ["phased_worms"]


def phased_worms(topology: Topology, messages: MessageBatch, *, whole_chains: bool, all_send: bool) -> Worms:
    """Make one worm per switch or chain of switches, sent by the nodes that have the message.

    Worms with more destinations are sent first, and worms with the same number of destinations in the order of their
    chains (`chains`). In each step every sender sends one worm; the senders are served in the order of their receipts,
    the source first.

    Parameters
    ----------
    messages : MessageBatch
    whole_chains : bool
        True: a worm visits all switches of a chain; False: a worm goes to one switch.
    all_send : bool
        True (greedy): all destinations that were reached in an earlier step send worms. False (less greedy): of a
        worm's destinations at one switch, only the destination with the lowest id sends worms.
    """
    return Worms(*_phased(chain_arrays(topology), topology.switches, *messages, whole_chains, all_send))


@compiled_from(LINEAR)
def _phased(arrays, switches, sources, destination_offsets, destinations, whole_chains, all_send):
    homes = arrays[0]
    nodes, visits = len(homes), len(destinations)
    message_offsets = np.zeros(len(sources) + 1, np.int64)
    source = np.empty(visits, np.int32)
    rank = np.empty(visits, np.int32)
    after = np.empty(visits, np.int64)
    visit_offsets = np.zeros(visits + 1, np.int64)
    ordered = np.empty(visits, np.int32)

    number = np.empty(switches, np.int64)  # number of each participating switch's chain, in the order of `chains`
    ends = np.empty(nodes + 1, np.int64)  # index in `keys` of each worm's first destination
    sender, receipt = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    sent = np.empty(nodes, np.int32)
    row = 0
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        keys = np.empty(end - begin, np.int64)
        chain_keys(arrays, sources[message], destinations[begin:end], keys, number)
        keys.sort()
        # ``worms``: number of worms so far; ``group``: number of the latest worm's chain, or place of its switch
        worms, group = 0, -1
        for visit in range(len(keys)):
            place = keys[visit] // nodes
            before, group = group, number[place] if whole_chains else place
            if group != before:
                ends[worms] = visit
                worms += 1
        ends[worms] = len(keys)
        by_size = np.argsort(ends[:worms] - ends[1:worms + 1], kind="mergesort")

        sender[0], receipt[0], sent[0] = sources[message], AT_ONCE, 0
        senders, done = 1, 0
        while done < worms:
            ready, before = senders, row
            for one in range(min(ready, worms - done)):
                worm = by_size[done]
                done += 1
                source[row], rank[row], after[row] = sender[one], sent[one], receipt[one]
                sent[one] += 1
                visit_offsets[row + 1] = visit_offsets[row] + ends[worm + 1] - ends[worm]
                for visit in range(ends[worm], ends[worm + 1]):
                    ordered[visit_offsets[row] + visit - ends[worm]] = keys[visit] % nodes
                row += 1
            for worm in range(before, row):  # the destinations of this step's worms send from the next step on
                for visit in range(visit_offsets[worm], visit_offsets[worm + 1]):
                    node = ordered[visit]
                    if all_send or visit == visit_offsets[worm] or homes[node] != homes[ordered[visit - 1]]:
                        sender[senders], receipt[senders], sent[senders] = node, worm, 0
                        senders += 1
        message_offsets[message + 1] = row
    return (message_offsets, source[:row].copy(), rank[:row].copy(), after[:row].copy(),
            visit_offsets[:row + 1].copy(), ordered)
