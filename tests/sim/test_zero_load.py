"""A worm alone in the network: every delivery comes in exactly the cycle that the recurrence says."""

import itertools
import math
import random
from dataclasses import dataclass

import pytest
from cases import slow, some

from ..algorithms import reference
from . import zero_load
from .bench import bulk, check_receipts, finish, send
from .zero_load import COPY, LAST, PASS, USED_UP, addresses_in_a_flit, closed_form, deliveries, roles

DEPTHS = [1, 2, 3, 4, 5, 8]
APART = 100  # cycles from the end of a message to the next
WAITS = ("queue", "packet", "t_ns", "t_nr")  # what the recurrence knows of an interface's settings
UNICAST = ("individual", "u-mesh")


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


@dataclass(frozen=True)
class Sent:
    """One worm of a message, by the reference of the algorithms: who sends it after which receipt, and its way."""

    sender: int
    after: int | None
    visits: list[int]
    path: list[int]


def worms(shape, scheme, source, destinations):
    split, step = reference.SCHEMES[scheme]
    return [Sent(sender, after, visits, reference.path(step, shape, sender, visits, reference.FIRST_HOPS.get(scheme)))
            for sender, after, visits in split(shape, source, destinations)]


def expect(shape, scheme, multicast, at, options):
    """(head, tail) at the destinations of each worm of a message, all of them alone on their links."""
    source, destinations, length = multicast
    capacity = 1 if scheme in UNICAST else addresses_in_a_flit(shape, options["flit_width"])
    depth, fast = options["buffer"], options.get("delays") == "fast"
    coupled = options.get("readers") != "independent"
    waits = {name: options[name] for name in WAITS if name in options}
    free = {source: at + options.get("injection_delay", 0)}  # when each processor has nothing more to do
    found = []
    for worm in worms(shape, scheme, source, destinations):
        if worm.after is not None and worm.sender not in free:
            (_, tail), = found[worm.after]
            free[worm.sender] = tail + options.get("t_nr", 0) + options.get("t_hr", 0)
        posted = free[worm.sender] = free[worm.sender] + options.get("t_hs", 0)
        parts, headers = roles(worm.path, worm.visits, capacity), -(-len(worm.visits) // capacity)
        found.append(deliveries(parts, headers, length, depth, at=posted, fast=fast, coupled=coupled, **waits))
        if depth >= (5 if fast else 4) and not waits:
            form = closed_form(parts, headers, length, depth, at=posted, fast=fast)
            assert found[-1][-1] == form[-1]
            assert found[-1] == form or not coupled
    return found


def check(shape, scheme, multicasts, **options):
    """Send these (source, destinations, length), one when the one before is through: heads and tails are the
    recurrence's."""
    messages, expected, at = [], [], 5
    for multicast in multicasts:
        source, destinations, length = multicast
        messages.append(send(source, *destinations, length=length, at=at))
        expected.append(expect(shape, scheme, multicast, at, options))
        at = APART + max(tail for worm in expected[-1] for _, tail in worm)
        at += options.get("t_nr", 0) + options.get("t_hr", 0)
    engine = bulk("mesh:" + "x".join(map(str, shape)), scheme, messages, **options)
    assert scheme in UNICAST or engine.network.header.capacity == addresses_in_a_flit(shape, options["flit_width"])
    engine.run(at)
    check_receipts(engine.host)
    found = by_message(engine.host, expected)
    wrong = [(case, ours, theirs) for case, ours, theirs in zip(multicasts, expected, found, strict=True)
             if ours != theirs]
    overheads = options.get("t_nr", 0) + options.get("t_hr", 0)
    assert (engine.host.received == engine.host.tail + overheads).all()
    assert not wrong, f"{len(wrong)} messages; (case, recurrence, hardware) of the first: {wrong[0]}"
    return found


def by_message(host, alike):
    """(head, tail) of all deliveries, in the shape of what was expected."""
    times = iter(zip(host.head.tolist(), host.tail.tolist(), strict=True))
    return [[[next(times) for _ in worm] for worm in message] for message in alike]


def all_pairs(nodes, seed):
    rng = random.Random(seed)
    return [(a, [b], rng.randint(1, 40)) for a in range(nodes) for b in range(nodes) if a != b]


def multicasts(shape, count, seed, longest=40, most=12):
    rng = random.Random(seed)
    nodes, found = math.prod(shape), []
    for _ in range(count):
        source, *destinations = rng.sample(range(nodes), rng.randint(2, min(most + 1, nodes)))
        found.append((source, destinations, rng.randint(1, longest)))
    return found


def one_way_worms(shape, count, seed, most=12):
    """Multicasts that dual-path sends as one worm each: all destinations on one side of the source's label."""
    rng = random.Random(seed)
    nodes = sorted(range(math.prod(shape)), key=lambda node: reference.label(shape, node))
    found = []
    while len(found) < count:
        place = rng.randrange(len(nodes))
        side = rng.choice([nodes[:place], nodes[place + 1:]])
        if side:
            destinations = rng.sample(side, rng.randint(1, min(most, len(side))))
            found.append((nodes[place], destinations, rng.randint(1, 40)))
    return found


@pytest.mark.parametrize(("scheme", "depth"), [
    (scheme, depth) if depth in quick else slow(scheme, depth)
    for scheme, quick in (("individual", (1,)), ("dual-path", (2, 3))) for depth in DEPTHS
])
def test_every_pair_of_a_4x4_mesh(scheme, depth):
    """Heads and tails of a unicast between any two nodes are exactly the recurrence's."""
    check((4, 4), scheme, all_pairs(16, depth), vcs=1, buffer=depth, flit_width=32)


# as many flits of buffer as cover the credit loop; with one, a mesh of 4x4 below
@pytest.mark.parametrize("depth", some(DEPTHS, 4))
def test_dual_path_worms_on_an_8x8_mesh(depth):
    """So they are for multicast worms with headers of one to six flits, two addresses to a flit."""
    assert addresses_in_a_flit((8, 8), 13) == 2
    check((8, 8), "dual-path", one_way_worms((8, 8), 60, depth), vcs=1, buffer=depth, flit_width=13)


@pytest.mark.parametrize(("shape", "capacity", "options"), [
    # every destination uses its header flit up; the fast delays, with the least buffer
    slow((8, 8), 1, {"buffer": 4}),
    ((4, 4), 1, {"buffer": 1, "delays": "fast"}),
    slow((8, 8), 1, {"buffer": 1}),
    slow((8, 8), 5, {"buffer": 4, "vcs": 2}),
    slow((4, 4), 2, {"buffer": 2, "readers": "independent"}),
    slow((4, 4), 1, {"buffer": 4, "readers": "independent"}),
    slow((4, 4), 2, {"buffer": 4, "delays": "fast"}),
    slow((4, 4), 2, {"buffer": 5, "delays": "fast", "readers": "independent"}),
], ids=lambda value: str(value).replace(" ", "") if isinstance(value, dict) else None)
def test_other_settings(shape, capacity, options):
    """And with one address to a flit, two virtual channels, independent readers and the fast delays."""
    check(shape, "dual-path", one_way_worms(shape, 60, capacity), flit_width=width_for(shape, capacity),
          **{"vcs": 1, **options})


def width_for(shape, capacity):
    """The narrowest flit that holds so many addresses."""
    width = next(width for width in itertools.count(1) if addresses_in_a_flit(shape, width) == capacity)
    assert addresses_in_a_flit(shape, width - 1) == capacity - 1
    return width


@pytest.mark.parametrize(("scheme", "width", "options"), [
    # packets with overheads, with several ports and links; unicasts
    slow("dual-path", 32, {"buffer": 4, "packet": 4}),
    slow("dual-path", 20, {"buffer": 5, "packet": 8, "t_ns": 2, "t_nr": 1, "t_hs": 7, "delays": "fast"}),
    ("dual-path", 20, {"buffer": 3, "ports": "all", "packet": 3, "t_ns": 2, "t_nr": 5,
                       "consumption_links": "separate", "consumption": 1}),
    slow("individual", 20, {"buffer": 3, "packet": 5, "t_ns": 4, "t_nr": 6, "queue": 16, "consumption": 1}),
    slow("dual-path", 20, {"buffer": 2, "packet": 1, "t_ns": 3}),
    slow("dual-path", 20, {"buffer": 4, "packet": 3, "t_nr": 9, "t_hr": 5, "readers": "independent", "consumption": 1}),
    slow("dual-path", 32, {"buffer": 1, "t_ns": 17, "t_nr": 17, "t_hs": 5, "t_hr": 3, "injection_delay": 11,
                           "queue": 1}),
    slow("dual-path", 5, {"buffer": 3, "t_ns": 1, "t_nr": 2, "queue": 2}),
    slow("dual-path", 32, {"buffer": 4, "ports": "all"}),
    slow("dual-path", 5, {"buffer": 4, "ports": "all", "consumption_links": "separate"}),
    slow("individual", 32, {"buffer": 2, "ports": "all", "packet": 2, "consumption": 1}),
], ids=lambda value: ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None)
def test_packets_and_overheads(scheme, width, options):
    """And so they are in packets, with t_ns, t_nr and t_hs, a short queue and the injection delay.

    Where a packet's t_nr holds up the next one, with one consumption channel: at its last destination a worm's packets
    take any of several in turn, which the recurrence does not know.
    """
    cases = one_way_worms((4, 4), 40, width) if scheme == "dual-path" else all_pairs(16, 1)[::5]
    cases = [(source, visits, min(length, 16)) for source, visits, length in cases]
    check((4, 4), scheme, cases, flit_width=width, **{"vcs": 1, **options})


#: Cases of all schemes. Each test run has worms along the labels, by columns, and trees of unicasts; slow cases have
#: other paths.
EVERY_SCHEME = [
    slow("multipath", (5, 4), 2, {"buffer": 3}),
    slow("multipath-lmn", (4, 5), 1, {"buffer": 2, "readers": "independent"}),
    slow("column-path", (5, 4), 2, {"buffer": 4, "ports": "all"}),
    slow("column-path-literal", (6, 3), 3, {"buffer": 1, "delays": "fast"}),
    slow("e-mcast", (4, 4), 1, {"buffer": 4, "consumption": 4}),
    slow("e-mcast", (5, 5), 3, {"buffer": 5, "consumption": 4, "ports": "all", "consumption_links": "separate"}),
    ("u-mesh", (4, 4), 2, {"buffer": 2, "consumption": 1, "t_hr": 11, "t_nr": 4, "injection_delay": 30}),
    slow("dual-path", (3, 3, 2), 2, {"buffer": 3}),
    slow("dual-path", (4, 4, 4), 1, {"buffer": 2, "ports": "all"}),
    slow("individual", (2, 3, 4), 1, {"buffer": 4, "consumption": 1, "t_ns": 4}),
    slow("column-path", (6, 3, 2), 2, {"buffer": 2, "readers": "independent"}),
    slow("column-path-literal", (7, 1), 2, {"buffer": 4, "packet": 4}),
    slow("e-mcast", (3, 3, 3), 2, {"buffer": 4, "consumption": 6, "readers": "independent"}),
    slow("e-mcast", (1, 9), 2, {"buffer": 3, "consumption": 2, "delays": "fast"}),
    slow("u-mesh", (3, 4, 2), 1, {"buffer": 5, "ports": "all", "delays": "fast", "t_ns": 7}),
    slow("u-mesh", (1, 9), 1, {"buffer": 1, "packet": 3, "flit_width": 24, "t_ns": 2}),
    slow("multipath", (6, 6), 5, {"buffer": 8, "packet": 7, "t_ns": 3, "t_nr": 9, "ports": "all",
                                  "consumption": 1}),
    slow("multipath-lmn", (5, 5), 2, {"buffer": 4, "delays": "fast", "readers": "independent"}),
    slow("dual-path", (2, 5, 3), 3, {"buffer": 4, "readers": "independent", "delays": "fast"}),
]


@pytest.mark.parametrize(("scheme", "shape", "capacity", "options"), EVERY_SCHEME)
def test_every_worm_of_every_scheme(scheme, shape, capacity, options):
    """And for all worms of whole multicasts, of every scheme, whose processors take so long over each that one is
    through before the next: the tree of u-mesh too, with a receipt before each of its steps."""
    widths = {"flit_width": max(width_for(shape, capacity), 20 if "packet" in options else 1)}
    found = check(shape, scheme, multicasts(shape, 15, capacity, longest=16), t_hs=1500,
                  **{"vcs": 1, **widths, **options})
    if scheme not in UNICAST:
        assert max(len(worm) for message in found for worm in message) > capacity, "no worm with several header flits"


@pytest.mark.slow  # unicasts from all ports: test_host
@pytest.mark.parametrize(("scheme", "shape", "options"), [
    slow("individual", (5, 5), {"buffer": 3}),
    ("column-path", (5, 5), {"buffer": 4}),
    slow("e-mcast", (5, 5), {"buffer": 2, "consumption": 4}),
    slow("multipath-lmn", (5, 5), {"buffer": 4, "readers": "independent"}),
    slow("dual-path", (2, 2, 3), {"buffer": 4}),
])
def test_worms_that_share_no_link_leave_all_ports_at_once(scheme, shape, options):
    """With all ports, worms of a message that share no link come as if each were alone."""
    options = {"vcs": 1, "flit_width": 32, "ports": "all", **options}
    cases = []
    for case in multicasts(shape, 3000, 1, longest=30, most=6):
        links = [link for worm in worms(shape, scheme, *case[:2]) for link in itertools.pairwise(worm.path)]
        ways = len(worms(shape, scheme, *case[:2]))
        if ways > 1 and len(set(links)) == len(links):
            cases.append(case)
    assert len(cases) > 20
    check(shape, scheme, cases[:40], **options)
    assert max(len(worms(shape, scheme, *case[:2])) for case in cases[:40]) >= (2 if scheme == "dual-path" else 3)


@pytest.mark.slow  # tails that wait at an interface: test_network_interface
def test_several_channels_spare_packets_the_wait_for_each_other():
    """At the last destination, packets that wait t_nr longer than it takes to send one come sooner with four channels
    than with one, where the recurrence is exact, and sooner still with a link, and so a counter, for each."""
    cases = [(0, [3], 40), (0, [5, 9], 33), (12, [15], 12)]
    settings = {"vcs": 1, "buffer": 4, "flit_width": 24, "packet": 4, "t_nr": 14}
    found = [check((1, 16), "dual-path", cases, **settings, consumption=1)]
    messages = [send(source, *visits, length=length, at=2000 * k) for k, (source, visits, length) in enumerate(cases)]
    for links in ("shared", "separate"):
        engine = bulk("mesh:1x16", "dual-path", messages, **settings, consumption=4, consumption_links=links)
        finish(engine, 6000)
        found.append(by_message(engine.host, found[0]))
    for one, shared, separate in zip(*([worm[-1] for (worm,) in run] for run in found), strict=True):
        assert one[1] - one[0] > shared[1] - shared[0] > separate[1] - separate[0]


def test_the_comparison_notices_a_cycle(monkeypatch):
    """One more cycle at the destinations on the way, in the reference alone, is found."""
    monkeypatch.setattr(zero_load.Node, "accept", lambda self, flit, cycle, accept=zero_load.Node.accept:
                        accept(self, flit, cycle + 1))
    with pytest.raises(AssertionError):
        check((4, 4), "dual-path", one_way_worms((4, 4), 5, 1), vcs=1, buffer=3, flit_width=32)
