"""Bars of the picture of a run: the host's own cycles, and rows in the order of receipt."""

from collections import defaultdict
from itertools import pairwise

import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Message, run
from wormcast.sim.experiments.bars import OPEN
from wormcast.sim.experiments.gantt import bars_of, gantt_figure, order_of


def spans_of(bars):
    """Give begin and end of the bars by kind and node."""
    found = defaultdict(dict)
    for bar in bars:
        found[bar.kind].setdefault(bar.node, []).append((bar.begin, bar.end))
    return found


def test_bars_are_the_hosts_cycles():
    result = run(topology("mesh:1x3"), SCHEMES["individual"], [Message(3, 0, (1, 2), 6)],
                 Configuration(t_hs=10, t_nr=2, t_hr=4))
    bars = spans_of(bars_of(result))
    first, second = result.host.deliveries
    assert bars["start-up (processor)"] == {0: [(3, 13), (13, 23)]}
    assert bars["sends flits"] == {0: [(13, 19), (23, 29)]}
    assert bars["receives flits"] == {1: [(first["head"], first["tail"])], 2: [(second["head"], second["tail"])]}
    assert first["tail"] - first["head"] == 5
    assert bars["notes the receipt"] == {1: [(first["tail"], first["tail"] + 6)],
                                         2: [(second["tail"], second["tail"] + 6)]}
    assert bars["header on its way"] == {1: [(13, first["head"])], 2: [(23, second["head"])]}
    assert order_of(bars_of(result)) == [0, 1, 2]


def test_what_does_not_end_in_the_run():
    result = run(topology("mesh:1x3"), SCHEMES["individual"], [Message(0, 2, (0,), 50)], Configuration(), timeout=20)
    bars = spans_of(bars_of(result))
    assert bars["sends flits"] == {2: [(0, OPEN)]}
    assert bars["receives flits"] == {0: [(15, OPEN)]}
    assert not bars["notes the receipt"]
    assert order_of(bars_of(result)) == [2, 0]


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


def test_a_blocked_worm_is_pale_and_receptions_that_overlap_have_tracks_of_their_own():
    """Both worms need the link from 1 to 2: the second one waits for the tail of the first."""
    messages = [Message(0, 0, (2,), 40), Message(0, 1, (2,), 40)]
    result = run(topology("mesh:1x3"), SCHEMES["individual"], messages, Configuration(vcs=1))
    bars = bars_of(result)
    sends = sorted((bar for bar in bars if bar.kind == "sends flits"), key=lambda bar: bar.end)
    assert sends[0].flits == ((0, 12), (13, 42))  # one pause of a cycle, without a credit
    worm = result.host.worms[1 if sends[1].node == 1 else 0]
    assert sum(stop - begin for begin, stop in sends[1].flits) == worm["headers"] + worm["length"]
    assert sends[1].flits[0][0] == sends[1].begin
    assert sends[1].flits[-1][1] == sends[1].end + 1
    assert max(begin - stop for (_, stop), (begin, _) in pairwise(sends[1].flits)) > 20
    assert {(bar.track, bar.tracks) for bar in bars if bar.node == 2} == {(0, 2), (1, 2)}
    [axes] = gantt_figure(result).axes
    assert "no flit" in [text.get_text() for text in axes.figure.legends[0].get_texts()]
