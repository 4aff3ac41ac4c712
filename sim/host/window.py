"""A host's program as a window that moves along the messages: old ones are dropped, new ones appended."""

import numpy as np

from .layout import Host
from .program import NEXT, NONE, UNDELIVERED

__all__ = ["append", "drop", "finished"]


def finished(host: Host) -> int:
    """Worms at the front of the program whose receipts have all been noted."""
    open_worms = host.deliveries["worm"][host.deliveries["received"] < 0]
    return int(open_worms.min()) if len(open_worms) else len(host.worms)


def drop(host: Host, worms: int) -> Host:
    """Forget the first so many worms, all of which are `finished`; what is left is numbered from 0."""
    if not worms:
        return host
    kept = host.worms[worms:].copy()
    deliveries = int(host.worms["delivery_end"][worms - 1])
    left = host.deliveries[deliveries:].copy()
    header = int(kept["header_at"][0]) if len(kept) else len(host.header)
    packets = int(left["packets"][0]) if len(left) else len(host.begun)
    releases = int(left["release"][0]) if len(left) else len(host.releases)
    kept["delivery"] -= deliveries
    kept["delivery_end"] -= deliveries
    kept["header_at"] -= header
    kept["previous"] = np.maximum(kept["previous"] - worms, NONE)
    left["worm"] -= worms
    left["packets"] -= packets
    left["release"] -= releases
    left["release_end"] -= releases
    counters = host.counters.copy()
    started = int(counters[NEXT])
    counters[NEXT] = 0
    moved = _Moved(len(host.worms), worms, deliveries, len(kept))
    chain = host.chain
    return host._replace(
        **moved.queues(host),
        worms=kept,
        deliveries=left,
        agenda=host.agenda[started:] - worms,
        releases=host.releases[releases:] - worms,
        chain=moved.tasks(np.concatenate([chain[worms:len(host.worms)], chain[len(host.worms) + deliveries:]])),
        header=host.header[header:],
        begun=host.begun[packets:],
        tagged=np.maximum(host.tagged - worms, NONE),
        counters=counters,
    )


def append(host: Host, more: Host) -> Host:
    """Add the worms of a program that has not begun, to be created no earlier than those that wait already."""
    worms, deliveries = len(host.worms), len(host.deliveries)
    added, due = more.worms.copy(), more.deliveries.copy()
    for field, by in (("delivery", deliveries), ("delivery_end", deliveries), ("header_at", len(host.header))):
        added[field] += by
    for field, by in (("worm", worms), ("packets", len(host.begun)), ("release", len(host.releases)),
                      ("release_end", len(host.releases))):
        due[field] += by
    counters = host.counters.copy()
    counters[UNDELIVERED] += more.counters[UNDELIVERED]
    moved = _Moved(worms, 0, 0, worms + len(added))
    chain = moved.tasks(host.chain)
    return host._replace(
        **moved.queues(host),
        worms=np.concatenate([host.worms, added]),
        deliveries=np.concatenate([host.deliveries, due]),
        agenda=np.concatenate([host.agenda, more.agenda + worms]),
        releases=np.concatenate([host.releases, more.releases + worms]),
        chain=np.concatenate([chain[:worms], np.full(len(added), NONE), chain[worms:], np.full(len(due), NONE)]),
        header=np.concatenate([host.header, more.header]),
        begun=np.concatenate([host.begun, more.begun]),
        counters=counters,
    )


class _Moved:
    """How the numbers of tasks change: worms, and receipts of deliveries behind all worms."""

    def __init__(self, before: int, worms: int, deliveries: int, after: int):
        self.before = before
        self.worms = worms
        self.deliveries = deliveries
        self.after = after

    def tasks(self, old: np.ndarray) -> np.ndarray:
        """Renumber tasks; those that are dropped, and none, become none."""
        worm = np.maximum(old - self.worms, NONE)
        receipt = old - self.before - self.deliveries + self.after
        return np.where(old < self.before, worm, np.where(receipt < self.after, NONE, receipt))

    def queues(self, host: Host) -> dict[str, np.ndarray]:
        """Renumber what nodes, streams and channels work on."""
        nodes, streams, channels = host.nodes.copy(), host.streams.copy(), host.channels.copy()
        for field in ("task", "first", "last"):
            nodes[field] = self.tasks(nodes[field])
        for field in ("worm", "first", "last", "before"):
            streams[field] = np.maximum(streams[field] - self.worms, NONE)
        for field, by in (("delivery", self.deliveries), ("worm", self.worms)):
            channels[field] = np.maximum(channels[field] - by, NONE)
        return {"nodes": nodes, "streams": streams, "channels": channels}
