"""Multicast in networks with up and down links from outside: planned, drawn and checked; and what is refused."""

import json

import pytest
from command import wormcast

from .planned import NETWORK, TO, planned

SWITCH_BASED = ["ssr-g", "ssr-lg", "path-g", "path-lg", "tree"]
DEEP = ["--configuration", "sivaram_32"]


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_plan_in_text_json_and_picture(scheme, tmp_path):
    found = planned(NETWORK, scheme, tmp_path)
    assert found["topology"].startswith("irregular:switches=8,")
    assert sum(len(worm["links"]) for worm in found["worms"]) == found["hops"]


def test_a_tree_is_told_by_its_branches():
    _, out, _ = wormcast("plan", NETWORK, "tree", *TO)
    told = " ".join(line.split("│")[-2].strip() for line in out.splitlines() if line.startswith("│"))
    assert told == "s3 ↑s0* (↓s7*) (↓s2* ↓s3*) (↓s4* ↓s1* ↓s5*)"
    _, out, _ = wormcast("plan", NETWORK, "tree", *TO, "--json")
    [worm] = json.loads(out)["worms"]
    assert worm["links"] == [[3, 0], [0, 7], [0, 2], [0, 4], [2, 3], [4, 1], [1, 5]]
    assert worm["header"] == ["01000100010001000100001000000010"]


def test_a_path_worm_is_told_with_its_header():
    """Ports are four to switches, then four to nodes: 1, 5 and 17 are the second of theirs, 22 and 30 the third.

    There is no pair for s0, which the second worm only passes.
    """
    worms = json.loads(wormcast("plan", NETWORK, "path-lg", *TO, "--json")[1])["worms"]
    assert [(worm["links"], worm["header"]) for worm in worms[:2]] == [
        ([[3, 0], [0, 7], [7, 5]], ["0:00000100", "7:00000010", "5:00000010"]),
        ([[3, 0], [0, 4], [4, 1]], ["4:00000100", "1:00000100"])]


