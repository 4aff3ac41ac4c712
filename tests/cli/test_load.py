"""``load`` from outside."""


import csv
import hashlib
import json

import pytest
from command import wormcast

from .test_commands import as_json

FIRST = {"cycle": 3, "source": "0.0", "destinations": [5, "3.3"], "length": 8}

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
                 "reception", "for a link, per hop", "for a consumption channel", "busiest", "not saturated",
                 "traffic: 0.02 flits created per node and cycle, multicasts of 20 flits to 3 nodes"):
        assert word in out


@pytest.mark.parametrize("rate", ["0.004", "0.05", "0.0123"])
def test_the_nominal_load_is_beside_the_offered_one(rate):
    """A few seeds may offer less, by chance."""
    _, told, _ = wormcast("load", "mesh:2x2", "individual", "--rate", rate, "--destinations-mean", 1, "--cycles", 2000)
    lines = told.splitlines()
    [at] = [at for at, line in enumerate(lines) if "nominal (in" in line]
    assert lines[at].split("│")[1:3] == [f" {'nominal (in the long run)':42} ", f" {rate:>7} "]
    assert lines[at + 1].startswith("│ offered (created; a multicast counts once) │")
    assert len(lines[at]) < 80


def test_the_nominal_load_leaves_out_nodes_that_send_to_themselves():
    """Four of sixteen nodes are on the diagonal."""
    code, found = as_json("load", "mesh:4x4", "individual", "--rate", "0.1", "--multicast-fraction", "0.5", "--length",
                          "30", "--unicast-length", "10", "--pattern", "transpose", "--destinations-mean", "2",
                          "--cycles", "4000")
    assert code == 0
    assert found["nominal"] == pytest.approx(0.1 - 0.005 * 0.5 * 10 / 4 * 1)
    assert found["offered"] == pytest.approx(found["nominal"], abs=3 * found["offered_half_width"])


def test_a_table_has_the_columns_and_cells_of_a_sweep(tmp_path):
    options = {"rate": 0.02, "destinations_mean": 4, "cycles": 2000}
    (tmp_path / "point.toml").write_text('topology = "mesh:4x4"\nscheme = "dual-path"\n' + "".join(
        f"{name} = {value}\n" for name, value in options.items()))
    assert wormcast("sweep", "point.toml", "--out", ".", cwd=tmp_path)[0] == 0
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", value)]
    code, found = as_json("load", "mesh:4x4", "dual-path", *words, "--csv", tmp_path / "load.csv")
    assert (code, found["csv"]) == (0, str(tmp_path / "load.csv"))
    assert (tmp_path / "load.csv").read_bytes() == (tmp_path / "point.csv").read_bytes()


def test_a_table_of_a_search_has_a_row_per_rate(tmp_path):
    code, found = as_json("load", "mesh:4x4", "dual-path", "--find-saturation", "--destinations-mean", 4, "--cycles",
                          2000, "--precision", 0.3, "--csv", tmp_path / "rates.csv")
    rows = list(csv.DictReader((tmp_path / "rates.csv").open()))
    assert (code, found["csv"]) == (0, str(tmp_path / "rates.csv"))
    assert [float(row["rate"]) for row in rows] == sorted(probe["rate"] for probe in found["probes"])
    assert {row["scheme"] for row in rows} == {"dual-path"}


def test_a_table_of_a_deadlock_has_no_measurements(tmp_path):
    code, _, _ = wormcast("load", "mesh:4x4", "column-path", "--consumption", 1, "--vcs", 1, "--rate", 0.07,
                          "--destinations-mean", 5, "--cycles", 40000, "--csv", "dead.csv", cwd=tmp_path)
    [row] = csv.DictReader((tmp_path / "dead.csv").open())
    assert code == 3
    assert (row["deadlock"], row["latency_mean"], row["saturated"], row["nominal"]) == ("true", "", "", "0.07")


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
    assert f"picture: {file}" in out.replace("\n", "")
    assert "dual-path on mesh:4x4" in file.read_text()
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(("more", "sentence"), [
    (["mesh:4x4", "--plot", "busy.gif"],
     "plot: busy.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."),
    (["mesh:4x4", "--plot", "nowhere/busy.svg"], "nowhere/busy.svg cannot be written: its folder does not exist"),
])
def test_a_drawing_that_cannot_be_made_is_refused(more, sentence):
    where, *plot = more
    code, out, err = wormcast("load", where, "individual", "--rate", "0.01", "--destinations-mean", "2",
                              "--cycles", "1000000000", *plot)
    assert (code, out) == (2, "")
    assert sentence in err.replace("\n", " ")


