"""Messages on their way: planned as they are created, forgotten when all of them before are received."""

from collections.abc import Sequence

import numpy as np

from wormcast.algorithms import Scheme

from ...build.network import Network
from ...host import NOW, Host, append, drop, finished, lay_out, wait_for
from .created import Created, Stream

__all__ = ["DONE", "Window"]

#: The package of our schemes.
OURS = Scheme.__module__.rpartition(".")[0]

#: What is known of a message that is through. ``lane``; ``created``; ``injected``: its first flit; ``handed``: the last
#: flit that its source sends; ``tail``: its last destination's last flit; ``received``: the last receipt; ``length``,
#: ``destinations``, ``multicast``.
DONE = np.dtype([(field, np.int64) for field in (
    "lane", "created", "injected", "handed", "tail", "received", "length", "destinations", "multicast")])

MESSAGE = np.dtype([(field, np.int64) for field in ("lane", "length", "multicast", "worms")])


class Window:
    """The messages of all lanes that are on their way or yet to be sent.

    Parameters
    ----------
    network : Network
    sources : sequence of Stream
        One for each lane; messages that wait for receipts are for a single lane.
    until : int
        The messages of all cycles before this one are there from the start.

    Attributes
    ----------
    host : Host
        The program that sends them.
    worms_before, messages_before : int
        How many have been forgotten; the host's numbers begin behind them.
    """

    def __init__(self, network: Network, sources: Sequence[Stream], until: int):
        self.network = network
        self.worms_before = self.messages_before = 0
        self.sources = sources
        self._created = {name: np.zeros(len(sources), np.int64) for name in ("created", "wanted", "begun")}
        self.messages, self.host, waits = self._create(until)
        self._wait(waits, 0)

    def extend(self, until: int) -> None:
        """Create the messages of the cycles up to this one."""
        messages, more, waits = self._create(until)
        there = len(self.messages)
        self.messages = np.concatenate([self.messages, messages])
        self.host = append(self.host, more)
        self._wait(waits, there)

    def _create(self, until: int) -> tuple[np.ndarray, Host, np.ndarray]:
        """The messages up to this cycle, a program of their own, and what they wait for (`Created.waits`)."""
        merged, lane = _merge([source.until(until) for source in self.sources])
        worms = self.network.scheme.batch(
            self.network.topology, merged.source, merged.offsets, merged.destinations)
        messages = np.zeros(len(lane), MESSAGE)
        for field, values in {"lane": lane, "length": merged.length,
                              "multicast": merged.multicast, "worms": np.diff(worms.message_offsets)}.items():
            messages[field] = values
        for name, values in (("created", merged.length), ("wanted", merged.length * np.diff(merged.offsets)),
                             ("begun", np.ones_like(lane))):
            np.add.at(self._created[name], lane, values)
        return messages, lay_out(self.network, merged.at, merged.length, worms, lane=lane), merged.waits

    def _wait(self, waits: np.ndarray, there: int) -> None:
        """Let messages wait for receipts (`Created.waits`); ``there``: the messages before the first of them."""
        message, other = there + waits[:, 0], there + waits[:, 0] - waits[:, 1]
        kept = other >= 0  # those that are forgotten are received
        if kept.any():
            self.host = wait_for(self.host, self.messages["worms"], message[kept], other[kept])

    @property
    def _starts(self) -> np.ndarray:
        """First worm of each message, [messages]; it waits for no receipt of its own message."""
        return np.cumsum(self.messages["worms"]) - self.messages["worms"]

    def require_planned(self) -> None:
        """Refuse messages that are not those of the program, and worms that our scheme would not have sent for them.

        Of a user's own scheme worms may depend on the order of the destinations, which is not kept.

        Raises
        ------
        ValueError
            The first thing that does not fit.
        """
        host, network, messages = self.host, self.network, self.messages
        if (messages["worms"] < 1).any() or messages["worms"].sum() != len(host.worms):
            raise ValueError("window.messages have other worms than the host")
        starts, nodes = self._starts, network.nodes
        lane = np.repeat(messages["lane"], messages["worms"])
        if (host.worms["source"] // nodes != lane).any() or (
                host.deliveries["node"] // nodes != lane[host.deliveries["worm"]]).any():
            raise ValueError("window.messages are in other lanes than the host's")
        if not type(network.scheme).__module__.startswith(f"{OURS}.") or not len(messages):
            return
        offsets = np.append(host.worms["delivery"][starts], len(host.deliveries))
        sources, destinations = host.worms["source"] % nodes, host.deliveries["node"] % nodes
        planned = network.scheme.batch(network.topology, sources[starts], offsets, destinations)
        if not (np.array_equal(planned.source, sources) and np.array_equal(planned.destinations, destinations)
                and np.array_equal(planned.message_offsets[:-1], starts)):
            raise ValueError(f"worms are under way that {network.scheme.name} does not send")

    def take_done(self) -> np.ndarray:
        """Forget the messages at the front that are received, and say what became of them: `DONE`, [messages]."""
        ends = np.cumsum(self.messages["worms"])
        through = int(np.searchsorted(ends, finished(self.host), side="right"))
        if not through:
            return np.zeros(0, DONE)
        result = self._results()[:through]
        self.messages = self.messages[through:]
        self.host = drop(self.host, int(ends[through - 1]))
        self.messages_before += through
        self.worms_before += int(ends[through - 1])
        return result

    def take_rest(self) -> np.ndarray:
        """Say what became of those that are received while an older one is not."""
        rest = self._results() if len(self.messages) else np.zeros(0, DONE)
        return rest[rest["received"] >= 0]

    def _results(self) -> np.ndarray:
        """What has become of all messages here; ``received`` is -1 of those that some destination lacks."""
        host, messages = self.host, self.messages
        result = np.zeros(len(messages), DONE)
        for field in ("lane", "length", "multicast"):
            result[field] = messages[field]
        starts = self._starts
        result["created"] = host.worms["ready"][starts]
        first = host.worms["delivery"][starts]
        result["destinations"] = np.diff([*first, len(host.deliveries)])
        result["injected"] = np.minimum.reduceat(host.injected, starts)
        own = host.worms["source"] == np.repeat(host.worms["source"][starts], messages["worms"])
        result["handed"] = np.maximum.reduceat(np.where(own, host.handed, -1), starts)
        result["tail"] = np.maximum.reduceat(host.tail, first)
        open_ = np.minimum.reduceat(host.received, first) < 0
        result["received"] = np.where(open_, -1, np.maximum.reduceat(host.received, first))
        return result

    def counts(self) -> dict[str, np.ndarray]:
        """Messages ``begun`` so far, payload flits ``created`` and ``wanted``; each [lanes]."""
        host, lanes = self.host, len(self.sources)
        late = ~self._begun()
        messages, starts = self.messages[late], self._starts[late]
        ends = starts + messages["worms"] - 1
        destinations = host.worms["delivery_end"][ends] - host.worms["delivery"][starts]
        return {
            name: self._created[name] - _sums(messages["lane"], values, lanes) for name, values in (
                ("created", messages["length"]), ("wanted", messages["length"] * destinations),
                ("begun", np.ones(len(messages), np.int64)))}

    def _begun(self) -> np.ndarray:
        """Whether each message here is created: none of the receipts that it waits for is outstanding."""
        return self.host.worms["waits"][self._starts] == 0

    @property
    def message_of(self) -> np.ndarray:
        """The message of each of the host's worms, counted from the first one of all; [worms]."""
        return self.messages_before + np.repeat(np.arange(len(self.messages)), self.messages["worms"])

    @property
    def ended(self) -> bool:
        """Whether all messages that there will be are here, or have been."""
        return all(source.ended for source in self.sources)

    def held(self) -> np.ndarray:
        """Messages of each lane that are created and not forgotten, [lanes]."""
        return np.bincount(self.messages["lane"][self._begun()], minlength=len(self.sources))

    def outstanding(self) -> np.ndarray:
        """Payload flits of each lane that are created and still to be consumed, [lanes]."""
        begun = np.repeat(self._begun(), self.messages["worms"])
        deliveries = self.host.deliveries[begun[self.host.deliveries["worm"]]]
        return _sums(deliveries["node"] // self.network.nodes, deliveries["due"], len(self.sources))

    def quiet(self) -> np.ndarray:
        """Cycles for which that worm under way has not moved that has waited longest, [lanes]."""
        under_way = np.flatnonzero((self.host.injected >= 0) & (self.host.left > 0))
        longest = np.zeros(len(self.sources), np.int64)
        lane = self.host.worms["source"][under_way] // self.network.nodes
        np.maximum.at(longest, lane, self.host.counters[NOW] - self.host.touched[under_way])
        return longest

    def waiting(self) -> np.ndarray:
        """Worms of each lane that are created and not begun, [lanes]."""
        waits = (self.host.injected < 0) & np.repeat(self._begun(), self.messages["worms"])
        return np.bincount(self.host.worms["source"][waits] // self.network.nodes, minlength=len(self.sources))


def _sums(lane: np.ndarray, values: np.ndarray, lanes: int) -> np.ndarray:
    """Sums of values by lane, [lanes]."""
    return np.bincount(lane, values, lanes).astype(np.int64)  # exact up to 2**53


def _merge(parts: Sequence[Created]) -> tuple[Created, np.ndarray]:
    """The messages of several lanes in the order of their cycles, those of a cycle by lane; and their lanes."""
    if len(parts) == 1:
        return parts[0], np.zeros(len(parts[0].at), np.int64)
    lane = np.repeat(np.arange(len(parts)), [len(part.at) for part in parts])
    at, source, length, multicast, destinations = (
        np.concatenate([getattr(part, field) for part in parts])
        for field in ("at", "source", "length", "multicast", "destinations"))
    counts = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    order = np.lexsort((lane, at))
    return Created(at, source, length, multicast, offsets, destinations).reordered(order), lane[order]
