# amaranth: UnusedElaboratable=no
"""The switch, cycle by cycle: every figure of its docstrings is counted here."""

import itertools

import pytest
from cases import slow, some

from wormcast.algorithms import E_CUBE, HAMILTONIAN, WormcastError, topology
from wormcast.hw import PortSpec, Switch
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench

MESH = topology("mesh:4x4")
HERE = 5  # 1.1: labels rise from right to left in this row
START = 10

# each way to read, and each delay
HARDWARE = pytest.mark.parametrize(("readers", "delays", "extra"), [
    ("coupled", "paper", 0), ("independent", "fast", 1), slow("coupled", "fast", 1), slow("independent", "paper", 0)])


def through(destinations, payload=8, *, into="east", cycles=80, credit_after=1, at=START, vc=0, **options):
    """Send one worm through the switch of node 1.1; return its driver."""
    switch = bench.mesh_switch((4, 4), **options)
    driver = bench.Driver(switch, (1, 1), credit_after=credit_after)
    header = switch.decoder.header.encode(destinations)
    driver.send(at, into, bench.worm(header, payload), vc)
    return driver.run(cycles)


def on(driver, port):
    return [(cycle - START, head, tail, data) for cycle, out, _, head, tail, data in driver.seen if out == port]


def cycles_of(driver, port):
    return [cycle for cycle, *_ in on(driver, port)]


@HARDWARE
def test_header_takes_three_cycles_and_data_two(delays, extra, readers):
    """The header flit comes first, so data that could go after 2 cycles wait for it: flit k leaves at 3 + k."""
    driver = through([4], payload=2, delays=delays, readers=readers)
    assert cycles_of(driver, "west") == [3 + extra, 4 + extra, 5 + extra]
    # a data flit that comes alone shows its own delay
    switch = bench.mesh_switch((4, 4), delays=delays, readers=readers)
    driver = bench.Driver(switch, (1, 1))
    flits = bench.worm(switch.decoder.header.encode([4]), 2)
    driver.send(START, "east", flits[:1])
    driver.send(START + 10, "east", flits[1:2])
    driver.send(START + 20, "east", flits[2:])
    assert cycles_of(driver.run(60), "west") == [3 + extra, 12 + extra, 22 + extra]


@HARDWARE
def test_credits_may_come_back_in_their_flits_own_cycle(delays, extra, readers):
    """No flit waits for ever, and no credit is wrong, on the link and on the consumption channel."""
    driver = through([HERE, 4], payload=20, credit_after=0, delays=delays, readers=readers)
    assert [data for *_, data in on(driver, "west")][1:] == [data for *_, data in on(driver, "local")][1:]
    assert [data for *_, data in on(driver, "west")][1:] == list(range(100, 120))
    assert driver.fault[0] == "NONE"


@HARDWARE
def test_destination_on_the_way_costs_the_header_one_cycle(delays, extra, readers):
    driver = through([HERE, 4], payload=3, delays=delays, readers=readers)
    assert cycles_of(driver, "west") == [4 + extra, 5 + extra, 6 + extra, 7 + extra]
    # what is left of the header is copied to the consumption channel
    assert [flit[1:] for flit in on(driver, "local")] == [flit[1:] for flit in on(driver, "west")]
    if readers == "coupled":
        assert cycles_of(driver, "local") == cycles_of(driver, "west")


@HARDWARE
def test_header_flit_that_is_used_up_costs_two_cycles(delays, extra, readers):
    """One address per flit: the flit of the own address is not sent, and the header delay is 5 cycles from first to
    first flit."""
    driver = through([HERE, 4], payload=3, delays=delays, readers=readers, width=5)
    assert cycles_of(driver, "west") == [5 + extra, 6 + extra, 7 + extra, 8 + extra]
    assert [data for _, head, _, data in on(driver, "west") if head] == driver.switch.decoder.header.encode([4])


@pytest.mark.parametrize(("delays", "extra"), [("paper", 0), slow("fast", 1)])
def test_payload_is_on_the_consumption_link_four_cycles_after_the_header(delays, extra):
    driver = through([HERE], payload=3, delays=delays)
    assert on(driver, "local") == [(4 + extra + k, 0, k == 2, 100 + k) for k in range(3)]


# buffers for a flit, shorter than the loop, as long, and longer
@pytest.mark.parametrize(("delays", "loop", "depth"), [
    ("paper", 4, 4), ("fast", 5, 3),
    *(slow("paper", 4, depth) for depth in (1, 2, 3, 5, 8, 16)),
    *(slow("fast", 5, depth) for depth in (1, 2, 4, 5, 8, 16))])
def test_one_worm_gets_depth_over_the_credit_loop(delays, loop, depth):
    """The neighbour frees a flit as a router does: its credit is on the link 2 cycles after the flit."""
    driver = through([4], payload=40, depth=depth, delays=delays, credit_after=2, cycles=300)
    seen = cycles_of(driver, "west")
    assert len(seen) == 41
    for k in range(2 * depth, len(seen)):
        assert seen[k] == max(seen[k - 1] + 1, seen[k - depth] + loop)


