"""Whatever is sent through a network with enough consumption channels arrives, and leaves nothing behind."""

import itertools
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import NO_CLASS, ConsumptionClasses, topology
from wormcast.sim.experiments.run import plan_messages
from wormcast.sim.host.program_layout import tag_bits

from .bench import bulk, check_receipts, finish, host_of, left_over, network, send

# mesh, scheme, hardware: a kernel each; as many consumption channels as suffice, or more
HARDWARE = [
    ("mesh:1x2", "dual-path", {"vcs": 1, "buffer": 1, "flit_width": 16}),
    ("mesh:1x7", "dual-path", {"vcs": 1, "buffer": 3, "readers": "independent", "flit_width": 67, "consumption": 2}),
    ("mesh:5x3", "dual-path", {"vcs": 1, "buffer": 5, "readers": "independent", "delays": "fast", "flit_width": 32}),
    ("mesh:4x4", "u-mesh", {"vcs": 1, "buffer": 2, "consumption": 1, "t_hr": 9, "t_hs": 3}),
    ("mesh:5x4", "multipath", {"vcs": 1, "buffer": 2, "ports": "all", "flit_width": 20, "consumption": 3,
                               "consumption_links": "separate"}),
    ("mesh:5x4", "column-path", {"vcs": 1, "buffer": 2, "flit_width": 14, "readers": "independent"}),
    ("mesh:3x5", "e-mcast", {"vcs": 2, "buffer": 3, "consumption": 3, "classes": "1+,0+/1-/0-:last",
                             "consumption_links": "separate"}),
]
MORE = [
    ("mesh:4x4", "dual-path", {"vcs": 2, "buffer": 2, "readers": "independent", "flit_width": 40}),
    ("mesh:3x3x2", "dual-path", {"vcs": 2, "buffer": 3, "flit_width": 24}),
    ("mesh:6x6", "individual", {"vcs": 3, "buffer": 2, "consumption": 2, "delays": "fast", "flit_width": 32}),
    ("mesh:4x4", "e-mcast", {"vcs": 1, "buffer": 2, "consumption": 4, "flit_width": 9}),
    ("mesh:7x1", "dual-path", {"vcs": 2, "buffer": 2, "flit_width": 8}),
    ("mesh:9x7", "dual-path", {"vcs": 1, "buffer": 16, "consumption": 4, "flit_width": 64, "storage": "registers"}),
    ("mesh:2x5", "individual", {"vcs": 1, "buffer": 8, "consumption": 1, "flit_width": 67}),
    ("mesh:6x3", "column-path-literal", {"vcs": 2, "buffer": 4, "ports": "all", "consumption": 3}),
    ("mesh:4x5", "multipath-lmn", {"vcs": 4, "buffer": 1, "flit_width": 24, "packet": 5, "t_nr": 3}),
    ("mesh:1x4", "dual-path", {"vcs": 1, "buffer": 4}),
    ("mesh:3x2", "dual-path", {"vcs": 3, "buffer": 1, "consumption": 3, "flit_width": 32}),
    ("mesh:9x7", "dual-path", {"vcs": 2, "buffer": 4}),
    ("mesh:4x4x4", "dual-path", {"vcs": 1, "buffer": 2, "flit_width": 13, "ports": "all"}),
    ("mesh:2x3x4", "dual-path", {"vcs": 3, "buffer": 1, "readers": "independent", "consumption": 4,
                                 "consumption_links": "separate"}),
    ("mesh:4x1x5", "dual-path", {"vcs": 2, "buffer": 6, "delays": "fast", "classes": "up/down:last"}),
    ("mesh:4x4x4", "individual", {"vcs": 2, "buffer": 3, "consumption": 1, "ports": "all"}),
    ("mesh:1x9", "individual", {"vcs": 4, "buffer": 1, "consumption": 5, "flit_width": 8}),
    ("mesh:3x4x2", "u-mesh", {"vcs": 2, "buffer": 4, "consumption": 2, "ports": "all", "packet": 6, "t_ns": 2}),
    ("mesh:9x1", "u-mesh", {"vcs": 1, "buffer": 1, "consumption": 3, "injection_delay": 5}),
    ("mesh:8x8", "multipath", {"vcs": 1, "buffer": 4, "flit_width": 7, "readers": "independent"}),
    ("mesh:1x8", "multipath", {"vcs": 2, "buffer": 7, "consumption": 2, "delays": "fast"}),
    ("mesh:6x2", "multipath-lmn", {"vcs": 1, "buffer": 2, "ports": "all", "readers": "independent", "flit_width": 9}),
    ("mesh:8x1", "multipath-lmn", {"vcs": 3, "buffer": 3, "consumption": 4, "consumption_links": "separate"}),
    ("mesh:8x8", "column-path", {"vcs": 1, "buffer": 1, "flit_width": 13}),
    ("mesh:8x1", "column-path", {"vcs": 2, "buffer": 5, "consumption": 2, "readers": "independent"}),
    ("mesh:4x4x4", "column-path", {"vcs": 1, "buffer": 4, "consumption": 4, "consumption_links": "separate"}),
    ("mesh:5x5", "column-path", {"vcs": 1, "buffer": 3, "flit_width": 32, "packet": 4, "t_ns": 1, "delays": "fast"}),
    ("mesh:1x6", "column-path-literal", {"vcs": 1, "buffer": 2, "flit_width": 8}),
    ("mesh:3x3x3", "column-path-literal", {"vcs": 1, "buffer": 2, "ports": "all", "readers": "independent"}),
    ("mesh:8x8", "e-mcast", {"vcs": 1, "buffer": 2, "consumption": 4, "flit_width": 13, "readers": "independent"}),
    ("mesh:8x8", "e-mcast", {"vcs": 2, "buffer": 4, "consumption": 6, "ports": "all", "delays": "fast"}),
    ("mesh:1x7", "e-mcast", {"vcs": 1, "buffer": 2, "consumption": 2, "flit_width": 4}),
    ("mesh:7x1", "e-mcast", {"vcs": 4, "buffer": 3, "consumption": 3}),
    ("mesh:3x3x3", "e-mcast", {"vcs": 1, "buffer": 2, "consumption": 6, "flit_width": 7}),
    ("mesh:2x4x3", "e-mcast", {"vcs": 2, "buffer": 1, "consumption": 7, "packet": 4, "t_hs": 5, "t_nr": 2,
                               "consumption_links": "separate", "ports": "all", "readers": "independent"}),
]


