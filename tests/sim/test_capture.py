"""An engine's state, taken and put back: what follows is the same, register for register."""

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.source import Source

SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10, "t_ns": 3, "t_nr": 2},
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
    "multipath": {"consumption": 2, "header": "ideal", "flit_width": 150, "consumption_links": "separate"},
}
LANES, CUT, END = 2, 700, 1500


def engine(scheme, **options):
    """An engine with all messages of ``END`` cycles before it."""
    network = Network(topology("mesh:4x4"), SCHEMES[scheme], Configuration(**SETTINGS[scheme]), LANES)
    traffic = Traffic(0.15, length=12, destinations_mean=3, multicast_fraction=0.5)
    window = MessageWindow(network, [Source(traffic, network.topology, seed) for seed in range(LANES)], END)
    return BulkEngine(network, window.host, **options)


def everything(one):
    """All registers by name, and what the hosts know."""
    return one.to_arrays()


def assert_same(one, other):
    one, other = everything(one), everything(other)
    assert set(one) == set(other)
    for name, array in one.items():
        assert np.array_equal(array, other[name]), name


# registers of one word; counters of packets, and several ports and readers
@pytest.mark.parametrize("scheme", some(SETTINGS, "dual-path", "column-path"))
def test_an_engine_goes_back_to_what_it_captured(scheme):
    one, unbroken = engine(scheme), engine(scheme)
    one.run(CUT, beyond=True)
    capture = one.capture()
    for _ in range(2):
        one.run(END - CUT, beyond=True)
        unbroken.run(END - int(unbroken.host.counters[0]), beyond=True)
        assert_same(one, unbroken)
        for kind, block in one.blocks.items():
            assert np.array_equal(block.state, unbroken.blocks[kind].state)
        one.restore(capture)  # the capture has not changed meanwhile
    assert one.host.worms["touched"].max() < CUT


# to narrower vectors; to others where there is time
@pytest.mark.parametrize(("scheme", "width"), [
    ("dual-path", 16), slow("dual-path", 32), slow("dual-path", 64), slow("column-path", 32), slow("multipath", 16)])
def test_a_state_moves_to_a_machine_with_other_vectors(scheme, width):
    one, other = engine(scheme), engine(scheme, vector_width=width)
    one.run(CUT, beyond=True)
    other.run(33, beyond=True)  # nothing of this stays
    other.from_arrays(one.to_arrays())
    assert {kernel.vector_width for kernel in other.kernels.values()} == {width}
    assert_same(one, other)
    for kind, block in one.blocks.items():
        for word in block.kernel.outputs:
            assert np.array_equal(block.output(word)[..., :block.n], other.blocks[kind].output(word)[..., :block.n])
    for _ in range(40):  # cycle by cycle at first, where a link that was forgotten shows
        one.run(1, beyond=True)
        other.run(1, beyond=True)
        assert_same(one, other)
    one.run(END - CUT, beyond=True)
    other.run(END - CUT, beyond=True)
    assert_same(one, other)
    assert (one.host.left == 0).sum() > 50


def test_flits_were_everywhere_when_it_was_cut():
    """Else the tests above would show little: links, buffers and hosts hold something."""
    one = engine("dual-path")
    one.run(CUT, beyond=True)
    arrays = everything(one)
    assert arrays["link.tx"].any()
    assert arrays["link.rx.credit"].any()
    assert sum(array.any() for name, array in arrays.items() if name.endswith("links")) > 3


@pytest.mark.slow
def test_some_registers_have_more_than_64_bits():
    """Those of multipath, which are captured above where there is time."""
    arrays = everything(engine("multipath")).values()
    assert any(array.dtype == np.uint64 and len(array) > 1 for array in arrays)
