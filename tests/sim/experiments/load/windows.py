"""Run messages of sources through a network, in windows as long as a test wants them, and count its flits."""

import numpy as np

from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source
from wormcast.sim.host import check_receipts


def through(network, sources, chunk, cycles, keep=False):
    """Run a load in windows of ``chunk`` cycles. Return the messages' outcomes, the window, and the most worms it held.

    ``keep``: nothing is dropped, and the last result is what worms have got (`GRANT`).
    """
    window = MessageWindow(network, sources, chunk)
    engine, done, largest = BulkEngine(network, window.host), [], 0
    if keep:
        engine.follow()
    for start in range(0, cycles, chunk):
        if start:
            window.extend(start + chunk)
        engine.host = window.host
        engine.run(chunk, beyond=True)
        check_receipts(window.host)
        if not keep:
            done.append(window.take_done())
        largest = max(largest, len(window.host.worms))
    done.append(window.take_rest())
    return np.concatenate(done), window, engine.grants.take() if keep else largest


def require_flits_conserved(network, traffic, cycles, window=100):
    """Created = consumed, on their way and waiting, after every window of so many cycles; flits are consumed in each
    lane."""
    sources = [Source(traffic, network.topology, seed) for seed in range(1, network.lanes + 1)]
    moving = MessageWindow(network, sources, window)
    engine, consumed = BulkEngine(network, moving.host, measure=True), np.zeros(network.lanes, np.int64)
    for end in range(window, cycles + 1, window):
        engine.host = moving.host
        engine.run(window, beyond=True)
        moving.take_done()
        consumed += take(engine.meter).flits[network.fabric.rows("host")].sum(axis=0)
        due = np.zeros(network.lanes, np.int64)
        np.add.at(due, moving.host.deliveries["node"] // network.nodes, moving.host.deliveries["due"])
        assert np.array_equal(moving.counts()["wanted"], consumed + due)
        moving.extend(end + window)
    assert consumed.all()
