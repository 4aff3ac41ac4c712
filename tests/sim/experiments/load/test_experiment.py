"""An experiment that is paused, put back, extended or replayed comes to what an unbroken one comes to."""

import csv
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import waves
from cases import slow, some

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Traffic
from wormcast.sim.experiments.load.experiment import Experiment, shared
from wormcast.sim.experiments.load.messages import MessageTable
from wormcast.sim.experiments.load.past_states import RUNG
from wormcast.sim.experiments.load.rewind import rewind_to_deadlock, rewind_to_message, rewind_to_window
from wormcast.sim.waves.record import RecordingFacts, find_instances, record

MESH = topology("mesh:4x4")
TRAFFIC = Traffic(0.04, destinations_mean=3, multicast_fraction=0.5, length=12)
SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
}


def experiment(scheme="dual-path", *, cycles=14_000, seeds=(3, 1, 2), workers=2, warmup=None, rewind=False,
               traffic=TRAFFIC, **options):
    return Experiment(MESH, SCHEMES[scheme], traffic, configuration=Configuration(**{**SETTINGS[scheme], **options}),
                      cycles=cycles, warmup=warmup, parts=shared(seeds, workers), rewind=rewind)


def outcome(one):
    """The result, and all that it is made of."""
    found = one.result()
    told = {name: value for name, value in found.to_dict().items() if name != "cycles_per_second"}
    return told, found.slices.tobytes(), found.edges.tolist()


@pytest.fixture(scope="module")
def unbroken():
    known = {}

    def run(scheme):
        if scheme not in known:
            one = experiment(scheme)
            one.run()
            known[scheme] = outcome(one)
        return known[scheme]

    return run


@pytest.mark.parametrize("scheme", some(SETTINGS, "dual-path", "u-mesh"))
def test_pauses_and_captures_change_nothing(scheme, unbroken):
    one = experiment(scheme, rewind=True)
    for pause in (1, 2048, 2049, 13_999):
        one.run(pause)
        assert pause <= one.now < pause + 2048
        for group in one.groups:
            state = group.capture()
            group.advance(14_000, SimpleNamespace(before=lambda _: False))  # ahead, and back again
            group.restore(state)
    one.run()
    assert one.finished
    assert outcome(one) == unbroken(scheme)


def test_a_result_can_be_had_twice_and_before_more(unbroken):
    one = experiment()
    one.run()
    assert outcome(one) == outcome(one) == unbroken("dual-path")


def test_more_cycles_are_further_slices_of_the_same_length():
    """Then it is as if these had been asked for from the start, but for the number of slices."""
    one = experiment(cycles=10_000, warmup=500)
    one.run()
    one.extend(15_000)
    one.extend(30_000)
    assert np.array_equal(np.unique(np.diff(one.edges)), [50])
    one.run()
    other = experiment(cycles=30_000, warmup=500)
    other.run()
    found, known = one.result(), other.result()
    assert (found.cycles, found.warmup, len(found.slices)) == (30_000, 500, 600)
    assert np.array_equal(found.totals[[name for name in found.totals.dtype.names if name != "waiting"]],
                          known.totals[[name for name in found.totals.dtype.names if name != "waiting"]])
    one.extend(30_000)
    assert one.finished
    one.extend(30_020)
    assert one.edges[-2:].tolist() == [30_000, 30_020]
    with pytest.raises(WormcastError, match=r"cycles: 30019 is not valid\. Allowed: 30020 \(the present number\) to"):
        one.extend(30_019)


def test_slices_stay_few_however_far_it_goes():
    one = experiment(cycles=100)
    for cycles in (1000, 2**32 - 1, 2**32):
        one.extend(cycles)
        assert (one.cycles, one.edges[0]) == (cycles, 0)
        assert len(one.edges) <= 2003
        assert (np.diff(one.edges) > 0).all()


