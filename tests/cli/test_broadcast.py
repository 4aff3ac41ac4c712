"""Broadcasts on the command line: all destinations, signs, contention and formulas."""

import json

import pytest
from cases import slow
from command import wormcast


def told(*arguments):
    code, out, err = wormcast(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_plan_tells_steps_signs_and_contention():
    plan = told("plan", "torus:16x16", "dcf", "--source", "0.0", "--destinations", "all")
    assert (plan["copies"], plan["steps"], plan["start_ups"]) == (255, 4, 10)
    assert plan["contention"] == {"definition": dict.fromkeys("1234", True), "stepwise": [], "violations": [],
                                  "conditions": {"1": 8, "3": 37, "4": 2}, "free": True}
    code, out, _ = wormcast("plan", "torus:8x8", "edn", "--source", "0.0", "--destinations", "all", "--ties", "signed")
    assert code == 0
    assert "22 pairs, 0 of them in one step\n  18 pairs: both worms have the same sender and first link" in out
    assert "does not exclude that the later worm waits for the earlier one: worms 1 and 61 on link:4>12\n" in out
    assert "not shown to be depth contention-free" in out
    assert "--" in out  # of the worm that goes down both dimensions
    assert told("plan", "mesh:6x6", "dual-path", "--source", "0", "--destinations", "7,8")["contention"] is None


def test_run_has_the_formula_beside_what_was_measured():
    run = told("run", "torus:4x4", "dcf", "--source", "3.1", "--destinations", "all", "--length", "20",
               "--configuration", "dcf_torus", "--t-hs", "100", "--t-hr", "7")
    assert run["messages"][0]["latency"] == run["formula"]["latency"] == 5 * 100 + 4 * 3 + 2 * (28 + 7)
    assert {name: run["formula"][name] for name in ("start_ups", "hops", "receipts", "t_hop", "c")} == {
        "start_ups": 5, "hops": 4, "receipts": 2, "t_hop": 3, "c": 28}


@pytest.mark.parametrize("arguments", [
    ("individual", "all"), ("dcf", "0"), ("dcf", "all", "--injection-delay", "5"), ("dcf", "all", "--copy-delay", "5"),
    ("dcf", "all", "--multicast-delay", "5"), ("dcf", "all", "--copying", "first"),
    slow(("dcf", "all", "--packet", "8")), slow(("dcf", "all", "--ports", "one"))])
def test_a_formula_is_of_broadcasts_by_hosts_that_do_nothing_else(arguments):
    scheme, destinations, *options = arguments
    run = told("run", "torus:4x4", scheme, "--source", "3.1", "--destinations", destinations, "--length", "2",
               "--configuration", "dcf_torus", *options)
    assert run["formula"] is None


@pytest.mark.parametrize(("scheme", "ties", "said"), [("edn", "plus", True), ("edn", "signed", False),
                                                      ("dcf", "plus", False)])
def test_a_formula_says_what_it_supposes_of_ties(scheme, ties, said):
    code, out, _ = wormcast("run", "torus:8x8", scheme, "--source", "0", "--destinations", "all", "--length", "4",
                            "--configuration", "dcf_torus", "--ties", ties)
    assert (code, "formula: " in out, "it assumes --ties signed" in out) == (0, True, said)


def test_load_of_broadcasts():
    load = told("load", "torus:4x4", "dcf", "--configuration", "dcf_torus", "--destinations-distribution", "all",
                "--rate", "0.01", "--cycles", "4000", "--seeds", "1")
    assert load["copies"]["mean"] == 15
    assert load["deadlock"] is None


def test_broadcasts_and_unicasts_from_a_file(tmp_path):
    file = tmp_path / "messages.jsonl"
    file.write_text('{"cycle": 0, "source": "0.0", "destinations": "all", "length": 20}\n'
                    '{"cycle": 5, "source": 9, "destinations": "all", "length": 20}\n'
                    '{"cycle": 0, "source": "1.1", "destinations": ["3.3"], "length": 20}\n')
    command = "run", "torus:4x4", "dcf", "--messages", file, "--configuration", "dcf_torus", "--contention"
    run = told(*command)
    assert (run["outcome"], run["formula"]) == ("delivered", None)
    assert [len(message["deliveries"]) for message in run["messages"]] == [15, 15, 1]
    assert "9" not in run["messages"][1]["deliveries"]
    assert all(set(message["contention"]) == {"other_nodes", "own_sends", "other_traffic", "arbitration"}
               for message in run["messages"])
    assert any(message["contention"]["other_traffic"]["channel"] for message in run["messages"])
    assert wormcast(*command)[1].count("other messages") == 3
    file.write_text('{"cycle": 0, "source": "0.0", "destinations": "most", "length": 20}')
    code, _, err = wormcast(*command)
    assert code == 2
    place = f"destinations in message 0 of {file} (the first is 0)"
    assert f"{place}: 'most' is not valid. Allowed: a list of nodes, one or more, or 'all'" in err


def test_load_of_broadcasts_with_unicasts_beside_them():
    load = told("load", "torus:4x4", "dcf", "--configuration", "dcf_torus", "--destinations-distribution", "all",
                "--multicast-fraction", "0.1", "--rate", "0.05", "--cycles", "4000", "--seeds", "1")
    assert load["copies"]["mean"] == 15
    assert load["unicast_latency"]["mean"] < load["multicast_latency"]["mean"]


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["plan", "torus:8x8", "dcf", "--source", "9.9", "--destinations", "all"], "source: '9.9' is not in torus:8x8"),
    (["plan", "torus:6x6", "dcf", "--source", "0", "--destinations", "all"],
     "scheme dcf: topology torus:6x6 is not valid. Allowed: tori of 2^d x 2^d nodes"),
    (["plan", "torus:8x8", "tseng", "--source", "0", "--destinations", "all"], "Allowed: tori of 5^s x 5^s nodes"),
    (["run", "torus:4x4", "dcf", "--source", "0", "--destinations", "all", "--length", "0"], "length: 0 is not valid"),
    (["run", "torus:4x4", "edn", "--source", "0", "--destinations", "1,2", "--length", "2"],
     "(--destinations all; with load: --destinations-distribution all), or one, for a unicast"),
    (["load", "torus:4x4", "z", "--rate", "0.01"], "Allowed: all 15 other nodes"),
    (["hunt", "torus:4x4", "dcf"], "hunt: dcf is not valid: it supports broadcast only"),
])
def test_what_is_refused(arguments, sentence):
    code, out, err = wormcast(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
