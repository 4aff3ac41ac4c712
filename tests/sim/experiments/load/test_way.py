"""Waits of a worm up to a destination, and at its sender, from grants and worms that are written down here."""

import numpy as np
import pytest

from wormcast.sim.engines.channel_grants import GRANT
from wormcast.sim.engines.packet_tracker import BUFFER, CONSUMPTION, INJECTION, LINK, NOBODY
from wormcast.sim.experiments.load.header_waits import GrantLog, sending
from wormcast.sim.host.program_layout import WORM

#: (worm, packet, switch, kind, wait, behind), in the order of cycles: to nodes 5 and 6, and on to 7.
GRANTS = [
    (3, 0, 4, INJECTION, 1, 8), (3, 0, 4, BUFFER, 0, NOBODY), (3, 0, 4, LINK, 2, NOBODY), (4, 0, 4, LINK, 50, 9),
    (3, 0, 5, BUFFER, 4, 7), (3, 0, 5, CONSUMPTION, 8, NOBODY), (3, 1, 4, LINK, 60, 9), (3, 0, 5, LINK, 16, 9),
    (3, 0, 6, BUFFER, 0, NOBODY), (3, 0, 6, CONSUMPTION, 64, NOBODY), (3, 0, 6, LINK, 32, 2),
    (3, 0, 7, BUFFER, 128, NOBODY), (3, 0, 7, CONSUMPTION, 256, NOBODY),
]


@pytest.mark.parametrize("coupled", [True, False])
@pytest.mark.parametrize(("switch", "hops", "injection", "buffer", "link", "behind", "consumption"), [
    (5, 1, 1, 4, 2, 16, 8), (6, 2, 1, 4, 18, 32, 72), (7, 3, 1, 132, 50, 0, 328)])
def test_waits_up_to_a_destination(coupled, switch, hops, injection, buffer, link, behind, consumption):
    """The link behind it is waited for, too, if readers are coupled; it is no hop on the way."""
    log = GrantLog(coupled=coupled)
    rows = np.zeros(len(GRANTS), GRANT)
    for name, column in zip(("worm", "packet", "switch", "kind", "wait", "behind"), zip(*GRANTS, strict=True),
                            strict=True):
        rows[name] = column
    log.add(rows[:7])
    log.add(rows[7:])
    way = log.along(np.array([3]), np.array([0]), np.array([switch]))
    assert [int(each[0]) for each in way[:5]] == [hops, injection, buffer, link + coupled * behind, consumption]
    assert way.offsets.tolist() == [0, len(way.waits)]
    assert list(map(tuple, way.waits.tolist())) == [
        (kind, at, whose, wait) for worm, packet, at, kind, wait, whose in GRANTS
        if (worm, packet) == (3, 0) and wait and (at < switch or (at == switch and (kind != LINK or coupled)))]
    log.forget(4)
    assert [int(each[0]) for each in log.along(np.array([3]), np.array([0]), np.array([switch]))[:5]] == [0] * 5


#: A message's worms: source, ready, posted, injected, cost, and the worm that their port has sent before.
WORMS = [
    {"source": 1, "ready": 100, "posted": 110, "injected": 115, "cost": 10, "previous": -1},
    {"source": 1, "ready": 100, "posted": 117, "injected": 140, "cost": 7, "previous": 0},
    {"source": 1, "ready": 100, "posted": 150, "injected": 151, "cost": 5, "previous": 1},
    {"source": 2, "ready": 200, "posted": 203, "injected": 220, "cost": 3, "previous": -1},
    {"source": 2, "ready": 230, "posted": 240, "injected": 245, "cost": 4, "previous": -1},
    {"source": 1, "ready": 100, "posted": 180, "injected": 190, "cost": 9, "previous": -1},
    {"source": 2, "ready": 100, "posted": 105, "injected": 170, "cost": 64, "previous": -1},
]


@pytest.mark.parametrize(("last", "relayed", "queue", "preparation", "earlier_copies"), [
    (0, 0, 5, 10, 0), (1, 0, 0, 17, 23), (2, 0, 28, 22, 1), (3, 100, 17, 3, 0), (4, 130, 11, 4, 0), (5, 0, 59, 31, 0),
    (6, 0, 6, 64, 0)])
def test_a_message_at_its_senders(last, relayed, queue, preparation, earlier_copies):
    """The one that is asked for lies behind another message, whose worms are none of it."""
    worms = np.zeros(len(WORMS) + 2, WORM)
    for name in WORMS[0]:
        worms[name][1:-1] = [worm[name] for worm in WORMS]
    worms["previous"][1:-1] += 1  # -1 is the other message's
    for row in (0, -1):
        worms[row]["source"], worms[row]["ready"], worms[row]["cost"], worms[row]["previous"] = 1, 100, 1000, -1
    found = sending(worms, np.array([1]), np.array([len(WORMS) + 1]), np.array([last + 1]))
    assert [int(each[0]) for each in found] == [relayed, queue, preparation, earlier_copies]
    assert sum(int(each[0]) for each in found) == WORMS[last]["injected"] - 100
