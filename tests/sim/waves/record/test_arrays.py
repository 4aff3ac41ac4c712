"""State of objects by name: whatever they hold comes out as copies, and goes back in."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from wormcast.sim.waves.record.arrays import copy_in, copy_out


class Table(NamedTuple):
    rows: np.ndarray
    flags: np.ndarray


@dataclass(frozen=True)
class Fixed:
    names: tuple[str, ...] = ("never", "looked", "at")


class Stream:
    def __init__(self, seed):
        self.state = np.array([seed, seed + 1], np.uint64)
        self.position = np.int64(seed)


class Reader:
    """Says itself what its state is; what else it holds is nobody's business."""

    def __init__(self):
        self.lines, self.place = iter("abc"), 3

    @property
    def state(self):
        return np.array([self.place])

    @state.setter
    def state(self, state):
        self.place = int(state[0])


class Thing:
    def __init__(self):
        self.fixed = Fixed()
        self.table = Table(np.arange(3), np.zeros(2, bool))
        self.sums = {"one": np.ones(2), "two": 2.5}
        self.streams = [Stream(1), Stream(2)]
        self.pair = (1, "text")
        self.nothing = None
        self.act = len
        self.reader = Reader()


def test_all_that_changes_comes_out_and_goes_in():
    thing, other = Thing(), Thing()
    thing.table.rows[1] = 70
    thing.table = thing.table._replace(flags=np.ones(5, bool))
    thing.sums["two"], thing.streams[1].position = 3.5, 9
    thing.streams[0].state[0] = 2**64 - 1
    thing.reader.place = 8
    leaves = copy_out(thing)
    assert set(leaves) == {
        "table.rows", "table.flags", "sums.one", "sums.two", "streams.0.state", "streams.0.position",
        "streams.1.state", "streams.1.position", "pair.0", "pair.1", "nothing", "reader.state"}
    copy_in(other, leaves)
    assert other.table.rows.tolist() == [0, 70, 2]
    assert other.table.flags.tolist() == [True] * 5
    assert other.reader.place == 8
    assert (other.sums["two"], other.streams[1].position) == (3.5, 9)
    assert int(other.streams[0].state[0]) == 2**64 - 1


def test_nothing_is_shared():
    thing, other = Thing(), Thing()
    leaves = copy_out(thing)
    thing.table.rows[0] = 5
    copy_in(other, leaves)
    other.table.rows[1] = 6
    assert leaves["table.rows"].tolist() == [0, 1, 2]


def test_types_may_be_left_out():
    leaves = copy_out(Thing(), without=(Table, list))
    assert set(leaves) == {"sums.one", "sums.two", "pair.0", "pair.1", "nothing", "reader.state"}
    copy_in(Thing(), leaves, without=(Table, list))


def test_what_is_no_state_is_refused():
    thing = Thing()
    thing.strange = {1, 2}
    with pytest.raises(TypeError, match="strange: a set has no arrays"):
        copy_out(thing)


def test_names_must_agree():
    leaves = copy_out(Thing())
    with pytest.raises(ValueError, match=r"table\.rows is missing"):
        copy_in(Thing(), {name: leaf for name, leaf in leaves.items() if name != "table.rows"})
    with pytest.raises(ValueError, match="more is not known"):
        copy_in(Thing(), leaves | {"more": 1})
