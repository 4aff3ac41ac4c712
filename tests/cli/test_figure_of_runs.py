"""``wormcast figure`` of single runs: latency over an option, a formula and a bound beside it."""

import csv
import json

import pytest
from command import wormcast

FIGURE = """\
title = "broadcasts"
source = "[Hou]"
points = "runs"
over = "{over}"
values = {values}

[options]
topology = "torus:4x4"
configuration = "dcf_torus"
ties = "signed"
length = 20
t_hs = 10

[series.dcf]
scheme = "dcf"
[series.one]
scheme = "individual"
destinations = "0.2"
drawn = false
[series.short]
scheme = "edn"
values = {own}

[[statements]]
claim = "x-1"
text = "dcf keeps its formula"
holds = "latency('dcf') == formula('dcf') and latency('short') > bound('short')"
[[statements]]
claim = "x-2"
text = "a unicast is slower than a broadcast"
holds = "latency('one') > latency('dcf')"
"""


def write(tmp_path, over, values, own):
    text = FIGURE.format(over=over, values=json.dumps(values), own=json.dumps(own))
    kept = [line for line in text.splitlines() if not line.startswith(f"{over} =")]
    path = tmp_path / "runs.toml"
    path.write_text("\n".join(kept))
    return path


def measured(tmp_path, *arguments, **given):
    file = write(tmp_path, **given)
    code, out, err = wormcast("figure", file, "--out", tmp_path / "out", "--json", *arguments)
    assert (code, err) == (0, "")
    return json.loads(out)


def test_a_point_for_each_value_with_formula_and_bound(tmp_path):
    told = measured(tmp_path, over="length", values=[1, 20, 60], own=[20])
    rows = {(row["series"], row["length"]): row for row in told["table"]}
    assert {*rows} == {*((name, length) for name in ("dcf", "one") for length in (1, 20, 60)), ("short", 20)}
    # 5 t_s + 4 hops of 3 + 2 c, and 6 t_s; c is 8 more than the length
    assert [rows["dcf", length]["latency"] for length in (1, 20, 60)] == [80, 118, 198]
    assert rows["short", 20]["latency"] == rows["short", 20]["formula"] == 128
    assert rows["one", 20]["latency"] == 10 + 2 * 3 + 28
    assert rows["one", 20]["formula"] is None
    assert rows["dcf", 20]["bound"] == 2 * (10 + 3 + 28)
    assert [one["verdict"] for one in told["verdicts"]] == ["held", "not held"]
    with (tmp_path / "out" / "runs.csv").open() as written:
        assert [row["latency"] for row in csv.DictReader(written)] == [str(row["latency"]) for row in told["table"]]
    page = (tmp_path / "out" / "runs.html").read_text()
    assert "bound_steps" in page
    assert "Nothing is random" in page
    picture = (tmp_path / "out" / "runs.svg").read_text()
    assert picture == (measured(tmp_path, over="length", values=[1, 20, 60], own=[20]), (
        tmp_path / "out" / "runs.svg").read_text())[1]


WAITING = """\
title = "who waits"
source = "[Hou]"
points = "runs"
over = "length"
values = [20]

[options]
topology = "torus:8x8"
configuration = "dcf_torus"
ties = "signed"

[series.dcf]
scheme = "dcf"
[series.z]
scheme = "z"
[series.two-readers]
scheme = "dcf"
readers = "independent"

[[statements]]
claim = "x-1"
text = "worms of Z wait behind those of other nodes, of DCF behind their own sender's alone"
holds = "others_wait('z') > 0.5 and others_wait('dcf') == 0 and own_wait('dcf') > 0.5 and arbitration_wait('dcf') == 0"
[[statements]]
claim = "x-2"
text = "it is not known with two readers"
holds = "others_wait('two-readers') == 0"
"""


@pytest.mark.slow  # waits are those of test_contention
def test_waits_are_those_that_run_tells(tmp_path):
    file = tmp_path / "waits.toml"
    file.write_text(WAITING)
    code, out, err = wormcast("figure", file, "--out", tmp_path, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert [one["verdict"] for one in told["verdicts"]] == ["held", "undecided"]
    rows = {row["series"]: row for row in told["table"]}
    run = json.loads(wormcast("run", "torus:8x8", "z", "--source", 0, "--destinations", "all", "--length", 20, "--ties",
                              "signed", "--configuration", "dcf_torus", "--contention", "--json")[1])
    waits = run["messages"][0]["contention"]
    assert (rows["z"]["others_wait"], rows["z"]["own_wait"], rows["z"]["arbitration_wait"]) == tuple(
        sum(waits[cause].values()) for cause in ("other_nodes", "own_sends", "arbitration"))
    assert rows["two-readers"]["others_wait"] is None
    assert rows["two-readers"]["latency"] > 0
    # a line of three series, of which one has no waits to draw
    assert (tmp_path / "waits.svg").read_text().count("waits behind other nodes") == 1
    assert "waits behind other nodes, cycles" in (tmp_path / "waits.html").read_text()


def test_topologies_lie_by_their_nodes_and_quick_takes_every_other_one(tmp_path):
    told = measured(tmp_path, "--quick", over="topology", values=["torus:4x4", "torus:8x8", "torus:16x16"],
                    own=["torus:4x4"])
    assert [row["topology"] for row in told["table"] if row["series"] == "dcf"] == ["torus:4x4", "torus:16x16"]
    assert [one["verdict"] for one in told["verdicts"]] == ["held", "not held"]


@pytest.mark.parametrize(("change", "sentence"), [
    (("points = \"runs\"", "points = \"run\""), "points in {file}: 'run' is not valid. Allowed: loads, runs"),
    (("over = \"length\"\n", ""), "points in {file}: runs is not valid without over and values"),
    (("values = [1, 20]\n", ""), "points in {file}: runs is not valid without over and values"),
    (("over = \"length\"", "over = \"rate\""), "over in {file}: 'rate' is not valid"),
    (("over = \"length\"\nvalues = [1, 20]", "over = \"scheme\"\nvalues = [\"dcf\"]"),
     "values[0] in series.short in {file}: 20 is not valid. Allowed: text"),
    (("t_hs = 10", "destinations_mean = 3.0"), "'destinations_mean' is not an option of run"),
    (("values = [1, 20]", "values = [\"a\"]"), "values[0] in {file}: 'a' is not valid. Allowed: a whole number"),
    (("latency('one') >", "throughput('one') >"), "throughput is not valid: series one has single"),
    (("destinations = \"0.2\"", "destinations = \"9.9\""), "destinations: '9.9' is not in"),
])
def test_what_is_refused(tmp_path, change, sentence):
    file = write(tmp_path, "length", [1, 20], [20])
    text = file.read_text()
    assert change[0] in text
    file.write_text(text.replace(*change))
    code, out, err = wormcast("figure", file, "--out", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence.format(file=file) in err
