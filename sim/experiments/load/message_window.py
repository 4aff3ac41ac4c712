"""Window of messages: planned before they are created, removed after they and all earlier messages are received."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wormcast.algorithms import Scheme

from ...build.compatibility import known_to_fit, require_sent
from ...build.network import Network
from ...common.growable import Growing
from ...host import ADMISSION, FREED, NOW, Host, MovingHost, lay_out
from .accounting import AUDIT, MESSAGE, NO_REQUEST, SUMS, add_all, add_begun, audit, first_open
from .completed import DONE, CompletedRows, MessageCallback, done_of, through_of
from .created import Created, Stream, with_replies
from .header_waits import GrantLog
from .result import COUNTS

__all__ = ["MessageWindow"]

#: Package that contains wormcast's own schemes.
OURS = Scheme.__module__.rpartition(".")[0]

#: Number of deliveries in the window per host, below which the whole window is checked in each step.
FEW = 32


class MessageWindow:
    """Messages of all lanes that are planned and not removed yet.

    The worms of a message are planned before the cycle in which the message is created. Each step costs O(messages
    added or removed), independent of the backlog. Checks of all messages run in each `rhythm`-th step.

    Parameters
    ----------
    network : Network
    sources : sequence of Stream
        One stream per lane. If messages of a stream wait for receipts (`Created.waits`), there must be only one lane.
    until : int
        The window starts with the messages of all cycles before ``until``.
    reply, outstanding : int
        Length of the replies to the messages of ``sources``, and limit of outstanding requests; see `Traffic`.

    Attributes
    ----------
    worms_before, messages_before : int
        Number of removed worms and messages. The hosts' program numbers the remaining worms from 0.
    log : GrantLog or None
        Grants of the worms, if they are followed.
    """

    def __init__(self, network: Network, sources: Sequence[Stream], until: int, *, reply: int = 0,
                 outstanding: int = 0):
        self.network = network
        self._reply, self._outstanding = reply, outstanding
        self._asked = not known_to_fit(network.topology, network.scheme, network.configuration)
        self.worms_before = self.messages_before = 0
        self.log: GrantLog | None = None
        self.sources = sources
        self._created, self._begun = np.zeros(len(sources), SUMS), np.zeros(len(sources), SUMS)
        self._numbers = np.zeros(len(sources), np.int64)  # number of the next message of each lane
        self._seen = 0  # number of messages in the window that were created in cycles simulated so far
        self._through = 0  # number of oldest messages that `take_done` has returned
        messages, host, waits = self._create(until)
        self._messages, self._moving = Growing(messages), MovingHost(host)
        self._wait(waits, 0)

    @property
    def host(self) -> Host:
        """Program of all hosts, which sends the messages. Adding or removing messages creates a new `Host` object."""
        return self._moving.host

    @host.setter
    def host(self, host: Host) -> None:
        self._moving = MovingHost(host)

    @property
    def messages(self) -> np.ndarray:
        """`MESSAGE` records of the messages in the window, in the order of creation."""
        return self._messages.rows

    def extend(self, until: int) -> None:
        """Create the messages of the cycles before ``until``."""
        messages, more, waits = self._create(until)
        there = len(self.messages)
        messages["worm"] += len(self.host.worms)
        self._messages.extend(messages)
        self._moving.append(more)
        self._wait(waits, there)

    def _create(self, until: int) -> tuple[np.ndarray, Host, np.ndarray]:
        """Create the messages of cycles before ``until``. Return the messages' records, a host program, and
        `Created.waits`."""
        merged, lane = _merge([source.until(until) for source in self.sources])
        requests = None
        if self._reply:
            lane = np.repeat(lane, np.diff(merged.offsets) + 1)
            merged, requests = with_replies(merged, self._reply)
        worms = self.network.scheme.batch(
            self.network.topology, merged.source, merged.offsets, merged.destinations,
            packets=self.network.configuration.packets_of(merged.length))
        if self._asked:
            require_sent(self.network.topology, self.network.scheme, self.network.configuration, worms)
        messages = np.zeros(len(lane), MESSAGE)
        for field, values in {"lane": lane, "message": self._number(lane), "length": merged.length,
                              "multicast": merged.multicast, "worm": worms.message_offsets[:-1],
                              "request": NO_REQUEST}.items():
            messages[field] = values
        if requests is not None:
            reply = requests != np.arange(len(requests))
            messages["request"][reply] = messages["message"][requests[reply]]
            messages["last_reply"] = reply & (np.diff(requests, append=NO_REQUEST) != 0)
        host = lay_out(self.network, merged.at, merged.length, worms, lane=lane, numbers=messages["message"],
                       multicast=merged.multicast,
                       requests=requests, outstanding=self._outstanding)
        add_all(self._created, messages, host.worms)
        return messages, host, merged.waits

    def _number(self, lane: np.ndarray) -> np.ndarray:
        """Return the numbers of new messages, which continue the numbers in their lanes."""
        numbers = np.empty(len(lane), np.int64)
        for k, first in enumerate(self._numbers):
            mine = np.flatnonzero(lane == k)
            numbers[mine] = first + np.arange(len(mine))
            self._numbers[k] += len(mine)
        return numbers

    def _wait(self, waits: np.ndarray, there: int) -> None:
        """Let new messages wait for receipts (`Created.waits`). ``there``: number of older messages in the window."""
        message, other = there + waits[:, 0], there + waits[:, 0] - waits[:, 1]
        kept = other >= 0  # removed messages are received
        if kept.any():
            self._moving.wait_for(self.messages["worm"], message[kept], other[kept])

    def require_planned(self) -> None:
        """Raise a ValueError if messages and the hosts' program differ, or worms differ from the worms that the scheme
        plans.

        Worms of a user's scheme are not compared: they may depend on the order of the destinations, which is not kept.
        """
        host, network, messages = self.host, self.network, self.messages
        starts, nodes = messages["worm"], network.nodes
        worms = np.diff(starts, append=len(host.worms))
        if (worms < 1).any() or worms.sum() != len(host.worms) or self._seen > len(messages):
            raise ValueError("the messages in the window and the program of the hosts do not have the same worms")
        lane = np.repeat(messages["lane"], worms)
        if (host.worms["source"] // nodes != lane).any() or (
                host.deliveries["node"] // nodes != lane[host.deliveries["worm"]]).any():
            raise ValueError("worms or deliveries in the program of the hosts are in other lanes than their messages")
        if not network.scheme.module.startswith(f"{OURS}.") or not len(messages):
            return
        offsets = np.append(host.worms["delivery"][starts], len(host.deliveries))
        sources, destinations = host.worms["source"] % nodes, host.deliveries["node"] % nodes
        planned = network.scheme.batch(network.topology, sources[starts], offsets, destinations,
                                       packets=network.configuration.packets_of(messages["length"]))
        if not (np.array_equal(planned.source, sources) and np.array_equal(planned.destinations, destinations)
                and np.array_equal(planned.message_offsets[:-1], starts)):
            raise ValueError(f"{network.scheme.name} plans other worms than those under way")

    def take_done(self, on_received: MessageCallback | None = None) -> np.ndarray:
        """Return the records of the oldest messages up to the first unreceived one: `DONE`, [messages].

        Each message is returned once. Returned messages are removed when they are a third of the window or more. In the
        result, messages of a lane are in the order of their numbers. All messages that `take_rest` returns for a lane
        have higher numbers.

        Parameters
        ----------
        on_received : MessageCallback, optional
            Callback for these messages.
        """
        self._count()
        host, first = self.host, self._through
        self._through = first_open(self.messages, host.worms, host.deliveries, first)
        result = self._results(first, self._through, on_received)
        if 3 * self._through >= len(self.messages):  # removing fewer messages takes longer than simulating them
            self.shrink()
        return result

    def take_rest(self, on_received: MessageCallback | None = None) -> np.ndarray:
        """Return records of messages that are received while an older one is not; see `take_done`."""
        return self._results(self._through, len(self.messages), on_received)

    def shrink(self) -> None:
        """Free the memory of messages that `take_done` has returned."""
        through, worms = self._through, self._first_worm(self._through)
        self._moving.drop(worms)
        self._messages.forget(through)
        self.messages["worm"] -= worms
        self.messages_before += through
        self.worms_before += worms
        if self.log:
            self.log.forget(self.worms_before)
        self._seen -= through
        self._through = 0

    def _first_worm(self, message: int) -> int:
        """Return the index of a message's first worm; the number of worms if ``message`` is the number of messages."""
        return int(self.messages["worm"][message]) if message < len(self.messages) else len(self.host.worms)

    def _results(self, first: int, end: int, on_received: MessageCallback | None) -> np.ndarray:
        """Return the records of the received messages in a range."""
        if first == end:
            return np.zeros(0, DONE)
        messages, before = self.messages[first:end], self._first_worm(first)
        worms = self.host.worms[before:self._first_worm(end)]
        begin = worms["delivery"][0]
        starts = messages["worm"] - before
        rows = CompletedRows(messages, worms, self.host.deliveries[begin:worms["delivery_end"][-1]], starts,
                    worms["delivery"][starts] - begin, self.host.exchanges)
        result = done_of(rows, self.network.nodes)
        if on_received:
            through = through_of(rows, result, self.network.nodes, self.host.worms)
            if self.log:
                switches = self.network.topology.consumptions[through.last, 0]
                way = self.log.along(through.worm + self.worms_before, through.packet, switches)
                through = replace(through, way=way)
            on_received(through)
        return result[result["received"] >= 0]

    def _count(self) -> None:
        """Add the messages that have begun since the last call to the sums of their lanes."""
        host = self.host
        self._seen = add_begun(self._begun, self.messages, host.worms, host.releases, host.counters[FREED],
                               host.counters[NOW], self._seen)
        host.counters[FREED] = 0

    def counts(self) -> dict[str, np.ndarray]:
        """Return messages ``begun``, their payload flits ``created``, and payload flits times destinations ``wanted``.

        A message has begun when its cycle is reached and all receipts that it waits for have arrived. Each array:
        [lanes].
        """
        self._count()
        return {name: self._begun[name].copy() for name in COUNTS}

    def waiting(self) -> np.ndarray:
        """Return the number of worms of each lane that are created and have not sent a flit, [lanes]."""
        self._count()
        sent = self.host.streams["worms"].reshape(-1, len(self.sources), self.network.nodes)
        return self._begun["worms"] - sent.sum(axis=(0, 2))

    def exchanged(self) -> np.ndarray:
        """Return the sum over all cycles so far of the outstanding requests of each lane, [lanes]."""
        nodes, now = self.host.nodes, int(self.host.counters[NOW])
        return (nodes["exchanged"] + now * nodes["outstanding"]).reshape(len(self.sources), -1).sum(axis=1)

    def admission(self) -> dict[str, np.ndarray]:
        """Return the counters of requests for rows (`ADMISSION`) of each lane, by name, [lanes]."""
        sums = self.host.admission.reshape(len(self.sources), -1, len(ADMISSION)).sum(axis=1)
        return dict(zip(ADMISSION, sums.T, strict=True))

    def quiet(self) -> np.ndarray:
        """Return for each lane the longest time for which hosts have not moved a flit of a worm under way, [lanes]."""
        host, longest = self.host, np.zeros(len(self.sources), np.int64)
        under_way = host.tagged[host.tagged >= 0]
        lane = host.worms["source"][under_way] // self.network.nodes
        np.maximum.at(longest, lane, host.counters[NOW] - host.touched[under_way])
        return longest

    def audit(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Sum up all messages in the window, for checks: return what `counts` should return, and `AUDIT` records."""
        late, found = np.zeros_like(self._created), np.zeros(len(self.sources), AUDIT)
        audit(self.messages, self.host.worms, self.host.deliveries, self._through, late, found)
        # flits that hosts have received, and whose delivery is not identified yet
        found["outstanding"] -= self.host.unnamed.reshape(len(self.sources), -1).sum(axis=1)
        return {name: self._created[name] - late[name] for name in COUNTS}, found

    @property
    def rhythm(self) -> int:
        """Number of steps from one check of the whole window to the next: 1 for a small window, more for a large one.

        The number of steps is always a power of two, so a step that is checked with a large number of steps would be
        checked with each smaller number, too.
        """
        return 1 << (len(self.host.deliveries) // (FEW * self.network.hosts)).bit_length()

    @property
    def message_of(self) -> np.ndarray:
        """Message of each worm in the hosts' program, numbered from the start of the experiment; [worms]."""
        worms = np.diff(self.messages["worm"], append=len(self.host.worms))
        return self.messages_before + np.repeat(np.arange(len(self.messages)), worms)

    @property
    def next(self) -> int:
        """Earliest cycle in which the next message may be created."""
        return min(source.next for source in self.sources)

    @property
    def ended(self) -> bool:
        """All messages are created."""
        return all(source.ended for source in self.sources)


def _merge(parts: Sequence[Created]) -> tuple[Created, np.ndarray]:
    """Merge messages of several lanes in the order of cycles and lanes, and return them with their lanes."""
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
