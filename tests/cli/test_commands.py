"""The command line as its users meet it: in a process of its own, by exit code, stdout and stderr."""

import gzip
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cases import slow
from command import wormcast
from refused_at import without_place

from wormcast.sim.cli.demo import FILES, GIVEN, LESSONS, STEPS
from wormcast.sim.waves.view import read_waveform

SHORT_PATHS = Path(__file__).parents[2] / "examples" / "short_paths.py"

EXAMPLE = ["--source", "3.2", "--destinations", "5.0,3.1,0.4,1.4,0.5,1.5,5.5"]
FIGURE_4 = [
    {"at": 0, "source": 0, "destinations": [1, 2], "length": 64},
    {"at": 0, "source": 3, "destinations": [2, 1], "length": 64},
]


def as_json(*arguments, cwd=None):
    code, out, err = wormcast(*arguments, "--json", cwd=cwd)
    assert err == ""
    return code, json.loads(out)


@pytest.fixture
def figure_4(tmp_path):
    """The messages of [Boppana98]'s figure 4, and the options of its run."""
    file = tmp_path / "figure4.json"
    file.write_text(json.dumps(FIGURE_4))
    return ["run", "mesh:1x4", "dual-path", "--messages", file, "--buffer", 4, "--vcs", 1]


def test_plan_has_the_worms_of_paper_002():
    code, plan = as_json("plan", "mesh:6x6", "dual-path", *EXAMPLE)
    assert code == 0
    assert (plan["copies"], plan["hops"], plan["start_ups"], plan["phases"]) == (2, 19, 2, 1)
    assert [worm["destinations"] for worm in plan["worms"]] == [[19, 35, 30], [10, 11, 5, 4]]
    assert {"version", "configuration", "seed", "topology", "scheme", "provenance", "source", "channels"} <= set(plan)
    assert plan["form"] == "2-D, as printed"
    assert set(plan["worms"][0]) == {
        "id", "source", "destinations", "links", "after", "rank", "step", "tier", "class", "classes", "signs",
        "vc_classes", "header",
    }  # fmt: skip
    assert [(worm["class"], worm["classes"]) for worm in plan["worms"]] == [(0, [0, 0, None]), (1, [1, 1, 1, None])]
    _, plan = as_json("plan", "mesh:6x6", "individual", *EXAMPLE)
    assert (plan["copies"], plan["hops"]) == (7, 30)


def test_random_multicasts_are_planned_for_their_means():
    command = ("plan", "mesh:6x6", "multipath", "--random", 800, "--destinations-mean", 5, "--seed", 3)
    code, told = as_json(*command)
    assert (code, told["seed"], told["configuration"]["random"]) == (0, 3, 800)
    assert told["destinations"] == {"mean": 5.0, "half_width": 0.0}
    assert told["hops_per_destination"]["mean"] == pytest.approx(told["hops"]["mean"] / 5)
    assert 0 < told["shared"]["half_width"] < told["shared"]["mean"] < 0.5
    assert told["channels"]["mean"] < told["hops"]["mean"]
    again = as_json(*command)[1]
    assert again.pop("planning_ns") != told.pop("planning_ns")  # a time
    assert again == told
    assert as_json(*command[:-1], 4)[1]["shared"] != told["shared"]
    _, out, _ = wormcast(*command)
    assert "800 random multicasts" in out
    assert "share of worms on the path of a unicast" in " ".join(out.split())


def test_plan_tells_people_the_form_and_who_waits_for_whom():
    nodes = ["--source", "1.1.1", "--destinations", "0.0.0,3.3.3,2.1.0"]
    code, out, err = wormcast("plan", "mesh:4x4x4", "u-mesh", *nodes)
    assert (code, err) == (0, "")
    first, words, second, third, *rows = out.splitlines()
    assert first.startswith("u-mesh on mesh:4x4x4, from 1.1.1: worms 3, ")
    assert first.endswith("start-ups 2, phases 2, steps 2")
    assert words.endswith("steps: message-passing steps")
    assert second == "form: 3-D: the chain sorted by the last dimension first, as e-cube routes"
    assert third.startswith("provenance: reconstructed")
    cells = [[cell.strip() for cell in row.split("│")[1:-1]] for row in rows]
    assert [row[:5] for row in cells if row and row[0].isdigit()] == [
        ["0", "-", "1", "2.1.0", "2"], ["1", "-", "2", "3.3.3", "6"], ["2", "0", "2", "0.0.0", "3"],
    ]  # fmt: skip


