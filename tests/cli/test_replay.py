"""`run --replay`: the page of a run, and of a deadlock."""

import json
import re

from command import wormcast

FIGURE_4 = [{"at": 700, "source": 0, "destinations": [1, 2], "length": 64},
            {"at": 700, "source": 3, "destinations": [2, 1], "length": 64}]


def data_of(path):
    [text] = re.findall(r'<script id="data" type="application/json">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(text)


def test_a_run_is_replayed_to_its_deliveries(tmp_path):
    """Ejected is what has its tail on the consumption link; the interface takes two cycles more."""
    code, out, _ = wormcast("run", "mesh:3x3", "dual-path", "--source", "1.1", "--destinations", "0.0,2.2",
                            "--length", 8, "--replay", "run.html", "--json", cwd=tmp_path)
    result = json.loads(out)
    assert (code, result["replay"], result["waveform"]) == (0, "run.html", None)
    data = data_of(tmp_path / "run.html")
    tails = {int(node): times["tail"] - 2 for node, times in result["messages"][0]["deliveries"].items()}
    kinds = [data["links"][link] for link, _, _ in data["tracks"]]
    assert {kinds[lane][1]: last for lane, _, _, last, ended, _ in data["holds"]
            if ended and kinds[lane][0] == "consumption"} == tails
    assert [path.name for path in tmp_path.iterdir()] == ["run.html"]


def test_a_deadlock_is_replayed_until_all_is_at_rest(tmp_path):
    (tmp_path / "messages.json").write_text(json.dumps(FIGURE_4))
    code, out, err = wormcast("run", "mesh:1x4", "dual-path", "--vcs", 1, "--consumption", 1, "--messages",
                              "messages.json", "--replay", "deadlock.html", cwd=tmp_path)
    assert (code, err) == (3, "")
    assert out.endswith("replay: deadlock.html\n")
    data = data_of(tmp_path / "deadlock.html")
    assert [worm for worm, _ in data["deadlock"]["circle"]] == [0, 1]
    assert data["first"] >= 700
    assert data["end"] - data["first"] < 60


def test_a_run_that_is_cut_off_before_anything_is_sent_has_a_page_too(tmp_path):
    code, _, err = wormcast("run", "mesh:1x4", "dual-path", "--source", 0, "--destinations", 3, "--length", 4,
                            "--vcs", 1, "--consumption", 1, "--timeout", 1, "--replay", "run.html", cwd=tmp_path)
    assert (code, err) == (5, "")
    assert data_of(tmp_path / "run.html")["holds"] == []


def test_what_cannot_be_written_is_refused(tmp_path):
    code, _, err = wormcast("run", "mesh:2x2", "individual", "--source", 0, "--destinations", 3, "--length", 4,
                            "--replay", "nowhere/run.html", cwd=tmp_path)
    assert code == 2
    assert "nowhere/run.html cannot be written: its folder does not exist" in err
    assert list(tmp_path.iterdir()) == []
