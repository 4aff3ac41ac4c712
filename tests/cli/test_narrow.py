"""Narrow terminals, narrow flits and narrow networks."""

import json
import re
import sys

import pytest
from cases import slow
from command import wormcast
from rich.console import Console

from wormcast.sim.cli import app

SWEEP = """topology = "mesh:4x4"
scheme = ["dual-path", "individual"]
rate = [0.002, 0.1]
vcs = [1, 2]
destinations_mean = 4.0
cycles = 2000
"""


@pytest.mark.parametrize("columns", [80, 100])
def test_no_cell_of_a_table_is_cut(columns, tmp_path, monkeypatch):
    (tmp_path / "some.toml").write_text(SWEEP)
    monkeypatch.setenv("COLUMNS", str(columns))
    code, told, _ = wormcast("sweep", "some.toml", "--out", "out", cwd=tmp_path)
    assert code == 0
    assert "…" not in told
    table = [line for line in told.splitlines() if line[:1] in "│┃┏┡└"]
    assert max(map(len, table)) <= columns
    assert {"saturated", "dual-path", "individual"} <= set(re.findall(r"[\w-]+", told))


def test_lines_break_between_words_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(app, "_console", lambda: Console(width=20, soft_wrap=True, highlight=False))
    app.say("free of deadlock [if] all classes are kept")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    app.say("free of deadlock [if] all classes are kept")
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "free of deadlock [if] all classes are kept", "free of deadlock", "[if] all classes are", "kept"]


def test_a_hunt_with_narrow_flits_has_messages_that_can_be_told_apart(tmp_path):
    network = "irregular:switches=4,ports=8,nodes=12,connectivity=0.8,seed=3"
    code, told, _ = wormcast("hunt", network, "individual", "--flit-width", "8", "--cycles", "200000", "--json",
                             cwd=tmp_path)
    found = json.loads(told)
    assert (code, found["configuration"]["length"]) == (0, "2:256")
    code, _, told = wormcast("hunt", network, "individual", "--flit-width", "8", "--length", "1:256", "--cycles",
                             "200000", cwd=tmp_path)
    assert code in (0, 2)
    assert code == 0 or "needs longer messages or wider flits" in told


@pytest.mark.parametrize("network", [slow("mesh:4x2"), slow("mesh:2x2"), "mesh:1x2", slow("torus:3x2"),
                                     slow("mesh:2x2x2")])
def test_points_of_runs_on_narrow_networks_have_no_bound(network, tmp_path):
    (tmp_path / "narrow.toml").write_text(
        f'title = "t"\nsource = "s"\npoints = "runs"\nover = "length"\nvalues = [8, 16]\n'
        f'options = {{topology = "{network}"}}\nseries = {{a = {{scheme = "individual"}}}}\n'
        "statements = [{claim = \"1\", text = \"x\", holds = \"latency('a') > 1\"}]\n")
    code, told, _ = wormcast("figure", "narrow.toml", "--out", "out", "--json", cwd=tmp_path)
    found = json.loads(told)
    assert code == 0
    assert [(row["bound"], row["latency"] > 8) for row in found["table"]] == [(None, True)] * 2
    assert (tmp_path / "out" / "narrow.svg").exists()
