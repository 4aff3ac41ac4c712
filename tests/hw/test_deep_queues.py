# amaranth: UnusedElaboratable=no
"""Millions of random flits through single deep switches leave as queues would let them."""

import pytest
from cases import slow

from .deep import deep_switch
from .queues import Traffic


def check(shape, lanes, cycles, least, seed=1):
    inputs, outputs, chunk, rows, flits, nodes = shape
    switch, kernel = deep_switch(inputs, outputs, chunk=chunk, rows=rows, flits=flits, nodes=nodes)
    traffic = Traffic(switch, kernel, lanes, seed=seed)
    traffic.run(cycles)
    assert traffic.flits >= least
    assert (traffic.ends > 0).all(), "no worm has ended in some place of a row"
    assert (traffic.masks[1:] > 0).all(), "no worm has gone to some set of outputs"


def test_random_flits():
    check((3, 3, 4, 4, 1, 1), 243, 1000, 100_000)


#: Inputs, outputs, flits of a chunk, rows, flits of a header, outputs to nodes.
SHAPES = [(2, 2, 2, 2, 1, 0), (3, 3, 4, 2, 1, 1), (3, 3, 8, 3, 3, 1), (2, 2, 2, 5, 2, 0), (4, 3, 4, 3, 2, 0),
          (5, 7, 7, 3, 3, 2), (8, 8, 8, 80, 1, 4), (4, 4, 4, 16, 1, 0)]


@pytest.mark.parametrize("shape", [slow(shape) for shape in SHAPES], ids=str)
def test_ten_million_random_flits(shape):
    """So many of all shapes together."""
    check(shape, 486, 5000, 10_000_000 // len(SHAPES))
