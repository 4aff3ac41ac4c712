"""Program of the hosts that moves along the messages: old messages are dropped, new ones appended."""

import numpy as np

from wormcast.algorithms import WormcastError
from wormcast.algorithms.compiled import compiled

from ..common.growable import Growing
from .constants import FREED, NEXT, UNDELIVERED
from .dependents import RELEASE, link, receipts
from .program_layout import Host, Integers

__all__ = ["MovingHost"]

#: Fields of `Host` with rows that are added and dropped.
GROWING = ("worms", "deliveries", "agenda", "releases", "exchanges", "header", "begun", "asks", "control")


class MovingHost:
    """Program of all hosts, with a method that adds worms, and a method that drops received worms.

    The average time of adding worms is in proportion to their number. The time of dropping worms is in proportion to
    the number of the rows that remain.

    Parameters
    ----------
    host : Host
        Program whose arrays become part of the `MovingHost`.

    Attributes
    ----------
    host : Host
        The present program. Adding or dropping worms replaces ``host`` by a new object, and makes the old object
        invalid.
    """

    def __init__(self, host: Host):
        self._rows = {field: Growing(getattr(host, field)) for field in GROWING}
        self.host = host

    def append(self, more: Host) -> None:
        """Add the worms of a program that has not begun.

        No added worm may be created in an earlier cycle than a worm of the present program that is not created yet. The
        arrays of ``more`` are changed, and must not be used afterwards.
        """
        host = self.host
        worms, deliveries, releases = len(host.worms), len(host.deliveries), len(host.releases)
        for rows, field, by in (
            (more.worms, "delivery", deliveries), (more.worms, "delivery_end", deliveries),
            (more.worms, "header_at", len(host.header)), (more.deliveries, "worm", worms),
            (more.deliveries, "packets", len(host.begun)), (more.releases, "worm", worms),
            (more.releases, "delivery", deliveries),
        ):
            rows[field] += by
        for rows, field, by in (
            (more.deliveries, "release", releases), (more.deliveries, "last_release", releases),
            (more.releases, "next", releases), (more.worms, "root", worms), (more.worms, "posting", worms),
            (more.worms, "sibling", worms), (more.deliveries, "child", worms),
            (more.worms, "asks", len(host.exchanges)), (more.worms, "answers", len(host.exchanges)),
        ):
            rows[field][rows[field] >= 0] += by
        more.asks["at"] += len(host.control)
        np.add(more.agenda, worms, out=more.agenda)
        host.counters[UNDELIVERED] += more.counters[UNDELIVERED]
        for field in GROWING:
            self._rows[field].extend(getattr(more, field))
        self._renew()

    def wait_for(self, first_worms: Integers, messages: Integers, others: Integers) -> None:
        """Let messages wait until their sources have noted the receipts of other messages, as well as for their cycles.

        Messages do not wait for receipts that are noted already.

        Parameters
        ----------
        first_worms : int array [messages]
            First worm of each message here, in order.
        messages : int64 array
            Messages that wait. No worm of a message that waits may have entered the queue of an injection port.
        others : int64 array
            For each waiting message the message that it waits for: its source must have noted the receipt. No pair of
            a waiting message and another message occurs twice.

        Raises
        ------
        WormcastError
            A source is not a destination of the message to wait for.
        """
        host, rows = self.host, self._rows["releases"]
        delivery = receipts(first_worms, host, messages, others)
        if (delivery < 0).any():
            at = int(np.flatnonzero(delivery < 0)[0])
            raise WormcastError(f"after: {others[at]} is not valid in message {messages[at]} (the first is 0), because "
                                f"message {others[at]} does not go to the source of message {messages[at]}. Allowed: "
                                "messages to this source.")
        last = messages + 1 == len(first_worms)
        first = first_worms[messages]
        count = np.where(last, len(host.worms), first_worms[np.where(last, 0, messages + 1)]) - first
        worms = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        deliveries = np.repeat(delivery, count)
        due = host.deliveries["received"][deliveries] < 0
        more = np.zeros(int(due.sum()), RELEASE)
        more["worm"], more["delivery"] = worms[due], deliveries[due]
        np.add.at(host.worms["waits"], more["worm"], 1)
        rows.extend(more)
        link(host.deliveries, rows.rows, len(host.releases))
        self._renew()

    def drop(self, worms: int) -> None:
        """Drop the first ``worms`` worms, which must be received. The remaining worms are numbered from 0.

        The list of released worms (``freed`` in `RELEASE`) is cleared.
        """
        if not worms:
            return
        host = self.host
        deliveries = int(host.worms["delivery_end"][worms - 1])
        header = int(host.worms["header_at"][worms]) if worms < len(host.worms) else len(host.header)
        packets = int(host.deliveries["packets"][deliveries]) if deliveries < len(host.deliveries) else len(host.begun)
        exchanges = len(host.exchanges)
        if worms < len(host.worms):  # a request and its replies are adjacent
            exchanges = max(0, int(host.worms["asks"][worms]), int(host.worms["answers"][worms]))
        asks = min(deliveries, len(host.asks))
        control = int(host.asks["at"][asks]) if asks < len(host.asks) else len(host.control)
        kept = host.releases["delivery"] >= deliveries
        place = np.cumsum(kept) - 1
        for field, first in (("worms", worms), ("deliveries", deliveries), ("agenda", int(host.counters[NEXT])),
                             ("exchanges", exchanges), ("header", header), ("begun", packets), ("asks", asks),
                             ("control", control)):
            self._rows[field].forget(first)
        self._rows["releases"] = Growing(host.releases[kept])
        self._renew()
        self.host.counters[[NEXT, FREED]] = 0
        self.host.agenda[:] -= worms
        self.host.asks["at"] -= control
        _renumber_rows(self.host.worms, self.host.deliveries, self.host.releases, worms, deliveries, exchanges, header,
                       packets, place)
        _renumber_work(self.host.nodes, self.host.streams, self.host.channels, self.host.smart, self.host.tagged, worms,
                       deliveries)

    def _renew(self) -> None:
        self.host = self.host._replace(**{field: growing.rows for field, growing in self._rows.items()})


