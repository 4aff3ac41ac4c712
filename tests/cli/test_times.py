"""An event has one time, whoever tells it: tables, messages, JSON, waveforms."""

import json

import pytest
from command import wormcast

FIGURE_4 = """\
{"cycle": 0, "source": "0.0", "destinations": ["0.1", "0.2"], "length": 64}
{"cycle": 0, "source": "0.3", "destinations": ["0.2", "0.1"], "length": 64}
"""

#: Cycles from a consumption link through the interface to the host.
THROUGH = 2


@pytest.fixture
def figure_4(tmp_path):
    """Runs Figure 4 of [Boppana98] with so many consumption channels, and what it prints."""
    messages = tmp_path / "figure4.jsonl"
    messages.write_text(FIGURE_4)

    def ran(consumption, *more):
        return wormcast("run", "mesh:1x4", "dual-path", "--vcs", 1, "--consumption", consumption, "--messages",
                        messages, "--vcd", tmp_path / "run.vcd", *more)[1]

    return ran


def cells(told):
    """The rows of the tables, of their words."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in told.splitlines() if line.startswith("│")]


@pytest.mark.parametrize("delays", [[], ["--t-nr", 7, "--t-hr", 100]])
def test_all_is_delivered_in_the_cycle_of_the_last_receipt(figure_4, delays):
    told = figure_4(2, *delays)
    found = json.loads(figure_4(2, *delays, "--json"))
    receipts = [times["received"] for one in found["messages"] for times in one["deliveries"].values()]
    assert told.startswith(f"dual-path on mesh:1x4: delivered in cycle {max(receipts)} (")
    assert max(int(row[-1]) for row in cells(told)) == max(receipts) == max(one["latency"] for one in found["messages"])
    assert found["cycles"] == max(receipts) + 1


def test_waveforms_tell_when_a_tail_is_on_the_link_and_call_it_ejected(figure_4, tmp_path):
    found = json.loads(figure_4(2, "--json"))
    _, told, _ = wormcast("wave", tmp_path / "run.vcd")
    assert "│ injected │ arrived │ ejected │" in told.replace("┃", "│")
    assert "ejected: cycle of the last tail on a consumption link" in told
    last = [max(times["tail"] for times in one["deliveries"].values()) for one in found["messages"]]
    assert [int(row[5]) + THROUGH for row in cells(told)] == last
    assert "delivered" not in told
    _, told, _ = wormcast("wave", tmp_path / "run.vcd", "--text")
    assert "*: tail ejected" in " ".join(told.split())


def test_a_deadlock_has_a_last_move_and_a_proof(figure_4, tmp_path):
    told = figure_4(1)
    assert told.startswith("dual-path on mesh:1x4: deadlock, proved in cycle 1024 (")
    assert "\n  no host has sent or received a flit of these worms since cycle 17\n" in told
    assert json.loads(figure_4(1, "--json"))["deadlock"].keys() == {"at", "cycle"}
    _, told, _ = wormcast("wave", tmp_path / "run.vcd")
    assert "\ndeadlock, proved in cycle 1024, last flit of its worms on a link in cycle 17:\n" in told


def test_a_deadlock_under_load_has_both(tmp_path):
    _, told, _ = wormcast("load", "mesh:4x4", "dual-path", "--rate", "0.02", "--length", 64, "--destinations-mean", 4,
                          "--consumption", 1, "--vcs", 1, "--buffer", 2, "--cycles", 200_000, cwd=tmp_path)
    [proof] = [line for line in told.splitlines() if line.startswith("deadlock of seed")]
    [rest] = [line for line in told.splitlines() if "no host has sent or received a flit of these worms since" in line]
    proved, moved = int(proof.split("cycle ")[1].split(":")[0]), int(rest.rsplit(" ", 1)[1])
    assert proved - moved > 2048


def test_plans_share_links_and_runs_wait(figure_4):
    """Both have the key `contention` in JSON; their words differ."""
    assert "waiting cycles" in figure_4(2, "--contention")
    _, told, _ = wormcast("plan", "torus:8x8", "z", "--source", 0, "--destinations", "all")
    assert "worms that share a link" in told
    assert "waiting" not in told