def test_a_plan_breaks_ties_as_it_is_told():
    links = {}
    for ties in ("plus", "signed"):
        code, found = as_json("plan", "ring:6", "individual", "--source", 4, "--destinations", "1,3", "--ties", ties)
        assert (code, found["configuration"]["ties"]) == (0, ties)
        links[ties] = [worm["links"] for worm in found["worms"]]
    assert links == {"plus": [[[4, 5], [5, 0], [0, 1]], [[4, 3]]], "signed": [[[4, 3], [3, 2], [2, 1]], [[4, 3]]]}
    assert wormcast("plan", "ring:6", "individual", "--source", 4, "--destinations", 1, "--ties", "up") == (
        2, "", "wormcast: ties: 'up' is not valid. Allowed: plus, signed.\n")


def test_run_delivers_to_every_destination():
    code, run = as_json("run", "mesh:6x6", "dual-path", *EXAMPLE, "--length", 20)
    assert (code, run["outcome"], run["engine"], run["header_flits"]) == (0, "delivered", "bulk", 2)
    [message] = run["messages"]
    assert set(message) == {"id", "source", "created", "latency", "network_latency", "deliveries", "contention"}
    assert set(message["deliveries"]) == {"30", "19", "4", "10", "5", "11", "35"}
    tails = [times["tail"] for times in message["deliveries"].values()]
    assert message["latency"] == max(tails)
    assert run["configuration"]["consumption"] == 2
    assert run["configuration"]["vcs"] == 2


def test_run_of_figure_4_deadlocks_with_one_consumption_channel(figure_4, tmp_path):
    code, out, err = wormcast(*figure_4, "--consumption", 1, cwd=tmp_path)
    assert (code, err) == (3, "")
    for words in ("worm 0", "worm 1", "cons:0.1:0", "cons:0.2:0", "link:0.1>0.2:0", "link:0.2>0.1:0"):
        assert words in out
    code, run = as_json(*figure_4, "--consumption", 1, cwd=tmp_path)
    assert (code, run["outcome"]) == (3, "deadlock")
    first, second = run["deadlock"]["cycle"]
    assert (first["worm"], second["worm"]) == (0, 1)
    assert (first["waits"], second["waits"]) == (["cons:2:0"], ["cons:1:0"])
    assert {"link:0>1:0", "cons:1:0", "link:1>2:0"} == set(first["holds"])
    assert {"link:3>2:0", "cons:2:0", "link:2>1:0"} == set(second["holds"])
    assert all(message["latency"] is None for message in run["messages"])


def test_run_of_figure_4_delivers_with_two(figure_4):
    code, run = as_json(*figure_4, "--consumption", 2)
    assert (code, run["outcome"], run["deadlock"], run["waveform"]) == (0, "delivered", None, None)


def test_run_that_has_no_time_is_stalled(figure_4):
    code, run = as_json(*figure_4, "--consumption", 2, "--timeout", 50)
    assert (code, run["outcome"], run["cycles"]) == (5, "stalled", 50)
    code, out, err = wormcast(*figure_4, "--consumption", 2, "--timeout", 50)
    assert (code, err) == (5, "")
    assert out.startswith("dual-path on mesh:1x4: not finished by --timeout, after 50 cycles ")


@pytest.mark.parametrize("what", ["schemes", "topologies", "configurations", "components"])
def test_list_explains_each_in_a_line(what):
    code, listed = as_json("list", what)
    assert code == 0
    assert all(entry["description"] for entry in listed[what])


