"""Trees of unicasts in multistage networks once more, with digits, sets and lists; and their channels, by the wiring.

Slow and plain on purpose, and it imports nothing of the package. A unicast is (sender, place of the unicast by which it
has the message or None, receiver, step).
"""

import functools
import itertools


@functools.cache
def digits(node, b, stages):
    """The most significant first."""
    return tuple(node // b ** (stages - 1 - place) % b for place in range(stages))


@functools.cache
def channels(kind, b, stages, source, destination):
    """The channels between stages that a unicast takes, by what tells the channels out of a stage apart.

    Those are the digits of the destination that are routed, and those of the source that are not yet lost.
    """
    s, d = digits(source, b, stages), digits(destination, b, stages)
    found = set()
    for stage in range(stages - 1):
        routed = d[stages - 2 - stage:stages - 1] if kind == "butterfly" else d[:stage + 1]
        kept = s[stage + 1:] if kind in ("cube", "omega") else s[:stages - 1 - stage]
        found.add((stage, routed, kept))
    return frozenset(found)


def common(one, other):
    """Length of the common prefix."""
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=True))))


def matching(kind, b, stages, source, destinations):
    """Each step, each informed node in turn: the fewest conflicts, the shortest common prefix, the lowest id."""
    tree, informed, left, step = [], [(source, None)], set(destinations), 0
    while left:
        step += 1
        taken, more = [], []
        for sender, receipt in informed:
            if not left:
                break

            def worth(node, sender=sender, taken=taken):
                own = channels(kind, b, stages, sender, node)
                return (sum(not own.isdisjoint(other) for other in taken),
                        common(digits(sender, b, stages), digits(node, b, stages)), node)

            to = min(left, key=worth)
            left.remove(to)
            taken.append(channels(kind, b, stages, sender, to))
            more.append((to, len(tree)))
            tree.append((sender, receipt, to, step))
        informed += more
    return tree


def halving(kind, b, stages, source, destinations):
    """The chain of ids from the source on; a holder sends to the first of its upper half, and keeps the lower one."""
    chain = sorted([source, *destinations])
    chain = chain[chain.index(source):] + chain[:chain.index(source)]
    tree, holders = [], [(None, 0, 0, len(chain) - 1)]
    for receipt, step, low, high in holders:
        while high > low:
            step += 1
            middle = low + (high - low + 1) // 2
            holders.append((len(tree), step, middle, high))
            tree.append((chain[low], receipt, chain[middle], step))
            high = middle - 1
    return tree


def conflicts(kind, b, stages, unicasts):
    """Pairs of one step, of (sender, receiver, step), that share a channel."""
    return sum(step == other and not channels(kind, b, stages, *ends).isdisjoint(channels(kind, b, stages, *others))
               for (*ends, step), (*others, other) in itertools.combinations(unicasts, 2))
