"""``wormcast figure`` from a file of one's own: measured, interrupted, told."""

import json
import re

import pytest
from command import wormcast
from typer.testing import CliRunner

import wormcast as wc
from wormcast.sim.cli.app import app
from wormcast.sim.experiments.figure import PAPERS, catalogue, definition, paper_of

from .test_sweep import start_command, wait_for_points

FIGURE = """\
title = "two schemes"
source = "[Boppana98]"
step = 0.2
most = 0.8
cycles = 1000

[options]
topology = "mesh:3x3"
destinations_mean = 2.0

[series.individual]
scheme = "individual"
[series.multipath]
scheme = "multipath"
[series.hidden]
scheme = "dual-path"
drawn = false

[variations.three]
text = "three virtual channels"
vcs = 3

[variations.same]
text = "what there is without options"
vcs = 2

[[statements]]
claim = "x-1"
text = "individual sends more worms"
holds = "copies('individual') > copies('multipath')"

[[statements]]
claim = "x-2"
text = "a plan's hops"
holds = "output('plan mesh:6x6 dual-path --source 3.2 --destinations 5.0,3.1,0.4,1.4,0.5,1.5,5.5', 'hops') == 19"

[[statements]]
claim = "x-3"
text = "dual-path is slower than a cycle"
holds = "latency('hidden') < 1"

[[pictures]]
name = "plan"
command = "plan mesh:3x3 dual-path --source 0.0 --destinations 1.1 --plot {plot}"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "two.toml"
    path.write_text(FIGURE)
    return path


def written(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".sqlite"}


def test_a_figure_is_measured_and_judged(file, tmp_path):
    code, out, err = wormcast("figure", file, "--out", tmp_path / "out", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["figure"], [(one["claim"], one["verdict"]) for one in told["verdicts"]]) == (
        "two", [("x-1", "held"), ("x-2", "held"), ("x-3", "not held")])
    assert told["cycles"] == sum(row["cycles_simulated"] for row in told["table"])
    assert {(row["series"], row["variation"]) for row in told["table"]} == {
        (series, variation) for series in ("individual", "multipath", "hidden") for variation in ("", "three")}
    longest = {name: max(row["cycles_simulated"] for row in told["table"] if row["variation"] == name)
               for name in ("", "three")}
    # the variation has the first look: 500 cycles of warm-up and 1000 after them; a later look has twice as many
    assert longest == {"": 2500, "three": 1500}
    loads = [row["load"] for row in told["table"] if (row["series"], row["variation"]) == ("individual", "")]
    assert loads == sorted(loads)
    assert {0.2, 0.4} <= set(loads)
    names = {"two.csv", "two.svg", "two-plan.svg", "two.html"}
    assert set(written(tmp_path / "out")) == names
    page = (tmp_path / "out" / "two.html").read_text()
    for word in ("individual sends more worms", "two.svg", "two-plan.svg", "x-3", "not held", "three virtual channels"):
        assert word in page
    assert set(re.findall(r'src="([^"]*)"', page)) == {"two.svg", "two-plan.svg"}
    csv = (tmp_path / "out" / "two.csv").read_text().splitlines()
    assert len(csv) == 1 + len(told["table"])
    # finished points are not run again, and all comes out the same
    again = wormcast("figure", file, "--out", tmp_path / "out")
    assert (again[0], again[2]) == (0, "")
    assert " of them imprecise, " in again[1]
    # series that are not drawn are in no legend
    assert "hidden" not in (tmp_path / "out" / "two.svg").read_text()


@pytest.mark.slow  # quick ones of runs: test_figure_of_runs
def test_a_quick_one_has_no_variations(file, tmp_path):
    code, out, _ = wormcast("figure", file, "--out", tmp_path / "out", "--json", "--quick")
    told = json.loads(out)
    assert code == 0
    assert {row["variation"] for row in told["table"]} == {""}
    assert max(row["cycles_simulated"] for row in told["table"]) == 1000
    assert "no variations" in (tmp_path / "out" / "two.html").read_text()


def test_a_refused_command_is_told_before_anything_is_measured(file, tmp_path):
    file.write_text(FIGURE.replace("plan mesh:6x6 dual-path", "plan mesh:6x6 two-path"))
    code, _, err = wormcast("figure", file, "--out", tmp_path / "out")
    assert (code, "two-path" in err) == (2, True)
    assert not (tmp_path / "out" / "figures.sqlite").exists()


@pytest.mark.parametrize(("before", "after", "sentence"), [
    ("--destinations 1.1 --plot", "--destinations 1.1 --plot ../victim.csv --plot",
     "--plot in pictures[0].command in two: '{plot}' is not valid: the option is given twice"),
    ("1.1 --plot {plot}", "1.1 --plot ../victim.csv --relation {plot}",
     "--plot in pictures[0].command in two: '../victim.csv' is not valid: a figure's file must not choose the files"),
    ("1.1 --plot {plot}", "1.1 --plot {plot} --vcd victim.csv",
     "pictures[0].command in two: --vcd is not an option of plan in a figure."),
    ("output('plan", "output('plan --plot victim.csv", "--plot in output('plan --plot victim.csv"),
])
def test_a_figure_that_names_a_file_is_refused_before_anything_is_measured(before, after, sentence, file, tmp_path):
    (tmp_path / "victim.csv").write_text("old")
    file.write_text(FIGURE.replace(before, after))
    code, _, err = wormcast("figure", file, "--out", tmp_path / "out")
    assert (code, sentence in err.replace(str(file), "two")) == (2, True)
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "victim.csv").read_text() == "old"


@pytest.mark.slow  # points are kept as a sweep's are: test_sweep kills one
def test_killed_and_started_again_it_ends_in_the_same_bytes(file, tmp_path):
    assert wormcast("figure", file, "--quick", "--out", tmp_path / "whole")[0] == 0
    for number in (1, 4, 9):
        process = start_command("figure", file, "--quick", "--out", tmp_path / "killed")
        wait_for_points(tmp_path / "killed" / "figures.sqlite", process, number)
        process.kill()
        process.communicate()
    assert wormcast("figure", file, "--quick", "--out", tmp_path / "killed")[0] == 0
    assert written(tmp_path / "killed") == written(tmp_path / "whole")


def test_the_list_of_figures():
    code, out, err = wormcast("figure", "--json")
    figures = {one["name"]: one for one in json.loads(out)["figures"]}
    assert (code, err) == (0, "")
    assert {f"002-fig{k}" for k in range(7, 19)} <= figures.keys()
    assert figures["002-fig9"]["source"] == "[Boppana98], Figure 9"
    assert "002-07a" in figures["002-fig9"]["claims"]
    assert {f"000-fig5{panel}" for panel in "abcdefgh"} <= figures.keys()
    assert figures["002-fig9"]["axes"] == "latency, accepted / load"
    assert (figures["002-fig1"]["axes"], figures["001-cost"]["axes"] != "") == ("", True)
    assert figures["004-startup"]["axes"] == "latency / t_hs (cycles)"
    assert figures["002-fig9"]["quick_minutes"]["measured"] is False
    assert figures["002-fig1"]["quick_minutes"] is None
    shown = wormcast("figure")[1]
    assert shown.index("[Hou]: Y. Hou, C.-M. Wang and L.-H. Hsu 1998, Depth") < shown.index("004-fig8")
    assert "accepted / load" in shown


@pytest.mark.parametrize(("paper", "papers"), [
    (None, {"000", "001", "002", "003", "004"}), ("002", {"002"}), ("boppana", {"002"}), ("mckinley", set()),
    ("torus", {"004"}), ("panda", {"001"}),
])
def test_the_figures_of_a_paper(paper, papers):
    code, out, err = wormcast("list", "figures", *([paper] if paper else []), "--json")
    if papers:
        told = json.loads(out)
        assert {one["name"].split("-")[0] for one in told["figures"]} == papers
        assert told["configuration"].get("paper") == paper
    else:
        assert (code, out) == (2, "")
        assert err == (f"wormcast: paper: {paper!r} is unknown. Allowed: a part of an author's name or of a title, or "
                       "a number: 000, 001, 002, 003, 004.\n")


def test_each_figure_has_a_paper():
    assert [paper.number for paper in PAPERS] == [*dict.fromkeys(map(paper_of, catalogue()))]


def test_only_figures_have_papers():
    assert wormcast("list", "schemes", "002") == (
        2, "", "wormcast: paper: '002' is not valid: list schemes has no papers. Allowed: with list figures.\n")


@pytest.mark.slow  # the list is above
def test_the_list_tells_what_a_figure_took_where_it_was_made(tmp_path):
    assert wormcast("figure", "002-fig3", "--quick", "--out", tmp_path)[0] == 0
    code, out, _ = wormcast("figure", "--out", tmp_path, "--json")
    figures = {one["name"]: one for one in json.loads(out)["figures"]}
    assert code == 0
    assert figures["002-fig3"]["quick_minutes"]["measured"]
    assert 0 < figures["002-fig3"]["quick_minutes"]["minutes"] < 2
    assert figures["002-fig9"]["quick_minutes"]["measured"] is False


TREES = """\
title = "a tree and unicasts"
source = "this test"
step = 0.2
most = 0.4
cycles = 48000
latency = "multicast"

