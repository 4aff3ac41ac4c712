"""States of worm heads under adaptive routing, and the resources that each state requests."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import NO_CLASS, ClassMap
from ..ejection import EjectionPorts
from ..routing import last_option
from .channel_use import NOWHERE, ChannelUse, origins

__all__ = ["HeaderStates", "find_header_states"]

Integers = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class HeaderStates:
    """States ("places") of worm heads: the resource that a worm acquired last, and the node that it goes to.

    The resource is a channel of a link or, at a stop, the consumption channel that the worm reserved there. A worm with
    a consumption channel at a stop also holds the channel by which it arrived. The resources that a worm may request
    next depend only on the state of its head.

    Parameters
    ----------
    resources : int32 array [places]
        Resource of each place, numbered as in `DependencyGraph`.
    witnesses : int32 array [places, 3]
        For each place, the nodes (u, v, w) of a worm whose head is in this state. The worm goes from u, its source or
        previous stop, to v. If the worm holds a consumption channel of the stop v, w is its next stop after v;
        otherwise w is -1.
    cases, ask_offsets, asks : arrays
        Requests of a worm's head in each place. A *case* of a place (state) is a possible continuation of a worm in
        that place. The cases of place p have the numbers cases[p] to cases[p + 1] - 1. In a case, a worm requests any
        one of the resources asks[ask_offsets[case]:ask_offsets[case + 1]]. A place on the last link to the node v to
        which the worm goes has one case in which the worm ends at v, and one further case for each next stop to which a
        worm may go on from v.
    following : int32 array [cases]
        For a case in which the worm requests a consumption channel at a stop on its way: its next stop after this stop.
        For all other cases, in which the worm requests a link, or ends: -1.
    onward_offsets, onward : arrays
        Places that a head may enter next from place p: onward[onward_offsets[p]:onward_offsets[p + 1]].
    links : int
        Number of resources that are channels of links: the resources 0 to links - 1.
    first_choice, groups : int
        ``first_choice``: index of the first resource "any channel" of an ejection port. ``groups``: number of groups
        into which the consumption channels of an ejection port are divided.
    """

    resources: Integers
    witnesses: Integers
    cases: Offsets
    ask_offsets: Offsets
    asks: Integers
    following: Integers
    onward_offsets: Offsets
    onward: Integers
    links: int
    first_choice: int
    groups: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Arguments of the compiled function `_add_held` that describe these heads."""
        return (self.resources, self.cases, self.ask_offsets, self.asks, self.onward_offsets, self.onward, self.links)

    def waits(self, place: int) -> list[tuple[int, list[int]]]:
        """Return for each case (possible continuation) of a place (state) its entry in `following`, and the resources
        that the worm requests as candidates."""
        found = []
        for case in range(self.cases[place], self.cases[place + 1]):
            asked = self.asks[self.ask_offsets[case]:self.ask_offsets[case + 1]].tolist()
            if asked[0] >= self.first_choice:
                first = self.links + (asked[0] - self.first_choice) * self.groups
                asked = list(range(first, first + self.groups))
            found.append((int(self.following[case]), asked))
        return found

    def next(self, place: int) -> list[int]:
        """Return the places (states) that a worm's head may enter directly after `place`."""
        return self.onward[self.onward_offsets[place]:self.onward_offsets[place + 1]].tolist()

    def at(self, resource: int) -> list[int]:
        """Return the places (states) of heads whose last acquired resource is `resource`."""
        order, found = self._by_resource
        first, end = np.searchsorted(found, [resource, resource + 1])
        return order[first:end].tolist()

    def before(self, place: int) -> list[int]:
        """Return the places (states) from which a worm's head may directly enter `place`."""
        order, found, start = self._backwards
        first, end = np.searchsorted(found, [place, place + 1])
        return start[order[first:end]].tolist()

    @cached_property
    def _by_resource(self) -> tuple[npt.NDArray, npt.NDArray]:
        order = np.argsort(self.resources, kind="stable")
        return order, self.resources[order]

    @cached_property
    def _backwards(self) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
        order = np.argsort(self.onward, kind="stable")
        return order, self.onward[order], np.repeat(np.arange(len(self.resources)), np.diff(self.onward_offsets))

    def edges(self) -> tuple[npt.NDArray, npt.NDArray, Integers]:
        """Return dependencies as if heads requested all candidates at once: starts, ends, witnesses."""
        place = np.repeat(np.arange(len(self.resources)), np.diff(self.cases))
        asked = np.repeat(np.arange(len(place)), np.diff(self.ask_offsets))
        witnesses = self.witnesses[place[asked]]
        goes_on = self.following[asked] >= 0
        witnesses[goes_on, 2] = self.following[asked][goes_on]
        return self.resources[place[asked]], self.asks, witnesses


