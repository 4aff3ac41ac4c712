"""k-binomial trees and the schedules of packets along them, in plain recursive Python, by their definitions."""

import functools

__all__ = ["covers", "first_steps", "sends", "tree"]


@functools.cache
def covers(steps, k):
    """Nodes that have a packet after so many steps, if each sends to one other a step and to k at most."""
    return 1 + sum(covers(steps - child, k) for child in range(1, min(k, steps) + 1))


def first_steps(nodes, k):
    steps = 0
    while covers(steps, k) < nodes:
        steps += 1
    return steps


def tree(chain, k):
    """Children of each node of a chain, in the order of sending."""
    root, rest = chain[0], list(chain[1:])
    steps, children, found = first_steps(len(chain), k), [], {}
    for child in range(1, k + 1):
        if not rest:
            break
        size = min(covers(steps - child, k), len(rest))
        block, rest = rest[len(rest) - size:], rest[:len(rest) - size]
        children.append(block[0])
        found |= tree(block, k)
    return {root: children} | found


def sends(children, root, packets, order):
    """All (step, node, to, packet), step by step: each node looks at what it has to do next, and does it if it can."""
    ahead = {node: [(to, packet) for packet in range(packets) for to in there] if order == "fpfs" else
             [(to, packet) for to in there for packet in range(packets)] for node, there in children.items()}
    has = {(root, packet) for packet in range(packets)}
    found, step = [], 0
    while any(ahead.values()):
        step += 1
        now = [(step, node, *jobs[0]) for node, jobs in ahead.items() if jobs and (node, jobs[0][1]) in has]
        for _, node, to, packet in now:
            ahead[node].pop(0)
            has.add((to, packet))
        found += now
    return found
