"""An experiment that went through a file comes to what an unbroken one comes to, byte for byte."""

import json
import re

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import WormcastError, find_scheme, load_relation, to_toml, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.setup import Origin
from wormcast.sim.experiments.load import Experiment, Traffic, keep, resume
from wormcast.sim.waves.record import checkpoint

from .test_experiment import DEADLOCK, SETTINGS, experiment, outcome

RELATION = """
from wormcast.algorithms import E_CUBE, Relation

class Mine(Relation):
    name = "mine"

    def table(self, topology):
        return E_CUBE.table(topology)
"""


def passed(one, path, scheme="dual-path", **origin):
    """The same experiment, out of a file."""
    keep(one, Origin(scheme, **origin), path)
    return resume(path)[0]


@pytest.mark.parametrize("scheme", some(SETTINGS, "dual-path"))
def test_a_file_changes_nothing(scheme, tmp_path):
    """Cut before the first cycle, within, one after the other, and at the end."""
    unbroken = experiment(scheme)
    unbroken.run()
    one = passed(experiment(scheme), tmp_path / "0", scheme)
    for cut in (2048, 7000, 13_000, 14_000):
        one.run(cut)
        one = passed(one, tmp_path / str(cut), scheme)
    assert one.finished
    assert outcome(one) == outcome(unbroken)
    assert one.seconds > 0


def test_ties_are_as_they_were(tmp_path):
    """The option stays, and worms that are posted behind the cut carry signs as those before it."""
    ring = topology("ring:4")

    def fresh(ties):
        return Experiment(ring, find_scheme("individual", ring), Traffic(0.3, multicast_fraction=0, unicast_length=5),
                          configuration=Configuration(ties=ties), cycles=4000, warmup=0, parts=[[1]])

    whole, one, plus = fresh("signed"), fresh("signed"), fresh("plus")
    for unbroken in (whole, plus):
        unbroken.run()
    one.run(1500)
    other = passed(one, tmp_path / "kept", "individual")
    assert other.configuration.ties == "signed"
    other.run()
    assert outcome(other) == outcome(whole) != outcome(plus)


def test_bursts_go_on_from_where_they_are(tmp_path):
    like = experiment()
    bursts = Traffic(0.02, destinations_mean=3, injection_process="on-off", burst_on=300, burst_off=900,
                     multicast_sets="cluster", cluster_size=4)

    def fresh():
        return Experiment(like.topology, like.scheme, bursts, configuration=like.configuration, cycles=6000, warmup=0,
                          parts=[[1, 2]])

    whole, one = fresh(), fresh()
    whole.run()
    one.run(2500)
    other = passed(one, tmp_path / "kept")
    other.run()
    assert outcome(other) == outcome(whole)


def test_exchanges_go_on_from_where_they_are(tmp_path):
    """Requests wait at their hosts, and replies for their requests, when the file is written."""
    like = experiment()
    replying = Traffic(0.1, destinations_mean=3, multicast_fraction=0.5, length=12, reply=5, outstanding=1)

    def fresh():
        return Experiment(like.topology, like.scheme, replying, configuration=like.configuration, cycles=6000, warmup=0,
                          parts=[[1, 2]])

    whole, one = fresh(), fresh()
    whole.run()
    one.run(2500)
    host = one.groups[0].window.host
    assert (host.nodes["first_held"] >= 0).any()
    assert (host.exchanges["due"] > 0).any()
    other = passed(one, tmp_path / "kept")
    other.run()
    assert outcome(other) == outcome(whole)


@pytest.mark.parametrize("processors", [slow(1), slow(2), 7])
def test_any_number_of_processors_continues_it(processors, tmp_path, monkeypatch):
    unbroken, one = experiment(workers=3), experiment(workers=3)
    unbroken.run()
    one.run(5000)
    keep(one, Origin("dual-path"), tmp_path / "kept")
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    other, _ = resume(tmp_path / "kept")
    other.run()
    assert outcome(other) == outcome(unbroken)


def test_groups_that_were_interrupted_apart_go_on_from_where_they_are(tmp_path):
    unbroken, one = experiment(), experiment()
    unbroken.run()
    one.groups[0].advance(9000, one._end)
    other = passed(one, tmp_path / "kept")
    assert [group.now for group in other.groups] == [group.now for group in one.groups]
    assert other.now == 0
    other.run()
    assert outcome(other) == outcome(unbroken)


