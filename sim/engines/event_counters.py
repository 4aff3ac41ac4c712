"""Counters of events in a running network: each event is counted by signals of the components (`hw/events.py`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.hw.events import EVENTS, REPLICATION, Event

from ..build.network import Network
from ..lowering import Block, Observer, aligned

__all__ = ["COUNTED", "EventCounts", "Events", "events_of", "make_counters", "signals_of"]

Integers = npt.NDArray[np.int64]

#: Names of the events that are counted, in the order of the rows of `Events`.
COUNTED = (*EVENTS, REPLICATION)


@dataclass(frozen=True, eq=False)
class Events:
    """Numbers of flits, by event.

    Parameters
    ----------
    routers : int64 array [events, lanes, switches]
        In the order of `COUNTED`; rows of interfaces' events are 0.
    interfaces : int64 array [events, lanes, nodes]
        In the order of `COUNTED`; rows of routers' events are 0.
    """

    routers: Integers
    interfaces: Integers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and all(map(np.array_equal, (self.routers, self.interfaces),
                                                     (other.routers, other.interfaces)))

    @classmethod
    def none(cls, network: Network) -> "Events":
        """Return events that are all 0."""
        return cls(np.zeros((len(COUNTED), network.lanes, network.topology.switches), np.int64),
                   np.zeros((len(COUNTED), network.lanes, network.nodes), np.int64))

    @classmethod
    def of(cls, network: Network, counts: Mapping[str, Integers]) -> "Events":
        """Return the events, given the events of each kind of component: int64 [events, instances in all lanes]."""
        events = cls.none(network)
        for kind, found in network.switch_kinds.items():
            events.routers[:, :, found.members] = counts[kind].reshape(len(COUNTED), network.lanes, -1)
        events.interfaces[...] = counts["interface"].reshape(events.interfaces.shape)
        return events


def events_of(network: Network, kind: str) -> list[Event]:
    """Return the signals that show the events of a kind of component."""
    return (network.routers[kind] if kind in network.routers else network.components[kind]).events()


def signals_of(events: list[Event]) -> list[str]:
    """Return the names of all signals of some events, each once."""
    return list(dict.fromkeys(name for event in events for name in event.signals))


class EventCounts(NamedTuple):
    """Arguments of the compiled `count_events`."""

    kinds: Integers
    terms: Integers
    seen: npt.NDArray[np.uint8]
    counts: Integers

    def take(self, network: Network) -> Events:
        """Return the events since the last call of `take`, and set the counters to zero."""
        columns = {kind: int(column) for kind, column in zip(network.kinds, self.kinds[:, 5], strict=True)}
        counts = {kind: self.counts[:, column:column + len(network.kinds[kind].instances)].copy()
                  for kind, column in columns.items()}
        self.counts[...] = 0
        return Events.of(network, counts)


def make_counters(network: Network, blocks: Mapping[str, Block], observers: Mapping[str, Observer]) -> EventCounts:
    """Make the counters of a network.

    Parameters
    ----------
    blocks : mapping of kind to Block
    observers : mapping of kind to Observer
        Observers of `signals_of` the kind's events.
    """
    kinds: list[tuple[int, ...]] = []
    terms: list[tuple[int, ...]] = []
    column, most = 0, 0
    for kind in network.kinds:
        block, observer = blocks[kind], observers[kind]
        width = observer.vector_width
        events = events_of(network, kind)
        words = {name: signal.word for name, signal in zip(signals_of(events), observer.signals, strict=True)}
        start = {name: observer.words[word].offset(width) for name, word in words.items() if word is not None}
        first = len(terms)
        for event in events:
            one, other = event.signals[0], event.signals[-1]
            terms.append((COUNTED.index(event.name), event.flits, start[one], start[other]))
        kinds.append((observer.address, block.state.ctypes.data, block.inputs.ctypes.data, block.n_padded, width,
                      column, first, len(terms)))
        column += block.n_padded
        most = max(most, observer.allocate().size)
    return EventCounts(np.array(kinds, np.int64), np.array(terms, np.int64), aligned(most),
                       np.zeros((len(COUNTED), column), np.int64))