@dataclass
class Traffic:
    mesh: str
    scheme: str
    options: dict[str, Any]
    messages: list[Any]
    stall: float
    seed: int

    def engine(self):
        return bulk(self.mesh, self.scheme, self.messages, stall=self.stall, seed=self.seed, **self.options)

    def within(self):
        """Cycles that are enough for one flit after the other."""
        each = sum(self.options.get(name, 0) for name in ("t_hs", "t_hr", "t_ns", "t_nr", "injection_delay"))
        flits = sum((message.length + len(message.destinations)) * len(message.destinations) * (1 + each)
                    for message in self.messages)
        return 4000 + int(20 * flits / (1 - self.stall))


def cases(hardware, most_flits=80):
    """Random traffic, without end: on each hardware in turn, and the same whatever else runs."""
    for number, (mesh, scheme, options) in enumerate(itertools.cycle(hardware)):
        rng, nodes = random.Random(number), topology(mesh).nodes
        latest, messages = rng.choice([0, 30, 1000]), []
        for _ in range(rng.randint(1, min(2 * nodes, 24))):
            source = rng.randrange(nodes)
            others = [node for node in range(nodes) if node != source]
            most = rng.choice([1, 4, 16])
            # tags of 8 bits tell 256 worms under way apart
            destinations = rng.sample(others, rng.randint(1, min(most, nodes - 1, 10)))
            messages.append(send(source, *destinations, length=rng.randint(1, most_flits), at=rng.randint(0, latest)))
        yield Traffic(mesh, scheme, options, messages, rng.choice([0.0, 0.3, 0.9]), rng.getrandbits(32))


