# amaranth: UnusedElaboratable=no
"""Throughput of a reader of a deep switch's rows, by the time from the request of a row to its fetch."""

import pytest
from cases import slow

from wormcast.hw.deep.reader import RowReader

from . import bench

START, CYCLES = 20, 140


def sends(chunk, delay):
    """Number of flits that a reader sends in CYCLES cycles. Each row is fetched ``delay`` cycles after its request."""
    reader = RowReader(inputs=2, rows=4, chunk=chunk, width=8)
    asked = fetched = found = 0  # cycles in which the present request has waited; the last fetch; flits sent

    def step(cycle, context):
        nonlocal asked, fetched, found
        found += cycle >= START and context.get(reader.send)
        takes = bool(context.get(reader.fetch_request)) and asked == delay
        asked = 0 if takes or not context.get(reader.fetch_request) else asked + 1
        context.set(reader.granted, cycle == 1)
        context.set(reader.credit, 1)
        context.set(reader.fetch_grant, takes)
        context.set(reader.loads, fetched)
        fetched = takes

    bench.simulate(reader, START + CYCLES, step)
    return found


@pytest.mark.parametrize(("chunk", "delay"), [
    (2, 0), (3, 0), (3, 1), (4, 1), (4, 2), slow(5, 2), slow(5, 3), (8, 5), (8, 6),
])
def test_throughput(chunk, delay):
    """A flit per cycle up to a delay of chunk - 3, then a row in delay + 3 cycles."""
    least = CYCLES * chunk // max(chunk, delay + 3)
    assert least - chunk <= sends(chunk, delay) <= least + chunk
    if delay <= chunk - 3:
        assert sends(chunk, delay) == CYCLES
