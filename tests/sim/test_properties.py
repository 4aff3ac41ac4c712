"""Whatever is sent through a network with enough consumption channels arrives, and leaves nothing behind."""

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from .bench import bulk, check_receipts, finish, host_of, left_over, network, send

# mesh, scheme, hardware: a kernel each; dual-path has the two consumption channels that suffice, or more
HARDWARE = [
    ("mesh:1x2", "dual-path", {"vcs": 1, "buffer": 1, "flit_width": 16}),
    ("mesh:1x4", "dual-path", {"vcs": 1, "buffer": 4}),
    ("mesh:7x1", "dual-path", {"vcs": 2, "buffer": 2, "flit_width": 7}),
    ("mesh:1x7", "dual-path", {"vcs": 1, "buffer": 3, "readers": "independent", "flit_width": 67, "consumption": 2}),
    ("mesh:3x2", "dual-path", {"vcs": 3, "buffer": 1, "consumption": 3, "flit_width": 32}),
    ("mesh:4x4", "dual-path", {"vcs": 2, "buffer": 2, "readers": "independent", "flit_width": 40}),
    ("mesh:5x3", "dual-path", {"vcs": 1, "buffer": 5, "readers": "independent", "delays": "fast", "flit_width": 32}),
    ("mesh:2x5", "individual", {"vcs": 1, "buffer": 8, "consumption": 1, "flit_width": 67}),
    ("mesh:6x6", "individual", {"vcs": 3, "buffer": 2, "consumption": 2, "delays": "fast", "flit_width": 32}),
    ("mesh:9x7", "dual-path", {"vcs": 2, "buffer": 4}),
    ("mesh:9x7", "dual-path", {"vcs": 1, "buffer": 16, "consumption": 4, "flit_width": 64, "storage": "registers"}),
]


@st.composite
def traffic(draw):
    mesh, scheme, options = draw(st.sampled_from(HARDWARE))
    rows, columns = map(int, mesh.removeprefix("mesh:").split("x"))
    nodes = rows * columns
    rng = draw(st.randoms(use_true_random=False))  # many values: hypothesis's own are slow to draw one by one
    latest = draw(st.sampled_from([0, 30, 1000]))
    messages = []
    for _ in range(draw(st.integers(1, min(2 * nodes, 24)))):
        source = rng.randrange(nodes)
        others = [node for node in range(nodes) if node != source]
        most = draw(st.sampled_from([1, 4, 16]))
        destinations = rng.sample(others, rng.randint(1, min(most, nodes - 1)))
        messages.append(send(source, *destinations, length=rng.randint(1, 80), at=rng.randint(0, latest)))
    return mesh, scheme, options, messages, draw(st.sampled_from([0.0, 0.3, 0.9])), draw(st.integers(0, 2**32 - 1))


@settings(max_examples=80, derandomize=True, deadline=None, database=None, phases=[Phase.generate],
          suppress_health_check=list(HealthCheck))
@given(traffic())
def test_everything_is_delivered_and_nothing_is_left(case):
    """Every destination gets every payload flit of its message once, in order and unharmed; then every buffer is
    empty, every channel free, every credit back."""
    mesh, scheme, options, messages, stall, seed = case
    engine = bulk(mesh, scheme, messages, stall=stall, seed=seed, **options)
    flits = sum((message.length + len(message.destinations)) * len(message.destinations) for message in messages)
    finish(engine, within=2000 + int(20 * flits / (1 - stall)))
    assert not left_over(engine)
    host = engine.host
    assert (host.head >= 0).all()
    length = np.repeat(host.worms["length"], host.worms["delivery_end"] - host.worms["delivery"])
    assert (host.tail - host.head >= length - 1).all()


def test_what_is_left_over_is_noticed():
    """In the middle of a run the check at the end of the others finds buffers, channels and credits in use."""
    engine = bulk("mesh:1x4", "dual-path", [send(0, 1, 2, 3, length=40)], vcs=1, buffer=4)
    engine.run(40)
    found = " ".join(left_over(engine))
    for name in ("level0", "owns_link", "links", "here", "busy", "credits",
                 "host.left", "host.sending"):
        assert name in found


# the host's own checks, with what it is given spoilt on the way --------------------------------------------------


