"""Messages of several numbers of packets at once: each as it is alone, in the order given."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, find_scheme, topology
from wormcast.algorithms.host_retransmission import AbsorbedByHosts
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.schemes.batch_merge import merge_batches

FIELDS = ("source", "rank", "after", "destinations", "tier")


def drawn(network, messages, seed=0):
    """Random multicasts with their packets: sources, offsets, destinations, packets."""
    random = np.random.default_rng(seed)
    chosen = [random.permutation(network.nodes)[:random.integers(2, network.nodes)] for _ in range(messages)]
    return ([int(one[0]) for one in chosen], np.cumsum([0, *(len(one) - 1 for one in chosen)]),
            np.concatenate([one[1:] for one in chosen]), random.integers(1, 9, messages))


def of_message(worms, message):
    """The worms of a message as plain data, `after` counted from its first."""
    first, end = worms.message_offsets[message:message + 2].tolist()
    rows = zip(*(getattr(worms, name)[first:end].tolist() for name in ("source", "rank", "after", "tier")),
               strict=True)
    return [(source, rank, max(after - first, -1), tier, worms.visits(first + row).tolist())
            for row, (source, rank, after, tier) in enumerate(rows)]


@pytest.mark.parametrize("name", ["irregular:seed=1", "mesh:5x5"])
def test_each_has_the_tree_of_its_packets(name):
    network, scheme = topology(name), SCHEMES["k-binomial"]
    sources, offsets, destinations, packets = drawn(network, 60)
    worms = scheme.batch(network, sources, offsets, destinations, packets=packets)
    for message, source in enumerate(sources):
        alone = plan(network, "k-binomial", source, destinations[offsets[message]:offsets[message + 1]].tolist(),
                     packets=int(packets[message]))
        assert of_message(worms, message) == of_message(alone.arrays, 0)
    assert len({of_message(worms, message)[0][4][0] for message in range(60)}) > 1


@pytest.mark.parametrize("scheme", ["u-mesh", "dual-path", "k-binomial:k=2", "k-binomial:packets=3", "binomial"])
def test_of_others_packets_change_nothing(scheme):
    network = topology("mesh:5x5")
    *given, packets = drawn(network, 20)
    scheme = find_scheme(scheme, network)
    with_packets, without = scheme.batch(network, *given, packets=packets), scheme.batch(network, *given)
    for field in FIELDS:
        assert getattr(with_packets, field).tolist() == getattr(without, field).tolist()


def test_worms_to_several_nodes_and_signs_are_kept_together():
    """Two halves of a batch, put together again."""
    for scheme in ("dual-path", "z"):
        network = topology("mesh:4x4" if scheme == "dual-path" else "torus:4x4")
        sources, offsets, destinations, _ = drawn(network, 12)
        if scheme == "z":
            destinations = np.array([node for source in sources for node in range(16) if node != source])
            offsets = np.arange(13) * 15
        whole = SCHEMES[scheme].batch(network, sources, offsets, destinations)
        halves = [np.arange(1, 12, 2), np.arange(0, 12, 2)]
        parts = [SCHEMES[scheme].batch(
            network, [sources[one] for one in half], np.cumsum([0, *np.diff(offsets)[half]]),
            np.concatenate([destinations[offsets[one]:offsets[one + 1]] for one in half])) for half in halves]
        found = merge_batches(parts, halves)
        for field in (*FIELDS, "message_offsets", "destination_offsets", "signs", "steps"):
            assert np.array_equal(getattr(found, field), getattr(whole, field)), field
        assert (found.signs is not None) == (scheme == "z")


def test_no_messages():
    assert len(SCHEMES["k-binomial"].batch(topology("mesh:3x3"), [], [0], [], packets=[])) == 0


def test_what_hosts_absorb_depends_on_packets_too():
    network = topology("mesh:3x3")
    absorbed = AbsorbedByHosts(SCHEMES["k-binomial"])
    many = absorbed.batch(network, [0], [0, 8], range(1, 9), packets=[100])
    assert many.source.tolist() == plan(network, "k-binomial", 0, "all", packets=100).arrays.source.tolist()
    assert AbsorbedByHosts(SCHEMES["u-mesh"]).for_packets(3).scheme is SCHEMES["u-mesh"]
