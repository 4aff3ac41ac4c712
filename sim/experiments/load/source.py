"""Random traffic: sources, destinations and creation cycles of messages."""

import math
from typing import Protocol

import numpy as np

from wormcast.algorithms import Topology
from wormcast.algorithms.compiled import compiled

from ...build.patterns import PERMUTATIONS, CandidateNodes, Reals, partners
from .created import Created

__all__ = ["Source"]

#: State of a node's stream of messages: ``state``, its random state; ``next``, the cycle of its next event.
#: ``begins``: 1 if the next event is the first cycle of a burst, 0 if it is a message.
STREAM = np.dtype([("state", np.uint64), ("next", np.int64), ("begins", np.int64)])

NONE = -1


class Mixture(Protocol):
    """Properties of random traffic that `Source` uses. `Traffic` has these properties."""

    @property
    def length(self) -> int: ...
    @property
    def unicast_length(self) -> int: ...
    @property
    def multicast_fraction(self) -> float: ...
    @property
    def pattern(self) -> str: ...
    @property
    def hot_spot_share(self) -> float: ...
    @property
    def chance(self) -> float: ...
    @property
    def share_on(self) -> float: ...
    @property
    def burst_on(self) -> float: ...
    @property
    def burst_off(self) -> float: ...

    def counts_on(self, topology: Topology) -> Reals:
        """Return the probability distribution of a multicast's number of destinations."""

    def candidates(self, topology: Topology) -> CandidateNodes | None:
        """Return the nodes among which the destinations of multicasts are chosen; None: all nodes but the source."""

    def hot_nodes(self, topology: Topology) -> list[int]:
        """Return the ids of the hot spots."""


class Source:
    """Random messages of one network, created as time proceeds.

    The messages do not depend on the cycles for which `until` is called.

    Parameters
    ----------
    traffic : Traffic
    topology : Topology
    seed : int
        Traffic of different seeds is independent.

    Attributes
    ----------
    ended : bool
        Always False.
    """

    ended = False

    def __init__(self, traffic: Mixture, topology: Topology, seed: int):
        nodes = topology.nodes
        self.traffic = traffic
        self.nodes = nodes
        counts = traffic.counts_on(topology) if traffic.multicast_fraction else np.zeros(nodes - 1)
        self._below = np.cumsum(counts)
        self._partners = np.full(nodes, NONE, np.int32)
        if traffic.pattern in PERMUTATIONS:
            self._partners = partners(traffic.pattern, topology)
        hot = np.zeros(nodes, bool)
        hot[traffic.hot_nodes(topology)] = True
        self._others = int((~hot).sum())
        self._nodes = np.argsort(hot, kind="stable").astype(np.int32)  # hot spots last
        found = traffic.candidates(topology)
        self._size = 0 if found is None else found.size  # 0: all nodes
        self._candidates, self._sure, self._ends = (
            (np.zeros((nodes, 0), np.int32), *np.zeros((2, nodes), np.int32)) if found is None
            else (found.nodes, found.sure, found.ends))
        # in bursts: probability of a message, of the last cycle of a burst, of the last cycle of a pause
        self._process = np.array([traffic.chance / traffic.share_on, *(
            (1 / traffic.burst_on, 1 / traffic.burst_off) if traffic.burst_on else ())])
        self._streams = np.zeros(nodes, STREAM)
        self._streams["state"] = np.random.default_rng(seed).integers(0, 2**64, nodes, np.uint64)
        self._streams["next"] = -1
        _start(self._streams, self._process, traffic.share_on)

    @property
    def next(self) -> int:
        """Earliest cycle in which any node may create its next message."""
        return int(self._streams["next"].min())

    @property
    def state(self) -> np.ndarray:
        """State of each node's stream, `STREAM` records [nodes]. If the state is set, the streams continue from it."""
        return self._streams.copy()

    @state.setter
    def state(self, state: np.ndarray) -> None:
        self._streams[:] = state

    def until(self, cycle: int) -> Created:
        """Create the messages of all cycles before ``cycle`` that are not created yet."""
        traffic = self.traffic
        expected = traffic.chance * self.nodes * max(0, cycle - int(self._streams["next"].min()))
        room = int(expected + 6 * math.sqrt(expected)) + 64
        parts: list[tuple[np.ndarray, ...]] = []
        while True:
            heads = np.zeros((room, 4), np.int64)  # columns: cycle, source, multicast or not, number of destinations
            nodes = np.zeros(room * (self.nodes - 1 if len(parts) else max(1, min(self.nodes - 1, 64))), np.int32)
            messages, places = _create(self._streams, cycle, self._process, traffic.multicast_fraction, self._below,
                                       self._partners, traffic.hot_spot_share, heads, nodes, self._nodes.copy(),
                                       np.argsort(self._nodes), self._others, self._size, self._candidates, self._sure,
                                       self._ends)
            parts.append((heads[:messages], nodes[:places]))
            if not (self._streams["next"] < cycle).any():
                break
        heads, nodes = (np.concatenate(part) for part in zip(*parts, strict=True))
        multicast = heads[:, 2] != 0
        by_node = Created(
            at=heads[:, 0],
            source=heads[:, 1].astype(np.int32),
            length=np.where(multicast, traffic.length, traffic.unicast_length).astype(np.int64),
            multicast=multicast,
            offsets=np.concatenate([[0], np.cumsum(heads[:, 3])]),
            destinations=nodes,
        )
        return by_node.reordered(np.lexsort((by_node.source, by_node.at)))


