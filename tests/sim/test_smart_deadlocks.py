"""Smart interfaces with fewer places than a message has packets may stop each other for ever; with enough, never."""

from pathlib import Path

import pytest
from command import wormcast

#: Two chains that forward to each other, and a unicast that slows one of them down.
KEPT = Path(__file__).parent / "smart_deadlocks" / "chains_2x2.jsonl"


@pytest.mark.parametrize(("places", "code"), [(1, 5), (4, 0)])
def test_chains_that_cross_never_end_with_one_place_and_arrive_with_enough(places, code):
    """Nothing is proved of what is inside interfaces: the run ends by its time-out."""
    ended, told, _ = wormcast("run", "mesh:2x2", "k-binomial:k=1", "--messages", KEPT, "--packet", 4, "--vcs", 1,
                              "--consumption", 1, "--buffer", 4, "--ni", "fpfs", "--rows", 4, "--places", places,
                              "--timeout", 5000)
    assert ended == code
    assert ("not finished by --timeout" if code else "delivered after 91 cycles") in told
