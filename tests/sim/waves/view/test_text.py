"""The space-time diagram in characters."""

import pytest
from written_waves import FIGURE_4, comment, links_of, vcd, worm

from wormcast.sim.waves.view import read_waveform, rows_of, spacetime_text


def drawn(tmp_path, width, *told):
    path = tmp_path / "w.vcd"
    path.write_text(vcd(*told))
    history = read_waveform(path)
    return [line.plain for line in spacetime_text(history, rows_of(history), width)]


def test_figure_4_is_drawn_as_it_is(tmp_path):
    assert drawn(tmp_path, 80, *FIGURE_4) == [
        "               0         10        20",
        "   inj:0.0:0:0 ··AAAAAAAAaaaaaaaaaaaaaaaaaaaa",
        "link:0.0>0.1:0 ·····AAAAAAaaaaaaaaaaaaaaaaaaa",
        "link:0.1>0.2:0 ··········AAAAaaaaaaaaaaaaaaaa",
        "   inj:0.3:0:0 ····BBBBBBBBbbbbbbbbbbbbbbbbbb",
        "link:0.3>0.2:0 ·······BBBBBBbbbbbbbbbbbbbbbbb",
        "link:0.2>0.1:0 ············BBBBbbbbbbbbbbbbbb",
        "",
        "    cons:0.1:0 ··········AAAaaaaaaaaaaaaaaaaa",
        "    cons:0.2:0 ············BBBbbbbbbbbbbbbbbb",
        "",
        "A worm 0: 0.0 to 0.1 0.2",
        "B worm 1: 0.3 to 0.2 0.1",
        "a character is 1 cycle; A: flit of worm A, a: held without flit, ~: tail has",
        "passed, header waits; *: tail ejected",
        "dual-path on mesh:1x4, cycles 0 to 29",
        "1 VC x 4 flits, 1 consumption channel a node",
        "deadlock, proved in cycle 29, last flit of its worms on a link in cycle 15:",
        "worm 0 waits for cons:0.2:0, held by worm 1",
        "worm 1 waits for cons:0.1:0, held by worm 0",
    ]


def test_tails_and_headers_left_behind_have_signs_of_their_own(tmp_path):
    said = comment(links_of(3), [worm(5, 0, [1, 2])], 16, first=1)
    lines = drawn(tmp_path, 80, said, [("link:0>1", 0, 5, 3, "F.T"), ("cons:1#0", 0, 5, 4, ".FFT"),
                                       ("link:1>2", 0, 5, 11, "FT")], [("link:0>1", 0, 5, 4, 9, ["link:1>2:0"])])
    assert lines[1:6] == ["link:0.0>0.1:0 ··AaA~~~~······", "link:0.1>0.2:0 ··········AA···", "",
                          "    cons:0.1:0 ···aAA*········", ""]


@pytest.mark.parametrize("width", [26, 30, 45, 60])
def test_it_fits_the_terminal(tmp_path, width):
    """Each character stands for as many cycles as it takes, a flit in any of them for all."""
    lines = drawn(tmp_path, width, *FIGURE_4)
    each = {26: 3, 30: 2, 45: 1, 60: 1}[width]
    assert max(map(len, lines[:10])) == 15 + 30 // each <= width
    flits = {1: (2, 8), 2: (1, 4), 3: (0, 4)}[each]
    assert lines[1][15:] == "\N{MIDDLE DOT}" * flits[0] + "A" * flits[1] + "a" * (30 // each - sum(flits))