def test_a_deadlock_ends_it(tmp_path):
    options = ["load", "mesh:4x4", "dual-path", "--rate", "0.02", "--length", "64", "--destinations-mean", "4",
               "--consumption", "1", "--vcs", "1", "--buffer", "2", "--cycles", "200000", "--vcd",
               tmp_path / "deadlock.vcd"]
    code, out, _ = wormcast(*options)
    assert code == 3
    assert "deadlock of seed" in out
    assert "latency" not in out
    code, out, _ = wormcast(*options, "--plot", tmp_path / "busy.svg", "--links")
    assert code == 3
    assert "no picture, as a deadlock has no measurements" in out
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "deadlock.vcd", "deadlock.vcd.gtkw", "deadlock.vcd.sucl", "deadlock.vcd.waits.txt"]
    code, found = as_json(*options)
    assert code == 3
    assert found["deadlock"]["seed"] in range(24, 28)
    assert found["cycles"] == found["deadlock"]["at"]
    assert found["waveform"] == str(tmp_path / "deadlock.vcd")
    assert "$enddefinitions" in (tmp_path / "deadlock.vcd").read_text()


@pytest.mark.parametrize(("more", "sentence"), [
    (["--rate", "2"], "rate: 2 is not valid: it creates 6 flits to consume per node and cycle"),
    (["--rate", "nan"], "rate: nan is not valid"),
    (["--destinations-mean", "16"], "destinations-mean: 16 is not valid"),
    (["--destinations-distribution", "zipf"], "Allowed: fixed, uniform, normal"),
    (["--cycles", "0"], "cycles: 0 is not valid"),
    (["--seeds", "2000"], "Allowed: 1 to 1024"),
    (["--vcs", "0"], "vcs"),
    (["--destinations-distribution", "given"], "Needed with --destinations-distribution given: "),
    (["--pattern", "spiral"], "Allowed: uniform, hot-spot, transpose, bit-complement, bit-reversal, shuffle"),
    (["--pattern", "tornado"], "tornado is not valid with --multicast-fraction 1 (the default): it is for unicasts"),
    (["--pattern", "hot-spot", "--hot-spots", "9.9", "--hot-spot-share", "0.1"],
     "hot-spots: '9.9' is not in mesh:4x4"),
    (["--rate", "0.2", "--pattern", "hot-spot", "--hot-spots", "1.1", "--hot-spot-share", "0.5"],
     "flits to consume per cycle at node 1.1, and the node can consume 1. Allowed: rates up to "),
    (["--trace", "some.jsonl"], "rate, destinations-mean: "),
    (["--rate", "0.34"],
     "creates 1.02 flits to consume per node and cycle, and the node can consume 1. Allowed: rates up to 0.3333."),
    (["--rate", "0.7", "--consumption-links", "separate"], "the node can consume 2. Allowed: rates up to 0.6666."),
    (["--rate", "0.7", "--ejection", "all"],
     "flits to consume per cycle at node 0.0, and the node can consume 2. Allowed: rates up to 0.6666."),
    (["--rate", "-1"], "rate: -1 is not valid. Allowed: 0 flits per node and cycle, or more."),
    (["--multicast-fraction", "2"], "multicast-fraction: 2 is not valid. Allowed: 0 to 1"),
    (["--length", "0"], "length: 0 is not valid. Allowed: 1 to 65536"),
    (["--warmup", "3000"], "warmup: 3000"),
    (["--configuration", "boppana"], "configuration: 'boppana' is unknown. Nearest: boppana_8x8. Allowed: "),
    (["--lenght", "3"], "--lenght is not an option of load. Nearest: --length."),
    (["--injection-rate", "0.1"], "--injection-rate is not an option of load. Here: --rate."),
    (["--injection_rate=0.1"], "--injection_rate is not an option of load. Here: --rate."),
    (["--num-vcs", "2"], "--num-vcs is not an option of load. Here: --vcs."),
    (["--vc-buf-size", "8"], "--vc-buf-size is not an option of load. Here: --buffer."),
    (["--packet-size", "20"], "--packet-size is not an option of load. Here: --length."),
    (["--traffic", "transpose"], "--traffic is not an option of load. Here: --pattern."),
    (["--zero-load-multiple", "3"], "zero-load-multiple: 3 is not valid without --find-saturation. Needed: --find-"),
    (["--csv", "table.txt"], "csv: table.txt is not valid. Allowed: a file NAME.csv."),
    (["--routing-function", "xy"], "--routing-function is not an option of load. Here: --relation."),
    (["--topology", "mesh"], "--topology is not an option of load. Here: TOPOLOGY, for example mesh:8x8."),
    (["-k", "8"], "-k is not an option of load. Here: TOPOLOGY, for example mesh:8x8."),
])
def test_bad_input_is_one_sentence(more, sentence):
    code, out, err = wormcast(*QUICK, *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_neither_a_rate_nor_a_trace_is_one_sentence():
    code, out, err = wormcast("load", "mesh:4x4", "dual-path")
    assert (code, out) == (2, "")
    assert err == "wormcast: rate is missing. Needed: --rate, --trace or --find-saturation.\n"


def test_patterns_and_numbers_that_are_given():
    code, found = as_json("load", "mesh:4x4", "dual-path", "--rate", "0.02", "--cycles", "3000", "--seeds", "2",
                          "--destinations-distribution", "given", "--destinations-counts", "1:0.5,8:0.3,15:0.2",
                          "--pattern", "hot-spot", "--hot-spots", "1.1,@9", "--hot-spot-share", "0.3")
    assert code == 0
    assert found["messages"] > 0
    assert {name: found["configuration"][name] for name in (
        "destinations_distribution", "destinations_counts", "pattern", "hot_spots", "hot_spot_share")} == {
        "destinations_distribution": "given", "destinations_counts": "1:0.5,8:0.3,15:0.2", "pattern": "hot-spot",
        "hot_spots": "1.1,@9", "hot_spot_share": 0.3}


def test_a_trace_is_run_until_all_is_received(tmp_path):
    file = tmp_path / "some.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in (
        FIRST, {"cycle": 5, "source": 5, "destinations": [2], "length": 4, "after": 0})))
    code, found = as_json("load", "mesh:4x4", "dual-path", "--trace", str(file))
    assert code == 0
    assert (found["messages"], found["censored"], found["warmup"], found["seed"]) == (2, 0, 0, None)
    assert found["latency"]["mean"] > 0
    assert found["latency"]["half_width"] is None
    assert found["configuration"]["trace"] == str(file)
    assert found["configuration"]["trace_sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    code, out, _ = wormcast("load", "mesh:4x4", "dual-path", "--trace", str(file))
    assert code == 0
    assert f"dual-path on mesh:4x4, {file}, {found['cycles']} cycles, the first 0 not counted" in out
    code, found = as_json("load", "mesh:4x4", "dual-path", "--trace", str(file), "--cycles", "300")
    assert (code, found["cycles"], found["messages"]) == (0, 300, 2)


@pytest.mark.parametrize(("more", "sentence"), [
    (["--seeds", "4"], "seeds: 4 is not valid with a trace, which determines all messages. Allowed: a trace"),
    (["--seed", "0"], "seed: 0 is not valid with a trace"),
    (["--until-interval"], "--until-interval is not valid with a trace"),
    (["--length", "20", "--pattern", "uniform"], "length, pattern: 20, uniform are not valid with a trace"),
    (["--cycles", "0"], "cycles: 0 is not valid"),
    (["--warmup", "4"], "warmup: 4 is not valid with 4 cycles"),
])
def test_what_has_no_meaning_beside_a_trace_is_one_sentence(more, sentence, tmp_path):
    file = tmp_path / "some.jsonl"
    file.write_text(json.dumps(FIRST))
    code, out, err = wormcast("load", "mesh:4x4", "dual-path", "--trace", str(file), *more)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_a_trace_that_cannot_be_run_is_one_sentence(tmp_path):
    file = tmp_path / "some.jsonl"
    for content, sentence in (
        (json.dumps(FIRST) + "\n{}\n", f"message 1 of {file} (the first is 0): cycle, source, "),
        (None, f"trace: {file} cannot be read: No such file"),
    ):
        file.unlink(missing_ok=True)
        if content:
            file.write_text(content)
        code, out, err = wormcast("load", "mesh:4x4", "dual-path", "--trace", str(file))
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert sentence in err


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["mesh:4x4", "dual-pth", "--rate", "0.1"], "scheme: 'dual-pth' is unknown. Nearest: dual-path. Allowed: "),
    (["mesh:4y4", "dual-path", "--rate", "0.1"], "topology: 'mesh:4y4'"),
])
def test_what_is_unknown_or_missing_is_named(arguments, sentence):
    code, out, err = wormcast("load", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err


def test_find_saturation():
    asked = ("load", "mesh:3x3", "dual-path", "--find-saturation", "--cycles", 8000, "--destinations-mean", 3)
    code, out, err = wormcast(*asked, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    rates = told["saturation"]["rate"]
    assert 0 < rates["low"] < rates["high"] <= told["highest_rate"] == pytest.approx(1 / 3)
    assert {probe["rate"] for probe in told["probes"]} >= set(rates.values())
    code, out, err = wormcast(*asked)
    assert (code, err) == (0, "")
    assert f"saturates between rate {rates['low']:.4g} and {rates['high']:.4g}" in out


def test_saturation_as_a_multiple_of_the_latency_at_zero_load():
    asked = ("load", "mesh:3x3", "dual-path", "--find-saturation", "--cycles", 4000, "--destinations-mean", 3,
             "--precision", 0.3, "--zero-load-multiple", 3)
    code, out, err = wormcast(*asked, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    told, rates = found["zero_load"], found["zero_load"]["saturation"]["rate"]
    assert told["limit"] == pytest.approx(3 * told["latency"]["mean"])
    assert found["configuration"]["zero_load_multiple"] == 3
    assert rates["high"] <= found["saturation"]["rate"]["high"]
    code, out, err = wormcast(*asked)
    assert (code, err) == (0, "")
    assert f"measured at rate {told['measured_at_rate']:.4g}" in out
    limit = f"3 x the latency at zero load ({told['limit']:.1f} cycles)"
    assert f"latency above {limit} between rate {rates['low']:.4g}" in out


def test_find_saturation_ends_in_a_deadlock():
    code, out, _ = wormcast("load", "mesh:3x3", "dual-path", "--find-saturation", "--consumption", 1, "--vcs", 1,
                            "--buffer", 2, "--length", 64, "--destinations-mean", 4, "--cycles", 60_000)
    assert code == 3
    assert "\ndeadlock at rate" in out


@pytest.mark.parametrize("more", [["--rate", "0.1"], ["--trace", "x.jsonl"], ["--plot", "x.svg"], ["--links"],
                                  ["--checkpoint", "x"], ["--window", "1:2"], ["--messages-out", "x.csv"]])
def test_what_does_not_go_with_find_saturation(more):
    code, out, err = wormcast("load", "mesh:3x3", "dual-path", "--find-saturation", *more)
    assert (code, out) == (2, "")
    name, given = more[0].removeprefix("--"), (*more[1:], True)[0]
    typed = f"--{name}" if given is True else f"{name}: {given}"
    assert err.startswith(f"wormcast: {typed} is not valid with --find-saturation: the search runs several")


def test_events_have_a_table_and_a_row_for_each_router():
    code, out, err = wormcast(*QUICK, "--events", "--links")
    assert (code, err) == (0, "")
    for word in ("buffer write", "per received flit", "replication", "interface read"):
        assert word in out
    assert "pJ" not in out
    assert out.count("3.3 ") >= 2