def test_random_multicasts():
    code, out, err = wormcast("plan", NETWORK, "path-lg", "--random", 200, "--destinations-mean", 6, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["copies"]["mean"] > 1


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_check(scheme):
    code, out, err = wormcast("check", NETWORK, scheme, *DEEP, "--length", 128, "--with", "individual")
    assert (code, err) == (0, "")
    assert "free of deadlock\nbuffers: 80 rows of 8 flits hold a whole worm (up to " in out
    code, out, _ = wormcast("check", NETWORK, scheme, *DEEP, "--length", 128, "--buffer", 128, "--json")
    assert (code, json.loads(out)["verdict"], json.loads(out)["fits"]) == (3, "deadlock", False)


@pytest.mark.parametrize(("scheme", "header"), [("tree", 5), ("path-lg", 8), ("ssr-g", 2)])
def test_whole_worms_are_counted_with_their_longest_headers(scheme, header):
    """A bit string of 33 bits, a pair of 12 bits for each switch of the longest chain, four here, and one pair."""
    def told(*options):
        code, out, _ = wormcast("check", NETWORK, scheme, *DEEP, "--json", *options)
        return code, json.loads(out)

    code, found = told()
    assert (code, found["longest_whole"]) == (0, 640 - header)
    assert found["assumes"] == f"no worm has more than {640 - header} payload flits"
    code, found = told("--length", 640 - header)
    assert (code, found["assumes"], found["fits"]) == (0, None, True)
    code, found = told("--length", 641 - header)
    assert (code, found["assumes"], found["fits"]) == (3, None, False)
    assert told("--length", 641 - header, "--packet", 128)[0] == 0
    assert told("--flit-width", 64)[1]["longest_whole"] == 640 - header // (5 if scheme == "tree" else 2)


def test_trees_of_multistage_networks_need_no_tokens_where_switches_hold_them_whole():
    deep = ["min:b=2,stages=3", "atbm", "--buffer-kind", "deep", "--buffer", 64, "--vcs", 1, "--consumption", 1]
    code, out, _ = wormcast("check", *deep, "--length", 63, "--with", "individual", "--json")
    assert (code, json.loads(out)["fits"], json.loads(out)["tokens"]) == (0, True, None)
    assert wormcast("check", *deep, "--length", 64)[0] == 3
    code, out, err = wormcast("check", *deep, "--tokens", "on")
    assert (code, out) == (2, "")
    assert err == ("wormcast: tokens: on is not valid: worms of atbm are replicated from buffers that can store a "
                   "whole worm, and use no tokens. Allowed: off.\n")


def test_list_says_on_which_networks():
    entries = {entry["name"]: entry for entry in json.loads(wormcast("list", "schemes", "--json")[1])["schemes"]}
    assert {entries[scheme]["networks"] for scheme in SWITCH_BASED} == {"any with links both ways"}
    assert entries["individual"]["networks"] == "any"


UNBUILT = ("scheme: {} is not valid with --buffer-kind shallow (the default): its worms need switches that hold a "
           "whole worm. Needed: --buffer-kind deep.")


def test_nodes_that_no_string_covers_are_refused_with_the_network(tmp_path):
    (tmp_path / "apart.toml").write_text('switches = ["a", "b", "c", "d"]\nnodes = ["a", "b", "c", "d"]\n'
                                         'links = [["a", "b"], ["c", "d"]]\n')
    sentence = ("topology apart.toml: node 0 cannot reach node 2: no links lead from switch a to switch c. Needed: "
                "a path from each node to each other node.")
    multicast = ["apart.toml", "tree", "--source", 0, "--destinations", "1,2"]
    for command, *options in (["plan"], ["run", "--length", 8, *DEEP]):
        code, out, err = wormcast(command, *multicast, *options, cwd=tmp_path)
        assert (code, out, err) == (2, "", f"wormcast: {sentence}\n")


ONE_WAY = ("scheme: dual-path is not valid with --buffer-kind deep: its worms carry lists of addresses, which switches "
           "with deep buffers do not decode. Allowed: with --buffer-kind shallow, or a scheme with other headers, for "
           "example tree.")
RUN = ["run", NETWORK, "tree", *TO, "--length", 8, *DEEP]


@pytest.mark.parametrize(("command", "sentence"), [
    ([*RUN, "--chunk", 4],
     ("chunk: 4 is not valid: the switch has 8 outputs, and decodes branches from up to 5 header "
     "flits. Allowed: 8 to 256, with a buffer of whole chunks.")),
    ([*RUN, "--chunk", 7],
     ("buffer: 640 (of configuration sivaram_32) is not valid with chunks of 7 flits. Allowed: multiples of 7 from 14 "
      "to 4096.")),
    ([*RUN, "--buffer", 8], "buffer: 8 is not valid with chunks of 8 flits. Allowed: multiples of 8 from 16 to 4096."),
    ([*RUN, "--flit-width", 2],
     ("chunk: 8 is not valid: the switch has 8 outputs, and decodes branches from up to 17 header "
     "flits. Allowed: 17 to 256, with a buffer of whole chunks.")),
    *(([command, NETWORK, "tree", *options, *DEEP, "--vcs", 2],
       "vcs: 2 is not valid with --buffer-kind deep. Allowed: 1.")
      for command, *options in (RUN[:1] + TO + ["--length", 8], ["load", "--rate", "0.01"], ["check"])),
    (["run", NETWORK, "individual", *TO, "--length", 8, "--buffer", 640],
     "buffer: 640 is not valid. Allowed: 1 to 16, and up to 4096 with --buffer-kind deep."),
    (["run", "mesh:4x4", "dual-path", *TO[:2], "--destinations", "1,5", "--length", 8, *DEEP], ONE_WAY),
    (["check", "mesh:4x4", "dual-path", *DEEP], ONE_WAY),
    *((["run", NETWORK, scheme, *TO, "--length", 8], UNBUILT.format(scheme)) for scheme in SWITCH_BASED),
    (["run", NETWORK, "path-g", *TO, "--length", 8, "--header", "ideal"], UNBUILT.format("path-g")),
    (["run", NETWORK, "path-g", *TO, "--length", 8, "--absorb", "host"], UNBUILT.format("path-g")),
    (["load", NETWORK, "tree", "--rate", "0.01"], UNBUILT.format("tree")),
    (["hunt", NETWORK, "path-lg"], UNBUILT.format("path-lg")),
    (["verilog", "router", "--topology", NETWORK, "--scheme", "tree", "-o", "x.v"], UNBUILT.format("tree")),
    *((["check", NETWORK, scheme], UNBUILT.format(scheme)) for scheme in SWITCH_BASED),
    (["check", "min:b=2,stages=3", "atbm", *DEEP, "--explain"],
     ("buffer-kind: deep is not valid with --explain: the theorems about atbm assume shallow buffers. Allowed: "
     "shallow.")),
    (["check", NETWORK, "tree", *DEEP, "--relation", "up-down"],
     "scheme tree: relation up-down is not valid. Allowed: up-down-tree, up-down-tree-any, up-down-tree-adaptive."),
    (["plan", "min:b=2,stages=2", "tree", "--source", 0, "--destinations", 1],
     ("scheme tree: min:b=2,stages=2 is not valid: the numbers of links from switch s0 to switch s2 and back differ: "
      "1 link and 0. Allowed: networks whose links go both ways.")),
])
def test_bad_input_is_one_sentence(command, sentence, tmp_path):
    code, out, err = wormcast(*command, cwd=tmp_path)
    assert (code, out, err) == (2, "", f"wormcast: {sentence}\n")


def test_a_run_that_goes_well_by_luck_is_warned_of():
    """A worm alone never waits for another one; `check` says what many do where buffers hold a part of them."""
    run = ("run", "irregular:seed=1", "tree", "--configuration", "sivaram_32", "--source", 0, "--destinations", "1,2")
    code, _, err = wormcast(*run, "--length", 636)
    assert code == 0
    assert err == ("wormcast: worms with up to 636 payload flits are replicated from buffers that hold worms with up "
                   "to 635: the worms may deadlock, see check\n")
    assert wormcast(*run, "--length", 635)[::2] == (0, "")
