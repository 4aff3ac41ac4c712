"""Figures of papers from Python: measured as by the command, kept in memory or in a folder."""

import pickle
import re

import pytest

import wormcast as wc

BROADCAST = """\
title = "Broadcasts over the length"
source = "this test"
points = "runs"
over = "length"
values = [1, 20]
[options]
topology = "torus:4x4"
configuration = "dcf_torus"
[series.dcf]
scheme = "dcf"
[[statements]]
claim = "x-1"
text = "DCF's latency equals its formula"
holds = "latency('dcf') == formula('dcf')"
[[pictures]]
name = "plan"
command = "plan torus:4x4 dcf --source 0 --destinations all --plot {plot}"
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "broadcast.toml"
    path.write_text(BROADCAST)
    return path


def test_a_figure_is_a_result(file, tmp_path, capfd):
    result = wc.figure(file, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["broadcast.toml"]
    assert repr(result).splitlines() == [
        "broadcast: Broadcasts over the length (this test)", "2 points", "statements: 1 held"]
    assert "DCF&#x27;s latency" in result._repr_html_()
    assert [row["length"] for row in result.rows()] == [*result.to_dataframe()["length"]] == [1, 20]
    assert [one.verdict for one in result.verdicts] == ["held"]
    assert {"version", "configuration", "figure", "table", "verdicts", "cycles", "seconds", "files"} <= {
        *result.to_dict()}
    assert " ".join(result.plot().get_xlabel().split()) == "length of a multicast (payload flits)"
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()
    written = wc.figure(file, out="out")
    names = {"broadcast.csv", "broadcast.svg", "broadcast-plan.svg", "broadcast.html"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names | {"figures.sqlite"}
    assert written.to_dict()["files"] == [f"out/{name}" for name in (
        "broadcast.csv", "broadcast.svg", "broadcast-plan.svg", "broadcast.html")]
    assert written.rows() == result.rows()
    assert capfd.readouterr().out == ""


def test_single_runs_have_the_panel_and_the_lines_of_the_options(file):
    result = wc.figure(file, progress=False)
    [axes] = result.figure(panel="above").axes
    assert axes.get_ylabel().replace("\n", " ") == "latency minus formula (cycles)"
    for style, width in ("screen", 1.0), ("slides", 1.6):
        figure = result.figure(panel="above", style=style)
        assert {line.get_linewidth() for line in figure.axes[0].lines if line.get_linestyle() != "None"} == {width}
        assert figure.legends[0].get_lines()[0].get_linewidth() == width


def test_pictures_of_a_figure_get_its_progress(file, monkeypatch):
    from wormcast.sim.api.command_texts import Call

    given, result = [], Call.result
    monkeypatch.setattr(Call, "result", lambda self, **said: given.append(said) or result(self, **said))
    wc.figure(file, out="out", progress=False)
    assert given == [{"progress": False}]


@pytest.mark.parametrize(("name", "numbers"), [
    ("boppana", {"002"}), ("004", {"004"}), ("all", {"000", "001", "002", "003", "004"}), ("002-fig9", set()),
    ("own.toml", set()), ("mckinley", set()), ("hou,002-fig9,002-fig9", {"004", "002"}),
    ("002-fig9," * 40 + "hou", {"004", "002"}),
])
def test_names_of_several_figures(name, numbers):
    from wormcast.sim.experiments.figure.definition import names_of_several

    assert {one.split("-")[0] for one in names_of_several(name)} == numbers


def test_several_figures_have_no_picture_of_all(tmp_path, monkeypatch):
    from wormcast.sim.experiments.figure import definition

    for name in "991-one", "991-two":
        (tmp_path / f"{name}.toml").write_text(BROADCAST)
    monkeypatch.setattr(definition, "HERE", tmp_path)
    result = wc.figure("991", progress=False)
    assert (len(result), len(result.rows()), len(result.verdicts)) == (2, 4, 2)
    assert repr(result).splitlines() == ["991: 2 figures", "4 points", "statements: 2 held"]
    assert [one["figure"] for one in result.to_dict()["figures"]] == ["991-one", "991-two"]
    with pytest.raises(wc.WormcastError, match=re.escape("plot: 991 stands for 2 figures. Allowed: one figure")):
        result.plot()
