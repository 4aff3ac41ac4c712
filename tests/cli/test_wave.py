"""``wormcast wave`` on waveforms that are written by hand."""

import json
import os
import re
import subprocess
import sys

import pytest
from command import wormcast
from written_waves import FIGURE_4, comment, links_of, vcd, worm


@pytest.fixture
def figure_4(tmp_path):
    path = tmp_path / "figure4.vcd"
    path.write_text(vcd(*FIGURE_4))
    return path


def test_a_table_tells_of_each_worm(figure_4):
    code, out, err = wormcast("wave", figure_4)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == ["dual-path on mesh:1x4, cycles 0 to 29", "1 VC x 4 flits, 1 consumption channel a node",
                         "8 of 14 links used"]
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert cells == [["0", "0.0", "0.1 0.2", "2", "10", "-", "0 of 2", "16"],
                     ["1", "0.3", "0.2 0.1", "4", "12", "-", "0 of 2", "14"]]
    assert lines[-3:] == ["deadlock, proved in cycle 29, last flit of its worms on a link in cycle 15:",
                          "worm 0 waits for cons:0.2:0, held by worm 1",
                          "worm 1 waits for cons:0.1:0, held by worm 0"]


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_a_picture_is_drawn(figure_4, tmp_path, ending, begins):
    drawing = tmp_path / f"f.{ending}"
    code, out, err = wormcast("wave", figure_4, "--plot", drawing)
    assert (code, err) == (0, "")
    assert out.endswith(f"picture: {drawing}\n")
    assert drawing.read_bytes().startswith(begins)


def test_a_diagram_in_characters_is_as_wide_as_the_terminal(figure_4):
    # a process of its own: the width is read when the command line is loaded
    out = subprocess.run([sys.executable, "-m", "wormcast", "wave", figure_4, "--text"], check=True, text=True,
                         capture_output=True, env=os.environ | {"COLUMNS": "60"}).stdout
    assert out.splitlines()[:3] == ["               1        10        20", "   inj:0.0:0:0 ·AAAAAAAAaaaaaaaaaaaaaaaa",
                                    "link:0.0>0.1:0 ····AAAAAAaaaaaaaaaaaaaaa"]
    assert max(map(len, out.splitlines())) <= 60


def test_a_window_worms_and_links_are_chosen(figure_4):
    code, out, err = wormcast("wave", figure_4, "--text", "--window", "9:16", "--worms", "0", "--links",
                              "0.1>0.2,cons:0.2")
    assert (code, err) == (0, "")
    assert out.splitlines()[:5] == ["               9", "link:0.1>0.2:0 ·AAAAaa", "", "    cons:0.2:0 ·······", ""]
    assert "worm 1" not in out


@pytest.mark.parametrize("more", [[], ["--text"]])
def test_a_window_without_worms_is_told(figure_4, more):
    code, out, err = wormcast("wave", figure_4, "--window", "0:2", *more)
    assert (code, out, err) == (0, "no worm holds a virtual channel in cycles 0 to 1\n", "")


def test_json_has_all_that_is_read(figure_4):
    code, out, err = wormcast("wave", figure_4, "--json", "--window", "5:30")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert told["configuration"] == {"file": str(figure_4), "window": "5:30", "worms": None, "links": "used"}
    assert (told["topology"], told["first"], told["end"], told["hardware"]["vcs"]) == ("mesh:1x4", 5, 30, 1)
    assert [(one["worm"], one["arrived"], one["delivered"]) for one in told["worms"]] == [(0, 10, None), (1, 12, None)]
    assert len(told["holds"]) == len(told["links"]) == 8
    assert not {link["name"] for link in told["links"]} & {"cons:1:0", "cons:2:0"}, "these are channels"
    assert {"link": "cons:1#0", "vc": 0, "worm": 0, "first": 10, "last": 29, "ended": False, "flits": [[10, 12]]
            } in told["holds"]
    assert told["waits"][0] == {"worm": 0, "link": "link:1>2", "vc": 0, "first": 13, "last": 29,
                                "resources": ["cons:2:0"]}
    assert told["deadlock"]["at"] == 29


