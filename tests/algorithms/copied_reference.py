"""Deadlocks of worms that are copied, once more: every tree is gone through, and pairs of what it has are compared.

It uses nothing of the package; slow and plain on purpose. A switch is (stage, row), a channel (switch, output, switch)
or ("end", node), a token ("token", stage, group). ``groups`` maps a switch to its token's (stage, group), or to None.
"""

import itertools


def baseline(b, stages):
    """Baseline network from its definition: the far end of each switch's output, and each node's injection."""
    rows = b ** (stages - 1)
    leads = {}
    for stage, row, port in itertools.product(range(stages), range(rows), range(b)):
        if stage == stages - 1:
            leads[(stage, row), port] = ("node", row * b + port)
        else:
            width = b ** (stages - 1 - stage)
            base, place = row // width * width, row % width
            leads[(stage, row), port] = (stage + 1, base + port * (width // b) + place // b)
    return leads, {node: (0, node // b) for node in range(b**stages)}


def way(leads, start, node, b, stages):
    """The channels of a unicast, by destination tags."""
    at, found = start, []
    for stage in range(stages):
        port = node // b ** (stages - 1 - stage) % b
        to = leads[at, port]
        found.append(("end", node) if to[0] == "node" else (at, port, to))
        at = to
    return found


def trees(b, stages):
    """Every source with every set of other nodes, as the ways to each of them."""
    leads, homes = baseline(b, stages)
    for source, start in homes.items():
        others = [node for node in homes if node != source]
        for count in range(1, len(homes)):
            for chosen in itertools.combinations(others, count):
                yield start, [way(leads, start, node, b, stages) for node in chosen]


def asked(start, ways, groups, lockstep):
    """Return the resources that a worm requests: {resource: (resources held before it, the switch that requests it)}.

    In lockstep an output of a switch is one resource with all others that are taken there.
    """
    outputs = {}  # of each switch
    for channels in ways:
        at = start
        for channel in channels:
            outputs.setdefault(at, set()).add(channel)
            at = channel[2] if channel[0] != "end" else None
    found = {}

    def go(switch, before):
        branches = outputs[switch]
        if len(branches) > 1 and groups.get(switch) is not None:
            token = ("token", *groups[switch])
            found[token] = (before, switch)
            before = before | {token}
        for channel in branches:
            found[channel] = (before, switch)
            if channel[0] != "end":
                go(channel[2], before | (branches if lockstep else {channel}))

    go(start, frozenset())
    return {resource: (frozenset(before), switch) for resource, (before, switch) in found.items()}


def waits(b, stages, groups=None, *, consumed=False, lockstep=False, only=None):
    """All (held, asked, switch or None): of all worms, where `held` may be held while `asked` is waited for.

    The switch is the one where both parted, None where one comes after the other. Of a token, `held` is held while
    anything behind its switch is waited for. ``consumed``: nobody waits for the end at a node.
    """
    groups = groups or {}
    edges = set()
    for start, ways in only or trees(b, stages):
        resources = asked(start, ways, groups, lockstep)
        paths = {channel: channels[:channels.index(channel)] for channels in ways for channel in channels}
        for (held, _), (wanted, (before, where)) in itertools.product(resources.items(), resources.items()):
            if held == wanted or (consumed and "end" in (held[0], wanted[0])):
                continue
            if held[0] == "token":
                # everything that is asked for behind the switch of the token
                if held in before:
                    edges.add((held, wanted, resources[held][1]))
                continue
            if held in before and held in way_to(where, paths, start):
                edges.add((held, wanted, None))
            elif wanted not in resources[held][0] and not (lockstep and resources[held][1] == where):
                edges.add((held, wanted, parted(held, where, paths, start)))
    return edges


def way_to(switch, paths, start):
    """The channels from the source to a switch."""
    if switch == start:
        return []
    last = next(channel for channel in paths if channel[0] != "end" and channel[2] == switch)
    return [*paths[last], last]


def parted(held, where, paths, start):
    """The last switch that is on the way both to what is held and to where something is asked for."""
    one, other = [*paths[held], held], way_to(where, paths, start)
    common = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))))
    return start if common == 0 else one[common - 1][2]


def may_lock(edges, groups=None):
    """Return whether there is a cycle; with groups, one in which no two edges have switches of the same group.

    All are gone through, edge after edge, from each resource on: with as many labels as there are groups at most.
    """
    after = {}
    for held, wanted, switch in edges:
        label = None if groups is None or switch is None else groups.get(switch)
        after.setdefault(held, set()).add((wanted, label))

    def returns(begin):
        seen, todo = set(), [(begin, frozenset())]
        while todo:
            at, used = todo.pop()
            for wanted, label in after.get(at, ()):
                if label is not None and label in used:
                    continue
                state = (wanted, used if label is None else used | {label})
                if wanted == begin:
                    return True
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        return False

    return any(returns(begin) for begin in after)