def test_list_of_schemes_says_on_which_meshes_and_in_which_form():
    _, listed = as_json("list", "schemes")
    forms = {entry["name"]: (entry["in_two_dimensions"], entry["in_more_dimensions"]) for entry in listed["schemes"]}
    assert forms["multipath"] == ("as printed", None)
    assert forms["individual"] == (None, None)
    networks = {entry["name"]: entry["networks"] for entry in listed["schemes"]}
    assert (networks["multipath"], networks["individual"]) == ("mesh", "any")
    code, out, err = wormcast("list", "schemes")
    assert (code, err) == (0, "")
    assert {entry["name"]: entry["dimensions"] for entry in listed["schemes"]}["individual"] is None
    dimensions = {cells[1].strip(): cells[3].strip() for cells in (row.split("│") for row in out.splitlines())
                  if len(cells) > 3 and cells[1].strip()}
    assert {name for name, found in dimensions.items() if found == "2"} == {"multipath", "multipath-lmn"}
    assert {name for name, found in dimensions.items() if found == "3"} == {"sp", "gtdmpm"}
    assert dimensions["u-mesh"] == dimensions["tp"] == "2 and more"
    assert "forms in three dimensions only:\n  gtdmpm: reconstructed\n  sp: as printed\n  tp: as printed\n" in out
    assert "  dual-path: the same by the labels of the reflected path" in out


def test_random_multicasts_of_one_source():
    command = ("plan", "mesh:4x4x4", "sp", "--random", 320, "--destinations-distribution", "fixed",
               "--destinations-mean", 20, "--source", "1.1.1", "--seed", 3)
    code, told = as_json(*command)
    assert code == 0
    means = {word: told[word]["mean"] for word in ("copies", "hops", "longest", "first_links", "sharing")}
    assert told["destinations"]["mean"] == 20
    assert 5 < means["copies"] <= 6 > means["first_links"] > 3
    assert 0.5 < means["sharing"] <= 1
    assert 10 < means["longest"] < means["hops"]
    assert all(0 < told[word]["half_width"] < 0.2 * mean for word, mean in means.items())


@pytest.mark.parametrize(("words", "sentence"), [
    (("plan", "mesh:8x8", "sp", "--source", 0, "--destinations", 1),
     "scheme sp: mesh:8x8 has 2 dimensions. Allowed: 3 dimensions"),
    (("plan", "torus:4x4x4", "sp", "--source", 0, "--destinations", 1),
     "scheme sp: topology torus:4x4x4 is not valid. Allowed: networks of kind mesh"),
    (("run", "mesh:4x4x4", "tp", "--source", 0, "--destinations", 1, "--length", 0), "length: 0 is not valid. Allowed"),
])
def test_what_schemes_of_three_dimensions_refuse(words, sentence):
    code, out, err = wormcast(*words)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(("channels", "sizes"), [
    (1, {0: [16], 1: [4] * 4, 2: [1] * 16}), (4, {0: [4] * 4, 1: [1] * 16})])
def test_topology_tells_and_draws_which_switches_share_a_token(channels, sizes, tmp_path):
    """Figure 3 of [Varavithya]."""
    code, shown = as_json("topology", "min:b=4,stages=3", "--tokens", channels, "--plot", tmp_path / "groups.svg")
    assert code == 0
    assert {one["stage"]: [len(group) for group in one["groups"]] for one in shown["tokens"]} == sizes
    assert sum(len(group) for group in shown["tokens"][0]["groups"]) == 16
    assert "dashed: switches that share a token" in (tmp_path / "groups.svg").read_text()
    assert as_json("topology", "min:b=4,stages=3")[1]["tokens"] is None
    sentence = "topology: mesh:2x2 is not valid with tokens: it has no stages"
    assert sentence in wormcast("topology", "mesh:2x2", "--tokens", 1)[2]


def test_topology_shows_coordinates_and_labels():
    code, shown = as_json("topology", "mesh:2x3")
    assert code == 0
    assert [node["label"] for node in shown["nodes"]] == [0, 1, 2, 5, 4, 3]
    assert len(shown["links"]) == 14
    _, out, _ = wormcast("topology", "mesh:2x3")
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    assert ["1", "0.1", "1", "0.1", "local"] in cells
    assert ["0.1", "east", "0.2", "west"] in cells


