"""Waits of one message for another: staged meetings of worms, and waits that cannot be attributed."""

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, WormcastError, Worms, topology
from wormcast.algorithms.schemes.unicast import UnicastScheme
from wormcast.sim import Configuration, Message, run

MESH = topology("mesh:1x6")


def waits(messages, scheme=SCHEMES["individual"], **options):
    """Return the nonzero waits of each message, by the message that caused them."""
    outcome = run(MESH, scheme, messages, Configuration(**options), contention=True)
    assert outcome.outcome == "delivered"
    return [{(cause, wait): cycles for cause, of in one.items() for wait, cycles in of.items() if cycles}
            for one in outcome.contention]


def test_a_message_alone_waits_for_nothing():
    assert waits([Message(0, 0, (4,), 20)]) == [{}]


def test_a_second_worm_of_a_sender_waits_behind_the_first():
    """One virtual channel: the second header is on its way when the tail before it is through."""
    (found,) = waits([Message(0, 0, (1, 4), 20)], vcs=1)
    assert set(found) == {("own_sends", "channel")}


def test_an_input_that_reads_a_header_lets_a_flit_wait():
    """Worms of two flits: the first one's tail has its link, and the second one's header is read in its place."""
    assert waits([Message(0, 0, (1, 4), 1)], vcs=2) == [{("own_sends", "turn"): 1, ("arbitration", "channel"): 1}]


def test_another_message_on_the_way():
    """Node 1's worm finds the link taken by the first one; with two virtual channels they take turns."""
    first, second = waits([Message(0, 0, (4,), 40), Message(6, 1, (5,), 40)], vcs=1)
    assert first == {}
    assert set(second) == {("other_traffic", "channel")}
    assert 30 < second["other_traffic", "channel"] < 60
    first, second = waits([Message(0, 0, (4,), 40), Message(6, 1, (5,), 40)], vcs=2)
    assert first["other_traffic", "turn"] >= 30
    assert second["other_traffic", "turn"] >= 30


class Relays(UnicastScheme):
    """Node 0 sends to 1 and 2; 1 sends on to 5, and 2 to 4: their worms meet on the link from 2 to 3."""

    name, kinds = "relays", ("mesh",)

    def worms(self, topology, messages):
        return Worms(np.array([0, 4]), np.array([0, 0, 1, 2], np.int32), np.array([0, 1, 0, 0], np.int32),
                     np.array([-1, -1, 0, 1]), np.arange(5), np.array([1, 2, 5, 4], np.int32))


def test_another_node_of_the_same_message():
    (found,) = waits([Message(0, 0, (1, 2, 4, 5), 60)], Relays(), vcs=1)
    assert set(found) == {("own_sends", "channel"), ("other_nodes", "channel")}


@pytest.mark.parametrize(("options", "sentence"), [
    ({"readers": "independent"},
     ("contention=True is not valid with --readers independent: worms are not followed through independent "
      "readers. Allowed: --readers coupled.")),
    ({"absorb": "1"}, ("contention=True is not valid with --absorb 1: worms are not followed through retransmission "
                       "slots. Allowed: --absorb off, --absorb host.")),
])
def test_what_cannot_be_told(options, sentence):
    with pytest.raises(WormcastError) as refused:
        run(MESH, SCHEMES["dual-path"], [Message(0, 0, (2, 3), 5)], Configuration(**options), contention=True)
    assert str(refused.value) == sentence
