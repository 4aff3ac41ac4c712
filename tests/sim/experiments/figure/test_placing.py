"""Loads at which curves are measured, for each load at which a network may saturate."""

import pytest

from wormcast.sim.experiments.figure.placing import FINE, next_places

MOST = 72


def measured(saturates):
    """Places in the order in which they are asked for, round by round, until no more are."""
    known, rounds = {}, 0
    while places := next_places(known, MOST):
        assert not places & known.keys()
        rounds += 1
        known |= {place: place >= saturates for place in places}
        assert rounds < 30
    return known


@pytest.mark.parametrize("saturates", [*range(1, MOST + 1), MOST + 1])
def test_the_knee_lies_between_two_neighbours(saturates):
    known = measured(saturates)
    over = [place for place, saturated in known.items() if saturated]
    if saturates > MOST:
        assert over == []
        assert MOST in known
        return
    assert min(over) == saturates
    assert saturates == 1 or saturates - 1 in known
    assert all(place in known for place in range(FINE, saturates, FINE))
    assert min(max(saturates + FINE, 3 * saturates // 2), MOST) in known  # one beyond
    assert len(known) <= saturates / FINE + 8
    assert max(known) <= max(4 * FINE, min(max(saturates + 2 * FINE, 3 * saturates // 2), MOST))

