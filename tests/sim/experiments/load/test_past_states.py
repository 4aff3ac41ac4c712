"""Past states: how many there are, and how far apart."""

import pytest

from wormcast.sim.experiments.load.past_states import DOUBLINGS, LEAST, MOST_BYTES, RUNG, PastStates


def climbed(cycles, start=0, step=2048):
    """A ladder of cycles' own numbers, filled as a run goes by."""
    ladder = PastStates()
    for now in range(start, cycles, step):
        if ladder.due(now):
            ladder.add(now, now)
    return ladder


@pytest.mark.parametrize("cycles", [6 * RUNG, 37 * RUNG, 1000 * RUNG, 1001 * RUNG + 2048, 2047 * RUNG + 4000])
def test_there_is_one_between_every_age_and_twice_that(cycles):
    ladder = climbed(cycles)
    ages = sorted(cycles - ladder.before(cycle) for cycle in range(0, cycles + 1, RUNG))
    x = RUNG
    while x <= min(RUNG << DOUBLINGS, cycles):
        assert any(x <= age <= 2 * x for age in ages) or cycles in ages, x
        x += RUNG // 2


def test_there_are_never_many_and_the_start_stays():
    ladder = PastStates()
    for now in range(0, 10_000 * RUNG, RUNG):
        ladder.add(now, now)
        assert len(ladder) <= PastStates.MOST
    assert ladder.before(0) == 0


def test_the_newest_before_a_cycle():
    ladder = climbed(5 * RUNG)
    assert ladder.before(4 * RUNG) == 4 * RUNG
    assert ladder.before(4 * RUNG - 1) == 3 * RUNG
    later = climbed(20 * RUNG, start=3000 * RUNG - 5 * RUNG + 100)
    assert len(later) == 0
    continued = climbed(3010 * RUNG, start=3000 * RUNG + 100)
    assert continued.before(7) == 3000 * RUNG + 100  # there is none: the oldest


def test_large_states_are_few():
    ladder = PastStates()
    for now in range(0, 1000 * RUNG, RUNG):
        ladder.add(now, now, MOST_BYTES // 6)
    assert len(ladder) == 6
    ladder.add(1000 * RUNG, 1000 * RUNG, 2 * MOST_BYTES)
    assert len(ladder) == LEAST
    assert ladder.before(1000 * RUNG) == 1000 * RUNG
