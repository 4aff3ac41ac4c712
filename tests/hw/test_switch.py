# amaranth: UnusedElaboratable=no
"""The switch, cycle by cycle: every figure of its docstrings is counted here."""

import itertools

import pytest

from wormcast.algorithms import WormcastError, topology
from wormcast.hw import PortSpec, Switch
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench

MESH = topology("mesh:4x4")
HERE = 5  # 1.1: labels rise from right to left in this row
START = 10


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


@pytest.mark.parametrize(("delays", "extra"), [("paper", 0), ("fast", 1)])
@pytest.mark.parametrize("readers", ["coupled", "independent"])
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


@pytest.mark.parametrize(("delays", "extra"), [("paper", 0), ("fast", 1)])
@pytest.mark.parametrize("readers", ["coupled", "independent"])
def test_destination_on_the_way_costs_the_header_one_cycle(delays, extra, readers):
    driver = through([HERE, 4], payload=3, delays=delays, readers=readers)
    assert cycles_of(driver, "west") == [4 + extra, 5 + extra, 6 + extra, 7 + extra]
    # what is left of the header is copied to the consumption channel
    assert [flit[1:] for flit in on(driver, "local")] == [flit[1:] for flit in on(driver, "west")]
    if readers == "coupled":
        assert cycles_of(driver, "local") == cycles_of(driver, "west")


@pytest.mark.parametrize(("delays", "extra"), [("paper", 0), ("fast", 1)])
@pytest.mark.parametrize("readers", ["coupled", "independent"])
def test_header_flit_that_is_used_up_costs_two_cycles(delays, extra, readers):
    """One address a flit: the own one goes nowhere, and the header delay is 5 cycles from first flit to first."""
    driver = through([HERE, 4], payload=3, delays=delays, readers=readers, width=5)
    assert cycles_of(driver, "west") == [5 + extra, 6 + extra, 7 + extra, 8 + extra]
    assert [data for _, head, _, data in on(driver, "west") if head] == driver.switch.decoder.header.encode([4])


@pytest.mark.parametrize(("delays", "extra"), [("paper", 0), ("fast", 1)])
def test_payload_is_on_the_consumption_link_four_cycles_after_the_header(delays, extra):
    driver = through([HERE], payload=3, delays=delays)
    assert on(driver, "local") == [(4 + extra + k, 0, k == 2, 100 + k) for k in range(3)]


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5, 8, 16])
@pytest.mark.parametrize(("delays", "loop"), [("paper", 4), ("fast", 5)])
def test_one_worm_gets_depth_over_the_credit_loop(depth, delays, loop):
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


ODD = [
    {"shape": (1, 3)},
    {"shape": (3, 1), "vcs": 3},
    {"shape": (2, 2), "depth": 1, "consumption": 3},
    {"shape": (4, 4), "width": 257, "vcs": 2},
    {"shape": (3, 5), "width": 7, "depth": 3, "consumption": 1},
    {"shape": (2, 3, 2), "relations": ("e-cube",), "consumption": 4, "vcs": 2},
    {"shape": (8, 8), "relations": ("e-cube", "hamiltonian"), "vcs": 2, "depth": 16},
    {"shape": (4, 4), "relations": ("e-cube",), "multicast": False, "consumption": 1, "vcs": 4},
]


@pytest.mark.parametrize(("readers", "delays"), [("coupled", "paper"), ("independent", "fast")])
@pytest.mark.parametrize("options", ODD, ids=str)
def test_every_output_comes_from_a_flip_flop(options, readers, delays):
    """No combinational path from link to link, at odd parameters too: elaboration itself refuses one."""
    options = dict(options)
    switch = bench.mesh_switch(options.pop("shape"), readers=readers, delays=delays, **options)
    refuse_paths(netlist.read(switch))


SPECS = [PortSpec(name) for name in ("east", "west", "south", "north", "local")]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"readers": "both"}, "Switch.readers: must be one of coupled, independent, not 'both'"),
        ({"delays": "slow"}, "Switch.delays: must be one of paper, fast, not 'slow'"),
        ({"inputs": SPECS[:4]}, "Switch.inputs: must be east, west, south, north, local as in the decoder"),
        ({"outputs": SPECS[1:]}, "Switch.outputs: must be east, west"),
    ],
)
def test_bad_parameters_are_refused(options, sentence):
    decoder = bench.mesh_switch((4, 4)).decoder
    with pytest.raises(WormcastError, match=sentence):
        Switch(**{"inputs": SPECS, "outputs": SPECS, "decoder": decoder, "width": 32, **options})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"vcs": 0}, "PortSpec.vcs: must be at least 1, not 0"),
        ({"depth": 17}, "PortSpec.depth: must be 1 to 16 flits, not 17"),
    ],
)
def test_bad_ports_are_refused(options, sentence):
    with pytest.raises(WormcastError, match=sentence):
        PortSpec("east", **options)
