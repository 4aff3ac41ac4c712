"""CMIN: a tree of unicasts in multistage networks, in which few worms of a step share links."""

import numpy as np

from ..compiled import LINEAR, compiled_from, inlined
from ..routing import DESTINATION_TAGS
from ..topologies.base import Topology
from ..worms import AT_ONCE, MessageBatch, Worms, unicasts
from .unicast import UnicastScheme

__all__ = ["Cmin"]


class Cmin(UnicastScheme):
    """In each step assign a remaining destination to each node that has the message, so that few pairs of worms share a
    link.

    In each step every node with the message sends it to one remaining destination; the nodes choose in the order of
    their receipts. A node chooses the destination whose worm shares a link with the fewest worms already chosen for
    this step. If several destinations are equally good, the node prefers ids with the fewest leading digits in common
    with its own id, then the lowest id. Digits have base b in a network of b x b switches.

    The indirect cube and omega networks have trees without conflicts, baseline and butterfly networks may not
    ([Chiang95]). The tree of this scheme has few conflicts, not always the fewest. In a broadcast on the baseline
    network of 64 nodes (2x2 switches), 7 pairs of worms share a link in the same step, with `CminHalving` 44 pairs
    (means over sources). In a broadcast on the indirect cube of 64 nodes (2x2 switches), 2 pairs of worms share a link
    in the same step, with `CminHalving` none.

    Cost: ceil(log2(d + 1)) steps for d destinations, with one port: a node sends one worm per step, and a destination
    begins in the step after its receipt. A worm also carries the list of nodes that its receiver must serve, as payload
    that is not counted. Source: [Varavithya], section 4, with CMIN as its baseline, and [Chiang95]; reconstructed from
    the description in [Varavithya] and the abstract of [Chiang95].
    """

    name = "cmin"
    description = "a tree of unicasts in multistage networks, in which few worms of one step share a link"
    provenance = "reconstructed (CMIN of [Chiang95], from its abstract: the matching is ours)"
    kinds = ("min",)
    relation = DESTINATION_TAGS

    def form(self, topology: Topology) -> str:
        """Describe the choice of the worms of a step."""
        return "worms of a step one by one, each with the fewest that share a link with it"

    def worms(self, topology: Topology, messages: MessageBatch) -> Worms:
        """Compute the worms, one per destination, in the order of the steps."""
        # the paths do not depend on the scheme's relation: the network has one path between two nodes
        network = (DESTINATION_TAGS.on(topology).table, topology.link_of_port, topology.links, topology.injections)
        base = len(topology.ports[0])
        return unicasts(messages.destination_offsets, *_matched(network, base, *messages))


@compiled_from(LINEAR)
def _matched(network, base, sources, destination_offsets, destinations):
    _, _, links, injections = network
    count = len(destinations)
    source = np.empty(count, np.int32)
    rank = np.empty(count, np.int32)
    after = np.empty(count, np.int64)
    visits = np.empty(count, np.int32)
    digits = _apart(0, len(injections) - 1, base)  # number of digits of an id
    sent = np.zeros(len(injections), np.int32)
    on = np.empty(len(links), np.int32)  # number of worms of this step on each link
    # through[k, i]: number of worms of this step that take link k, and enter the switch where it begins by input i
    through = np.empty((len(links), base), np.int32)
    for message in range(len(sources)):
        begin, end = destination_offsets[message], destination_offsets[message + 1]
        left = np.sort(destinations[begin:end])
        sent[sources[message]] = 0
        worm = begin
        while worm < end:
            on[:] = 0
            through[:] = 0
            for receipt in range(begin - 1, worm):  # senders: the source, then the receivers of earlier steps
                if worm == end:
                    break
                sender = sources[message] if receipt < begin else visits[receipt]
                chosen, fewest, farthest = 0, len(injections), 0
                for place in range(end - worm):
                    conflicts = _conflicts(network, on, through, sender, left[place], fewest)
                    if conflicts > fewest:
                        continue
                    apart = _apart(sender, left[place], base)
                    if conflicts < fewest or apart > farthest:
                        chosen, fewest, farthest = place, conflicts, apart
                    if fewest == 0 and farthest == digits:
                        break
                to = left[chosen]
                for place in range(chosen, end - worm - 1):
                    left[place] = left[place + 1]
                _add(network, on, through, sender, to)
                source[worm] = sender
                rank[worm] = sent[sender]
                after[worm] = receipt if receipt >= begin else AT_ONCE
                visits[worm] = to
                sent[sender] += 1
                sent[to] = 0
                worm += 1
    return source, rank, after, visits


@inlined
def _conflicts(network, on, through, sender, to, most):
    """Count the worms of this step that share a link with a worm from ``sender`` to ``to``.

    The count ends early if it is above ``most``. Each worm is counted at the switch where its path meets the path from
    ``sender`` to ``to``. The paths of two worms meet at most once, as the network has one path between two nodes.
    """
    table, link_of_port, links, injections = network
    switch, enters = injections[sender, 0], injections[sender, 1]
    found = 0
    link = link_of_port[switch, table[switch, to]]
    while link >= 0 and found <= most:
        found += on[link] - through[link, enters]
        switch, enters = links[link, 2], links[link, 3]
        link = link_of_port[switch, table[switch, to]]
    return found


@inlined
def _add(network, on, through, sender, to):
    table, link_of_port, links, injections = network
    switch, enters = injections[sender, 0], injections[sender, 1]
    link = link_of_port[switch, table[switch, to]]
    while link >= 0:
        on[link] += 1
        through[link, enters] += 1
        switch, enters = links[link, 2], links[link, 3]
        link = link_of_port[switch, table[switch, to]]


@inlined
def _apart(one, other, base):
    """Count the digits of two ids after their common leading digits."""
    digits = 0
    while one != other:
        one //= base
        other //= base
        digits += 1
    return digits
