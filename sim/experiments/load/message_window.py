"""Messages on their way: planned as they are created, forgotten when all of them before are received."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wormcast.algorithms import Scheme

from ...build.front_door import known_to_fit, require_sent
from ...build.network import Network
from ...common.growable import Growing
from ...host import FREED, NOW, Host, MovingHost, lay_out
from .accounting import AUDIT, MESSAGE, SUMS, add_all, add_begun, audit, first_open
from .completed import DONE, CompletedRows, Tell, done_of, through_of
from .created import Created, Stream
from .header_waits import GrantLog
from .result import COUNTS

__all__ = ["MessageWindow"]

#: The package of our schemes.
OURS = Scheme.__module__.rpartition(".")[0]

#: Deliveries of a node, up to which all that is here may be looked at in each step.
FEW = 32


class MessageWindow:
    """The messages of all lanes that are on their way or yet to be sent.

    What is asked of it in each step takes no longer the more messages wait: it counts as they come and go. What has to
    look at all of them is for each `rhythm`-th step.

    Parameters
    ----------
    network : Network
    sources : sequence of Stream
        One for each lane; messages that wait for receipts are for a single lane.
    until : int
        The messages of all cycles before this one are there from the start.

    Attributes
    ----------
    worms_before, messages_before : int
        How many have been forgotten; the host's numbers begin behind them.
    log : GrantLog or None
        What worms have got, where they are followed.
    """

    def __init__(self, network: Network, sources: Sequence[Stream], until: int):
        self.network = network
        self._asked = not known_to_fit(network.topology, network.scheme, network.configuration)
        self.worms_before = self.messages_before = 0
        self.log: GrantLog | None = None
        self.sources = sources
        self._created, self._begun = np.zeros(len(sources), SUMS), np.zeros(len(sources), SUMS)
        self._numbers = np.zeros(len(sources), np.int64)  # of the next message of each lane
        self._seen = 0  # messages here of the cycles that have been run
        self._through = 0  # messages at the front of which `take_done` has told
        messages, host, waits = self._create(until)
        self._messages, self._moving = Growing(messages), MovingHost(host)
        self._wait(waits, 0)

    @property
    def host(self) -> Host:
        """The program that sends them: another one whenever messages come or go."""
        return self._moving.host

    @host.setter
    def host(self, host: Host) -> None:
        self._moving = MovingHost(host)

    @property
    def messages(self) -> np.ndarray:
        """What is known of each message here, `MESSAGE` records in the order in which they are created."""
        return self._messages.rows

    def extend(self, until: int) -> None:
        """Create the messages of the cycles up to this one."""
        messages, more, waits = self._create(until)
        there = len(self.messages)
        messages["worm"] += len(self.host.worms)
        self._messages.extend(messages)
        self._moving.append(more)
        self._wait(waits, there)

    def _create(self, until: int) -> tuple[np.ndarray, Host, np.ndarray]:
        """The messages up to this cycle, a program of their own, and what they wait for (`Created.waits`)."""
        merged, lane = _merge([source.until(until) for source in self.sources])
        worms = self.network.scheme.batch(
            self.network.topology, merged.source, merged.offsets, merged.destinations,
            packets=self.network.configuration.packets_of(merged.length))
        if self._asked:
            require_sent(self.network.topology, self.network.scheme, self.network.configuration, worms)
        messages = np.zeros(len(lane), MESSAGE)
        for field, values in {"lane": lane, "message": self._number(lane), "length": merged.length,
                              "multicast": merged.multicast, "worm": worms.message_offsets[:-1]}.items():
            messages[field] = values
        host = lay_out(self.network, merged.at, merged.length, worms, lane=lane, numbers=messages["message"],
                       multicast=merged.multicast)
        add_all(self._created, messages, host.worms)
        return messages, host, merged.waits

    def _number(self, lane: np.ndarray) -> np.ndarray:
        """Numbers of new messages in their lanes, from where the last ones ended."""
        numbers = np.empty(len(lane), np.int64)
        for k, first in enumerate(self._numbers):
            mine = np.flatnonzero(lane == k)
            numbers[mine] = first + np.arange(len(mine))
            self._numbers[k] += len(mine)
        return numbers

    def _wait(self, waits: np.ndarray, there: int) -> None:
        """Let messages wait for receipts (`Created.waits`); ``there``: the messages before the first of them."""
        message, other = there + waits[:, 0], there + waits[:, 0] - waits[:, 1]
        kept = other >= 0  # those that are forgotten are received
        if kept.any():
            self._moving.wait_for(self.messages["worm"], message[kept], other[kept])

    def require_planned(self) -> None:
        """Refuse messages that are not those of the program, and worms that our scheme would not have sent for them.

        Of a user's own scheme worms may depend on the order of the destinations, which is not kept.

        Raises
        ------
        ValueError
            The first thing that does not fit.
        """
        host, network, messages = self.host, self.network, self.messages
        starts, nodes = messages["worm"], network.nodes
        worms = np.diff(starts, append=len(host.worms))
        if (worms < 1).any() or worms.sum() != len(host.worms) or self._seen > len(messages):
            raise ValueError("window's messages have other worms than the host")
        lane = np.repeat(messages["lane"], worms)
        if (host.worms["source"] // nodes != lane).any() or (
                host.deliveries["node"] // nodes != lane[host.deliveries["worm"]]).any():
            raise ValueError("window's messages are in other lanes than the host's")
        if not network.scheme.module.startswith(f"{OURS}.") or not len(messages):
            return
        offsets = np.append(host.worms["delivery"][starts], len(host.deliveries))
        sources, destinations = host.worms["source"] % nodes, host.deliveries["node"] % nodes
        planned = network.scheme.batch(network.topology, sources[starts], offsets, destinations,
                                       packets=network.configuration.packets_of(messages["length"]))
        if not (np.array_equal(planned.source, sources) and np.array_equal(planned.destinations, destinations)
                and np.array_equal(planned.message_offsets[:-1], starts)):
            raise ValueError(f"worms are under way that {network.scheme.name} does not send")

    def take_done(self, tell: Tell | None = None) -> np.ndarray:
        """Forget the messages at the front that are received, and say what became of them: `DONE`, [messages].

        Of a lane they come in the order of their numbers, those of `take_rest` behind them.

        Parameters
        ----------
        tell : Tell, optional
            Gets all that is known of them.
        """
        self._count()
        host, first = self.host, self._through
        self._through = first_open(self.messages, host.worms, host.deliveries, first)
        result = self._results(first, self._through, tell)
        if 3 * self._through >= len(self.messages):  # else it would take longer than it has taken to send them
            self.shrink()
        return result

    def take_rest(self, tell: Tell | None = None) -> np.ndarray:
        """Say what became of those that are received while an older one is not, as `take_done` does."""
        return self._results(self._through, len(self.messages), tell)

    def shrink(self) -> None:
        """Give free what `take_done` has told of."""
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
        """The first worm of a message, or of those that are to come."""
        return int(self.messages["worm"][message]) if message < len(self.messages) else len(self.host.worms)

    def _results(self, first: int, end: int, tell: Tell | None) -> np.ndarray:
        """What has become of those of these messages that are received."""
        if first == end:
            return np.zeros(0, DONE)
        messages, before = self.messages[first:end], self._first_worm(first)
        worms = self.host.worms[before:self._first_worm(end)]
        begin = worms["delivery"][0]
        starts = messages["worm"] - before
        rows = CompletedRows(messages, worms, self.host.deliveries[begin:worms["delivery_end"][-1]], starts,
                    worms["delivery"][starts] - begin)
        result = done_of(rows, self.network.nodes)
        if tell:
            told = through_of(rows, result, self.network.nodes, self.host.worms)
            if self.log:
                switches = self.network.topology.consumptions[told.last, 0]
                told = replace(told, way=self.log.along(told.worm + self.worms_before, told.packet, switches))
            tell(told)
        return result[result["received"] >= 0]

    def _count(self) -> None:
        """Add the messages that have begun since the last time."""
        host = self.host
        self._seen = add_begun(self._begun, self.messages, host.worms, host.releases, host.counters[FREED],
                               host.counters[NOW], self._seen)
        host.counters[FREED] = 0

    def counts(self) -> dict[str, np.ndarray]:
        """Messages ``begun`` so far, payload flits ``created`` and ``wanted``; each [lanes].

        A message is begun, or created, when none of the receipts that it waits for is outstanding.
        """
        self._count()
        return {name: self._begun[name].copy() for name in COUNTS}

    def waiting(self) -> np.ndarray:
        """Worms of each lane that are created and not begun to be sent, [lanes]."""
        self._count()
        sent = self.host.streams["worms"].reshape(-1, len(self.sources), self.network.nodes)
        return self._begun["worms"] - sent.sum(axis=(0, 2))

    def quiet(self) -> np.ndarray:
        """Cycles for which that worm under way has not moved that has waited longest, [lanes]."""
        host, longest = self.host, np.zeros(len(self.sources), np.int64)
        under_way = host.tagged[host.tagged >= 0]
        lane = host.worms["source"][under_way] // self.network.nodes
        np.maximum.at(longest, lane, host.counters[NOW] - host.touched[under_way])
        return longest

    def audit(self) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Look at all that is here: what `counts` must come to by it, and `AUDIT` records [lanes]."""
        late, found = np.zeros_like(self._created), np.zeros(len(self.sources), AUDIT)
        audit(self.messages, self.host.worms, self.host.deliveries, self._through, late, found)
        found["outstanding"] -= self.host.unnamed.reshape(len(self.sources), -1).sum(axis=1)  # taken, in no delivery
        return {name: self._created[name] - late[name] for name in COUNTS}, found

    @property
    def rhythm(self) -> int:
        """Of how many steps one may look at all that is here: 1 where it is little, else the rarer the more it is.

        A power of two, so that it is the same steps whichever others it was before.
        """
        return 1 << (len(self.host.deliveries) // (FEW * self.network.hosts)).bit_length()

    @property
    def message_of(self) -> np.ndarray:
        """The message of each of the host's worms, counted from the first one of all; [worms]."""
        worms = np.diff(self.messages["worm"], append=len(self.host.worms))
        return self.messages_before + np.repeat(np.arange(len(self.messages)), worms)

    @property
    def next(self) -> int:
        """First cycle, of those whose messages are not here yet, in which there may be a message."""
        return min(source.next for source in self.sources)

    @property
    def ended(self) -> bool:
        """Whether all messages that there will be are here, or have been."""
        return all(source.ended for source in self.sources)


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
