"""A worm alone in the network: every delivery comes in exactly the cycle that the recurrence says."""

import random

import pytest

from wormcast.hw import Switch

from ..algorithms import reference
from . import zero_load
from .bench import bulk, check_receipts, send
from .zero_load import COPY, LAST, PASS, USED_UP, closed_form, deliveries, roles

DEPTHS = [1, 2, 3, 4, 5, 8]
APART = 400  # cycles between two messages: one is through long before the next
WAITS = ("queue", "packet", "t_ns", "t_nr", "t_hs", "injection_delay")  # what the recurrence knows of the settings


# the reference alone -------------------------------------------------------------------------------------------


def test_roles_follow_the_addresses_of_a_header_flit():
    assert roles([0, 1, 2, 3], [1, 3], 2) == [PASS, COPY, PASS, LAST]
    assert roles([0, 1, 2, 3], [1, 3], 1) == [PASS, USED_UP, PASS, LAST]
    assert roles([0, 1, 2, 3], [1, 2, 3], 2) == [PASS, COPY, USED_UP, LAST]


def test_reference_by_hand():
    """Created in 0: 1 on the host's link, 3 at the first router, 6 at the second, payload out in 10, host 12."""
    assert deliveries([PASS, LAST], 1, 1, 4) == [(12, 12)]
    assert deliveries([PASS, LAST], 1, 5, 4) == [(12, 16)]
    assert deliveries([PASS, PASS, LAST], 1, 5, 4) == [(15, 19)]
    # the third hop's header holds its place a cycle too long for the fifth flit, and so for its copy
    assert deliveries([PASS, COPY, LAST], 1, 5, 4) == [(13, 18), (16, 20)]
    assert deliveries([PASS, USED_UP, LAST], 2, 5, 4) == [(14, 19), (17, 21)]
    assert deliveries([PASS, LAST], 1, 5, 4, at=100) == [(112, 116)]
    assert deliveries([PASS, LAST], 1, 5, 5, fast=True) == [(14, 18)]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("fast", [False, True], ids=["paper", "fast"])
def test_a_long_worm_gets_its_depth_over_the_credit_loop(depth, fast):
    ((head, tail),) = deliveries([PASS, PASS, LAST], 1, 401, depth, fast=fast)
    assert (tail - head) / 400 == pytest.approx(max(1, (5 if fast else 4) / depth), abs=0.02)


@pytest.mark.parametrize("fast", [False, True], ids=["paper", "fast"])
def test_closed_form_is_the_recurrence_where_the_loop_is_covered(fast):
    rng = random.Random(1)
    for depth in (5, 6, 8, 16) if fast else (4, 5, 8, 16):
        for _ in range(200):
            parts = [PASS, *rng.choices([PASS, COPY, USED_UP], k=rng.randrange(9)), LAST]
            headers, length = 1 + parts.count(USED_UP), rng.randint(1, 40)
            form = closed_form(parts, headers, length, depth, fast=fast)
            assert deliveries(parts, headers, length, depth, fast=fast) == form
            free = deliveries(parts, headers, length, depth, coupled=False, fast=fast)
            assert free[-1] == form[-1]
            assert all(own <= shared for own, shared in zip(free, form, strict=True))
            if depth >= (7 if fast else 6):
                assert free == form
                assert all(tail - head == length - 1 for head, tail in form)


def test_closed_form_does_not_hold_below():
    for depth, fast in ((3, False), (4, True)):
        assert deliveries([PASS, LAST], 1, 9, depth, fast=fast) != closed_form([PASS, LAST], 1, 9, depth, fast=fast)


# the hardware against it ---------------------------------------------------------------------------------------


def paths(shape, scheme, source, destinations):
    """Path and visiting order of each worm, by the reference of the algorithms."""
    split, step = reference.SCHEMES[scheme]
    for _, _, visits in split(shape, source, destinations):
        yield reference.path(step, shape, source, visits), visits


