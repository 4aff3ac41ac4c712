"""The waveforms of `run`: one is read by a checker that knows the links of a mesh but nothing of plans."""

import json
from collections import defaultdict

import pytest
import waves
from cases import slow
from command import wormcast
from vcdvcd import VCDVCD

WIDTH = 32
STEPS = {"east": (0, 1), "west": (0, -1), "south": (1, 0), "north": (-1, 0)}


def links_of_worms(vcd, columns):
    """Find the links on which each worm's payload was seen, as (node, node). The tag in the payload names the worm."""
    wave = VCDVCD(str(vcd), store_tvs=True)
    found = defaultdict(set)
    for name in wave.signals:
        *_, router, unit, signal = ["", "", *name.split(".")]
        if signal != "links__0__valid" or not unit.endswith("_output") or unit.removesuffix("_output") not in STEPS:
            continue
        row, column = map(int, router.removeprefix("router_").split("_"))
        down, right = STEPS[unit.removesuffix("_output")]
        unit_name = name.removesuffix("links__0__valid")
        valid = wave[name]
        head, data = wave[unit_name + "\\links__0__flit.head"], wave[unit_name + "\\links__0__flit.data"]
        for time in sorted({time for signal in (valid, data) for time, _ in signal.tv}):
            if valid[time] == "1" and head[time] == "0":
                tag = int(data[time], 2) & 0xFFFF
                found[tag].add((row * columns + column, (row + down) * columns + column + right))
    return dict(found)


@pytest.mark.parametrize(("scheme", "worms", "hops"), [("dual-path", 2, 19), slow("individual", 7, 30)])
def test_worms_move_over_the_links_of_their_plan_and_no_others(tmp_path, scheme, worms, hops):
    vcd = tmp_path / "example.vcd"
    example = ["mesh:6x6", scheme, "--source", "3.2", "--destinations", "5.0,3.1,0.4,1.4,0.5,1.5,5.5"]
    code, _, err = wormcast("run", *example, "--length", 2, "--vcs", 1, "--vcd", vcd)
    assert (code, err) == (0, "")
    plan = json.loads(wormcast("plan", *example, "--json")[1])
    seen = links_of_worms(vcd, 6)
    assert len(seen) == worms
    assert sum(map(len, seen.values())) == hops
    for worm in plan["worms"]:
        assert seen[worm["id"]] == {tuple(link) for link in worm["links"]}


SHORT = ["run", "mesh:1x4", "dual-path", "--vcs", "1", "--source", "0", "--destinations", "1,3", "--length", "4"]


def test_window_and_instances_choose_what_is_written(tmp_path):
    code, out, err = wormcast(*SHORT, "--vcd", "w.vcd", "--window", "7:12", "--instances", "0.1,interface_0_3",
                              cwd=tmp_path)
    assert (code, err) == (0, "")
    assert out.endswith("waveform: w.vcd\n")
    found = waves.read(tmp_path / "w.vcd")
    shown = {name.split(".")[3] for name in found if name.startswith("bench.top.network.")}
    assert shown == {"router_0_1", "interface_0_1", "interface_0_3"}
    assert (found["bench.top.clk"].times[0], found["bench.top.clk"].times[-1]) == (6_500_000, 11_000_000)


def test_result_is_the_same_with_a_waveform(tmp_path):
    plain, shown = (json.loads(wormcast(*SHORT, "--json", *more, cwd=tmp_path)[1])
                    for more in ([], ["--vcd", "w.vcd"]))
    assert (plain.pop("waveform"), shown.pop("waveform")) == (None, "w.vcd")
    assert plain == shown


@pytest.fixture
def deadlock(tmp_path):
    """A run of [Boppana98]'s figure 4, which ends in a deadlock."""
    messages = [{"cycle": 0, "source": source, "destinations": nodes, "length": 64}
                for source, nodes in ((0, [1, 2]), (3, [2, 1]))]
    (tmp_path / "figure4.jsonl").write_text("\n".join(map(json.dumps, messages)))
    return ["run", "mesh:1x4", "dual-path", "--vcs", "1", "--consumption", "1", "--messages", "figure4.jsonl"]


def test_a_deadlock_leaves_its_waveform(deadlock, tmp_path):
    code, out, err = wormcast(*deadlock, "--json", cwd=tmp_path)
    assert (code, err) == (3, "")
    found = waves.read(tmp_path / json.loads(out)["waveform"])
    shown = {name.split(".")[3] for name in found if name.startswith("bench.top.network.")}
    assert shown == {"router_0_0", "router_0_1", "router_0_2", "router_0_3", "interface_0_1", "interface_0_2"}


def test_the_words_on_a_deadlocks_waveform_name_its_cycles(deadlock, tmp_path):
    """The waveform ends before the proof, and the text says so."""
    _, out, _ = wormcast(*deadlock, cwd=tmp_path)
    last = out.splitlines()[-1]
    assert last.startswith("waveform: wormcast-deadlock.vcd (")
    assert last.endswith("; later cycles, up to the proof, are left out)")


def test_a_waveform_that_was_asked_for_is_the_only_one(deadlock, tmp_path):
    code, _, err = wormcast(*deadlock, "--vcd", "w.vcd", "--instances", "0", cwd=tmp_path)
    assert (code, err) == (3, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure4.jsonl", "w.vcd", "w.vcd.gtkw", "w.vcd.sucl",
                                                               "w.vcd.waits.txt"]


def test_a_deadlock_whose_waveform_cannot_be_written_is_told_all_the_same(deadlock, tmp_path):
    (tmp_path / "wormcast-deadlock.vcd").mkdir()
    code, out, err = wormcast(*deadlock, "--json", cwd=tmp_path)
    assert code == 3
    assert err.startswith("wormcast: the waveform of the deadlock is not written: wormcast-deadlock.vcd is not valid")
    assert err.count("\n") == 1
    told = json.loads(out)
    assert (told["outcome"], told["waveform"]) == ("deadlock", None)