def test_topology_and_plan_show_what_leads_up():
    name = "irregular:switches=5,ports=5,nodes=5,seed=1"
    _, shown = as_json("topology", name)
    assert shown["levels"] == [0, 1, 2, 1, 2]
    assert {(link["from"], link["to"]) for link, up in zip(shown["links"], shown["up"], strict=True) if up} == {
        (1, 0), (3, 0), (2, 1), (2, 3), (4, 1), (4, 3)}
    _, out, _ = wormcast("topology", name)
    assert "up*/down*: level 0 (root): s0; level 1: s1 s3; level 2: s2 s4\n" in out
    assert ["s4", "p0", "s3", "p1", "up"] in [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines()]
    path = wormcast("plan", name, "individual", "--source", 4, "--destinations", 0)[1]
    assert "s4 ↑s3 ↑s0*" in path
    down = wormcast("plan", name, "individual", "--source", 0, "--destinations", 4, "--relation", "up-down-adaptive")[1]
    assert "s0 ↓s1 ↓s4*" in down
    mesh = as_json("topology", "mesh:2x3")[1]
    assert (mesh["up"], mesh["levels"]) == (None, None)


@pytest.mark.parametrize("name", ["mesh:2x3", "torus:3x3", "ring:5", "min:b=2,stages=2,kind=omega", "irregular:seed=2"])
def test_a_topology_is_written_as_a_network_file_and_read_back(name, tmp_path):
    file = tmp_path / "net.toml"
    code, shown = as_json("topology", name, "--toml", file)
    assert (code, shown["toml"]) == (0, str(file))
    code, again = as_json("topology", file)
    assert code == 0
    same = ("topology", "kind", "shape", "nodes", "switches", "links")
    assert {key: again[key] for key in same} == {key: shown[key] for key in same}


@pytest.mark.parametrize(("file", "sentence"), [
    ("net.txt", "net.txt is not valid. Allowed: names that end in .toml."),
    ("absent/net.toml", "net.toml cannot be written: its folder does not exist"),
])
def test_a_network_file_that_cannot_be_written_is_refused(file, sentence, tmp_path):
    code, out, err = wormcast("topology", "ring:4", "--toml", tmp_path / file)
    assert (code, out) == (2, "")
    assert err.startswith("wormcast: ")
    assert err.endswith(f"{sentence}\n")


NO_CLASS = ("classes: 0+/0-:last is not valid: it has no class for a worm of e-mcast from {} that stops at {} on its "
            "way to {}. Needed: a class with {} (its hop to ")