@compiled
def _worm(number, worms):
    """Return the new number of a worm or exchange after a drop: -1 for a dropped one, and for -1."""
    return max(number - worms, -1)


@compiled
def _task(number, worms, deliveries):
    """Return the new number of a task after a drop; -1 for a dropped task. The receipt of delivery d is -2 - d."""
    if number >= 0:
        return max(number - worms, -1)
    return number + deliveries if number + deliveries < -1 else -1


@compiled
def _release(number, place):
    return place[number] if number >= 0 else -1


@compiled
def _renumber_rows(worms, deliveries, releases, first_worm, first_delivery, exchanges, header, packets, place):
    """Adapt the references between the remaining rows to their new numbers."""
    for at in range(len(worms)):
        worm = worms[at]
        worm.delivery -= first_delivery
        worm.delivery_end -= first_delivery
        worm.header_at -= header
        worm.previous = _worm(worm.previous, first_worm)
        worm.behind = _task(worm.behind, first_worm, first_delivery)
        worm.root = _worm(worm.root, first_worm)
        worm.posting = _worm(worm.posting, first_worm)
        worm.sibling = _worm(worm.sibling, first_worm)
        worm.asks = _worm(worm.asks, exchanges)
        worm.answers = _worm(worm.answers, exchanges)
    for at in range(len(deliveries)):
        delivery = deliveries[at]
        delivery.worm -= first_worm
        delivery.packets -= packets
        delivery.release = _release(delivery.release, place)
        delivery.last_release = _release(delivery.last_release, place)
        delivery.behind = _task(delivery.behind, first_worm, first_delivery)
        delivery.child = _worm(delivery.child, first_worm)
    for at in range(len(releases)):
        release = releases[at]
        release.worm -= first_worm
        release.delivery -= first_delivery
        release.next = _release(release.next, place)


@compiled
def _renumber_work(nodes, streams, channels, smart, tagged, worms, deliveries):
    """Adapt the worms and deliveries in records of nodes, links and channels to their new numbers."""
    for at in range(len(nodes)):
        node = nodes[at]
        node.task = _task(node.task, worms, deliveries)
        node.first = _task(node.first, worms, deliveries)
        node.last = _task(node.last, worms, deliveries)
        node.first_held = _worm(node.first_held, worms)
        node.last_held = _worm(node.last_held, worms)
    for at in range(len(streams)):
        stream = streams[at]
        stream.worm = _worm(stream.worm, worms)
        stream.first = _worm(stream.first, worms)
        stream.last = _worm(stream.last, worms)
        stream.before = _worm(stream.before, worms)
    for at in range(len(channels)):
        channel = channels[at]
        channel.delivery = max(channel.delivery - deliveries, -1)
        channel.worm = _worm(channel.worm, worms)
    for at in range(len(smart)):
        table = smart[at]
        table.first_waiting = _worm(table.first_waiting, worms)
        table.last_waiting = _worm(table.last_waiting, worms)
        table.task = _task(table.task, worms, deliveries)
        table.first = _task(table.first, worms, deliveries)
        table.last = _task(table.last, worms, deliveries)
        table.child = _worm(table.child, worms)
        table.following = max(table.following - deliveries, 0)
        table.target = max(table.target - deliveries, 0)
    for at in range(len(tagged)):
        tagged[at] = _worm(tagged[at], worms)
