"""Histories made by hand: Figure 4's deadlock, and worms that cross a mesh."""

import random

from wormcast.algorithms import find_scheme, topology
from wormcast.algorithms.channels import link_names
from wormcast.algorithms.multicast_plan import plan
from wormcast.sim.waves.view import History, RecordedHold, RecordedLink, RecordedWorm, Wait

__all__ = ["crossing", "figure_4", "links_of", "short_worms"]


def links_of(network, vcs=1, consumption=1):
    """All links of a network, with one injection port and one consumption link a node."""
    links = [RecordedLink(f"link:{name}", "network", int(start), int(end), vcs)
             for name, (start, _, end, _) in zip(link_names(network), network.links, strict=True)]
    for node, (begin, end) in enumerate(zip(network.injections[:, 0].tolist(), network.consumptions[:, 0].tolist(),
                                            strict=True)):
        links.append(RecordedLink(f"inj:{node}:0", "injection", node, begin, 1))
        links.append(RecordedLink(f"cons:{node}#0", "consumption", end, node, consumption))
    return tuple(links)


def figure_4(end=40):
    """Two worms of 64 flits that wait for each other's consumption channel, as the hardware has it."""
    mesh = topology("mesh:1x4")
    links = links_of(mesh)
    number = {link.name: index for index, link in enumerate(links)}
    holds, waits = [], []
    for worm, way in enumerate((("inj:0:0", "link:0>1", "cons:1#0", "link:1>2"),
                                ("inj:3:0", "link:3>2", "cons:2#0", "link:2>1"))):
        for name, first, flits in zip(way, (3, 6, 9, 10), (
                (3, 4, 5, 6, 8, 9, 10, 11, 14, 15, 16, 17), (6, 7, 8, 9, 12, 13, 14, 15), (10, 11, 12, 13),
                (10, 11, 12, 13)), strict=True):
            holds.append(RecordedHold(number[name], 0, worm, first, end - 1, flits, ended=False))
        waits.append(Wait(worm, number[way[-1]], 0, 12, end - 1, (f"cons:{2 - worm}:0",)))
    deadlock = {"at": 1024, "cycle": [
        {"worm": 0, "holds": ["link:0>1:0", "cons:1:0", "link:1>2:0"], "waits": ["cons:2:0"]},
        {"worm": 1, "holds": ["link:2>1:0", "link:3>2:0", "cons:2:0"], "waits": ["cons:1:0"]}]}
    return History(
        mesh, "dual-path", 0, end, links, {0: RecordedWorm(0, 0, 0, (1, 2), 64), 1: RecordedWorm(1, 1, 3, (2, 1), 64)},
        tuple(sorted(holds, key=lambda hold: (hold.first, hold.link))), tuple(waits), deadlock,
        {"vcs": 1, "buffer": 4, "consumption": 1})


def short_worms(end=20):
    """Four worms of three flits in a ring: each fills a buffer, and its tail has released the link to it."""
    ring = topology("ring:4")
    links = links_of(ring)
    number = {link.name: index for index, link in enumerate(links)}
    holds, waits, steps = [], [], []
    for worm in range(4):
        after = (worm + 1) % 4
        way, asked = f"link:{worm}>{after}", f"link:{after}>{(after + 1) % 4}:0"
        holds.append(RecordedHold(number[f"inj:{worm}:0"], 0, worm, 3, 6, (3, 4, 5, 6), ended=True))
        holds.append(RecordedHold(number[way], 0, worm, 6, 9, (6, 7, 8, 9), ended=True))
        waits.append(Wait(worm, number[way], 0, 8, end - 1, (asked,)))
        steps.append({"worm": worm, "holds": [f"{way}:0"], "waits": [asked]})
    return History(ring, "individual", 0, end, links,
                   {worm: RecordedWorm(worm, worm, worm, ((worm + 2) % 4,), 3) for worm in range(4)},
                   tuple(sorted(holds, key=lambda hold: (hold.first, hold.link))), tuple(waits),
                   {"at": 1024, "cycle": steps}, {"vcs": 1, "buffer": 4, "consumption": 1})


def crossing(name, worms, *, length=20, spread=100, vcs=2, seed=1):
    """Worms along their ways, as if they were alone: three cycles from link to link; some headers wait for a while.

    Numbers of worms begin at 10. Every second flit is on a link, so that two virtual channels have room.
    """
    rng = random.Random(seed)
    mesh = topology(name)
    scheme = find_scheme("individual", mesh)
    links = links_of(mesh, vcs, consumption=2)
    number = {link.name: index for index, link in enumerate(links)}
    sent, holds, waits = {}, [], []
    for worm in range(10, 10 + worms):
        source, target = rng.sample(range(mesh.nodes), 2)
        sent[worm] = RecordedWorm(worm, worm - 10, source, (target,), length)
        now, vc = rng.randrange(spread), rng.randrange(vcs)
        way = [(number[f"inj:{source}:0"], 0)]
        for hop in plan(mesh, scheme, source, [target]).worms[0].links:
            row = next(row for row, link in enumerate(mesh.links.tolist()) if (link[0], link[2]) == hop)
            way.append((row, vc))
        way.append((number[f"cons:{target}#0"], worm % 2))
        for place, (link, channel) in enumerate(way):
            flits = tuple(range(now, now + 2 * length, 2))
            holds.append(RecordedHold(link, channel, worm, now, flits[-1], flits, ended=True))
            now += 3
            if place + 1 < len(way) and rng.random() < 0.2:
                after, wanted = way[place + 1]
                resource = links[after].name.removesuffix("#0") + f":{wanted}"
                waits.append(Wait(worm, link, channel, now - 1, now + 5, (resource,)))
                now += 7
    holds.sort(key=lambda hold: (hold.first, hold.link, hold.vc))
    waits.sort(key=lambda wait: (wait.first, wait.link, wait.vc))
    end = max(hold.last for hold in holds) + 5
    return History(mesh, "individual", 0, end, links, sent, tuple(holds), tuple(waits), None,
                   {"vcs": vcs, "buffer": 4, "consumption": 2})