@compiled
def _uniform(streams, node):
    """Draw a number from 0 to below 1 (SplitMix64)."""
    streams[node].state += np.uint64(0x9E3779B97F4A7C15)
    mixed = streams[node].state
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return np.float64((mixed ^ mixed >> np.uint64(31)) >> np.uint64(11)) * 2.0**-53


@compiled
def _gap(streams, node, chance):
    """Draw a number of cycles, at least 1, up to an event with the probability ``chance`` in each cycle."""
    if chance >= 1.0:
        return 1
    if chance <= 0.0:
        return 1 << 60
    return 1 + int(min(np.log1p(-_uniform(streams, node)) / np.log1p(-chance), 2.0**60))


@compiled
def _start(streams, process, share_on):
    """Set the first event of each node. ``process``: probability of a message; with bursts, also the probabilities of
    the ends of a burst and of a pause.
    """
    for node in range(len(streams)):
        if len(process) == 1:
            streams[node].next += _gap(streams, node, process[0])
        elif _uniform(streams, node) < share_on:
            _in_burst(streams, node, _gap(streams, node, process[1]), process)
        else:
            streams[node].next += 1 + _gap(streams, node, process[2])
            streams[node].begins = 1


@compiled
def _in_burst(streams, node, left, process):
    """Set a node's next event, a message or the beginning of a burst. The node's burst has ``left`` cycles after
    ``next``."""
    gap = _gap(streams, node, process[0])
    message = gap <= left
    streams[node].next += gap if message else left + 1 + _gap(streams, node, process[2])
    streams[node].begins = not message


@compiled
def _swap(array, one, other):
    array[one], array[other] = array[other], array[one]


@compiled
def _destinations(streams, node, count, share, nodes, swaps, shuffled, place, others):
    """Draw distinct destinations: for each, whether it is a hot spot, then one of the remaining nodes of this kind."""
    # ``shuffled`` has two parts: nodes that are not hot spots, then hot spots
    # the source is swapped to the end of the part that it is in, and is not drawn
    own_end = (others if place < others else len(shuffled)) - 1
    _swap(shuffled, place, own_end)
    cold_left, hot_left = others, len(shuffled) - others
    if place < others:
        cold_left -= 1
    else:
        hot_left -= 1
    cold, hot = 0, others
    for k in range(count):
        is_hot = hot_left > 0 and (cold_left == 0 or _uniform(streams, node) < share + (1.0 - share) * (
            hot_left / (cold_left + hot_left)))
        if is_hot:
            at, left = hot, hot_left
            hot += 1
            hot_left -= 1
        else:
            at, left = cold, cold_left
            cold += 1
            cold_left -= 1
        other = at + int(_uniform(streams, node) * left)
        _swap(shuffled, at, other)
        nodes[k] = shuffled[at]
        swaps[k, 0], swaps[k, 1] = at, other
    for k in range(count - 1, -1, -1):
        _swap(shuffled, swaps[k, 0], swaps[k, 1])
    _swap(shuffled, place, own_end)


@compiled
def _among(streams, node, count, size, candidates, sure, end, nodes):
    """Draw which of the equally near nodes are candidates, and then distinct destinations among the candidates."""
    chosen = candidates.copy()
    if size < end:
        for at in range(sure, size):
            _swap(chosen, at, at + int(_uniform(streams, node) * (end - at)))
    for at in range(count):
        _swap(chosen, at, at + int(_uniform(streams, node) * (size - at)))
        nodes[at] = chosen[at]


@compiled
def _create(streams, cycle, process, multicast_fraction, below, partners, share, heads, nodes, shuffled, places_of,
            others, size, candidates, sure, ends):
    """Create messages node by node while the arrays have room; return the numbers of messages and destinations.

    ``shuffled`` has all nodes: first the ``others`` nodes that are not hot spots, then the hot spots. The function
    restores the order of ``shuffled``. ``places_of`` has each node's index in ``shuffled``. The destinations of
    multicasts are chosen among ``size`` candidates (`CandidateNodes`), if ``size`` is not 0.
    """
    messages, places, most = 0, 0, len(streams) - 1
    swaps = np.empty((most, 2), np.int32)
    for node in range(len(streams)):
        while streams[node].next < cycle:
            if messages == len(heads) or places + most > len(nodes):
                return messages, places
            if streams[node].begins:
                streams[node].next -= 1
                _in_burst(streams, node, _gap(streams, node, process[1]), process)
                continue
            multicast = _uniform(streams, node) < multicast_fraction
            count = 1
            if multicast:
                drawn = _uniform(streams, node) * below[-1]
                count = min(np.searchsorted(below, drawn, side="right") + 1, most)
            if multicast and size:
                _among(streams, node, count, size, candidates[node], sure[node], ends[node], nodes[places:])
            elif multicast or partners[node] == NONE:
                _destinations(streams, node, count, share, nodes[places:], swaps, shuffled, places_of[node], others)
            elif partners[node] != node:
                nodes[places] = partners[node]
            else:
                count = 0
            if count > 0:
                heads[messages, 0] = streams[node].next
                heads[messages, 1] = node
                heads[messages, 2] = multicast
                heads[messages, 3] = count
                messages += 1
                places += count
            if len(process) == 1:
                streams[node].next += _gap(streams, node, process[0])
            else:
                _in_burst(streams, node, _gap(streams, node, process[1]) - 1, process)
    return messages, places
