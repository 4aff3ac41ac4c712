"""``load`` from outside."""


import pytest

from .test_commands import as_json, wormcast

QUICK = ["load", "mesh:4x4", "dual-path", "--rate", "0.02", "--cycles", "3000", "--destinations-mean", "3"]


def test_json_has_the_words_of_the_contract():
    code, found = as_json(*QUICK, "--seed", 5, "--multicast-fraction", "0.5", "--unicast-length", "9")
    assert code == 0
    assert found["seed"] == 5
    assert {"offered", "effective", "accepted", "delivered", "delivered_per_node", "latency", "multicast_latency",
            "unicast_latency", "network_latency", "messages", "censored", "cycles", "saturated",
            "cycles_per_second"} <= set(found)
    assert set(found["latency"]) == {"mean", "half_width"}
    assert (found["configuration"]["unicast_length"], found["configuration"]["consumption"]) == (9, 2)
    assert found["delivered"] == pytest.approx(16 * found["delivered_per_node"])


def test_the_same_seeds_give_the_same_and_others_do_not():
    def measured(*more):
        _, found = as_json(*QUICK, *more)
        del found["cycles_per_second"]
        return found

    assert measured() == measured()
    assert measured("--seed", 9)["latency"] != measured()["latency"]


def test_text_has_a_line_for_each_word():
    code, out, err = wormcast(*QUICK)
    assert (code, err) == (0, "")
    for word in ("offered", "effective", "accepted", "delivered", "latency", "source queue", "not saturated"):
        assert word in out


def test_a_deadlock_ends_it(tmp_path):
    options = ["load", "mesh:4x4", "dual-path", "--rate", "0.02", "--length", "64", "--destinations-mean", "4",
               "--consumption", "1", "--vcs", "1", "--buffer", "2", "--cycles", "200000", "--vcd",
               tmp_path / "deadlock.vcd"]
    code, out, _ = wormcast(*options)
    assert code == 3
    assert "deadlock of seed" in out
    assert "latency" not in out
    code, found = as_json(*options)
    assert code == 3
    assert found["deadlock"]["seed"] in range(4)
    assert found["cycles"] == found["deadlock"]["at"]
    assert found["waveform"] == str(tmp_path / "deadlock.vcd")
    assert "$enddefinitions" in (tmp_path / "deadlock.vcd").read_text()


@pytest.mark.parametrize(("more", "sentence"), [
    (["--rate", "2"], "rate: 2 creates 6 flits to consume per node and cycle"),
    (["--rate", "nan"], "rate: nan flits per node and cycle is given"),
    (["--destinations-mean", "16"], "destinations_mean: 16 is given"),
    (["--destinations-distribution", "zipf"], "allowed are fixed, uniform, normal"),
    (["--cycles", "0"], "cycles: 0 is given"),
    (["--seeds", "2000"], "allowed are 1 to 1024"),
    (["--vcs", "0"], "vcs"),
])
def test_bad_input_is_one_sentence(more, sentence):
    code, out, err = wormcast(*QUICK, *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
