"""Bars of the picture of a run: the host's own cycles, and rows in the order of receipt."""

import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.experiments.gantt import OPEN, bars_of, gantt_figure, order_of


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


@pytest.mark.parametrize("nodes", [3, 16, 64])
def test_each_bar_is_between_the_lines_around_its_nodes_row(nodes):
    others = tuple(range(1, nodes))
    network = topology(f"mesh:1x{nodes}")
    result = run(network, SCHEMES["u-mesh"], [Message(0, 0, others, 6)], Configuration(t_hs=10, t_hr=4))
    [axes] = gantt_figure(result).axes
    [lines] = [one for one in axes.collections if one.get_gid() == "rows"]
    heights = [float(line[0, 1]) for line in lines.get_segments()]
    assert heights == [row + 0.5 for row in range(nodes - 1)]
    assert next(label.get_text() for label in axes.get_yticklabels()) == network.node_name(0)
    bars = [path.vertices[:, 1] for one in axes.collections if one is not lines for path in one.get_paths()]
    assert {round(float(up.mean())) for up in bars} == set(range(nodes))
    assert all(abs(end - round(float(up.mean()))) < 0.45 for up in bars for end in up)