def check_delivered(case):
    engine = case.engine()
    finish(engine, within=case.within())
    assert not left_over(engine)
    host = engine.host
    assert (host.head >= 0).all()
    length = np.repeat(host.worms["length"], host.worms["delivery_end"] - host.worms["delivery"])
    assert (host.tail - host.head >= length - 1).all()


# both readers, both delays, and links of all kinds
@pytest.mark.parametrize("number", some(range(2 * len(HARDWARE)), 0, 1, 2, 6))
def test_everything_is_delivered_and_nothing_is_left(number):
    """Every destination gets every payload flit of its message once, in order and unharmed; then every buffer is
    empty, every channel free, every credit back."""
    [case] = itertools.islice(cases(HARDWARE), number, number + 1)
    check_delivered(case)


@pytest.mark.slow
def test_everything_is_delivered_on_all_hardware():
    """The same for more hardware: all schemes on rows, columns, and in three dimensions up to 4x4x4."""
    for case in itertools.islice(cases(HARDWARE + MORE), 600):
        check_delivered(case)


# which consumption channel a worm takes ----------------------------------------------------------------------------


def taken_channels(engine, within):
    """Run to the end; (worm, destination, channel) of every payload flit, as often as there are."""
    net, host = engine.network, engine.host
    links, channels = net.links, net.channels
    vc_bits, tag_mask = (channels - 1).bit_length(), (1 << tag_bits(net.header.flit_width)) - 1
    block, taken = engine.blocks["interface"], Counter()
    for _ in range(within):
        for link in range(links):
            marks = block.output(f"host_out_{link}")[..., :net.nodes].reshape(-1)
            for node in np.flatnonzero(marks & 1).tolist():
                data = block.output(f"host_out_{link}.data")
                tag = int(data.reshape(-1, data.shape[-1])[0, node]) & tag_mask
                channel = link * channels + (int(marks[node]) >> 1 & (1 << vc_bits) - 1)
                taken[int(host.tagged[tag]), node, channel] += 1
        if not host.left.any():
            return taken
        engine.run(1)
    raise AssertionError("not everything is delivered")


def check_classes(case, seen):
    """Check the channels of one run, and count those of each kind of visit."""
    engine = case.engine()
    net = engine.network
    rule = net.configuration.consumption_classes(net.topology, net.scheme)
    plans = plan_messages(net.topology, net.scheme, case.messages)
    classes = rule.of_visits(net.scheme.relation.on(net.topology), plans)
    channels, taken = net.configuration.consumption, taken_channels(engine, case.within())
    check_receipts(engine.host)
    flits = Counter()
    for (worm, node, channel), count in taken.items():
        visits = plans.visits(worm).tolist()
        at = visits.index(node)
        flits[worm, node] += count
        k = int(classes[plans.destination_offsets[worm] + at])
        last = at == len(visits) - 1
        if last:
            seen["last, of a class" if channel < len(rule) else "last, of none"] += 1
        elif k != NO_CLASS:
            assert channel == k or channel >= len(rule), (worm, node, channel, k)
            seen["on the way, own class" if channel == k else "on the way, of none"] += 1
        assert channel < channels
    length = {(w, int(node)): case.messages[m].length for m in range(plans.messages)
              for w in range(plans.message_offsets[m], plans.message_offsets[m + 1]) for node in plans.visits(w)}
    assert flits == length


def classed(hardware):
    return [one for one in hardware if one[1] not in ("individual", "u-mesh")]


KINDS = {"last, of a class", "last, of none", "on the way, own class", "on the way, of none"}


@pytest.mark.slow  # one that does not is noticed below
def test_worms_on_their_way_take_channels_of_their_class():
    """At a destination that is not its last one a worm uses the channel of its class, or one of no class; at its last
    one, any. Drawn until each of these has been seen more than twenty times."""
    seen = Counter()
    for drawn, case in enumerate(cases(classed(HARDWARE), most_flits=20)):
        check_classes(case, seen)
        if drawn >= 10 and all(seen[kind] > 20 for kind in KINDS):
            break
        assert drawn < 100, seen


