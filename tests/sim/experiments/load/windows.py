"""Run messages of sources through a network, in windows as long as a test wants them."""

import numpy as np

from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.load.window import Window
from wormcast.sim.host import check_receipts


def through(network, sources, chunk, cycles, keep=False):
    """What became of the messages, in windows of so many cycles; the window, and the most worms it held.

    ``keep``: nothing is dropped.
    """
    window = Window(network, sources, chunk)
    engine, done, largest = BulkEngine(network, window.host), [], 0
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
    return np.concatenate(done), window, largest
