"""Trees on a chain of nodes from outside: planned, drawn and checked, with parameters behind their names."""

import json

import pytest
from command import wormcast

NETWORK = "irregular:seed=1"
TO = ["--source", 12, "--destinations", "1,5,9,13,17,22,30"]


@pytest.mark.parametrize(("network", "scheme"), [
    (NETWORK, "binomial"), (NETWORK, "k-binomial"), (NETWORK, "binomial:order=random,seed=7"),
    (NETWORK, "k-binomial:order=id,packets=9"), ("mesh:6x6", "k-binomial"), ("torus:6x6", "binomial"),
    ("min:b=2,stages=5", "k-binomial:k=1"), ("ring:32", "k-binomial:k=2"),
])
def test_plan_in_text_json_and_picture(network, scheme, tmp_path):
    drawing = tmp_path / "plan.svg"
    code, out, err = wormcast("plan", network, scheme, *TO, "--plot", drawing)
    assert (code, err) == (0, "")
    assert out.startswith(f"{scheme} on {network.partition(':')[0]}:")
    assert drawing.read_text().startswith("<?xml")
    code, out, _ = wormcast("plan", network, scheme, *TO, "--json")
    found = json.loads(out)
    assert code == 0
    assert sorted(node for worm in found["worms"] for node in worm["destinations"]) == [1, 5, 9, 13, 17, 22, 30]
    forwarded = [worm["tier"] == "ni" for worm in found["worms"]]
    assert forwarded == [scheme.startswith("k-") and worm["source"] != 12 for worm in found["worms"]]
    assert found["scheme"] == scheme


def test_check_takes_parameters_on_both_sides():
    code, out, _ = wormcast("check", NETWORK, "k-binomial:k=2", "--with", "binomial:order=id", "--with",
                            "individual=up-down-adaptive", "--with", "k-binomial:k=1,order=id=up-down", "--json")
    assert (code, json.loads(out)["schemes"]) == (
        0, ["k-binomial:k=2", "binomial:order=id", "individual", "k-binomial:k=1,order=id"])


UNBUILT = ("its worms need network interfaces that forward packets, which are not built yet: allowed are plan and "
           "check")
BOTH = "all must go both ways"


@pytest.mark.parametrize(("command", "sentence"), [
    (["run", NETWORK, "k-binomial", *TO, "--length", 8], f"scheme k-binomial: {UNBUILT}"),
    (["run", NETWORK, "k-binomial:k=2", *TO, "--length", 8, "--absorb", "host"], f"scheme k-binomial:k=2: {UNBUILT}"),
    (["load", NETWORK, "k-binomial", "--rate", "0.01"], f"scheme k-binomial: {UNBUILT}"),
    (["plan", NETWORK, "k-binomial:k=0", *TO],
     "scheme: k of 'k-binomial:k=0' is '0', allowed are whole numbers from 1 to 12"),
    (["plan", NETWORK, "k-binomial:k=-1", *TO],
     "scheme: k of 'k-binomial:k=-1' is '-1', allowed are whole numbers from 1 to 12"),
    (["plan", NETWORK, "k-binomial:packets=0", *TO],
     "scheme: packets of 'k-binomial:packets=0' is '0', allowed are whole numbers from 1 to 1099511627776"),
    (["plan", NETWORK, "k-binomial:order=up", *TO],
     "scheme: order of 'k-binomial:order=up' is 'up', allowed are cco, dimension, id, random"),
    (["plan", NETWORK, "binomial:k=2", *TO],
     "scheme: 'k=2' of 'binomial:k=2' is no parameter, allowed is binomial:order=...,seed=..."),
    (["plan", NETWORK, "individual:k=2", *TO], "scheme: 'individual:k=2' is given, individual has no parameters"),
    (["plan", "min:b=2,stages=5", "k-binomial:order=cco", *TO],
     f"scheme k-binomial:order=cco, order cco: min:b=2,stages=5 has 1 links from switch s0 to s16 and 0 back, {BOTH}"),
])
def test_bad_input_is_one_sentence(command, sentence, tmp_path):
    code, out, err = wormcast(*command, cwd=tmp_path)
    assert (code, out, err) == (2, "", f"wormcast: {sentence}\n")