def find_header_states(part: ChannelUse, classes: ClassMap, consumption: int, *, groups: int, ports: EjectionPorts,
                       share: int) -> HeaderStates:
    """Find the states ("places") of the heads of one scheme's worms.

    Parameters
    ----------
    classes : ClassMap
        Consumption classes of the worms. Unless the class map is empty, a worm needs a consumption class at each stop
        on its way.
    consumption : int
        Consumption channels of each ejection port.
    groups, ports
        Number of consumption resources of each ejection port, and the ejection ports, as in `DependencyGraph`.
    share : int
        Number of resources of the dependency graph into which each channel of the scheme's relation is divided.
    """
    topology = part.topology
    nodes, links = topology.nodes, len(topology.links) * part.vc_classes * share
    ways = _Ways(part.visit_triples, nodes)
    channels = len(topology.links) * part.vc_classes
    origin = np.empty((len(ways.nodes), channels), np.int32)
    stack = np.empty(channels, np.int32)
    starts = np.ascontiguousarray(topology.injections[:, 0])
    for row, (node, sources) in enumerate(zip(ways.nodes.tolist(), ways.sources, strict=True)):
        origins(part.routes.arrays, starts, part.routes.phase_of_node, sources, node, origin[row], stack)
    of_channel = classes.of_channels(topology, part.vc_classes)
    any_of = links if groups == 1 else links + len(ports) * groups
    most = int(np.diff(ports.first).max(initial=1)) * groups
    given = (part.routes.arrays, share, ways.nodes, ways.offsets, ways.pairs, ways.stop_pairs, ways.way_of_pair, origin,
             of_channel, classes.by == "last", len(classes) == 0, consumption, groups, links, any_of, ports.first,
             ports.place)
    of_channels, of_stops, sources = _number(*given, most)
    places = int(max(of_channels.max(initial=-1) + share, of_stops.max(initial=-1) + 1))
    sizes = _fill(given, of_channels, of_stops, sources, places, np.zeros(3, np.int64), False)[0]
    _, resources, witnesses, cases, ask_offsets, asks, following, onward_offsets, onward = _fill(
        given, of_channels, of_stops, sources, places, sizes, True)
    return HeaderStates(resources, witnesses, cases, ask_offsets, asks, following, onward_offsets, onward, links,
                        links + len(ports) * groups, groups)


class _Ways:
    """Ways: groups of sources whose worms to a node have the same possible next stops after this node.

    Each way consists of a node, a set of next stops, and the sources or previous stops from which worms to the node
    have exactly these next stops. The set of next stops is empty if all worms of the way end at the node.

    Attributes
    ----------
    nodes, sources
        Of each way: the node, and an array of the sources or previous stops of the worms to this node.
    offsets, pairs
        The rows of `stop_pairs` that belong to way k, one for each of its next stops: pairs[offsets[k]:offsets[k + 1]].
    stop_pairs
        All pairs (v, w) of a stop and the next stop.
    way_of_pair
        For each pair (v, w) of `stop_pairs`: the number of the way (the row in `nodes` and `sources`) of worms that go
        from v to w.
    """

    def __init__(self, triples: Integers, nodes: int):
        after: dict[tuple[int, int], list[int]] = {}
        numbers: dict[tuple[int, int], int] = {}
        for came, at, to in triples.tolist():
            after.setdefault((at, came), []).append(numbers.setdefault((at, to), len(numbers)))
        rows: dict[tuple[int, tuple[int, ...]], list[int]] = {}
        for node in range(nodes):
            for source in range(nodes):
                if source != node:
                    rows.setdefault((node, tuple(sorted(after.get((node, source), ())))), []).append(source)
        row_of = {(source, node): row for row, ((node, _), sources) in enumerate(rows.items()) for source in sources}
        self.nodes = np.array([node for node, _ in rows], np.int32)
        self.sources = [np.array(sources, np.int32) for sources in rows.values()]
        self.offsets = np.cumsum([0, *(len(pairs) for _, pairs in rows)])
        self.pairs = np.array([pair for _, pairs in rows for pair in pairs], np.int32)
        self.stop_pairs = np.array(list(numbers), np.int32).reshape(-1, 2)
        self.way_of_pair = np.array([row_of[pair] for pair in numbers], np.int32)


@compiled
def _class(by_last, of_channel, came, asked):
    """Return the consumption class at a stop of worms that arrive by channel `came` and have `asked` as last
    candidate."""
    if by_last or of_channel[asked] == NO_CLASS:
        return of_channel[came]
    return of_channel[asked]