@pytest.mark.slow  # it is continued above, and extended in test_experiment
def test_more_cycles_after_a_file(tmp_path):
    one, other = experiment(cycles=6000), experiment(cycles=6000)
    one.run()
    one.extend(9000)
    one.run()
    other.run()
    other = passed(other, tmp_path / "kept")
    other.extend(9000)
    other.run()
    assert outcome(other) == outcome(one)


def test_a_deadlock_comes_all_the_same(tmp_path):
    unbroken, one = experiment(**DEADLOCK), experiment(**DEADLOCK)
    unbroken.run()
    one.run(unbroken.deadlocked.now - 3000)
    other = passed(one, tmp_path / "kept")
    other.run()
    assert outcome(other) == outcome(unbroken)


def test_what_a_file_holds(tmp_path):
    one = experiment(cycles=4000, warmup=300, workers=2)
    one.run(2000)
    keep(one, Origin("dual-path", None, "small"), tmp_path / "kept")
    content, arrays = checkpoint.read(tmp_path / "kept")
    assert (content["cycle"], content["cycles"], content["warmup"]) == (2000, 4000, 300)
    assert (content["topology"], content["scheme"], content["named"]) == ("mesh:4x4", "dual-path", "small")
    assert content["parts"] == [[3], [1, 2]]
    assert content["traffic"]["rate"] == 0.04
    assert all(array.dtype != object for array in arrays.values())
    assert arrays["0.engine.host.counters"][0] == 2000
    flits = arrays["1.engine.router.local_input.buffer.memory"]
    assert (flits.dtype, flits.shape[:2]) == (np.uint64, (1, 32))


def test_a_relation_must_be_the_same_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(RELATION)
    one = experiment("u-mesh", cycles=3000)
    one.scheme = one.scheme.routed_by(load_relation("mine.py"))
    keep(one, Origin("u-mesh", "mine.py"), tmp_path / "kept")
    file.write_text(RELATION + "# changed\n")
    with pytest.raises(WormcastError, match=r"relation: mine\.py has changed since .*kept was written"):
        resume(tmp_path / "kept")
    file.unlink()
    with pytest.raises(WormcastError, match=r"relation: there is no file mine\.py"):
        resume(tmp_path / "kept")


@pytest.mark.parametrize("name", ["mine.toml", "mine.py:ring"])
def test_a_network_of_ones_own_is_built_again_from_its_file_and_from_no_other(name, tmp_path, monkeypatch):
    """A changed file is refused before it is run."""
    monkeypatch.chdir(tmp_path)
    file, ran = tmp_path / name.partition(":")[0], tmp_path / "ran"
    text = to_toml(topology("ring:4")) if file.suffix == ".toml" else (
        f"from wormcast.algorithms import topology\nopen({str(ran)!r}, 'a').close()\n"
        "def ring():\n    return topology('ring:4')\n")
    file.write_text(text)
    network = topology(name)
    one = Experiment(network, find_scheme("individual", network), Traffic(0.05, multicast_fraction=0),
                     configuration=Configuration(), cycles=600, warmup=100, parts=[[1]])
    one.run(300)
    keep(one, Origin("individual"), tmp_path / "kept")
    other, _ = resume(tmp_path / "kept")
    assert other.topology.describe() == network.describe()
    assert other.topology.origin == name
    ran.unlink(missing_ok=True)
    file.write_text(f"{text}# changed\n")
    with pytest.raises(WormcastError, match=rf"topology: {name} has changed since .*kept was written"):
        resume(tmp_path / "kept")
    assert not ran.exists()


