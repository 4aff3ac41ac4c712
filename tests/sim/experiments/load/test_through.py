"""Outcomes of messages are computed from these messages' records alone, at any position in the host."""

import numpy as np

from wormcast.sim.experiments.load.accounting import MESSAGE
from wormcast.sim.experiments.load.completed import CompletedRows, done_of, through_of
from wormcast.sim.host.program_layout import DELIVERY, WORM

NODES = 16


def records(kind, **columns):
    rows = np.zeros(len(next(iter(columns.values()))), kind)
    for field, values in columns.items():
        rows[field] = values
    return rows


def test_the_last_receipt_need_not_be_that_of_the_last_tail():
    """Of three messages in lane 1 the second lacks a receipt; they begin with the host's worm 7 and delivery 20."""
    rows = CompletedRows(
        records(MESSAGE, lane=[1, 1, 1], message=[4, 5, 6], length=[8, 8, 8], multicast=[1, 1, 0], worm=[7, 9, 10]),
        records(WORM, ready=[10, 10, 20, 30], source=[19, 21, 16, 17], injected=[12, 30, 22, 33],
                handed=[20, 40, 32, 42]),
        records(DELIVERY, worm=[7, 7, 8, 9, 9, 10], node=[21, 22, 23, 24, 25, 26], head=[15, 20, 35, 30, 31, 40],
                tail=[25, 30, 50, 41, 42, 50], received=[60, 70, 55, 45, -1, 52]),
        np.array([0, 2, 3]), np.array([0, 3, 5]))
    done = done_of(rows, NODES)
    assert done["received"].tolist() == [70, -1, 52]
    assert done["tail"].tolist() == [50, 42, 50]
    assert done["handed"].tolist() == [20, 32, 42]  # worm 8 is sent by another node
    found = through_of(rows, done, NODES, np.concatenate([np.zeros(7, WORM), rows.worms]))
    assert found.done["message"].tolist() == [4, 6]
    assert found.last.tolist() == [6, 10]
    assert [found.sent.tolist(), found.head.tolist(), found.end.tolist()] == [[12, 33], [20, 40], [30, 50]]
    assert (found.worm.tolist(), found.packet.tolist()) == ([7, 10], [0, 0])
    assert found.offsets.tolist() == [0, 3, 4]
    assert found.destinations.tolist() == [5, 6, 7, 10]
