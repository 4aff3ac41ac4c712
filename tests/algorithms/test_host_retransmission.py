"""Worms that hosts absorb: each visit a worm of its own, after the receipt of the visit before."""

import numpy as np
import pytest

from wormcast.algorithms import AT_ONCE, HAMILTONIAN, SCHEMES, ConsumptionClasses, PlainScheme, Worms, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.host_retransmission import AbsorbedByHosts, absorbed

from . import reference

MESH = topology("mesh:4x4")


def rows(worms):
    """Each worm: source, rank, after, destinations."""
    return [(int(worms.source[w]), int(worms.rank[w]), int(worms.after[w]), worms.visits(w).tolist())
            for w in range(len(worms))]


def test_a_worm_becomes_a_chain_of_receipts():
    worms = Worms(np.array([0, 2, 3]), np.array([0, 0, 5], np.int32), np.array([0, 1, 0], np.int32),
                  np.full(3, AT_ONCE), np.array([0, 3, 4, 6]), np.array([1, 2, 3, 4, 6, 7], np.int32))
    chain = absorbed(worms)
    assert chain.message_offsets.tolist() == [0, 4, 6]
    assert rows(chain) == [(0, 0, AT_ONCE, [1]), (1, 0, 0, [2]), (2, 0, 1, [3]), (0, 1, AT_ONCE, [4]),
                           (5, 0, AT_ONCE, [6]), (6, 0, 4, [7])]


def test_what_a_node_sends_after_the_same_receipt_keeps_its_order():
    """Node 1 passes on the worm that stops there first, and then sends its own two; node 2, at the end, has one."""
    worms = Worms(np.array([0, 4]), np.array([0, 1, 1, 2], np.int32), np.array([0, 0, 1, 0], np.int32),
                  np.array([AT_ONCE, 0, 0, 0]), np.array([0, 2, 3, 5, 6]), np.array([1, 2, 3, 4, 5, 6], np.int32))
    assert rows(absorbed(worms)) == [(0, 0, AT_ONCE, [1]), (1, 0, 0, [2]), (1, 1, 0, [3]), (1, 2, 0, [4]),
                                     (4, 0, 3, [5]), (2, 0, 1, [6])]


@pytest.mark.parametrize("name", reference.SCHEMES)
def test_every_destination_is_visited_in_the_scheme_s_order(name):
    """In the worms of random multicasts: each visit comes after the one before it in its worm, from where that was."""
    generator, scheme = np.random.default_rng(1), SCHEMES[name]
    network = topology("mesh:4x2x2") if name in {"sp", "gtdmpm"} else MESH
    drawn = [generator.choice(16, size, replace=False) for size in generator.integers(2, 12, 40)]
    offsets = np.cumsum([0, *(len(nodes) - 1 for nodes in drawn)])
    given = [nodes[0] for nodes in drawn], offsets, np.concatenate([nodes[1:] for nodes in drawn])
    before, after = scheme.batch(network, *given), AbsorbedByHosts(scheme).batch(network, *given)
    assert after.destinations.tolist() == before.destinations.tolist()
    assert (np.diff(after.destination_offsets) == 1).all()
    assert after.message_offsets.tolist() == before.destination_offsets[before.message_offsets].tolist()
    for w in range(len(before)):
        first, end = before.destination_offsets[w:w + 2].tolist()
        assert after.source[first] == before.source[w]
        assert after.source[first + 1:end].tolist() == before.destinations[first:end - 1].tolist()
        assert after.after[first + 1:end].tolist() == list(range(first, end - 1))
        if before.after[w] == AT_ONCE:
            assert after.after[first] == AT_ONCE
        else:
            receipt = int(after.after[first])
            assert after.destinations[receipt] == before.source[w]
    for m in range(after.messages):
        sends = [(int(after.source[w]), int(after.rank[w]))
                 for w in range(after.message_offsets[m], after.message_offsets[m + 1])]
        assert len(set(sends)) == len(sends), "a node sends two worms of one rank"


@pytest.mark.parametrize("name", ["dual-path", "multipath", "column-path", "e-mcast"])
def test_hosts_that_absorb_are_free_of_deadlock_and_slots_are_not(name):
    """[Boppana98], section 3.1: any number of slots has a cycle, through the slots; the hosts' memory has none."""
    scheme = SCHEMES[name]
    assert check(MESH, AbsorbedByHosts(scheme), consumption=1).free
    for slots in (1, 2, 16):
        analysis = check(MESH, scheme, slots=slots)
        cycle = [step.resource for step in analysis.cycle]
        assert analysis.verdict == "deadlock"
        assert analysis.consumption == 1
        assert any(one.startswith("retrans:") for one in cycle)
        number = "0" if slots == 1 else f"0-{slots - 1}"
        assert {one.split(":")[2] for one in cycle if one.startswith("retrans:")} == {number}


def test_the_cycle_is_table_1s():
    """Links, consumption channels and slots of two neighbours, as in Figure 5."""
    analysis = check(topology("mesh:1x4"), SCHEMES["dual-path"], slots=1, vcs=1)
    assert [step.resource for step in analysis.cycle] == [
        "link:1>2:0", "cons:2:0", "retrans:2:0", "link:2>1:0", "cons:1:0", "retrans:1:0"]


def test_unicasts_need_no_slots():
    assert check(MESH, SCHEMES["individual"], slots=1).free
    assert check(MESH, SCHEMES["u-mesh"], slots=1).free


class Rising(PlainScheme):
    """A path through the nodes to the right of the source, and a worm for each on its left."""

    name = "rising"
    kinds = ("mesh",)
    relation = HAMILTONIAN

    def classes_on(self, topology):
        return ConsumptionClasses()

    def visits(self, topology, source, destinations):
        right = sorted(node for node in destinations if node > source)
        return [*([right] if right else []), *([node] for node in destinations if node < source)]


def test_slots_wait_behind_the_worms_of_their_own_host():
    """Worms stop on their way to the right alone, and no order of visits meets its opposite: without slots that is
    free. With slots one waits at the injection port behind a worm of its node that goes to the left."""
    line, scheme = topology("mesh:1x4"), Rising()
    assert check(line, scheme, consumption=1).free
    cycle = [step.resource for step in check(line, scheme, slots=1, vcs=1).cycle]
    assert cycle == ["link:1>2:0", "cons:2:0", "retrans:2:0", "link:2>1:0", "cons:1:0", "retrans:1:0"]


@pytest.mark.parametrize("slots", [-1, 17])
def test_bad_slots_are_refused(slots):
    with pytest.raises(ValueError, match=f"slots: {slots} is not valid. Allowed: 0 to 16"):
        check(MESH, SCHEMES["dual-path"], slots=slots)


def test_what_interfaces_forward_they_forward_still():
    worms = SCHEMES["k-binomial"].batch(MESH, [0], [0, 6], [1, 2, 3, 4, 5, 6])
    assert absorbed(worms).tier.tolist() == worms.tier.tolist() != [0] * 6
    assert AbsorbedByHosts(SCHEMES["k-binomial"]).forwarded