def check(shape, scheme, multicasts, capacity, **options):
    """Send these (source, destinations, length) one by one: heads and tails are the recurrence's."""
    messages, expected = [], []
    for source, destinations, length in multicasts:
        at = APART * len(messages) + 5
        messages.append(send(source, *destinations, length=length, at=at))
        ((path, visits),) = paths(shape, scheme, source, destinations)
        parts, headers = roles(path, visits, capacity), -(-len(visits) // capacity)
        depth, fast = options["buffer"], options.get("delays") == "fast"
        waits = {name: options[name] for name in WAITS if name in options}
        expected.append(deliveries(parts, headers, length, depth, at=at, fast=fast,
                                   coupled=options.get("readers") != "independent", **waits))
        if depth >= (5 if fast else 4) and not waits:
            form = closed_form(parts, headers, length, depth, at=at, fast=fast)
            assert expected[-1][-1] == form[-1]
            assert expected[-1] == form or options.get("readers") == "independent"
    engine = bulk(f"mesh:{shape[0]}x{shape[1]}", scheme, messages, **options)
    assert engine.network.header.capacity == capacity or scheme == "individual"
    engine.run(APART * (len(messages) + 1))
    check_receipts(engine.host)
    host, found = engine.host, []
    for worm in range(len(messages)):
        span = slice(host.worms["delivery"][worm], host.worms["delivery_end"][worm])
        found.append(list(zip(host.head[span].tolist(), host.tail[span].tolist(), strict=True)))
    wrong = [(case, ours, theirs) for case, ours, theirs in zip(multicasts, expected, found, strict=True)
             if ours != theirs]
    overheads = options.get("t_nr", 0) + options.get("t_hr", 0)
    assert (host.received == host.tail + overheads).all()
    assert not wrong, f"{len(wrong)} worms; (case, recurrence, hardware) of the first: {wrong[0]}"


def all_pairs(nodes, seed):
    rng = random.Random(seed)
    return [(a, [b], rng.randint(1, 40)) for a in range(nodes) for b in range(nodes) if a != b]


def one_way_worms(shape, count, seed, most=12):
    """Multicasts that dual-path sends as one worm each: all destinations on one side of the source's label."""
    rng = random.Random(seed)
    nodes = sorted(range(shape[0] * shape[1]), key=lambda node: reference.label(shape, node))
    worms = []
    while len(worms) < count:
        place = rng.randrange(len(nodes))
        side = rng.choice([nodes[:place], nodes[place + 1:]])
        if side:
            destinations = rng.sample(side, rng.randint(1, min(most, len(side))))
            worms.append((nodes[place], destinations, rng.randint(1, 40)))
    return worms


SLOW = pytest.mark.slow  # a kernel each
SEVERAL = pytest.mark.skipif(not hasattr(Switch, "injection_ports"),
                             reason="the router has one injection port and one consumption link")


@pytest.mark.parametrize(("scheme", "depth"), [
    pytest.param(scheme, depth, marks=[] if depth in quick else SLOW)
    for scheme, quick in (("individual", (1, 4)), ("dual-path", (2, 3))) for depth in DEPTHS
])
def test_every_pair_of_a_4x4_mesh(scheme, depth):
    """Heads and tails of a unicast between any two nodes are exactly the recurrence's."""
    check((4, 4), scheme, all_pairs(16, depth), 8, vcs=1, buffer=depth, flit_width=32)


@pytest.mark.parametrize("depth", DEPTHS)
def test_dual_path_worms_on_an_8x8_mesh(depth):
    """So they are for multicast worms with headers of one to six flits, two addresses to a flit."""
    check((8, 8), "dual-path", one_way_worms((8, 8), 60, depth), 2, vcs=1, buffer=depth, flit_width=12)


@pytest.mark.parametrize(("shape", "width", "capacity", "options"), [
    pytest.param((8, 8), 6, 1, {"buffer": 1}, marks=SLOW),
    ((8, 8), 6, 1, {"buffer": 4}),
    pytest.param((8, 8), 32, 5, {"buffer": 4, "vcs": 2}, marks=SLOW),
    ((4, 4), 8, 2, {"buffer": 2, "readers": "independent"}),
    ((4, 4), 4, 1, {"buffer": 4, "readers": "independent"}),
    ((4, 4), 4, 1, {"buffer": 1, "delays": "fast"}),
    pytest.param((4, 4), 8, 2, {"buffer": 4, "delays": "fast"}, marks=SLOW),
    ((4, 4), 8, 2, {"buffer": 5, "delays": "fast", "readers": "independent"}),
], ids=lambda value: str(value).replace(" ", "") if isinstance(value, dict) else None)
def test_other_settings(shape, width, capacity, options):
    """And with one address to a flit, two virtual channels, independent readers and the fast delays."""
    check(shape, "dual-path", one_way_worms(shape, min(60, 2**width), width), capacity, flit_width=width,
          **{"vcs": 1, **options})


@pytest.mark.parametrize(("scheme", "width", "capacity", "options"), [
    ("dual-path", 32, 8, {"buffer": 4, "packet": 4}),
    ("dual-path", 20, 5, {"buffer": 2, "packet": 1, "t_ns": 3}),
    ("dual-path", 20, 5, {"buffer": 4, "packet": 3, "t_nr": 9, "t_hr": 5, "readers": "independent"}),
    ("dual-path", 20, 5, {"buffer": 5, "packet": 8, "t_ns": 2, "t_nr": 1, "t_hs": 7, "delays": "fast"}),
    ("dual-path", 32, 8, {"buffer": 1, "t_ns": 17, "t_nr": 17, "t_hs": 5, "t_hr": 3, "injection_delay": 11,
                          "queue": 1}),
    ("dual-path", 4, 1, {"buffer": 3, "t_ns": 1, "t_nr": 2, "queue": 2}),
    ("individual", 20, 5, {"buffer": 3, "packet": 5, "t_ns": 4, "t_nr": 6, "queue": 16, "consumption": 1}),
    pytest.param("dual-path", 32, 8, {"buffer": 4, "ports": "all"}, marks=SEVERAL),
    pytest.param("dual-path", 4, 1, {"buffer": 4, "ports": "all", "consumption_links": "separate"}, marks=SEVERAL),
    pytest.param("dual-path", 20, 5, {"buffer": 3, "ports": "all", "packet": 3, "t_ns": 2, "t_nr": 5,
                                      "consumption_links": "separate"}, marks=SEVERAL),
    pytest.param("individual", 32, 8, {"buffer": 2, "ports": "all", "packet": 2, "consumption": 1}, marks=SEVERAL),
], ids=lambda value: ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None)
def test_packets_and_overheads(scheme, width, capacity, options):
    """And so they are in packets, with t_ns, t_nr and t_hs, a short queue and the injection delay."""
    worms = one_way_worms((4, 4), 40, width) if scheme == "dual-path" else all_pairs(16, 1)[::5]
    worms = [(source, visits, min(length, 16)) for source, visits, length in worms]
    check((4, 4), scheme, worms, capacity, flit_width=width, **{"vcs": 1, **options})


def test_the_comparison_notices_a_cycle(monkeypatch):
    """One more cycle at the destinations on the way, in the reference alone, is found."""
    monkeypatch.setattr(zero_load.Node, "accept", lambda self, flit, cycle, accept=zero_load.Node.accept:
                        accept(self, flit, cycle + 1))
    with pytest.raises(AssertionError):
        check((4, 4), "dual-path", one_way_worms((4, 4), 5, 1), 8, vcs=1, buffer=3, flit_width=32)