class Wire:
    """A run of one-way worms to node 2 of a row of four, whose words to the hosts can be spoilt on the way."""

    def __init__(self, messages=None, **options):
        options = {"vcs": 1, "buffer": 4, "consumption": 2, "flit_width": 32} | options
        self.engine = bulk("mesh:1x4", "dual-path", messages or [send(0, 2, length=12)], **options)
        self.marks = self.engine.kernels["interface"].output("host_out_0").bits

    def get(self, node):
        """What lies on the link to a node's host in the cycle to come: valid, channel, head, tail, data."""
        return int(self.engine.output("interface", "host_out_0")[node])

    def set(self, node, word):
        block = self.engine.blocks["interface"]
        block.output("host_out_0")[..., node] = word & (1 << self.marks) - 1
        data = block.output("host_out_0.data")
        data = data.reshape(-1, data.shape[-1])
        for part in range(len(data)):
            data[part, node] = word >> self.marks + 64 * part & (1 << 8 * data.dtype.itemsize) - 1

    def flip(self, node, bit):
        """Flip a bit: 2 and 3 are head and tail, the data begin at 4."""
        self.set(node, self.get(node) ^ 1 << bit)

    def run_until_payload(self, node, flits):
        """Stop when the flit after so many lies on the link to the node's host."""
        seen = 0
        for _ in range(500):
            if self.get(node) & 1:
                if seen == flits:
                    return self
                seen += 1
            self.engine.run(1)
        raise AssertionError("nothing came")

    def outcome(self):
        self.engine.run(1000, beyond=True)
        check_receipts(self.engine.host)
        return int(self.engine.host.left.sum())


CORRUPT = "not the next one of its worm, or is wrongly marked"


def test_an_unspoilt_run_passes():
    assert Wire().outcome() == 0


@pytest.mark.parametrize("bit", range(2, 36))
def test_a_flipped_bit_is_caught(bit):
    """A flip of any bit in any payload flit behind the first; 2 and 3: head and tail."""
    for place in (1, 11):
        wire = Wire().run_until_payload(2, place)
        wire.flip(2, bit)
        with pytest.raises(RuntimeError, match=CORRUPT):
            wire.outcome()


@pytest.mark.parametrize("bit", range(2, 36))
def test_a_flipped_bit_of_the_first_flit_is_caught(bit):
    """The same in a worm's first payload flit, where the tag says which worm it is."""
    wire = Wire().run_until_payload(2, 0)
    wire.flip(2, bit)
    with pytest.raises(RuntimeError, match="node 2, consumption channel 0: received a"):
        wire.outcome()


@pytest.mark.parametrize("bit", [4, 68, 100, 133])
def test_a_flipped_bit_of_a_wide_flit_is_caught(bit):
    wire = Wire([send(0, 2, length=5)], flit_width=130, buffer=1).run_until_payload(2, 2)
    wire.flip(2, bit)
    with pytest.raises(RuntimeError, match=CORRUPT):
        wire.outcome()


@pytest.mark.parametrize("place", [1, 5])
def test_a_dropped_flit_is_caught(place):
    wire = Wire().run_until_payload(2, place)
    wire.set(2, 0)
    with pytest.raises(RuntimeError, match=CORRUPT):
        wire.outcome()


def test_a_dropped_last_flit_leaves_the_delivery_open():
    wire = Wire().run_until_payload(2, 11)
    wire.set(2, 0)
    assert wire.outcome() == 1


@pytest.mark.parametrize("place", [0, 5, 10])
def test_a_swapped_pair_is_caught(place):
    later = Wire().run_until_payload(2, place + 1).get(2)
    wire = Wire().run_until_payload(2, place)
    earlier = wire.get(2)
    wire.set(2, later)
    wire.engine.run(1)
    wire.set(2, earlier)
    with pytest.raises(RuntimeError, match="node 2"):
        wire.outcome()


def test_a_flit_given_twice_is_caught():
    wire = Wire().run_until_payload(2, 3)
    again = wire.get(2)
    wire.engine.run(1)
    wire.set(2, again)
    with pytest.raises(RuntimeError, match=CORRUPT):
        wire.outcome()


def test_a_worm_that_comes_to_the_wrong_node_is_caught():
    wire = Wire().run_until_payload(2, 0)
    wire.set(1, wire.get(2))
    with pytest.raises(RuntimeError, match="node 1, consumption channel 0: received a first payload flit"):
        wire.outcome()


def test_a_flit_of_another_worm_is_caught():
    """Worms of two sources meet at node 2: a flit of the one, shown on the channel of the other."""
    wire = Wire([send(0, 2, length=12), send(3, 2, length=12)])
    for _ in range(500):
        wire.engine.run(1)
        if wire.get(2) & 1 and (wire.engine.host.channels["delivery"].reshape(-1, 2)[2] >= 0).all():
            break
    wire.flip(2, 1)  # the number of the consumption channel
    with pytest.raises(RuntimeError, match=CORRUPT):
        wire.outcome()


def test_hosts_of_one_network_are_laid_out_alike():
    """Two hosts of the same messages are equal, so that engines can be compared."""
    net = network("mesh:1x4", "dual-path", (("buffer", 4), ("vcs", 1)))
    one, other = (host_of(net, [send(0, 1, 2, length=3)]) for _ in range(2))
    assert all((a == b).all() for a, b in zip(one, other, strict=True))
