"""The waveform, read by a checker that knows the links of a mesh but nothing of plans."""

import json
import subprocess
import sys
from collections import defaultdict

import pytest
from vcdvcd import VCDVCD

WIDTH = 32
STEPS = {"east": (0, 1), "west": (0, -1), "south": (1, 0), "north": (-1, 0)}


def links_of_worms(vcd, columns):
    """For each worm (tag in its payload) the links that its payload was seen on, as (node, node)."""
    wave = VCDVCD(str(vcd), store_tvs=True)
    found = defaultdict(set)
    for name in wave.signals:
        *_, router, unit, signal = ["", "", *name.split(".")]
        if signal != "link__valid" or not unit.endswith("_output") or unit.removesuffix("_output") not in STEPS:
            continue
        row, column = map(int, router.removeprefix("router_").split("_"))
        down, right = STEPS[unit.removesuffix("_output")]
        unit_name = name.removesuffix("link__valid")
        valid = wave[name]
        head, data = wave[unit_name + "\\link__flit.head"], wave[unit_name + "\\link__flit.data"]
        for time in sorted({time for signal in (valid, data) for time, _ in signal.tv}):
            if valid[time] == "1" and head[time] == "0":
                tag = int(data[time], 2) & 0xFFFF
                found[tag].add((row * columns + column, (row + down) * columns + column + right))
    return dict(found)


@pytest.mark.parametrize(("scheme", "worms", "hops"), [
    ("dual-path", 2, 19), pytest.param("individual", 7, 30, marks=pytest.mark.slow)])
def test_worms_move_over_the_links_of_their_plan_and_no_others(tmp_path, scheme, worms, hops):
    vcd = tmp_path / "example.vcd"
    example = ["mesh:6x6", scheme, "--source", "3.2", "--destinations", "5.0,3.1,0.4,1.4,0.5,1.5,5.5"]
    command = [sys.executable, "-m", "wormcast"]
    subprocess.run([*command, "run", *example, "--length", "2", "--vcs", "1", "--vcd", str(vcd)], check=True)
    plan = json.loads(subprocess.run([*command, "plan", *example, "--json"], check=True, capture_output=True).stdout)
    seen = links_of_worms(vcd, 6)
    assert len(seen) == worms
    assert sum(map(len, seen.values())) == hops
    for worm in plan["worms"]:
        assert seen[worm["id"]] == {tuple(link) for link in worm["links"]}