def test_credit_leaves_in_the_cycle_after_the_take():
    driver = through([4], payload=2)
    # a flit that is on the next link in cycle t was taken in t - 1
    assert [cycle - START for cycle, port, _ in driver.credits if port == "east"] == cycles_of(driver, "west")


def test_nothing_leaves_without_a_credit():
    driver = through([4], payload=20, depth=3, credit_after=None)
    assert len(on(driver, "west")) == 3


def test_blocked_worm_lets_the_other_virtual_channel_pass():
    switch = bench.mesh_switch((4, 4), vcs=2)
    driver = bench.Driver(switch, (1, 1))
    header = switch.decoder.header.encode([4])
    driver.send(START, "east", bench.worm(header, 3)[:2], vc=0)  # its tail never comes
    driver.send(START + 6, "east", bench.worm(header, 3), vc=1)
    seen = driver.run(60).seen
    vcs = [vc for _, port, vc, _, tail, _ in seen if port == "west" and tail]
    assert len(vcs) == 1
    assert {vc for _, _, vc, *_ in seen} == {0, 1}


def test_two_worms_share_a_link_flit_by_flit():
    switch = bench.mesh_switch((4, 4), vcs=2, depth=8)
    driver = bench.Driver(switch, (1, 1))
    header = switch.decoder.header.encode([4])
    for port in ("east", "local"):
        driver.send(START, port, bench.worm(header, 8))
    vcs = [vc for _, port, vc, head, *_ in driver.run(80).seen if port == "west" and not head]
    assert len(vcs) == 16
    assert all(a != b for a, b in itertools.pairwise(vcs))


UP, DOWN = ("east", "north"), ("west", "south")
BY_CLASS = [(UP, "coupled", True), (DOWN, "independent", True), (DOWN, "coupled", False)]


@pytest.mark.parametrize(("ports", "readers", "multicast"), [*BY_CLASS, *(
    slow(*case) for case in itertools.product((UP, DOWN), ("coupled", "independent"), (True, False))
    if case not in BY_CLASS)])
def test_worm_at_its_last_destination_takes_any_consumption_channel(ports, readers, multicast):
    """Two worms whose last hops have one class end here at a time, and the first stays open: each has a channel."""
    switch = bench.mesh_switch((4, 4), readers=readers, multicast=multicast)
    first, second = ports
    driver = bench.Driver(switch, (1, 1))
    header = switch.decoder.header.encode([HERE])
    driver.send(START, first, bench.worm(header, 3)[:3])  # its tail does not come
    driver.send(START + 20, second, bench.worm(header, 3))
    driver.run(60)
    assert {vc for _, _, vc, *_ in on_local(driver)} == {0, 1}
    assert [data for *_, tail, data in on_local(driver) if tail] == [102]


@pytest.mark.parametrize(("port", "beyond", "channel", "readers"), [
    ("east", 4, 0, "coupled"), ("west", 6, 1, "independent"), slow("east", 4, 0, "independent"),
    slow("west", 6, 1, "coupled")])
def test_worm_on_its_way_waits_for_the_consumption_channel_of_its_class(port, beyond, channel, readers):
    """Two worms go on from here, on two virtual channels: the second waits until the first, which holds the channel of
    their class, is through; the other channel is free all the time."""
    switch = bench.mesh_switch((4, 4), readers=readers, vcs=2)
    driver = bench.Driver(switch, (1, 1))
    flits = bench.worm(switch.decoder.header.encode([HERE, beyond]), 3)
    driver.send(START, port, flits[:-1], 0)
    driver.send(START + 20, port, flits, 1)
    driver.send(START + 50, port, flits[-1:], 0)
    driver.run(90)
    onward = "west" if port == "east" else "east"
    assert {vc for _, _, vc, *_ in on_local(driver)} == {channel}
    assert [cycle < START + 50 for cycle, out, *_ in driver.seen if out == onward] == [True] * 3 + [False] * 5
    assert driver.worms("local") == driver.worms(onward)


def on_local(driver):
    return [entry for entry in driver.seen if entry[1] == "local"]


ODD = {
    "a row": {"shape": (1, 3)},
    "a column, three channels": {"shape": (3, 1), "vcs": 3},
    "few flits, many channels": {"shape": (2, 2), "depth": 1, "consumption": 3},
    "wide": {"shape": (4, 4), "width": 257, "vcs": 2},
    "narrow": {"shape": (3, 5), "width": 7, "depth": 3, "consumption": 1},
    "three dimensions": {"shape": (2, 3, 2), "relations": ("e-cube",), "consumption": 4, "vcs": 2},
    "two relations": {"shape": (8, 8), "relations": ("e-cube", "hamiltonian"), "vcs": 2, "depth": 16},
    "unicast": {"shape": (4, 4), "relations": ("e-cube",), "multicast": False, "consumption": 1, "vcs": 4},
    "separate links": {"shape": (1, 4), "vcs": 3, "depth": 1, "consumption": 3, "consumption_links": "separate"},
    "all ports": {"shape": (4, 1), "injection": "all", "depth": 1, "consumption": 1},
    "all ports, separate links": {"shape": (2, 3), "width": 7, "injection": "all", "consumption_links": "separate"},
    "a table": {"shape": (1, 2, 3), "table": True, "vcs": 2, "depth": 3},
    "a table, all ports": {"shape": (1, 6), "table": True, "width": 7, "injection": "all", "consumption": 3, "vcs": 3},
    "a table, separate links": {"shape": (5, 1), "table": True, "width": 257, "depth": 1,
                                "consumption_links": "separate"},
    "a table, unicast": {"shape": (2, 3), "table": True, "relations": ("e-cube",), "multicast": False,
                         "injection": "all", "consumption_links": "separate", "consumption": 3},
}
PAIRS = [("coupled", "paper"), ("independent", "fast"), ("coupled", "fast"), ("independent", "paper")]


