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
            "queue_latency", "injection_latency", "transit_latency", "reception_latency", "link_wait",
            "consumption_wait", "network_utilisation", "injection_utilisation", "consumption_utilisation",
            "cycles_per_second"} <= set(found)
    assert set(found["latency"]) == set(found["link_wait"]) == {"mean", "half_width"}
    assert set(found["network_utilisation"]) == {"mean", "half_width", "max"}
    assert "network_links" not in found
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
    for word in ("offered", "effective", "accepted", "delivered", "latency", "source queue", "injection", "transit",
                 "reception", "for a link, each hop", "for a consumption channel", "busiest", "not saturated"):
        assert word in out


def test_links_tells_each_of_them():
    code, found = as_json(*QUICK, "--links", "--ports", "all")
    assert code == 0
    assert (len(found["network_links"]), len(found["injection_links"]), len(found["consumption_links"])) == (48, 64, 16)
    for kind in ("network", "injection", "consumption"):
        flits = [value for _, _, value in found[f"{kind}_links"]]
        assert max(flits) == found[f"{kind}_utilisation"]["max"]
        assert sum(flits) / len(flits) == pytest.approx(found[f"{kind}_utilisation"]["mean"])
    busiest = max(found["network_links"], key=lambda link: link[2])
    code, out, _ = wormcast(*QUICK, "--links", "--ports", "all")
    names = [f"{node // 4}.{node % 4}" for node in busiest[:2]]
    rows = [line for line in out.splitlines() if " > " in line]
    assert len(rows) == 49  # and the busiest by itself
    assert " > ".join(names) in rows[0]
    assert " > ".join(names) in rows[1]


def test_a_drawing_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "busy.svg"
    code, out, _ = wormcast(*QUICK, "--plot", file)
    assert code == 0
    assert f"drawing: {file}" in out.replace("\n", "")
    assert "dual-path on mesh:4x4" in file.read_text()
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("more", "sentence"), [
    (["mesh:4x4", "--plot", "busy.pdf"], "plot: busy.pdf is given, allowed endings are .svg, .png"),
    (["mesh:2x3x4", "--plot", "busy.svg"], "plot: mesh:2x3x4 is given, two-dimensional meshes can be drawn"),
    (["mesh:4x4", "--plot", "nowhere/busy.svg"], "nowhere/busy.svg cannot be written: No such file or directory"),
])
def test_a_drawing_that_cannot_be_made_is_refused(more, sentence):
    where, *plot = more
    code, out, err = wormcast("load", where, "individual", "--rate", "0.01", "--destinations-mean", "2",
                              "--cycles", "1000000000", *plot)
    assert (code, out) == (2, "")
    assert sentence in err.replace("\n", " ")


def test_a_deadlock_ends_it(tmp_path):
    options = ["load", "mesh:4x4", "dual-path", "--rate", "0.02", "--length", "64", "--destinations-mean", "4",
               "--consumption", "1", "--vcs", "1", "--buffer", "2", "--cycles", "200000"]
    code, out, _ = wormcast(*options)
    assert code == 3
    assert "deadlock of seed" in out
    assert "latency" not in out
    code, out, _ = wormcast(*options, "--plot", tmp_path / "busy.svg", "--links")
    assert code == 3
    assert "no drawing, as nothing is measured in a deadlock" in out
    assert not list(tmp_path.iterdir())
    code, found = as_json(*options)
    assert code == 3
    assert found["deadlock"]["seed"] in range(4)
    assert found["cycles"] == found["deadlock"]["at"]


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
