"""Beyond saturation, a step does not read all waiting messages: the rows read are proportional to those created."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Trace, Traffic
from wormcast.sim.build.setup import Origin
from wormcast.sim.common.growable import Growing
from wormcast.sim.experiments.load import keep
from wormcast.sim.experiments.load.experiment import Experiment
from wormcast.sim.experiments.load.message_window import FEW, MessageWindow
from wormcast.sim.experiments.load.seed_batch import CHUNK, SeedBatch
from wormcast.sim.host import MovingHost
from wormcast.sim.host.program_layout import WORM
from wormcast.sim.waves.record import checkpoint

MESH = topology("mesh:4x4")
SATURATED = Traffic(0.9, multicast_fraction=0.0, unicast_length=2)
#: Works that pass over all rows of a window, and how many of its rows for each that is created they may, all together.
MOST = {"audit": 2, "capture": 2, "drop": 4, "move": 1}


def experiment(traffic=SATURATED, cycles=40 * CHUNK, **options):
    return Experiment(MESH, SCHEMES["individual"], traffic, configuration=Configuration(vcs=1, consumption=1),
                      cycles=cycles, warmup=0, parts=[[0]], **options)


def moved(growing, more):
    """Worms that move to a larger room; None where they stay."""
    there = len(growing.rows)
    return there if growing.rows.dtype == WORM and there + len(more) > len(growing._room) else None


@pytest.fixture
def touched(monkeypatch):
    """Rows of worms that each of these works has passed over, time by time."""
    found = {name: [] for name in MOST}

    def counted(owner, method, name, rows):
        before = getattr(owner, method)

        def count(one, *arguments):
            if (number := rows(one, *arguments)) is not None:
                found[name].append(number)
            return before(one, *arguments)

        monkeypatch.setattr(owner, method, count)

    counted(MessageWindow, "audit", "audit", lambda window: len(window.host.worms))
    counted(SeedBatch, "capture", "capture", lambda group: len(group.window.host.worms))
    counted(MovingHost, "drop", "drop", lambda moving, worms: len(moving.host.worms) - worms if worms else None)
    counted(Growing, "extend", "move", moved)
    return found


def test_rows_touched_follow_those_created(touched):
    one = experiment(rewind=True)
    one.run()
    window = one.groups[0].window
    created = window.worms_before + len(window.host.worms)
    assert len(window.host.worms) > 20 * FEW * MESH.nodes
    for name, rows in touched.items():
        assert rows, name
        assert sum(rows) < MOST[name] * created, name
    # once more at the end, when all is looked at
    assert touched["audit"][-1] > 0.8 * len(window.host.worms)
    assert one.result().saturated


def test_what_is_little_is_looked_at_in_each_step(touched):
    one = experiment(Traffic(0.05, multicast_fraction=0.0), rewind=True)
    one.run()
    assert len(touched["audit"]) == 40
    assert len(touched["capture"]) == 20
    assert one.groups[0].window.rhythm == 1


def test_a_past_state_is_at_most_as_far_back_as_the_beginning_was_then():
    one = experiment(cycles=50 * CHUNK, rewind=True)
    for now in range(CHUNK, 50 * CHUNK, CHUNK):
        one.run(now)
        assert one.pasts[0].before(now).cycle >= (now - 4 * CHUNK) // 2


def test_a_file_holds_nothing_that_is_through(tmp_path):
    one = experiment()
    one.run(11 * CHUNK)
    window = one.groups[0].window
    assert window._through > 0
    keep(one, Origin("individual"), tmp_path / "kept")
    _, arrays = checkpoint.read(tmp_path / "kept")
    assert arrays["0.engine.host.deliveries"]["received"][0] < 0
    assert len(arrays["0.engine.host.worms"]) == len(arrays["0.window._messages.state"]) == len(window.host.worms)
    size = sum(arrays[f"0.engine.host.{field}"].nbytes for field in ("worms", "deliveries", "header"))
    assert size < 208 * len(window.host.worms)  # of which 8 are the exchange of requests and replies


def test_messages_that_wait_for_receipts_are_counted_when_they_begin(tmp_path, touched):
    """A ring of unicasts, each behind the receipt of the one before: all there from the start, begun one by one."""
    path, number = tmp_path / "ring.jsonl", 5000
    path.write_text("".join(
        f'{{"cycle": 0, "source": {k % 16}, "destinations": [{(k + 1) % 16}], "length": 1'
        + (f', "after": {k - 1}}}\n' if k else "}\n") for k in range(number)))
    one = experiment(Trace(str(path)), cycles=None)
    one.run(8 * CHUNK)
    window = one.groups[0].window
    begun = int(window.counts()["begun"][0])
    assert 1 < begun == int((window.host.worms["waits"] == 0).sum()) + window.worms_before < number
    assert np.array_equal(window.waiting(), [int((window.host.injected[window.host.worms["waits"] == 0] < 0).sum())])
    one.run()
    assert one.result().totals["messages"].sum() == number
    assert sum(touched["audit"]) < 12 * number