def odd(name, turn):
    """Parameters by name, and readers and delays with them: each pair with some, and others ``turn`` by turn."""
    return dict(ODD[name]), PAIRS[([*ODD].index(name) + turn) % 4]


# the least and the widest, with each kind of decoder; the others, of as many kinds, pass worms below
@pytest.mark.parametrize("name", some(ODD, "a row", "wide", "a table, all ports"))
def test_every_output_comes_from_a_flip_flop(name):
    """No combinational path from link to link, at odd parameters too: elaboration itself refuses one."""
    options, (readers, delays) = odd(name, 0)
    switch = bench.mesh_switch(options.pop("shape"), readers=readers, delays=delays, **options)
    refuse_paths(netlist.read(switch))


@pytest.mark.parametrize("name", some(ODD, "narrow", "all ports, separate links", "a table, separate links"))
def test_worms_pass_at_odd_parameters(name):
    """By each input from the network a worm to this node and beyond, or to this node; from it one by each output."""
    options, (readers, delays) = odd(name, 1)
    shape = options.pop("shape")
    mesh = topology("mesh:" + "x".join(map(str, shape)))
    relation = {"e-cube": E_CUBE, "hamiltonian": HAMILTONIAN}[options.get("relations", ("hamiltonian",))[0]]
    switch = bench.mesh_switch(shape, readers=readers, delays=delays, **options)
    here = mesh.nodes // 2
    driver = bench.Driver(switch, bench.straps_of(switch, mesh, relation, here))
    header, copies, sent = switch.decoder.header, {}, 0
    for k, (port, nodes) in enumerate(worms_by(switch, mesh, relation, here)):
        flits = [(1, 0, data) for data in header.encode(nodes)]
        payload = [(0, int(at == 2), k << 2 | at) for at in range(3)]
        driver.send(3, port, flits + payload, k % switch.inputs[0].vcs)
        sent += len(flits + payload)
        if here in nodes:
            rest = header.strip(flits[0][2]) if switch.decoder.multicast else None
            flits[:1] = [(1, 0, rest)] if rest is not None else []
            copies.setdefault("local", []).append((flits if nodes[-1] != here else []) + payload)
        if nodes[-1] != here:
            out = switch.decoder.outputs[relation.on(mesh).table[here, nodes[-1]]]
            copies.setdefault(out, []).append(flits + payload)
    driver.run(60 if switch.inputs[0].depth > 1 else 90)
    assert len(driver.credits) == sent
    assert driver.fault == ("NONE", 0, 0)
    assert {port: sorted(driver.worms(port)) for port in switch.decoder.outputs if driver.worms(port)} == {
        port: sorted(worms) for port, worms in copies.items()}


def worms_by(switch, mesh, relation, here):
    """Worms that a router of a network can get: name of the input, and the destinations."""
    routes = relation.on(mesh)
    for o, far in enumerate(mesh.neighbours[here][:switch.decoder.ejection]):
        if far < 0:
            continue
        name = switch.decoder.outputs[o]
        beyond = [node for node in range(mesh.nodes) if node not in (here, far) and routes.next_hop(far, node) == here]
        yield name, ([here] if switch.decoder.multicast or not beyond else []) + beyond[-1:]
        yield bench.injection_port(switch, name), [int(far)]


SPECS = [PortSpec(name) for name in ("east", "west", "south", "north", "local")]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"readers": "both"}, "Switch.readers: 'both' is not valid. Allowed: coupled, independent."),
        ({"delays": "slow"}, "Switch.delays: 'slow' is not valid. Allowed: paper, fast."),
        ({"inputs": SPECS[:4]}, "Switch.inputs: east, west, south, north is not valid. Allowed: the decoder's"),
        ({"outputs": SPECS[1:]}, "Switch.outputs: west, south, north, local is not valid. Allowed: the decoder's"),
    ],
)
def test_bad_parameters_are_refused(options, sentence):
    decoder = bench.mesh_switch((4, 4)).decoder
    with pytest.raises(WormcastError, match=sentence):
        Switch(**{"inputs": SPECS, "outputs": SPECS, "decoder": decoder, "width": 32, **options})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"vcs": 0}, "PortSpec.vcs: 0 is not valid. Allowed: 1 or more."),
        ({"depth": 17}, "PortSpec.depth: 17 is not valid. Allowed: 1 to 16 flits."),
    ],
)
def test_bad_ports_are_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        PortSpec("east", **options)
