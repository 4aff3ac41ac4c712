"""Waveform of a deadlock: the worms of its cycle, from before they meet until they are blocked."""

import waves

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.engines.deadlock import Deadlock, Hold
from wormcast.sim.waves.record import around

FIGURE_4 = [Message(0, 0, (1, 2), 64), Message(0, 3, (2, 1), 64)]


def figure_4(at=0):
    messages = [Message(at + message.at, message.source, message.destinations, message.length) for message in FIGURE_4]
    return run(topology("mesh:1x4"), SCHEMES["dual-path"], messages, Configuration(vcs=1, consumption=1))


def test_figure_4s_deadlock_is_shown_until_all_is_at_rest(tmp_path):
    """Its routers, the interfaces of its consumption channels; the last change lies well inside."""
    result = figure_4(at=300)
    instances, first, end = around(result.network, result.deadlock)
    assert instances == [*(("router", node) for node in range(4)), ("interface", 1), ("interface", 2)]
    moved = result.deadlock.moved
    assert moved == result.host.touched.max()
    assert (first, end) == (moved - 200, moved + 500)
    assert first < 300 < moved < end <= result.cycles
    result.record(tmp_path / "wave.vcd", first, end, instances)
    found = waves.read(tmp_path / "wave.vcd")
    changes = {time // waves.PERIOD for name, wave in found.items() if not name.endswith(".clk")
               for time in wave.times[1:]}
    assert min(changes) >= 300
    assert moved <= max(changes) < end - 300
    for node, channel in ((1, "west_input"), (2, "east_input")):
        there = found[f"bench.top.network.router_0_{node}.{channel}.channel_0.links"]
        assert there.at(end * waves.PERIOD) != "0", "nobody stands in the router at the end"


def test_resources_name_their_routers_and_interfaces():
    result = figure_4()
    holds = (Hold(0, None, ("link:0>1:0",), ("cons:1:0",)), Hold(1, 2, ("inj:3:0:0",), ("link:1>2:0",)))
    deadlock = Deadlock(at=900, moved=17, cycle=holds, packets=frozenset(), closed=frozenset())
    instances, first, end = around(result.network, deadlock, lane=2)
    assert instances == [*(("router", 8 + node) for node in range(4)), ("interface", 9), ("interface", 11)]
    assert (first, end) == (0, 517)
