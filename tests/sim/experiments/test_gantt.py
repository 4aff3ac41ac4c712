"""Bars of the picture of a run: the host's own cycles, and rows in the order of receipt."""

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.experiments.gantt import OPEN, bars_of, order_of


def test_bars_are_the_hosts_cycles():
    result = run(topology("mesh:1x3"), SCHEMES["individual"], [Message(3, 0, (1, 2), 6)],
                 Configuration(t_hs=10, t_nr=2, t_hr=4))
    bars = bars_of(result)
    first, second = result.host.deliveries
    assert bars["start-up (processor)"] == {0: [(3, 13), (13, 23)]}
    assert bars["sends flits"] == {0: [(13, 19), (23, 29)]}
    assert bars["receives flits"] == {1: [(first["head"], first["tail"])], 2: [(second["head"], second["tail"])]}
    assert first["tail"] - first["head"] == 5
    assert bars["notes the receipt"] == {1: [(first["tail"], first["tail"] + 6)],
                                         2: [(second["tail"], second["tail"] + 6)]}
    assert bars["header on its way"] == {1: [(13, first["head"])], 2: [(23, second["head"])]}
    assert order_of(bars) == [0, 1, 2]


def test_what_does_not_end_in_the_run():
    result = run(topology("mesh:1x3"), SCHEMES["individual"], [Message(0, 2, (0,), 50)], Configuration(), timeout=20)
    bars = bars_of(result)
    assert bars["sends flits"] == {2: [(0, OPEN)]}
    assert bars["receives flits"] == {0: [(15, OPEN)]}
    assert not bars["notes the receipt"]
    assert order_of(bars) == [2, 0]