@compiled
def _groups_at_stop(arrays, by_last, any_class, consumption, groups, of_channel, came, node, to):
    """Return the first and the last group of consumption channels that a worm may reserve at a stop."""
    if any_class:
        return 0, groups - 1
    options, classes, link_of_port, _, phase_of_link, homes = arrays
    code = last_option(options, phase_of_link[came // classes], homes[node], to)
    asked = link_of_port[homes[node], code // classes] * classes + code % classes
    group = _class(by_last, of_channel, came, asked) % consumption
    return group, group


@compiled
def _number(arrays, share, nodes, offsets, pairs, stop_pairs, way_of_pair, origin, of_channel, by_last, any_class,
            consumption, groups, links, any_of, port_first, port_place, most):
    """Number the places (states) on links and at stops. Find for each place at a stop the lowest source of worms in
    this state."""
    classes, switch_of_link, homes = arrays[1], arrays[3], arrays[5]
    of_channels = np.full(origin.shape, -1, np.int32)
    of_stops = np.full((len(stop_pairs), most), -1, np.int32)
    sources = np.full((len(stop_pairs), most), -1, np.int32)
    count = 0
    for row in range(len(nodes)):
        for channel in range(origin.shape[1]):
            if origin[row, channel] >= 0:
                of_channels[row, channel] = count
                count += share
    for row in range(len(nodes)):
        node = nodes[row]
        for channel in range(origin.shape[1]):
            link = channel // classes
            if origin[row, channel] < 0 or switch_of_link[link] != homes[node]:
                continue
            for at in range(offsets[row], offsets[row + 1]):
                pair = pairs[at]
                first, last = _groups_at_stop(arrays, by_last, any_class, consumption, groups, of_channel, channel,
                                              node, stop_pairs[pair, 1])
                for group in range(first, last + 1):
                    key = port_place[link] * groups + group
                    if sources[pair, key] < 0 or origin[row, channel] < sources[pair, key]:
                        sources[pair, key] = origin[row, channel]
    for pair in range(len(stop_pairs)):
        for key in range(most):
            if sources[pair, key] >= 0:
                of_stops[pair, key] = count
                count += 1
    return of_channels, of_stops, sources


@compiled
def _fill(given, of_channels, of_stops, sources, places, sizes, write):
    """Fill the arrays of `HeaderStates` if `write` is true, else only count the cases, requests and next places."""
    (arrays, share, nodes, offsets, pairs, stop_pairs, way_of_pair, origin, of_channel, by_last, any_class,
     consumption, groups, links, any_of, port_first, port_place) = given
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    resources = np.empty(places, np.int32)
    witnesses = np.full((places, 3), NOWHERE, np.int32)
    cases = np.zeros(places + 1, np.int64)
    onward_offsets = np.zeros(places + 1, np.int64)
    ask_offsets = np.zeros(sizes[0] + 1, np.int64)
    asks = np.empty(sizes[1], np.int32)
    following = np.full(sizes[0], NOWHERE, np.int32)
    onward = np.empty(sizes[2], np.int32)
    case, asked, next_place = 0, 0, 0
    for row in range(len(nodes) + len(stop_pairs)):
        stop = row >= len(nodes)
        for key in range(of_stops.shape[1] if stop else origin.shape[1]):
            first = of_stops[row - len(nodes), key] if stop else of_channels[row, key]
            if first < 0:
                continue
            for place in range(first, first + (1 if stop else share)):
                cases[place], onward_offsets[place] = case, next_place
                if stop:
                    pair = row - len(nodes)
                    way, switch, phase = way_of_pair[pair], homes[stop_pairs[pair, 0]], np.int8(0)
                    resources[place] = links + port_first[stop_pairs[pair, 0]] * groups + key
                    witnesses[place, 0] = sources[pair, key]
                    witnesses[place, 1], witnesses[place, 2] = stop_pairs[pair, 0], stop_pairs[pair, 1]
                else:
                    link, way = key // classes, row
                    switch, phase = switch_of_link[link], phase_of_link[link]
                    resources[place] = key * share + place - first
                    witnesses[place, 0], witnesses[place, 1] = origin[row, key], nodes[row]
                node = nodes[way]
                if stop or switch != homes[node]:
                    for alternative in range(options.shape[3]):
                        code = options[phase, switch, node, alternative]
                        if code < 0:
                            break
                        channel = link_of_port[switch, code // classes] * classes + code % classes
                        for one in range(share):
                            if write:
                                asks[asked], onward[next_place] = channel * share + one, of_channels[way, channel] + one
                            asked += 1
                            next_place += 1
                    case += 1
                    if write:
                        ask_offsets[case] = asked
                    continue
                port = port_first[node] + port_place[link]
                if write:
                    asks[asked] = any_of + port
                    ask_offsets[case + 1] = asked + 1
                asked += 1
                case += 1
                for at in range(offsets[way], offsets[way + 1]):
                    low, high = _groups_at_stop(arrays, by_last, any_class, consumption, groups, of_channel, key, node,
                                                stop_pairs[pairs[at], 1])
                    if write:
                        following[case] = stop_pairs[pairs[at], 1]
                        asks[asked] = any_of + port if any_class else links + port * groups + low
                        ask_offsets[case + 1] = asked + 1
                    asked += 1
                    case += 1
                    for group in range(low, high + 1):
                        if write:
                            onward[next_place] = of_stops[pairs[at], port_place[link] * groups + group]
                        next_place += 1
    cases[places], onward_offsets[places] = case, next_place
    return (np.array([case, asked, next_place]), resources, witnesses, cases, ask_offsets, asks, following,
            onward_offsets, onward)
