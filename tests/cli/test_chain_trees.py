"""Trees on a chain of nodes from outside: planned, drawn and checked, with parameters behind their names."""

import json

import pytest
from command import wormcast

from .planned import NETWORK, TO, planned


@pytest.mark.parametrize(("network", "scheme"), [
    (NETWORK, "binomial"), (NETWORK, "k-binomial"), (NETWORK, "binomial:order=random,seed=7"),
    (NETWORK, "k-binomial:order=id,packets=9"), ("mesh:6x6", "k-binomial"), ("torus:6x6", "binomial"),
    ("min:b=2,stages=5", "k-binomial:k=1"), ("ring:32", "k-binomial:k=2"),
])
def test_plan_in_text_json_and_picture(network, scheme, tmp_path):
    found = planned(network, scheme, tmp_path)
    forwarded = [worm["tier"] == "ni" for worm in found["worms"]]
    assert forwarded == [scheme.startswith("k-") and worm["source"] != 12 for worm in found["worms"]]


def test_packets_of_a_length():
    """Figure 8: nine steps by the binomial tree, eight by the best one."""
    asked = ["plan", "mesh:1x8", "k-binomial", "--source", 0, "--destinations", "all", "--length", 90, "--packet", 32]
    code, out, err = wormcast(*asked)
    assert (code, err) == (0, "")
    assert ("3 packets, each interface sends one packet per step: 8 steps first packet first (fpfs), 8 steps first "
            "child first (fcfs)\n") in out
    assert "│    1 │ 0.0>0." in out
    found = json.loads(wormcast(*asked, "--json")[1])
    assert (found["packets"], found["configuration"]["length"], found["configuration"]["packet"]) == (3, 90, 32)
    assert found["slots"]["fpfs"][-1]["step"] == 8
    assert "packets of one step that share a link, fcfs: 0 pairs\n" in out
    told = "; ".join(
        f"step {one['step']}, worms {one['worms'][0]} (packet {one['packets'][0]}) and {one['worms'][1]} "
        f"(packet {one['packets'][1]}) on {one['link']}" for one in found["slot_conflicts"]["fpfs"])
    pairs = len(found["slot_conflicts"]["fpfs"])
    assert f"packets of one step that share a link, fpfs: {pairs} pairs: {told}\n" in out
    asked[2] = "k-binomial:k=3"
    assert json.loads(wormcast(*asked, "--json")[1])["slots"]["fpfs"][-1]["step"] == 9
    asked[2] = "binomial"
    assert json.loads(wormcast(*asked, "--json")[1])["slots"] is None


def test_statements():
    code, out, _ = wormcast("check", "mesh:3x3", "k-binomial", "--explain")
    assert "free of deadlock, if smart interfaces have packet buffer entries for all packets of the messages" in out
    assert code == 0
    assert "\nTheorem 3 ([Sivaram98], section 4.3.3): in all of " in out
    code, out, _ = wormcast("check", "mesh:3x3", "k-binomial", "--explain", "--json")
    told = [one for one in json.loads(out)["explanation"] if one["source"] == "Sivaram98"]
    assert (code, len(told), {one["holds"] for one in told}) == (0, 8, {True})


def test_a_run_takes_the_tree_for_its_packets():
    """Eight packets go along a line of nodes in fewer cycles than along the tree that is best for one."""
    asked = [*TO, "--length", 256, "--packet", 32, "--ni", "fpfs", "--json"]
    cycles = {}
    for scheme in ("k-binomial", "k-binomial:k=1", "k-binomial:packets=1"):
        code, out, err = wormcast("run", NETWORK, scheme, *asked)
        assert (code, err) == (0, "")
        cycles[scheme] = json.loads(out)["cycles"]
    assert cycles["k-binomial"] == cycles["k-binomial:k=1"] < cycles["k-binomial:packets=1"]