[options]
topology = "min:b=2,stages=2"
configuration = "atbm_64"
multicast_fraction = 0.5
destinations_mean = 2.0
length = 16

[series.tree]
scheme = "atbm"

[[statements]]
claim = "x-4"
text = "the tokens let more pass than is created"
holds = "token_ceiling('tree', 0.2) > accepted('tree', 0.2)"
"""


def test_a_figure_of_multicasts_has_their_latency_and_the_ceiling_of_their_tokens(tmp_path):
    (tmp_path / "tree.toml").write_text(TREES)
    code, out, err = wormcast("figure", tmp_path / "tree.toml", "--quick", "--out", tmp_path, "--json")
    told = json.loads(out)
    assert (code, err, [one["verdict"] for one in told["verdicts"]]) == (0, "", ["held"])
    assert all(row["token_holders_mean"] > 0 for row in told["table"])
    assert "stages" not in told["table"][0]
    text = (tmp_path / "tree.svg").read_text()
    for word in ("latency of multicasts", "ceiling of the tokens"):
        assert word in text
    # a chosen panel is drawn alone, from the same points
    # names of y axes that are longer than the axis are broken into lines
    axes = {"latency": "effective load (flits/node/cycle)", "accepted": "accepted load",
            "latency-accepted": "accepted load of the whole network (flits per"}
    for panel in axes:
        plot = tmp_path / f"{panel}.svg"
        code, out, err = wormcast("figure", tmp_path / "tree.toml", "--quick", "--out", tmp_path, "--plot", plot,
                                  "--panel", panel, "--json")
        assert (code, err, str(plot) in json.loads(out)["files"]) == (0, "", True)
        shown = plot.read_text()
        assert shown.count('id="axes_') == 1
        assert axes[panel] in shown
        label = "latency of multicasts" in shown or "multicasts (cycles)" in shown  # wherever it is broken
        assert label == (panel != "accepted")
    (tmp_path / "tree.toml").write_text(TREES.replace('"multicast"', '"broadcast"'))
    code, _, err = wormcast("figure", tmp_path / "tree.toml", "--out", tmp_path)
    place = f"latency in {tmp_path / 'tree.toml'}"
    assert (code, f"{place}: 'broadcast' is not valid. Allowed: all, multicast, unicast" in err) == (2, True)


SCATTER = """\
title = "hops and worms"
source = "this test"
[scatter]
across = "worms"
up = "hops"
[[scatter.points]]
name = "two"
across = "output('plan mesh:4x4 dual-path --source 1.1 --destinations 0.0,3.3', 'worms/#')"
up = "output('plan mesh:4x4 dual-path --source 1.1 --destinations 0.0,3.3', 'hops')"
"""


def test_a_scatter_plot_is_drawn_into_a_file_and_other_figures_are_refused(tmp_path):
    (tmp_path / "both.toml").write_text(SCATTER)
    code, _, err = wormcast("figure", "both.toml", "--out", "out", "--plot", "p.svg", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "hops" in (tmp_path / "p.svg").read_text()
    assert wc.figure(tmp_path / "both.toml", progress=False).plot().get_ylabel() == "hops"
    (tmp_path / "both.toml").write_text(SCATTER.partition("[scatter]")[0] + FIGURE[FIGURE.index("[[pictures]]"):])
    code, _, err = wormcast("figure", "both.toml", "--plot", "q.svg", cwd=tmp_path)
    assert code == 2
    assert err == ("wormcast: plot: q.svg is not valid for both, which has neither curves nor a scatter plot. Allowed: "
                   "for one figure with curves or a scatter plot.\n")
    with pytest.raises(wc.WormcastError, match="plot: both has neither curves nor a scatter plot"):
        wc.figure(tmp_path / "both.toml", progress=False).figure()


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["002-fig99"], "figure: '002-fig99' is unknown. Nearest: 002-fig9. Allowed:"),
    (["none.toml"], "figure: none.toml cannot be read: No such file"),
    (["002-fig9", "--out", "/dev/null/x"], "folder /dev/null/x cannot be created: Not a directory"),
])
def test_what_is_refused(arguments, sentence):
    code, out, err = wormcast("figure", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_the_figures_of_a_paper_make_a_report(tmp_path, monkeypatch):
    # one series, and the statement that needs no loads
    first, _, others = FIGURE.partition("[series.multipath]")
    quick = first + "[[statements]]" + others.split("[[statements]]")[2]
    for name in ("991-fig1", "991-fig2", "992-fig1"):
        (tmp_path / f"{name}.toml").write_text(quick)
    monkeypatch.setattr(definition, "HERE", tmp_path)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["figure", "991", "--quick", "--out", str(out), "--json"])
    told = json.loads(done.stdout)
    assert (told["figure"], [one["figure"] for one in told["figures"]]) == ("991", ["991-fig1", "991-fig2"])
    assert told["files"][-3:] == [str(out / name) for name in ("index.html", "papers.md", "plans.toml")]
    assert "991-fig2</a>" in (out / "index.html").read_text()


def test_a_figure_that_is_not_there_is_refused(tmp_path):
    code, _, err = wormcast("figure", "005", "--out", tmp_path)
    assert code == 2
    assert err.startswith("wormcast: figure: '005' is unknown. ")
    assert err.endswith("by a part of an author's name or of its title, or by its number: 000, 001, 002, 003, 004.\n")
    assert "Nearest: 002-fig17." in wormcast("figure", "002-fg17", "--out", tmp_path)[2]
