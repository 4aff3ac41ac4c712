"""Files of sweeps: their meaning, and refusals."""

import inspect
import json
import re

import pytest
from refused_at import without_place

from wormcast.algorithms import WormcastError, to_toml, topology
from wormcast.sim.cli.loading import load_
from wormcast.sim.experiments.load import Specification, Traffic
from wormcast.sim.experiments.sweep import OPTIONS, points, read

SMALL = 'topology = "mesh:4x4"\ndestinations_mean = 4\n'


@pytest.fixture
def sweep_of(tmp_path):
    def write(text):
        file = tmp_path / "small.toml"
        file.write_text(text)
        return read(file)
    return write


def test_options_are_those_of_load():
    of_files = {"json", "links", "plot", "checkpoint", "checkpoint_every", "vcd", "window", "instances",
                "csv", "messages_out", "around_worst", "style", "width", "panel", "label", "events", "energy"}
    of_rates = {"saturation", "zero_load_multiple"}  # it runs several experiments
    assert set(OPTIONS) == set(inspect.signature(load_).parameters) - of_files - of_rates


def test_defaults_are_those_of_load(sweep_of):
    """Both take them from `Specification`: none of load's own options has another one than not to be given."""
    assert all(parameter.default in (inspect.Parameter.empty, None, False)
               for parameter in inspect.signature(load_).parameters.values())
    [point] = points(sweep_of('topology = "mesh:4x4"\nscheme = "dual-path"\nrate = 0.01\n'))
    specification = Specification.of({"rate": 0.01})
    assert point.traffic == specification.traffic == Traffic(0.01)
    assert [point.resolved[name] for name in ("cycles", "seed", "seeds")] == [100_000, 24, 4]
    assert (specification.cycles, list(specification.seed_numbers)) == (100_000, [24, 25, 26, 27])


def test_points_are_all_combinations_the_last_list_fastest(sweep_of):
    sweep = sweep_of(SMALL + 'rate = [0.02, 0.01, 0]\nscheme = ["multipath", "dual-path"]\n')
    assert sweep.name == "small"
    assert [(point.given["rate"], point.given["scheme"]) for point in points(sweep)] == [
        (0.02, "multipath"), (0.02, "dual-path"), (0.01, "multipath"), (0.01, "dual-path"),
        (0.0, "multipath"), (0.0, "dual-path"),
    ]
    [one] = points(sweep_of(SMALL + 'rate = 0.01\nscheme = "e-mcast"\n'))
    assert one.name == ""
    assert (one.resolved["consumption"], one.resolved["warmup"]) == (4, None)


COSTS = "source = 'x'\nflit_width = 32\n[picojoules]\nlink = {}\n"


def test_a_table_of_costs_belongs_to_the_key(sweep_of, tmp_path):
    """Its contents do, wherever it is."""
    keys = []
    for name, cost in (("one", 1), ("other", 2), ("one", 1)):
        file = tmp_path / f"{name}.toml"
        file.write_text(COSTS.format(cost))
        [point] = points(sweep_of(SMALL + f'rate = 0.01\nscheme = "dual-path"\nenergy = "{file}"\n'))
        assert (point.events, point.costs.picojoules) == (True, {"link": cost})
        assert point.files == {"energy": str(file)}
        keys.append(point.key)
    assert keys[0] == keys[2] != keys[1]
    [counted] = points(sweep_of(SMALL + 'rate = 0.01\nscheme = "dual-path"\nevents = true\n'))
    assert (counted.events, counted.costs) == (True, None)


@pytest.mark.parametrize(("text", "sentence"), [
    ("energy = ['a.toml', 'b.toml']", r"energy: \['a.toml', 'b.toml'\] is not valid"),
    ("events = [true]", r"events: \[true\] is not valid"),
    ("energy = 'none.toml'", "none.toml"),
    ("energy = 'costs.toml'\nflit_width = 64", "energy table: 32 is not valid: the network has flits of 64 bits")])