def test_list_tells_parameters():
    told = {one["name"]: one["parameters"] for one in json.loads(wormcast("list", "schemes", "--json")[1])["schemes"]}
    assert {name: text for name, text in told.items() if text} == {
        "binomial": "order=...,seed=...", "k-binomial": "k=...,packets=...,order=...,seed=...",
        "mixed": "few=...,limit=...,ids=...",
        **dict.fromkeys(("atbm", "tree-synchronous", "tree-serial"), "unicasts=..."),
        **dict.fromkeys(("path-g", "path-lg", "ssr-g", "ssr-lg"), "by=...,ids=...")}


def test_packets_of_random_multicasts():
    asked = ["plan", NETWORK, "k-binomial", "--random", 80, "--destinations-mean", 12, "--packet", 8, "--json"]
    few, many = (json.loads(wormcast(*asked, "--length", length)[1])["phases"]["mean"] for length in (8, 8000))
    assert few < many


def test_check_takes_parameters_on_both_sides():
    code, out, err = wormcast("check", NETWORK, "k-binomial:k=2", "--with", "binomial:order=id", "--with",
                              "individual=up-down-adaptive", "--with", "k-binomial:k=1,order=id=up-down")
    assert (code, err) == (0, "")
    assert out.startswith("k-binomial:k=2 and binomial:order=id and individual by up-down-adaptive and k-binomial:k=1,"
                          "order=id on ")


CONVENTIONAL = ("scheme: {} is not valid with --ni conventional (the default): network interfaces forward its worms. "
                "Allowed: with --ni fcfs or with --ni fpfs.")


@pytest.mark.parametrize(("command", "sentence"), [
    (["run", NETWORK, "k-binomial", *TO, "--length", 8],
     CONVENTIONAL.format("k-binomial")),
    (["run", NETWORK, "k-binomial:k=2", *TO, "--length", 8, "--absorb", "host"],
     CONVENTIONAL.format("k-binomial:k=2")),
    (["load", NETWORK, "k-binomial", "--rate", "0.01"],
     CONVENTIONAL.format("k-binomial")),
    (["plan", NETWORK, "k-binomial", *TO, "--packet", 8],
     "packet: 8 is not valid without --length. Needed: --length FLITS."),
    (["plan", NETWORK, "k-binomial:k=0", *TO],
     "scheme: k '0' of 'k-binomial:k=0' is not valid. Allowed: whole numbers from 1 to 12."),
    (["plan", NETWORK, "k-binomial:k=-1", *TO],
     "scheme: k '-1' of 'k-binomial:k=-1' is not valid. Allowed: whole numbers from 1 to 12."),
    (["plan", NETWORK, "k-binomial:packets=0", *TO],
     "scheme: packets '0' of 'k-binomial:packets=0' is not valid. Allowed: whole numbers from 1 to 1099511627776."),
    (["plan", NETWORK, "k-binomial:order=up", *TO],
     "scheme: order 'up' of 'k-binomial:order=up' is not valid. Allowed: cco, dimension, id, random."),
    (["plan", NETWORK, "binomial:k=2", *TO],
     ("scheme: parameter 'k=2' of 'binomial:k=2' is unknown. Allowed: "
     "binomial:order=cco|dimension|id|random,seed=SEED.")),
    (["plan", NETWORK, "individual:k=2", *TO],
     "scheme: 'individual:k=2' is not valid: individual has no parameters. Allowed: individual."),
    (["plan", "min:b=2,stages=5", "k-binomial:order=cco", *TO],
     ("scheme k-binomial:order=cco, order cco: min:b=2,stages=5 is not valid: the numbers of links from switch "
      "s0 to switch s16 and back differ: 1 link and 0. Allowed: networks whose links go both ways.")),
])
def test_bad_input_is_one_sentence(command, sentence, tmp_path):
    code, out, err = wormcast(*command, cwd=tmp_path)
    assert (code, out, err) == (2, "", f"wormcast: {sentence}\n")
