"""An experiment that went through a file comes to what an unbroken one comes to, byte for byte."""

import numpy as np
import pytest

from wormcast.algorithms import WormcastError, load_relation
from wormcast.sim.build.setup import Origin
from wormcast.sim.experiments.load import keep, resume
from wormcast.sim.waves.record import checkpoint

from .test_experiment import DEADLOCK, SETTINGS, experiment, outcome

RELATION = """
from wormcast.algorithms import E_CUBE, Relation

class Mine(type(E_CUBE)):
    name = "mine"
"""


def passed(one, path, scheme="dual-path", **origin):
    """The same experiment, out of a file."""
    keep(one, Origin(scheme, **origin), path)
    return resume(path)[0]


@pytest.mark.parametrize("scheme", SETTINGS)
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


@pytest.mark.parametrize("processors", [1, 2, 7])
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
    with pytest.raises(WormcastError, match=r"relation: mine\.py is not what it was when .*kept was written"):
        resume(tmp_path / "kept")
    file.unlink()
    with pytest.raises(WormcastError, match=r"relation: there is no file mine\.py"):
        resume(tmp_path / "kept")


@pytest.mark.parametrize(("change", "why"), [
    ({"hardware": "0" * 64}, "it builds other hardware"), ({"traffic": {"burst": 3}}, "burst"),
    ({"groups": [{}, {}]}, "is missing"), ({"parts": [[1], [2]]}, ""),
])
def test_what_another_wormcast_of_this_version_wrote_is_refused(change, why, tmp_path):
    one = experiment(cycles=3000)
    keep(one, Origin("dual-path"), tmp_path / "kept")
    content, arrays = checkpoint.read(tmp_path / "kept")
    checkpoint.write(tmp_path / "kept", {**content, **change}, arrays)
    with pytest.raises(WormcastError, match=f"was written by another wormcast, although of the same version.*{why}"):
        resume(tmp_path / "kept")