def test_costs_that_do_not_fit_are_refused(sweep_of, tmp_path, monkeypatch, text, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "costs.toml").write_text(COSTS.format(1))
    with pytest.raises(WormcastError) as refused:
        points(sweep_of(SMALL + f'rate = 0.01\nscheme = "dual-path"\n{text}\n'))
    assert re.search(sentence, without_place(str(refused.value)))


def test_keys_tell_points_apart_and_nothing_else(sweep_of):
    swept = points(sweep_of(SMALL + 'rate = [0.01, 0.02]\nscheme = ["dual-path"]\nvcs = [1, 2]\n'))
    assert len({point.key for point in swept}) == 4
    [one] = points(sweep_of('vcs = 2\nscheme = "dual-path"\nrate = 0.02\n' + SMALL))
    assert one.key == swept[3].key


def test_key_tells_texts_of_a_relation_apart(sweep_of, tmp_path):
    file = tmp_path / "own.py"
    text = "from wormcast.algorithms import E_CUBE\nown = E_CUBE\n"
    keys = set()
    for more in ("", "# changed\n"):
        file.write_text(text + more)
        [point] = points(sweep_of(SMALL + f'scheme = "individual"\nrate = 0.01\nrelation = "{file}:own"\n'))
        keys.add(point.key)
    assert len(keys) == 2


def test_key_tells_texts_of_a_network_apart(sweep_of, tmp_path):
    file, keys = tmp_path / "own.toml", set()
    for name in ("ring:4", "ring:5"):
        file.write_text(to_toml(topology(name)))
        [point] = points(sweep_of(f'topology = "{file}"\nscheme = "individual"\nrate = 0.01\nmulticast_fraction = 0\n'))
        keys.add(point.key)
        assert (point.resolved["topology"], point.network.name, point.files) == (
            str(file), name, {"topology": str(file)})
    assert len(keys) == 2


def test_networks_of_several_kinds_are_swept(sweep_of):
    """The lists of their parameters have commas and equals signs."""
    names = ["min:b=2,stages=2", "torus:2x3", "irregular:switches=3,ports=5,nodes=5"]
    swept = points(sweep_of(f'topology = {json.dumps(names)}\nscheme = "individual"\nrate = 0.1\nvc_classes = "none"\n'
                            "vcs = 1\nbuffer = 2\nmulticast_fraction = 0\ncycles = 800\nwarmup = 100\nseeds = 1\n"))
    assert [point.name for point in swept] == [f"topology {name}" for name in names]
    assert [point.network.kind for point in swept] == ["min", "torus", "irregular"]
    assert all(point.run()["messages"] > 0 for point in swept)
    assert {point.resolved["vc_classes"] for point in swept} == {"none"}


def test_ties_are_swept(sweep_of):
    swept = points(sweep_of('topology = "ring:4"\nscheme = "individual"\nrate = 0.1\nties = ["plus", "signed"]\n'
                            "multicast_fraction = 0\ncycles = 800\nwarmup = 100\nseeds = 1\n"))
    assert {point.name: point.resolved["ties"] for point in swept} == {"ties plus": "plus", "ties signed": "signed"}
    assert len({point.key for point in swept}) == 2


def test_traces_are_swept_and_keys_tell_what_is_in_them_apart(sweep_of, tmp_path):
    line, keys = '{"cycle": 1, "source": 0, "destinations": [3], "length": %d}', []
    files = [tmp_path / name for name in ("one.jsonl", "two.jsonl")]
    for lengths in ((4, 5), (4, 6)):
        for file, length in zip(files, lengths, strict=True):
            file.write_text(line % length)
        swept = points(sweep_of(f'topology = "mesh:4x4"\nscheme = "dual-path"\ntrace = ["{files[0]}", "{files[1]}"]\n'))
        keys += [point.key for point in swept]
        result = swept[1].run()
        assert (result["messages"], result["precise"]) == (1, False)
    assert keys[0] == keys[2]
    assert len(set(keys)) == 3
    assert [swept[0].resolved[name] for name in ("trace", "cycles", "seed", "seeds")] == [
        str(files[0]), None, None, None]
    with pytest.raises(WormcastError, match=r"rate, seeds: .* are not valid with a trace, .* a trace without "
                                            r"these options\."):
        points(sweep_of(f'topology = "mesh:4x4"\nscheme = "dual-path"\nrate = 0.1\nseeds = 2\ntrace = "{files[0]}"\n'))