def test_an_interruption_leaves_groups_between_steps(unbroken, monkeypatch):
    one = experiment()
    first = one.groups[0]
    step = first._step

    def interrupted(until, *more):
        if until > 6000:
            raise KeyboardInterrupt
        step(until, *more)

    monkeypatch.setattr(first, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        one.run()
    assert 0 < first.now <= 6000
    assert not one.finished
    monkeypatch.undo()
    one.run()
    assert outcome(one) == unbroken("dual-path")


class Recorder:
    """Stands for the recorder: notes all registers of an engine, every few cycles."""

    def __init__(self, monkeypatch, every=1):
        self.every = every
        monkeypatch.setattr(sys.modules[rewind_to_window.__module__], "record", self)

    def __call__(self, engine, path, cycles, instances, about, *, first):
        self.first, self.cycles, self.instances = first, cycles, list(instances)
        assert engine.host.counters[0] == first
        self.seen = registers(engine, cycles, self.every)


def registers(engine, cycles, every=1):
    """All registers, as they are in one cycle of so many."""
    found = []
    for _ in range(0, cycles, every):
        found.append({f"{kind}.{name}": block.kernel.read_parts(block, name)
                      for kind, block in engine.blocks.items() for name in block.kernel.state})
        engine.run(every, beyond=True)
    return found


def assert_seen(recorder, group):
    """A group that has not begun shows what was recorded, when it gets there in one go."""
    group.window.extend(recorder.first + recorder.cycles)
    group.engine.host = group.window.host
    group.engine.run(recorder.first, beyond=True)
    for one, other in zip(registers(group.engine, recorder.cycles, recorder.every), recorder.seen, strict=True):
        for name, values in one.items():
            assert np.array_equal(values, other[name]), name
    assert any(values.any() for values in recorder.seen[-1].values())


# from the beginning; a window in the middle is compared as a waveform below
@pytest.mark.parametrize(("scheme", "first", "end"), [("u-mesh", 0, 30), slow("column-path", 5000, 5030),
                                                      slow("dual-path", 4090, 4120)])
def test_what_is_replayed_is_what_went_by(scheme, first, end, unbroken, monkeypatch, tmp_path):
    """A window that is recorded afterwards shows what an engine shows that has never gone back."""
    recorder = Recorder(monkeypatch)
    one = experiment(scheme, rewind=True)
    one.run(first + 1)
    rewind_to_window(one, tmp_path / "x.vcd", first, end, [("router", 0)])
    assert (recorder.first, recorder.cycles, recorder.instances) == (first, end - first, [("router", 0)])
    one.run()
    assert outcome(one) == unbroken(scheme)
    assert_seen(recorder, experiment(scheme).groups[0])


def test_a_rewound_waveform_is_the_one_that_is_recorded_as_it_goes_by(tmp_path):
    first, end, instances = 5000, 5060, [("router", 5), ("interface", 5)]
    one, plain = experiment(rewind=True), experiment().groups[0]
    one.run(12_000)
    assert one.groups[0].window.worms_before > 0
    rewind_to_window(one, tmp_path / "rewound.vcd", first, end, instances)
    plain.window.extend(end)
    plain.engine.host = plain.window.host
    plain.engine.run(first, beyond=True)
    record(plain.engine, tmp_path / "plain.vcd", end - first, instances,
           RecordingFacts(plain.window.message_of), first=first)
    assert (tmp_path / "rewound.vcd").read_bytes() == (tmp_path / "plain.vcd").read_bytes()


def worms_on_links(path):
    """Return the worms that each virtual channel of a link shows at any time, and the waveform's metadata."""
    told = json.loads(path.read_text().split("$comment", 1)[1].split("$end", 1)[0].split("wormcast ", 1)[1])
    found, seen = waves.read(path), {}
    for link in told["links"]:
        for vc in range(link["vcs"]):
            wave = found[f"{link['scope']}.vc_{vc}.holder"]
            seen[link["name"], vc] = {wave.at(cycle * waves.PERIOD) for cycle in range(told["first"], told["end"])}
    return seen, told


@pytest.mark.parametrize("scheme", ["u-mesh", slow("dual-path"), slow("column-path")])
def test_the_worst_message_is_shown_from_its_creation_to_its_receipt(scheme, tmp_path):
    one, unbroken = experiment(scheme, rewind=True, seeds=(3, 2), workers=1), experiment(scheme, seeds=(3, 2))
    one.run()
    unbroken.run()
    for lane, seed in enumerate((3, 2)):
        worst = next(row for row in one.result().worst() if row["seed"] == seed)
        first, end = worst["created"], worst["created"] + worst["latency"]
        worms = rewind_to_message(one, tmp_path / "worst.vcd", seed, worst["message"], first, end)
        assert outcome(one) == outcome(unbroken)
        shown, told = worms_on_links(tmp_path / "worst.vcd")
        assert (told["lane"], told["first"], told["end"]) == (lane, first - 10, end + 11)
        mine = [worm for worm in told["worms"] if worm["worm"] in worms]
        assert [worm["worm"] for worm in mine] == worms
        assert {worm["length"] for worm in mine} == {worst["length"]}
        assert worst["source"] in {worm["source"] for worm in mine}
        assert sum(len(worm["destinations"]) for worm in mine) == worst["destinations"]
    # the same cycles of the whole network show these worms nowhere else
    alone = experiment(scheme, seeds=(2,), rewind=True)
    alone.run(end + 1)
    network = alone.groups[0].window.network
    rewind_to_window(alone, tmp_path / "all.vcd", first, end + 1, find_instances(network, "all"))
    everything, about = worms_on_links(tmp_path / "all.vcd")
    ours = {f"sworm_{worm}" for worm in worms}
    theirs = {f"sworm_{worm['worm']}" for worm in about["worms"] if worm["message"] == worst["message"]}
    assert len(theirs) == len(ours)
    assert {at for at, seen in shown.items() if seen & ours} == {
        at for at, seen in everything.items() if seen & theirs} != set()


@pytest.mark.slow  # the worst messages above are of two seeds
def test_messages_of_the_same_number_are_told_apart_by_their_seeds(tmp_path):
    one = experiment(cycles=6000, seeds=(3, 2), workers=1, rewind=True)
    table = MessageTable(one)
    one.run()
    table.write(tmp_path / "m.csv", parquet=False, warmup=0)
    with (tmp_path / "m.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if int(row["created"]) > RUNG]
    number = next(row["message"] for row in rows if [other["message"] for other in rows].count(row["message"]) == 2)
    for row in rows:
        if row["message"] == number:
            seed, message, created, received = (int(row[name]) for name in ("seed", "message", "created", "received"))
            worms = rewind_to_message(one, tmp_path / "w.vcd", seed, message, created, received)
            _, told = worms_on_links(tmp_path / "w.vcd")
            mine = [worm for worm in told["worms"] if worm["worm"] in worms]
            assert (len(worms), mine[0]["source"]) == (int(row["worms"]), int(row["source"]))
            assert " ".join(str(node) for worm in mine for node in worm["destinations"]) == row["destinations"]


def test_a_message_older_than_all_that_is_kept_is_refused(tmp_path):
    one = experiment(rewind=True)
    one.run()
    del one.pasts[0]._rungs[0]  # as it goes where states are large
    seed = one.groups[0].seeds[0]
    with pytest.raises(WormcastError, match=r"^message 1 is not valid: it was created in cycle 20, before the oldest "
                                            r"stored state\. Allowed: messages created from cycle \d+ on\.$"):
        rewind_to_message(one, tmp_path / "x.vcd", seed, 1, 20, 90)


DEADLOCK = {"traffic": Traffic(0.02, length=64, destinations_mean=4), "cycles": 60_000, "seeds": (1, 2, 3, 4),
            "consumption": 1, "vcs": 1, "buffer": 2}


def test_a_deadlock_is_replayed_from_before_it(monkeypatch, tmp_path):
    recorder = Recorder(monkeypatch, every=20)
    one = experiment(rewind=True, **DEADLOCK)
    one.run()
    told, group = outcome(one), one.deadlocked
    found, at = group.found, one.groups.index(group)
    assert (one.finished, told[0]["deadlock"]["at"]) == (True, found.deadlock.at)
    assert found.deadlock.at - found.first > 5000  # it had come to rest long before it was looked for
    rewind_to_deadlock(one, tmp_path / "deadlock.vcd")
    assert (recorder.first, recorder.cycles) == (found.first, found.end - found.first)
    assert {number // 16 for _, number in recorder.instances} == {found.lane}
    wanted = {int(resource.split(":")[1].split(">")[0]) for hold in found.deadlock.cycle for resource in hold.waits}
    assert wanted <= {number % 16 for kind, number in recorder.instances if kind == "router"}
    assert_seen(recorder, experiment(**DEADLOCK).groups[at])


def test_a_rewound_deadlock_names_its_worms(tmp_path):
    """The numbers are those of the result, however many worms the host has forgotten before the proof."""
    one = experiment(rewind=True, **DEADLOCK)
    one.run()
    cycle = outcome(one)[0]["deadlock"]["cycle"]
    assert one.deadlocked.window.worms_before > 0
    rewind_to_deadlock(one, tmp_path / "w.vcd")
    told = (tmp_path / "w.vcd").read_text().split("$comment", 1)[1].split("$end", 1)[0]
    told, found = json.loads(told.split("wormcast ", 1)[1]), waves.read(tmp_path / "w.vcd")
    assert told["deadlock"]["cycle"] == cycle
    assert {hold["worm"] for hold in cycle} <= {worm["worm"] for worm in told["worms"]}
    scopes, last = {link["name"]: link["scope"] for link in told["links"]}, (told["end"] - 1) * waves.PERIOD
    for hold in cycle:
        for resource in hold["holds"]:
            kind, where, vc = resource.split(":")
            scope = scopes[f"cons:{where}#0" if kind == "cons" else f"link:{where}"]
            # a worm may stand in a buffer whose link another one, behind it, has by now
            holder = found[f"{scope}.vc_{vc}.holder"].at(last)
            assert holder == f"sworm_{hold['worm']}" or kind == "link"
    held = {resource for hold in cycle for resource in hold["holds"]}
    assert all(set(hold["waits"]) & held for hold in cycle)


def test_a_deadlock_is_the_same_with_pauses():
    unbroken = experiment(**DEADLOCK)
    unbroken.run()
    one = experiment(rewind=True, **DEADLOCK)
    while not one.finished:
        one.run(one.now + 3000)
    assert outcome(one) == outcome(unbroken)
    assert unbroken.deadlocked.now > RUNG