ONE = ["--source", "0", "--destinations", "1", "--length", "4"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "mesh:4x4", "dual-paht", *ONE], "scheme: 'dual-paht' is unknown"),
        (["run", "mesh:0x4", "dual-path", *ONE], "'mesh:0x4' is not valid. Allowed: mesh:ROWSxCOLUMNS"),
        (["run", "ring:8", "dual-path", *ONE], "ring"),
        (["plan", "mesh:4x4", "dual-path", "--source", "4.0", "--destinations", "1"], "'4.0' is not in mesh:4x4"),
        (["plan", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "0,1"], "source"),
        (["plan", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1,1"], "twice"),
        (["plan", "mesh:4x4", "dual-path", "--source", "0", "--destinations", ""], "destination"),
        (["plan", "mesh:4x4", "dual-path"], "source, destinations are missing. Needed: --source and "),
        (["plan", "mesh:4x4", "dual-path", "--source", "0"], "destinations is missing. Needed: "),
        (["plan", "mesh:4x4", "dual-path", *ONE[:4], "--seed", 1], "seed: 1 is not valid without --random"),
        (["plan", "mesh:4x4", "dual-path", "--destinations", "0", "--random", 80],
         "destinations: 0 is not valid with --random"),
        (["plan", "mesh:4x4", "dual-path", "--random", 7], "random: 7 is not valid. Allowed: 8 to"),
        (["plan", "mesh:4x4", "dual-path", "--random", 80, "--destinations-mean", 16], "mean: 16 is not valid"),
        (["plan", "mesh:2x2x2", "multipath", *ONE[:4]], "mesh:2x2x2 has 3 dimensions. Allowed: 2 dimensions"),
        (["run", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1", "--length", "0"],
         "wormcast: length: 0 is not valid"),
        (["run", "mesh:4x4", "dual-path", "--source", "0"], "destinations, length are missing"),
        (["run", "mesh:8x8", "dual-path", *ONE, "--flit-width", "5"], "flit-width: 5 is not valid: it cannot hold"),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcs", "0"], "vcs: 0 is not valid. Allowed: 1 to 16"),
        (["run", "mesh:4x4", "dual-path", *ONE, "--readers", "both"], "readers: 'both' is not valid. Allowed: coupled"),
        (["run", "mesh:4x4", "dual-path", *ONE, "--engine", "both"], "engine: 'both' is not valid. Allowed: bulk, am"),
        (["run", "mesh:4x4", "e-mcast", "--classes", "0+/0-:last", "--source", "1.1", "--destinations", "1.2,1.3",
          "--length", "4"],
         NO_CLASS.format("5 (1.1)", "6 (1.2)", "7 (1.3)", "1+")),
        (["check", "mesh:4x4", "e-mcast", "--classes", "0+/0-:last"],
         NO_CLASS.format("0 (0.0)", "1 (0.1)", "2 (0.2)", "1+")),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "no/such/folder/x.vcd"], "its folder does not exist"),
        (["run", "mesh:4x4", "dual-path", *ONE, "--engine", "amaranth", "--vcd", "x.vcd", "--window", "0:5"],
         "is not valid with --engine amaranth, which always records the whole run. Allowed: with --engine bulk."),
        (["run", "mesh:4x4", "dual-path", *ONE, "--instances", "3"],
         "instances: 3 is not valid without --vcd. Needed: --vcd FILE."),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "x.vcd", "--window", "9"], "window: '9' is not valid"),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "x.vcd", "--window", "5:999"],
         "window: 5:999 is not valid: the run has "),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "x.vcd", "--window", "5:5"],
         "window: 5:5 is not valid: 5 is not "),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "x.vcd", "--window", "9:3"],
         "window: 9:3 is not valid: 9 is not "),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "x.vcd", "--instances", "0,4.0"],
         "instances: '4.0' is not in mesh:4x4"),
        (["run", "mesh:4x4", "dual-path", *ONE, "--vcd", "x.vcd", "--instances", "router_4_0"],
         "instances: 'router_4_0' is not valid: mesh:4x4 has no such instance. Allowed: router_0_0 to router_3_3."),
        (["run", "mesh:4x4", "dual-path", *ONE, "--messages", "x.json"], "source: 0 is not valid with --messages"),
        (["run", "mesh:4x4", "dual-path", "--messages", "absent.json"], "absent.json cannot be read"),
        (["launch"], "launch"),
        (["list", "papers"],
         "what: 'papers' is not valid. Allowed: schemes, topologies, relations, configurations, components, "),
        (["plan", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1,"], "'1,' is not valid: a node"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(arguments, sentence, tmp_path):
    code, out, err = wormcast(*arguments, cwd=tmp_path)
    assert code == 2
    assert out == ""
    assert err.startswith("wormcast: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[{]", "begins with [ and is not a JSON list"),
        ("{}", ": cycle, source, destinations, length are missing. Needed: cycle, source"),
        ("[]", "is not valid: it has no messages. Allowed: one or more messages."),
    ],
)
def test_files_that_hold_no_messages_are_refused(text, sentence, tmp_path):
    file = tmp_path / "messages.json"
    file.write_text(text)
    code, out, err = wormcast("run", "mesh:4x4", "dual-path", "--messages", file)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert sentence in err


@pytest.mark.parametrize(
    ("before", "entry", "sentence"),
    [
        (0, "3", "3 is not valid. Allowed: a JSON object with cycle"),
        (2, '{"at": 0}', "source, destinations, length are missing. Needed: cycle"),
        (0, '{"at": 0, "source": 0, "destinations": [1], "length": "4"}', "length: '4' is not valid"),
        (2, '{"at": 0, "source": 0, "destinations": [1], "length": 0}', "length: 0 is not valid"),
        (0, '{"at": -1, "source": 0, "destinations": [1], "length": 4}', "cycle: -1 is not valid"),
        (2, '{"at": 0, "source": 0, "destinations": 1, "length": 4}', "destinations: 1 is not valid. Allowed: a"),
        (0, '{"at": 0, "source": 0, "destinations": [17], "length": 4}', "destinations: '17' is not in mesh:4x4"),
        (2, '{"at": 0, "source": 0, "destinations": [], "length": 4}', "destinations: [] is not valid. Allowed: 1"),
        (0, '{"at": 0, "source": 5, "destinations": [1, 5], "length": 4}', "destinations: 5 is not valid"),
        (2, '{"at": 0, "source": 1, "destinations": [3], "length": 4, "after": 2}', "after: 2 is not valid:"),
        (2, '{"at": 0, "source": 0, "destinations": [3], "length": 4, "after": 1}', "after: 1 is not valid: "),
        (2, '{"at": 0, "source": 0, "destinations": [1, "0.1"], "length": 4}', "destinations: '0.1' is not valid"),
    ],
)
def test_bad_messages_are_refused_with_their_place(before, entry, sentence, tmp_path):
    file = tmp_path / "messages.json"
    good = '{"at": 0, "source": 0, "destinations": [1], "length": 4}'
    file.write_text(f"[{', '.join([*before * [good], entry])}]")
    code, out, err = wormcast("run", "mesh:4x4", "dual-path", "--messages", file)
    assert (code, out) == (2, "")
    assert without_place(err).removeprefix(f"wormcast: message {before} of {file} (the first is 0): ").removeprefix(
        "wormcast: ").startswith(sentence)
    assert f"message {before} of {file} (the first is 0): " in err
    assert err.count("\n") == 1


