"""Plans a second; see the figures with ``python -m pytest tests/algorithms/test_speed.py -s``."""

import time

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, topology

MESSAGES, DESTINATIONS = 100_000, 10


@pytest.fixture(scope="module")
def messages():
    """On 8x8: sources, offsets and destinations."""
    random = np.random.default_rng(1)
    nodes = np.argsort(random.random((MESSAGES, 64), np.float32), axis=1)[:, : DESTINATIONS + 1].astype(np.int32)
    return nodes[:, 0], np.arange(MESSAGES + 1) * DESTINATIONS, nodes[:, 1:].ravel()


@pytest.mark.parametrize("name", SCHEMES)
def test_every_scheme_makes_100_000_plans_a_second_on_one_core(name, messages):
    network = topology("mesh:8x8")
    best = np.inf
    for _ in range(4):  # the first one may compile
        start = time.process_time()
        SCHEMES[name].batch(network, *messages)
        best = min(best, time.process_time() - start)
    print(f"\n{name}: {MESSAGES / best:,.0f} plans/s")
    assert best < 1.0
