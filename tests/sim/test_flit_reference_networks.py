"""Unicasts in multistage and irregular networks: each comes in the cycle in which the second simulator says so.

It is told which ports are joined. The ways it is given come from a search of this file: backwards from each node in a
multistage network, breadth first along links up and then down in an irregular one.
"""

from itertools import count

import numpy as np
import pytest

from wormcast.algorithms import topology

from .bench import bulk, check_receipts, send
from .flit_reference import Net, simulate

MINS = ["min:b=2,stages=3", *(f"min:b=2,stages=3,kind={kind}" for kind in ("cube", "omega", "butterfly"))]
IRREGULAR = ["irregular:switches=8,ports=5,nodes=16,connectivity=1.0,seed=1",
             "irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=1"]
ONE, TWO = {"vcs": 1, "buffer": 3, "consumption": 1}, {"vcs": 2, "buffer": 2, "consumption": 2}


def ups(links):
    """Return for each link whether it leads up: to a switch nearer to switch 0, or as near with a lower number."""
    level, depth = {0: 0}, 0
    while found := {b for a, _, b, _ in links if a in level} - level.keys():
        depth += 1
        level |= dict.fromkeys(found, depth)
    return [(level[b], b) < (level[a], a) for a, _, b, _ in links]


def ways(built, up):
    """The output of each switch towards each node, for worms that may still go up, and for those that went down.

    A shortest way, of several that by the lowest port. ``up`` is of each link; a worm that has gone down goes down.
    """
    links = built.links.tolist()
    found = np.full((2, built.switches, built.nodes), -1)
    for node, (end, port) in enumerate(built.consumptions.tolist()):
        far = {(0, end): 0, (1, end): 0}
        for length in count(1):
            nearer = [(phase, a) for (a, _, b, _), rises in zip(links, up, strict=True) for phase in (0, 1)
                      if not (phase and rises) and far.get((0 if rises else 1, b)) == length - 1
                      and (phase, a) not in far]
            if not nearer:
                break
            far |= dict.fromkeys(nearer, length)
        for phase, switch in far:
            hops = [out for (a, out, b, _), rises in zip(links, up, strict=True) if a == switch
                    and not (phase and rises) and far.get((0 if rises else 1, b)) == far[phase, switch] - 1]
            found[phase, switch, node] = min(hops) if far[phase, switch] else port
    return found


def net_of(built):
    """The network as the second simulator takes it: ports numbered, those from and to other switches first."""
    up = ups(built.links.tolist()) if built.kind == "irregular" else [False] * len(built.links)
    found, numbers = ways(built, up), []
    for joined, ends in ((built.links[:, 2:], built.injections), (built.links[:, :2], built.consumptions)):
        numbers.append({place: number for switch in range(built.switches) for number, place in enumerate(
            [*sorted({(s, p) for s, p in joined.tolist() if s == switch}),
             *sorted((s, p) for s, p in ends.tolist() if s == switch)])})
    inputs, outputs = numbers
    routes = np.full((built.switches, 1 + max(inputs.values()), built.nodes), 0)
    came = {(b, entry): rises for (_, _, b, entry), rises in zip(built.links.tolist(), up, strict=True)}
    for (switch, port), number in inputs.items():
        phase = 0 if came.get((switch, port), True) else 1
        for node in range(built.nodes):
            if found[phase, switch, node] >= 0:
                routes[switch, number, node] = outputs[switch, found[phase, switch, node]]
    return Net([(a, outputs[a, out], b, inputs[b, entry]) for a, out, b, entry in built.links.tolist()],
               [(switch, inputs[switch, port]) for switch, port in built.injections.tolist()],
               [(switch, outputs[switch, port]) for switch, port in built.consumptions.tolist()], routes)


def created(nodes, rate, cycles, seed):
    """Unicasts of 1 to 30 flits, so many flits a node and cycle."""
    random = np.random.default_rng(seed)
    at, source = np.nonzero(random.random((cycles, nodes)) < rate / 15.5)
    return at, source, (source + random.integers(1, nodes, len(at))) % nodes, random.integers(1, 31, len(at))


def agree(name, options, rate, cycles, seed=1):
    """Both simulators have every message begin and end in the same cycles."""
    built = topology(name)
    at, source, destination, length = created(built.nodes, rate, cycles, seed)
    messages = [send(a, b, length=flits, at=start)
                for start, a, b, flits in zip(*map(np.ndarray.tolist, (at, source, destination, length)), strict=True)]
    engine = bulk(name, "individual", messages, **options)
    engine.run(cycles, beyond=True)
    check_receipts(engine.host)
    hardware = {"vcs": options["vcs"], "depth": options["buffer"], "channels": options["consumption"],
                "fast": options.get("delays") == "fast"}
    found = simulate(net_of(built), at, source, destination, length, cycles=cycles, **hardware)
    for field in ("injected", "head", "tail"):
        ours, theirs = getattr(found, field), getattr(engine.host, field)
        assert np.array_equal(ours, theirs), f"{field} of {np.flatnonzero(ours != theirs)[:5].tolist()}"
    assert (found.tail >= 0).sum() > 0.1 * rate * cycles * built.nodes / 15.5
    return found


@pytest.mark.parametrize("name", MINS)
def test_a_stage_decides_a_digit_of_the_destination(name):
    """In the way that is searched for: the outputs taken in the stages are the digits, each once."""
    built = topology(name)
    found, taken = ways(built, [False] * len(built.links)), {}
    for (phase, switch, node), port in np.ndenumerate(found):
        if phase == 0 and port >= 0:
            taken.setdefault(switch // (built.nodes // 2), set()).add((node, port % 2))
    digits = [next(d for d in range(3) if all(node >> d & 1 == port for node, port in pairs))
              for pairs in taken.values()]
    assert sorted(digits) == [0, 1, 2]


@pytest.mark.parametrize("rate", [0.2, 0.9])
@pytest.mark.parametrize(("name", "options"), [
    (MINS[0], ONE), (MINS[2], TWO), (IRREGULAR[0], ONE), (IRREGULAR[1], {**TWO, "delays": "fast"}),
])
def test_every_message_comes_in_its_cycle(name, options, rate):
    agree(name, options, rate, 4000)


FOUR_A_SWITCH = "irregular:switches=8,ports=8,nodes=32,connectivity=0.8,seed=3"


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.1, 0.4, 0.9])
@pytest.mark.parametrize("options", [ONE, TWO, {**ONE, "delays": "fast"}], ids=["one", "two", "fast"])
@pytest.mark.parametrize("name", [*MINS, *IRREGULAR, "min:b=4,stages=3", FOUR_A_SWITCH])
def test_every_message_on_more_networks(name, options, rate):
    # full long before: by the fast delays less than a tenth comes of 0.9
    most = 0.8 if name == FOUR_A_SWITCH and "delays" in options else 0.9
    agree(name, options, min(rate, most), 10_000, seed=3)


def test_the_comparison_notices_another_way(monkeypatch):
    """Up and down of the links exchanged, in the reference alone."""
    monkeypatch.setitem(globals(), "ups", lambda links, ups=ups: [not rises for rises in ups(links)])
    with pytest.raises(AssertionError, match="of"):
        agree(IRREGULAR[0], ONE, 0.2, 2000)
