"""Worms that are copied on their way: they come to each destination once, and with tokens they never deadlock."""

import pytest
from cases import some

from .test_deadlock_free import Full, keep_full

# never a deadlock ----------------------------------------------------------------------------------------------

#: Somewhat more than each can carry: multicasts wait for tokens.
FULL = {
    "atbm, 64 nodes": Full("atbm", 500, {"vcs": 1, "buffer": 1, "consumption": 1, "flit_width": 65},
                           "min:b=2,stages=6", most=63, unicasts=0.8, busy=0.1),
    "atbm, a channel for each input": Full("atbm", 900, {"vcs": 2, "buffer": 3, "consumption": 4, "flit_width": 33},
                                           "min:b=2,stages=6", most=63, unicasts=0.8, busy=0.1),
    "tree-synchronous": Full("tree-synchronous", 900, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 65},
                             "min:b=4,stages=3", most=63, unicasts=0.8, busy=0.1),
    "tree-serial, omega": Full("tree-serial", 400, {"vcs": 2, "buffer": 4, "consumption": 1, "flit_width": 17},
                               "min:b=2,stages=4,kind=omega", most=15, unicasts=0.5, busy=0.1),
    "atbm, 256 nodes of 2x2": Full("atbm", 420, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 257},
                                   "min:b=2,stages=8", most=128, unicasts=0.8, busy=0.1),
    "atbm, 256 nodes of 4x4": Full("atbm", 700, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 257},
                                   "min:b=4,stages=4", most=128, unicasts=0.8, busy=0.1),
}


@pytest.mark.parametrize("name", some(FULL, "atbm, 64 nodes", "tree-synchronous"))
def test_with_tokens_trees_never_deadlock(name):
    """200 000 cycles, near saturation and beyond it: everything is delivered, and nothing is left in the networks."""
    assert keep_full(FULL[name], cycles=200_000 // 16, batches=1, seed=1) >= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_with_tokens_trees_never_deadlock_in_ten_million_cycles(name):
    """The same in six batches; what the hosts know of a batch is forgotten before the next."""
    assert keep_full(FULL[name], cycles=110_000, batches=6, seed=2) >= 10_000_000