@pytest.mark.slow
def test_worms_on_their_way_take_channels_of_their_class_on_all_hardware():
    """The same for more hardware."""
    for case in itertools.islice(cases(classed(HARDWARE + MORE), most_flits=20), 150):
        check_classes(case, Counter())


@pytest.mark.parametrize("scheme", ["e-mcast", slow("column-path")])
def test_a_worm_in_a_channel_of_another_class_is_noticed(scheme):
    """With the classes of the plan renamed, and not those of the routers."""
    case = Traffic("mesh:4x4", scheme, {"vcs": 1, "buffer": 2, "consumption": 4, "flit_width": 9},
                   [send(0, 4, 8, 12, length=3), send(15, 11, 7, 3, length=3)], 0.0, 0)
    check_classes(case, Counter())
    with pytest.MonkeyPatch.context() as patch:
        of_visits = ConsumptionClasses.of_visits
        patch.setattr(ConsumptionClasses, "of_visits", lambda self, routes, worms: np.where(
            (found := of_visits(self, routes, worms)) == NO_CLASS, NO_CLASS, (found + 1) % len(self)))
        with pytest.raises(AssertionError):
            check_classes(case, Counter())


def test_what_is_left_over_is_noticed():
    """In the middle of a run the check at the end of the others finds buffers, channels and credits in use."""
    engine = bulk("mesh:1x4", "dual-path", [send(0, 1, 2, 3, length=40)], vcs=1, buffer=4)
    engine.run(40)
    found = " ".join(left_over(engine))
    for name in ("read0_at", "owns_link", "links", "here", "busy", "spent",
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
        """Return the word on the link to a node's host in the next cycle: valid, channel, head, tail, data."""
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

    def where(self, node):
        """Return the place that an error about the link to a node's host must name."""
        return f"node {node}, consumption channel {self.get(node) >> 1 & 1}"

    def outcome(self):
        self.engine.run(1000, beyond=True)
        check_receipts(self.engine.host)
        return int(self.engine.host.left.sum())


CORRUPT = "not the next one of its worm, or is wrongly marked"


def test_an_unspoilt_run_passes():
    assert Wire().outcome() == 0


@pytest.mark.parametrize("bit", some(range(2, 36), 2, 3, 4, 19, 20, 35))
def test_a_flipped_bit_is_caught(bit):
    """A flip of any bit in any payload flit behind the first; 2 and 3: head and tail."""
    for place in (1, 11):
        wire = Wire().run_until_payload(2, place)
        wire.flip(2, bit)
        with pytest.raises(RuntimeError, match=f"{wire.where(2)}: .*{CORRUPT}"):
            wire.outcome()


@pytest.mark.parametrize("bit", some(range(2, 36), 2, 3, 4, 19, 20, 35))
def test_a_flipped_bit_of_the_first_flit_is_caught(bit):
    """The same in a worm's first payload flit, where the tag says which worm it is."""
    wire = Wire().run_until_payload(2, 0)
    wire.flip(2, bit)
    with pytest.raises(RuntimeError, match=f"{wire.where(2)}: received a"):
        wire.outcome()


@pytest.mark.parametrize("bit", [slow(4), 68, slow(100), 133])
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


def test_a_packet_behind_the_end_of_its_worm_is_caught():
    """The last packet of three, said to be the fourth: where that would be, the next delivery's are noted."""
    wire = Wire([send(0, 2, length=12), send(0, 2, length=12, at=900)], packet=4).run_until_payload(2, 8)
    wire.flip(2, 4 + 16 + 2)  # the place in the worm, 8, becomes 12
    with pytest.raises(RuntimeError, match=f"{wire.where(2)}: received a first payload flit"):
        wire.outcome()


def test_a_worm_that_comes_to_the_wrong_node_is_caught():
    wire = Wire().run_until_payload(2, 0)
    wire.set(1, wire.get(2))
    with pytest.raises(RuntimeError, match=f"{wire.where(1)}: received a first payload flit"):
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