@pytest.mark.parametrize(("change", "why"), [
    ({"hardware": "0" * 64}, "it builds different hardware"), ({"groups": [{}, {}]}, "is missing"),
    ({"parts": [[1], [2]]}, ""),
])
def test_what_another_wormcast_of_this_version_wrote_is_refused(change, why, tmp_path):
    one = experiment(cycles=3000)
    keep(one, Origin("dual-path"), tmp_path / "kept")
    content, arrays = checkpoint.read(tmp_path / "kept")
    checkpoint.write(tmp_path / "kept", {**content, **change}, arrays)
    with pytest.raises(WormcastError, match=f"is damaged, or another wormcast of the same version wrote it.*{why}"):
        resume(tmp_path / "kept")


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Content and arrays of an experiment in mid-run."""
    path = tmp_path_factory.mktemp("kept") / "kept"
    one = experiment("dual-path", cycles=6000, warmup=300)
    one.run(3000)
    keep(one, Origin("dual-path"), path)
    return checkpoint.read(path)


def changed(content, at, value):
    """The same content with another value there; None takes it away."""
    other = json.loads(json.dumps(content))
    *way, last = at
    inner = other
    for step in way:
        inner = inner[step]
    if value is None:
        del inner[last]
    else:
        inner[last] = value
    return other


@pytest.mark.parametrize(("at", "value", "why"), [
    (["topology"], 3, "topology: 3 is not valid. Allowed: text"),
    slow(["topology"], "mesh:2x8", ""),
    slow(["scheme"], [1], r"scheme: \[1\] is not valid. Allowed: text"),
    slow(["scheme"], "multipath", "multipath plans other worms than those under way"),
    slow(["relation"], 3, "relation: 3 is not valid. Allowed: text or nothing"),
    (["cycle"], -1, "cycle: -1 is not valid. Allowed: a whole number, at least 0"),
    (["cycle"], 1, "the key cycle differs from the cycle of the groups of seeds: 1, "),
    (["cycle"], None, "cycle is missing"),
    (["cycles"], 7000, "totals.edges do not divide the cycles into slices"),
    slow(["cycles"], "6000", "cycles: '6000' is not valid. Allowed: a whole number"),
    slow(["warmup"], 301, "totals.edges do not divide the cycles into slices"),
    (["parts"], 3, "parts: 3 is not valid. Allowed: a list"),
    slow(["parts"], [[3, 1, 2]], ""),
    (["parts", 0], [], r"parts\[0\]: \[\] is not valid. Allowed: 1 or more entries"),
    (["traffic"], "x", "traffic: 'x' is not valid. Allowed: a table"),
    (["traffic"], {"burst": 3}, "traffic: 'burst' is not a key of traffic"),
    (["traffic", "rate"], "x", "rate: 'x' is not valid. Allowed: a number"),
    (["configuration", "vcs"], "2", "vcs: '2' is not valid. Allowed: a whole number from 1 to 16"),
    slow(["configuration"], [3], r"configuration: \[3\] is not valid. Allowed: a table"),
    slow(["seconds"], "x", "seconds: 'x' is not valid. Allowed: a number"),
    (["seconds"], -1, "seconds: -1 is not valid. Allowed: a number, at least 0"),
    slow(["groups"], 3, "groups: 3 is not valid. Allowed: a list"),
    (["groups", 0], 3, r"groups\[0\]: 3 is not valid. Allowed: a table"),
    slow(["groups", 0, "now"], "x", "now is 'x'"),
    slow(["groups", 0, "now"], -5, "now is -5"),
    (["groups", 0, "now"], 2048, "now is 2048"),
    (["groups", 0, "drained"], 1, "drained is 1"),
    (["groups", 0, "drained"], True, "drained is True"),
    (["groups", 1, "drained"], True, "drained is True"),
    (["groups", 0, "links._lanes"], 3, "links._lanes is 3"),
    (["groups", 0, "window._seen"], 10**9,
     "the messages in the window and the program of the hosts do not have the same worms"),
    (["groups", 0, "window._through"], 1, "window._through is 1"),
    (["groups", 0, "seeds.0"], 7, "seeds.0 is 7"),
    (["groups", 0, "more"], 7, "more is not known"),
])
def test_a_crafted_content_is_refused(at, value, why, kept, tmp_path):
    content, arrays = kept
    checkpoint.write(tmp_path / "kept", changed(content, at, value), arrays)
    key, value, rest = why.partition(": ")
    place = re.escape(f" in {tmp_path / 'kept'}: ") if re.fullmatch(r"[\w\\\[\].]+", key) else value
    with pytest.raises(WormcastError, match=f"{key}{place}{rest}" if why else "is damaged, or another wormcast"):
        resume(tmp_path / "kept")


def with_field(array, field, value):
    other = array.copy()
    other[field][:] = value
    return other


@pytest.mark.parametrize(("name", "craft"), [
    *((name, lambda array: np.zeros(3)) for name in (
        "0.engine.host.worms", "0.engine.link.tx", "0.totals.table", "0.window.sources.0.state")),
    *(slow(name, lambda array: np.zeros(3)) for name in (
        "0.engine.host.counters", "0.links.table", "0.totals.edges", "0.window._messages.state", "0._counted")),
    ("0.engine.router.local_input.buffer.memory", lambda array: array.astype(float)),
    ("0.engine.router.east_output.vc0_busy", lambda array: array | 0x80),  # it has one bit
    ("0.engine.router.first_fault", lambda array: array * 0 + 1),
    slow("0.engine.router.first_fault", lambda array: array * 0 + 255),
    ("0.engine.host.agenda", lambda array: array + 10**6),
    slow("0.engine.host.tagged", lambda array: array + 10**6),
    ("0.engine.host.worms", lambda array: with_field(array, "behind", 10**9)),
    slow("0.engine.host.deliveries", lambda array: with_field(array, "behind", -10**9)),
    slow("0.engine.host.deliveries", lambda array: with_field(array, "release", 0)),
    ("0.engine.host.options", lambda array: array + 1),
    slow("0.engine.host.worms", lambda array: with_field(array, "header_at", -3)),
    slow("0.engine.host.worms", lambda array: with_field(array, "stream", 10**9)),
    slow("0.engine.host.deliveries", lambda array: with_field(array, "node", 10**9)),
    ("0.engine.host.deliveries", lambda array: with_field(array, "worm", 0)),
    slow("0.engine.host.counters", lambda array: array - 5),
    ("0.totals.edges", lambda array: array[::-1]),
    ("0.links._starts", lambda array: array * 2),
    ("0.window._messages.state", lambda array: with_field(array, "lane", 77)),
    slow("0.window._messages.state", lambda array: with_field(array, "worm", 10**9)),
    ("0.window.sources.0.state", lambda array: with_field(array, "next", -10**15)),
    ("1.more", lambda array: np.zeros(3)),
])
def test_crafted_arrays_are_refused(name, craft, kept, tmp_path):
    content, arrays = kept
    checkpoint.write(tmp_path / "kept", content, {**arrays, name: craft(arrays.get(name))})
    with pytest.raises(WormcastError, match="is damaged, or another wormcast"):
        resume(tmp_path / "kept")


@pytest.mark.parametrize(("name", "why"), [
    ("router.west_input.buffer.vc0_write_at", r"seed \d, up to cycle \d+: \w+ \d\.\d found an error at"),
    ("host.begun", r"seed \d, up to cycle \d+: host \d\.\d found an error at host_out_0, unexpected worm, 0x"),
])
def test_a_crafted_state_that_leads_to_what_cannot_be_is_told_in_a_sentence(name, why, kept, tmp_path):
    """Its numbers can each be what they are, but not together."""
    content, arrays = kept
    name = f"0.engine.{name}"
    checkpoint.write(tmp_path / "kept", content, {**arrays, name: 1 - np.minimum(arrays[name], 1)})
    one, _ = resume(tmp_path / "kept")
    with pytest.raises(WormcastError, match=rf"kept holds a state that no experiment reaches, or .*{why}"):
        one.run()


def test_a_scheme_is_looked_at_before_it_is_run(tmp_path, monkeypatch):
    """Its text must be what it was, and its file that of this user or of the one whose checkpoint it is."""
    monkeypatch.chdir(tmp_path)
    file, ran = tmp_path / "mine.py", tmp_path / "ran"
    text = RELATION + f"open({str(ran)!r}, 'a').close()\n"
    file.write_text(text)
    one = experiment("u-mesh", cycles=3000)
    one.scheme = one.scheme.routed_by(load_relation("mine.py"))
    keep(one, Origin("u-mesh", "mine.py"), tmp_path / "kept")
    ran.unlink()
    file.write_text(text + "# changed\n")
    with pytest.raises(WormcastError, match=r"relation: mine\.py has changed"):
        resume(tmp_path / "kept")
    file.write_text(text)
    owners = {"mine.py": 7, "kept": 8}
    monkeypatch.setattr("wormcast.sim.experiments.load.checkpoint.owner", lambda path: owners[path.name])
    with pytest.raises(WormcastError, match=r"relation: mine\.py, which .*kept names, .*belongs to another user"):
        resume(tmp_path / "kept")
    assert not ran.exists()
    owners["kept"] = 7
    with pytest.raises(WormcastError, match="it builds different hardware"):  # as the relation came later
        resume(tmp_path / "kept")
    assert ran.exists()


def test_a_path_may_be_text(tmp_path):
    keep(experiment(cycles=3000), Origin("dual-path"), str(tmp_path / "kept"))
    assert resume(str(tmp_path / "kept"))[0].now == 0