@pytest.mark.parametrize(("text", "sentence"), [
    ("destination_mean = 4", "'destination_mean' is not a key of a sweep. Nearest: destinations_mean"),
    ("multicast-fraction = 1", "'multicast-fraction' is not a key of a sweep. Nearest: multicast_fraction"),
    ('storage = "lutram"', "'storage' is not a key of a sweep"),
    ("rate = 0.1", "topology, scheme are missing. Needed: topology, scheme"),
    ("rate = nan", "rate: nan is not valid. Allowed: finite numbers"),
    ("rate = true", "rate: true is not valid. Allowed: a number or a list, each a number"),
    (f"rate = {10**400}", "rate: a whole number of more than 64 bits is not valid. Allowed: finite"),
    ('vcs = [1, "2"]', "vcs[1]: '2' is not valid. Allowed: a whole number"),
    ("vcs = [[1]]", "vcs[0]: [1] is not valid. Allowed: a whole number"),
    ("[rate]\na = 1", "rate: {'a': 1} is not valid. Allowed: a number or a list, each a number"),
    ("rate = ", "is not TOML"),
], ids=lambda text: text.split("=")[0].strip() if "=" in text else "")
def test_file_is_refused_in_a_sentence(text, sentence, sweep_of):
    with pytest.raises(WormcastError) as refused:
        sweep_of(text if text == "rate = 0.1" else f'{SMALL}scheme = "dual-path"\n{text}\n')
    assert sentence in without_place(str(refused.value)).replace("\n", " ")


@pytest.mark.parametrize(("text", "sentence"), [
    ("rate = []", "rate: [] is not valid. Allowed: 1 or more entries"),
    ("rate = [1, 1.0]", "rate: 1.0 occurs twice in the list"),
    (f"rate = {[n / 1e6 for n in range(101)]}\nseed = {list(range(100))}", "10100 points are not valid. Allowed:"),
    ("rate = [0.1, 3]", "rate: 3 is not valid: it creates 12 flits to consume per node and cycle"),
    ("rate = 0.1\nvcs = [2, 17]", "vcs[1]: 17 is not valid. Allowed: a whole number from 1 to 16"),
    ("rate = 0.1\ncycles = [100, 0]", "cycles[1]: 0 is not valid. Allowed: a whole number from 1 to"),
    ("rate = 0.1\nseeds = [1, 0]", "seeds[1]: 0 is not valid. Allowed: a whole number from 1 to 1024"),
    ("rate = 0.1\nseed = -1", "seed: -1 is not valid. Allowed: a whole number from 0 to"),
    ('rate = 0.1\nconfiguration = ["fast", "none"]', "configuration: 'none' is unknown"),
    ('rate = 0.1\nrelation = "nowhere.py"', "relation:"),
    ('rate = 0.1\nmulticast_fraction = 0.5\npattern = ["uniform", "shuffle", "spiral"]',
     "pattern[2]: 'spiral' is not valid. Allowed: uniform, "),
], ids=lambda text: "" if ":" in text else text[-20:])
def test_points_are_refused_in_a_sentence(text, sentence, sweep_of):
    with pytest.raises(WormcastError) as refused:
        points(sweep_of(f'{SMALL}scheme = "dual-path"\n{text}\n'))
    assert sentence in without_place(str(refused.value))