def test_a_worm_that_arrives_is_told_when(tmp_path):
    said = comment(links_of(4), [worm(3, 0, [1])], 20)
    (tmp_path / "w.vcd").write_text(vcd(said, [("inj:0:0", 0, 3, 2, "FFT"), ("link:0>1", 0, 3, 4, "F..FT"),
                                               ("cons:1#0", 0, 3, 7, ".FFT")]))
    code, out, _ = wormcast("wave", "w.vcd", "--json", cwd=tmp_path)
    assert code == 0
    assert json.loads(out)["worms"] == [{
        "worm": 3, "message": 3, "source": 0, "destinations": [1], "length": 8, "injected": 2, "arrived": 8,
        "delivered": 10, "nodes": 1, "recorded": 1, "blocked": 2, "waits": 0}]


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["--window", "3"], "window: '3' is not valid. Allowed: A:B"),
    (["--window", "3:3"], "window: 3:3 is not valid: 3 is not below 3. Allowed: A:B with 0 <= A < B <="),
    (["--worms", "0,9"], "worms: 9 is not valid: the waveform has 2 worms. Allowed: numbers from 0 to 1."),
    (["--worms", "0,x"], ("worms: '0,x' is not valid. Allowed: numbers of worms, separated by commas, "
      "for example 0,2.")),
    (["--links", "0.0>0.3"], "links: '0.0>0.3' is not valid: the waveform has no such link. Allowed: used, all, or"),
    (["--plot", "f.gif"], "plot: f.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."),
    (["--plot", "no/f.svg"], "no/f.svg cannot be written: its folder does not exist"),
    (["--plot", "f.svg", "--window", "0:2"],
     "plot: a diagram with 0 rows of virtual channels is not valid. Allowed: 1 to 800 rows. "),
    (["--buffers", "s0"], "buffers: s0 is not valid without --plot. Needed: --plot FILE."),
    (["--plot", "f.svg", "--buffers", "s0"], "buffers: 's0' is not valid: in these cycles no buffer of a deep"),
    (["--text", "--json"], "--text is not valid with --json. Allowed: one of the two options."),
])
def test_what_cannot_be_shown_is_refused(figure_4, arguments, sentence):
    code, out, err = wormcast("wave", figure_4.name, *arguments, cwd=figure_4.parent)
    assert (code, out) == (2, "")
    assert err.startswith(f"wormcast: {sentence}")
    assert err.count("\n") == 1
    assert [path.name for path in figure_4.parent.iterdir()] == [figure_4.name]


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "w.vcd").write_text("$comment of another tool $end\n$enddefinitions $end\n#0\n")
    code, out, err = wormcast("wave", "w.vcd", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err == ("wormcast: w.vcd has no worms. Needed: a waveform that run or load has written with engine bulk.\n")


def test_several_are_drawn_side_by_side(figure_4, tmp_path):
    drawing = tmp_path / "both.svg"
    code, out, err = wormcast("wave", figure_4, figure_4, "--plot", drawing)
    assert (code, err) == (0, "")
    one = wormcast("wave", figure_4)[1]
    assert out == f"{figure_4}:\n{one}" * 2 + f"picture: {drawing}\n"
    width = re.search(r'<svg [^>]*width="([\d.]+)pt"', drawing.read_text())[1]
    assert float(width) == pytest.approx(2 * 3.4 * 72)
    code, out, err = wormcast("wave", figure_4, figure_4, "--json")
    both = f"{figure_4}, {figure_4}"
    assert (code, out, err) == (
        2, "", f"wormcast: --json is not valid with more than one waveform: {both}. Allowed: one waveform.\n")


def test_the_hardware_s_channels_are_told_as_the_run_had_them(tmp_path):
    file = tmp_path / "run.vcd"
    wormcast("run", "ring:4", "individual", "--source", 0, "--destinations", 2, "--length", 3, "--ejection", "all",
             "--ties", "signed", "--vcd", file)
    _, out, _ = wormcast("wave", file, "--text")
    assert ("2 VCs x 4 flits, 2 classes of VCs, 1 consumption channel an ejection port, ejection all, ties signed"
            in " ".join(out.split()))
