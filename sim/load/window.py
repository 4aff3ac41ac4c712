"""Messages on their way: planned as they are created, forgotten when all of them before are received."""

from collections.abc import Sequence

import numpy as np

from ..host import NOW, Host, append, drop, finished, lay_out
from ..network import Network
from .traffic import Created, Source

__all__ = ["DONE", "Window"]

#: What is known of a message that is through. ``lane``; ``created``; ``injected``: its first flit; ``handed``: the last
#: flit that its source sends; ``tail``: its last destination's last flit; ``received``: the last receipt; ``length``,
#: ``destinations``, ``multicast``.
DONE = np.dtype([(field, np.int64) for field in (
    "lane", "created", "injected", "handed", "tail", "received", "length", "destinations", "multicast")])

MESSAGE = np.dtype([(field, np.int64) for field in ("lane", "created", "source", "length", "multicast", "worms")])


class Window:
    """The messages of all lanes that are on their way or yet to be sent.

    Parameters
    ----------
    network : Network
    sources : sequence of Source
        One for each lane.
    until : int
        The messages of all cycles before this one are there from the start.

    Attributes
    ----------
    host : Host
        The program that sends them.
    """

    def __init__(self, network: Network, sources: Sequence[Source], until: int):
        self.network = network
        self.sources = sources
        self._created = {name: np.zeros(len(sources), np.int64) for name in ("created", "wanted", "begun")}
        self._consumed = np.zeros(len(sources), np.int64)
        self.messages, self.host = self._create(until)

    def extend(self, until: int) -> None:
        """Create the messages of the cycles up to this one."""
        messages, more = self._create(until)
        self.messages = np.concatenate([self.messages, messages])
        self.host = append(self.host, more)

    def _create(self, until: int) -> tuple[np.ndarray, Host]:
        merged, lane = _merge([source.until(until) for source in self.sources])
        worms = self.network.scheme.batch(
            self.network.topology, merged.source, merged.offsets, merged.destinations)
        messages = np.zeros(len(lane), MESSAGE)
        for field, values in {"lane": lane, "created": merged.at, "source": merged.source, "length": merged.length,
                              "multicast": merged.multicast, "worms": np.diff(worms.message_offsets)}.items():
            messages[field] = values
        for name, values in (("created", merged.length), ("wanted", merged.length * np.diff(merged.offsets)),
                             ("begun", np.ones_like(lane))):
            np.add.at(self._created[name], lane, values)
        return messages, lay_out(self.network, merged.at, merged.length, worms, lane=lane)

    def take_done(self) -> np.ndarray:
        """Forget the messages at the front that are received, and say what became of them: `DONE`, [messages]."""
        ends = np.cumsum(self.messages["worms"])
        through = int(np.searchsorted(ends, finished(self.host), side="right"))
        if not through:
            return np.zeros(0, DONE)
        result = self._results()[:through]
        np.add.at(self._consumed, result["lane"], result["length"] * result["destinations"])
        self.messages = self.messages[through:]
        self.host = drop(self.host, int(ends[through - 1]))
        return result

    def take_rest(self) -> np.ndarray:
        """Say what became of those that are received while an older one is not."""
        rest = self._results() if len(self.messages) else np.zeros(0, DONE)
        return rest[rest["received"] >= 0]

    def _results(self) -> np.ndarray:
        """What has become of all messages here; ``received`` is -1 of those that some destination lacks."""
        host, messages = self.host, self.messages
        result = np.zeros(len(messages), DONE)
        for field in ("lane", "created", "length", "multicast"):
            result[field] = messages[field]
        starts = np.cumsum(messages["worms"]) - messages["worms"]
        first = host.worms["delivery"][starts]
        result["destinations"] = np.diff([*first, len(host.deliveries)])
        result["injected"] = np.minimum.reduceat(host.injected, starts)
        source = np.repeat(messages["lane"] * self.network.nodes + messages["source"], messages["worms"])
        result["handed"] = np.maximum.reduceat(np.where(host.worms["source"] == source, host.handed, -1), starts)
        result["tail"] = np.maximum.reduceat(host.tail, first)
        open_ = np.minimum.reduceat(host.received, first) < 0
        result["received"] = np.where(open_, -1, np.maximum.reduceat(host.received, first))
        return result

    def counts(self) -> dict[str, np.ndarray]:
        """Messages ``begun`` so far, payload flits ``created``, ``wanted`` and ``consumed``; each [lanes]."""
        host, consumed = self.host, self._consumed.copy()
        taken = host.worms["length"][host.deliveries["worm"]] - host.deliveries["due"]
        np.add.at(consumed, host.deliveries["node"] // self.network.nodes, taken)
        return {name: counts.copy() for name, counts in self._created.items()} | {"consumed": consumed}

    def held(self) -> np.ndarray:
        """Messages of each lane that are not forgotten, [lanes]."""
        return np.bincount(self.messages["lane"], minlength=len(self.sources))

    def outstanding(self) -> np.ndarray:
        """Payload flits of each lane that are still to be consumed, [lanes]."""
        due = np.zeros(len(self.sources), np.int64)
        np.add.at(due, self.host.deliveries["node"] // self.network.nodes, self.host.deliveries["due"])
        return due

    def quiet(self) -> np.ndarray:
        """Cycles for which that worm under way has not moved that has waited longest, [lanes]."""
        under_way = np.flatnonzero((self.host.injected >= 0) & (self.host.left > 0))
        longest = np.zeros(len(self.sources), np.int64)
        lane = self.host.worms["source"][under_way] // self.network.nodes
        np.maximum.at(longest, lane, self.host.counters[NOW] - self.host.touched[under_way])
        return longest

    def waiting(self) -> np.ndarray:
        """Worms of each lane that are created and not begun, [lanes]."""
        now = int(self.host.counters[NOW])
        waits = (self.host.injected < 0) & (self.host.worms["ready"] <= now)
        return np.bincount(self.host.worms["source"][waits] // self.network.nodes, minlength=len(self.sources))


def _merge(parts: Sequence[Created]) -> tuple[Created, np.ndarray]:
    """The messages of several lanes in the order of their cycles, those of a cycle by lane; and their lanes."""
    lane = np.repeat(np.arange(len(parts)), [len(part.at) for part in parts])
    at, source, length, multicast, destinations = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("at", "source", "length", "multicast", "destinations"))
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    order = np.lexsort((lane, at))
    return Created(at, source, length, multicast, offsets, destinations).reordered(order), lane[order]
