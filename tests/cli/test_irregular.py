"""Multicast in networks with up and down links from outside: planned, drawn and checked; not yet run."""

import json

import pytest
from command import wormcast

NETWORK = "irregular:seed=1"
TO = ["--source", 12, "--destinations", "1,5,9,13,17,22,30"]
SWITCH_BASED = ["ssr-g", "ssr-lg", "path-g", "path-lg", "tree"]


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_plan_in_text_json_and_picture(scheme, tmp_path):
    drawing = tmp_path / "plan.svg"
    code, out, err = wormcast("plan", NETWORK, scheme, *TO, "--plot", drawing)
    assert (code, err) == (0, "")
    assert out.startswith(f"{scheme} on irregular:switches=8,")
    assert drawing.read_text().startswith("<?xml")
    code, out, _ = wormcast("plan", NETWORK, scheme, *TO, "--json")
    found = json.loads(out)
    assert code == 0
    assert sorted(node for worm in found["worms"] for node in worm["destinations"]) == [1, 5, 9, 13, 17, 22, 30]
    assert sum(len(worm["links"]) for worm in found["worms"]) == found["hops"]


def test_a_tree_is_told_by_its_branches():
    _, out, _ = wormcast("plan", NETWORK, "tree", *TO)
    told = " ".join(line.split("│")[-2].strip() for line in out.splitlines() if line.startswith("│"))
    assert told == "s3 s0* (s7*) (s2* s3*) (s4* s1* s5*)"
    _, out, _ = wormcast("plan", NETWORK, "tree", *TO, "--json")
    [worm] = json.loads(out)["worms"]
    assert worm["links"] == [[3, 0], [0, 7], [0, 2], [0, 4], [2, 3], [4, 1], [1, 5]]


def test_random_multicasts():
    code, out, err = wormcast("plan", NETWORK, "path-lg", "--random", 200, "--destinations-mean", 6, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["copies"]["mean"] > 1


@pytest.mark.parametrize("scheme", SWITCH_BASED)
def test_check(scheme):
    code, out, err = wormcast("check", NETWORK, scheme, "--with", "individual")
    assert (code, err) == (0, "")
    assert "free of deadlock\nbuffers: a switch holds a whole worm, so that no copy waits for another one\n" in out
    code, out, _ = wormcast("check", NETWORK, scheme, "--fits", "off", "--json")
    assert (code, json.loads(out)["verdict"], json.loads(out)["fits"]) == (3, "deadlock", False)


def test_list_says_on_which_networks():
    entries = {entry["name"]: entry for entry in json.loads(wormcast("list", "schemes", "--json")[1])["schemes"]}
    assert {entries[scheme]["networks"] for scheme in SWITCH_BASED} == {"any with links both ways"}
    assert entries["individual"]["networks"] == "any"


UNBUILT = "its worms need switches that hold a whole worm, buffer-kind shallow is given: allowed is deep"


@pytest.mark.parametrize(("command", "sentence"), [
    *((["run", NETWORK, scheme, *TO, "--length", 8], f"scheme {scheme}: {UNBUILT}") for scheme in SWITCH_BASED),
    (["run", NETWORK, "path-g", *TO, "--length", 8, "--header", "ideal"], f"scheme path-g: {UNBUILT}"),
    (["run", NETWORK, "path-g", *TO, "--length", 8, "--absorb", "host"], f"scheme path-g: {UNBUILT}"),
    (["load", NETWORK, "tree", "--rate", "0.01"], f"scheme tree: {UNBUILT}"),
    (["hunt", NETWORK, "path-lg"], f"scheme path-lg: {UNBUILT}"),
    (["verilog", "router", "--topology", NETWORK, "--scheme", "tree", "-o", "x.v"], f"scheme tree: {UNBUILT}"),
    (["check", NETWORK, "tree", "--fits", "maybe"], "fits: 'maybe' is given, allowed are on, off"),
    (["check", NETWORK, "tree", "--relation", "up-down"],
     "scheme tree: relation up-down is given, its worms go by up-down-tree alone"),
    (["plan", "min:b=2,stages=2", "tree", "--source", 0, "--destinations", 1],
     "scheme tree: min:b=2,stages=2 has 1 links from switch s0 to s2 and 0 back, all must go both ways"),
])
def test_bad_input_is_one_sentence(command, sentence, tmp_path):
    code, out, err = wormcast(*command, cwd=tmp_path)
    assert (code, out, err) == (2, "", f"wormcast: {sentence}\n")
