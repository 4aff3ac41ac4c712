"""``wormcast wave`` on the waveforms that ``run`` writes: plan, deliveries and deadlock come out of the file again."""

import json
import re

import pytest
from cases import slow
from command import wormcast

EXAMPLE = ["mesh:4x4", "dual-path", "--source", "1.1", "--destinations", "0.0,3.3,0.3,3.0,2.1"]


def told(*arguments, cwd, code=0):
    left, out, err = wormcast(*arguments, "--json", cwd=cwd)
    assert (left, err) == (code, "")
    return json.loads(out)


# with other hardware, tests/sim/waves/record follows worms at every test
@pytest.mark.parametrize("hardware", [
    [], slow(["--readers", "independent"]), slow(["--consumption-links", "separate"])])
def test_paths_and_deliveries_are_those_of_the_plan_and_the_run(tmp_path, hardware):
    """A link's tail is with the host two cycles later."""
    plan = told("plan", *EXAMPLE, cwd=tmp_path)
    run = told("run", *EXAMPLE, "--length", 12, *hardware, "--vcd", "w.vcd", cwd=tmp_path)
    seen = told("wave", "w.vcd", cwd=tmp_path)
    for worm in plan["worms"]:
        path = [hold["link"] for hold in seen["holds"]
                if hold["worm"] == worm["id"] and hold["link"].startswith("link")]
        assert path == [f"link:{start}>{end}" for start, end in worm["links"]]
    tails = {re.split("[:#]", hold["link"])[1]: hold["last"] for hold in seen["holds"]
             if hold["link"].startswith("cons")}
    assert all(hold["ended"] for hold in seen["holds"])
    assert {node: tail + 2 for node, tail in tails.items()} == {
        node: times["tail"] for node, times in run["messages"][0]["deliveries"].items()}


def test_a_deadlock_comes_out_of_the_waveform_that_it_leaves(tmp_path):
    messages = [{"cycle": 0, "source": source, "destinations": nodes, "length": 64}
                for source, nodes in ((0, [1, 2]), (3, [2, 1]))]
    (tmp_path / "figure4.jsonl").write_text("\n".join(map(json.dumps, messages)))
    run = told("run", "mesh:1x4", "dual-path", "--vcs", 1, "--consumption", 1, "--messages", "figure4.jsonl",
               cwd=tmp_path, code=3)
    seen = told("wave", run["waveform"], "--plot", "f.svg", cwd=tmp_path)
    assert seen["deadlock"] == run["deadlock"]
    last = [wait for wait in seen["waits"] if wait["last"] == seen["end"] - 1]
    assert {(wait["worm"], *wait["resources"]) for wait in last} == {(0, "cons:2:0"), (1, "cons:1:0")}
    picture = (tmp_path / "f.svg").read_text()
    assert 'id="waits-0"' in picture
    assert 'id="waits-1"' in picture