def test_run_and_load_read_one_format(tmp_path):
    """Lines, the same packed, and the list with ``at``; a message waits for the receipt of the one that it is after."""
    lines = [{"cycle": 3, "source": "1.1", "destinations": [0, "2.2", "@15"], "length": 9},
             {"cycle": 5, "source": 10, "destinations": ["0.1"], "length": 4, "after": 0},
             {"cycle": 90, "source": 0, "destinations": [5], "length": 4, "after": [0]}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    entries = [{"at" if key == "cycle" else key: value for key, value in line.items()} for line in lines]
    (tmp_path / "m.jsonl").write_text(text)
    (tmp_path / "m.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "m.json").write_text(f"\n {json.dumps(entries, indent=1)}")
    runs, loads = ([as_json(command, "mesh:4x4", "dual-path", option, file, cwd=tmp_path)[1]
                    for file in ("m.jsonl", "m.jsonl.gz", "m.json")]
                   for command, option in (("run", "--messages"), ("load", "--trace")))
    for run in runs:
        assert run["messages"] == runs[0]["messages"]
    first, second, third = runs[0]["messages"]
    assert second["created"] == first["deliveries"]["10"]["received"] > 5
    assert third["created"] == 90 > first["deliveries"]["0"]["received"]
    for load in loads:
        assert load["messages"] == 3
        assert load["latency"]["mean"] == pytest.approx(sum(message["latency"] for message in runs[0]["messages"]) / 3)


def test_demo_makes_the_files_it_names(tmp_path):
    folder = tmp_path / "out put"
    code, out, err = wormcast("demo", "--out", folder)
    assert (code, err) == (0, "")
    for step, _, _ in STEPS:
        assert f"\n{step}:\n$ wormcast " in out
    for name in {*FILES, *GIVEN, "deadlock.vcd.gtkw", "schemes.csv", "cured.html"}:
        assert (folder / name).stat().st_size > 100
    for name, what in FILES.items():
        assert f"  {folder / name}  {what}\n" in out
    assert "worm 0 waits for cons:0.2:0, held by worm 1" in out
    assert "dual-path on mesh:1x4: delivered in cycle 141" in out
    assert "30 points, 30 of them run now, 0 in deadlock" in out


def test_lessons_are_listed():
    code, out, err = wormcast("demo", "--list")
    assert (code, err) == (0, "")
    assert [line.partition(": ")[0] for line in out.splitlines()] == [*LESSONS]


@pytest.mark.parametrize("name", ["consumption", slow("ring"), slow("tokens")])  # slow: routers of their own
def test_a_lesson_writes_replays_with_notes_of_its_own_run(name, tmp_path):
    """The cycles of the notes are those that the waveform shows."""
    folder = tmp_path / "les sons"
    code, out, err = wormcast("demo", name, "--out", folder)
    assert (code, err) == (0, "")
    stuck, cured = LESSONS[name].runs
    for scene in (stuck, cured):
        assert f"  {folder / scene.name}.html  {scene.title}\n" in out
        page = (folder / f"{scene.name}.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page)[1])
        assert data["lesson"] == scene.title
        assert [text for _, text in data["notes"]] == [*scene.notes.values()]
        history = read_waveform(folder / f"{scene.name}.vcd")
        assert data["buffers"]
        if scene is stuck:
            last = max(cycle for hold in history.holds for cycle in hold.flits)
            waits = [wait for wait in history.waits if wait.last == history.end - 1]
            asked = {history.channel(one) for wait in waits for one in wait.resources}
            holds = [hold for hold in history.holds if (hold.link, hold.vc) in asked and not hold.ended]
            assert len(holds) == len(waits) > 1
            closed = max(one.first for one in (*waits, *holds))
            assert [cycle for cycle, _ in data["notes"]] == [data["first"], closed, last + 1]
        else:
            assert data["notes"][-1][0] == max(hold.last for hold in history.deliveries)
    for file in (f"{name}.svg", f"{name}.txt", *LESSONS[name].given):
        assert (folder / file).stat().st_size > 100
    assert (folder / f"{name}.txt").read_text() in out


def test_flits_too_narrow_to_tell_the_worms_apart_are_refused(tmp_path):
    """Else the host would hold a worm back, and print its own waiting as a latency of the network."""
    file = tmp_path / "messages.json"
    entries = [{"at": 0, "source": 0, "destinations": [k % 15 + 1], "length": 1} for k in range(3)]
    entries += [{"at": 0, "source": 1 + k % 15, "destinations": [0], "length": 1} for k in range(20)]
    file.write_text(json.dumps(entries))
    code, out, err = wormcast("run", "mesh:4x4", "individual", "--messages", file, "--flit-width", 4)
    assert (code, out) == (2, "")
    assert "flit-width: 4 is not valid: the 4 payload bits in the first packet of a worm are too few to tell" in err


RELATION = """
from wormcast.algorithms import E_CUBE, Relation

class {}(Relation):
    name = "mine"

    def table(self, topology):
        return E_CUBE.table(topology)
"""


def test_a_run_by_a_relation_of_one_s_own_can_be_repeated_from_its_record(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(RELATION.format("One") + RELATION.format("Other"))
    options = ["run", "mesh:3x3", "individual", *ONE]
    _, run = as_json(*options, "--relation", f"{file}:Other")
    assert run["configuration"]["relation"] == f"{file}:Other"
    assert as_json(*options, "--relation", run["configuration"]["relation"])[1] == run
    assert as_json(*options)[1]["configuration"]["relation"] == "e-cube"


@pytest.mark.parametrize("command", [["check", "mesh:3x3", "individual"], ["run", "mesh:3x3", "individual", *ONE]])
def test_what_a_relation_prints_is_not_among_the_json(command, tmp_path):
    file = tmp_path / "loud.py"
    text = RELATION.format("Loud").replace("        return", "        print('called')\n        return")
    file.write_text(f"print('imported')\n{text}")
    code, out, err = wormcast(*command, "--relation", file, "--json")
    assert (code, err) == (0, "imported\ncalled\n")
    assert json.loads(out)["configuration"]["relation"] == str(file)


def test_the_configuration_of_a_run_says_which_classes():
    command = "run", "mesh:3x3", "e-mcast", *ONE, "--vcs", "1"
    _, run = as_json(*command)
    assert run["configuration"]["classes"] == "1+/1-/0+/0-:last"
    assert as_json(*command, "--classes", run["configuration"]["classes"])[1] == run


@pytest.mark.parametrize("options", [[], slow(["--json"])])
def test_a_reader_that_reads_no_further_ends_the_command_quietly(options):
    command = subprocess.Popen([sys.executable, "-m", "wormcast", "list", "schemes", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    command.stdout.close()
    assert (command.stderr.read(), command.wait()) == ("", -signal.SIGPIPE)
    command.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("options", [slow([]), ["--json"]])
def test_a_stdout_that_is_full_is_named(options):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "wormcast", "list", "schemes", *options], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "wormcast: stdout cannot be written: No space left on device\n")


def test_a_relation_that_fails_is_a_sentence(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(RELATION.format("Late").replace("E_CUBE.table(topology)", "1 / 0"))
    for options in (["run", "mesh:4x4", "dual-path", *ONE], ["check", "mesh:4x4", "dual-path"]):
        code, out, err = wormcast(*options, "--relation", file)
        assert (code, out) == (2, "")
        assert err.startswith("wormcast: relation mine: its table for mesh:4x4 cannot be computed "
                              "(ZeroDivisionError: division by zero, mine.py:")


def test_run_tells_people_the_hardware():
    code, out, err = wormcast("run", "mesh:3x3", "dual-path", *ONE, "--vcs", 1, "--consumption", 1, "--classes", "",
                              "--consumption-links", "separate", "--relation", "e-cube")
    assert (code, err) == (0, "")
    first, second, *_ = out.splitlines()
    assert first.startswith("dual-path on mesh:3x3: delivered in cycle ")
    assert first.endswith(" (1 worm, 1 header flit; engine bulk)")
    assert second == ("1 VC x 4 flits, 1 consumption channel a node, coupled readers (branches advance together), "
                      "paper delays (header 3 cycles a hop), consumption-links separate, no consumption classes, "
                      "relation e-cube")


@pytest.mark.parametrize(("scheme", "tokens", "said"), [
    ("atbm", "on", "asynchronous copies (each branch at its own pace), tokens"),
    ("tree-serial", "off", "serial copies (one flit of one branch per cycle), no tokens"),
])
def test_of_trees_it_tells_how_they_are_copied(scheme, tokens, said):
    _, out, _ = wormcast("run", "min:b=2,stages=2", scheme, "--source", 0, "--destinations", "1,2", "--length", 4,
                         "--configuration", "atbm_64", "--tokens", tokens)
    assert out.splitlines()[1].startswith(f"1 VC x 4 flits, 1 consumption channel a node, {said}, paper delays")


def test_run_takes_packets_overheads_and_a_named_configuration():
    options = ["--configuration", "boppana_8x8", "--vcs", 1, "--packet", 8, "--t-hs", 10, "--t-hr", 20, "--t-ns", 3,
               "--t-nr", 4, "--injection-delay", 50, "--queue", 2]
    code, run = as_json("run", "mesh:4x4", "dual-path", "--source", 0, "--destinations", "5,15", "--length", 20,
                        *options)
    assert code == 0
    resolved = run["configuration"]
    assert resolved["named"] == "boppana_8x8"
    expected = {"vcs": 1, "buffer": 8, "consumption": 4, "packet": 8, "queue": 2, "t_hs": 10, "t_hr": 20, "t_ns": 3,
                "t_nr": 4, "injection_delay": 50, "ports": "one", "consumption_links": "shared"}
    assert {name: resolved[name] for name in expected} == expected
    assert run["header_flits"] == 3
    [message] = run["messages"]
    for times in message["deliveries"].values():
        assert times["received"] == times["tail"] + 4 + 20
    assert message["latency"] == max(times["received"] for times in message["deliveries"].values())


@pytest.mark.parametrize("command", [
    ["check", "mesh:3x3"], ["plan", "mesh:3x3", *ONE[:4]], ["run", "mesh:3x3", *ONE],
    ["load", "mesh:3x3", "--rate", "0.01", "--cycles", "100", "--destinations-mean", "2"],
])
@pytest.mark.parametrize("method", ["visits", "__getattribute__"])
def test_a_scheme_that_ends_the_program_is_a_sentence(command, method, tmp_path):
    """With exit code 0, check would seem to have found no deadlock."""
    file = tmp_path / "ends.py"
    file.write_text(SHORT_PATHS.read_text() + f"\n    def {method}(self, *arguments):\n        raise SystemExit(0)\n")
    code, out, err = wormcast(*command[:2], file, *command[2:], cwd=tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert "SystemExit: 0" in err


@pytest.mark.parametrize("arguments", [
    ["plan", "mesh:3x3", "x" * 5000, *ONE[:4]], ["plan", "mesh:3x3", "x" * 5000 + ".py", *ONE[:4]],
    ["topology", "mesh:" + "3" * 5000], ["plan", "mesh:3x3", "dual-path", "--source", "0" * 5000, *ONE[2:4]],
    ["plan", "mesh:3x3", "dual-path", *["a"] * 3000], ["plan", "mesh:3x3", "dual-path", "--seed", "a " * 3000],
])
def test_a_long_refusal_is_shortened(arguments):
    code, out, err = wormcast(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert len(err) < 1600
    assert "..." in err
