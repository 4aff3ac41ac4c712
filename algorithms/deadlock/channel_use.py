"""Which channels the worms of a scheme ask for, and from where: everything that their deadlocks depend on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ConsumptionClasses
from ..errors import WormcastError
from ..routing import Relation, Routes, last_option, walk
from ..schemes import Scheme, ask, classes_of
from ..topologies import Topology
from ..turns import require_unicasts, wrong_turn
from ..visit_triples import visit_triples_of_worms
from ..worms import Worms
from .whole_packet_edges import chained_ways, turning_ways

__all__ = ["NOWHERE", "ChannelUse", "find_channel_use", "visit_triples_of"]

NOWHERE = -1
"""First entry of a witness where no worm goes."""

SAMPLES = 512
"""Large multicasts that are held against the triples of their scheme."""

LARGEST_SAMPLE = 64

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ChannelUse:
    """The ways of a scheme's worms through the switches of a topology, each with a worm that takes it.

    A channel is a link and one of the relation's classes of virtual channels, ``link * classes + class``; an output is
    written as relations do, ``port * classes + class``. A witness is a row of nodes that describes a worm: where it
    comes from, and where it goes. Its first entry is ``NOWHERE`` where there is no such worm.

    Parameters
    ----------
    name : str
        Scheme, and the relation where it is not the scheme's own.
    topology : Topology
    routes : Routes
        By which the worms go.
    stated : ConsumptionClasses
        Which consumption channels the worms reserve on their way, as the scheme states it.
    classes : ConsumptionClasses
        The same, or what the user put in its place.
    passes : int32 array [channels, outputs, 2]
        A worm (from u, to v) that holds the channel and asks next for this output, without a stop between; an output
        that is a node's own port is that of its last destination.
    stops : int32 array [channels, outputs, 3]
        A worm (from u, to v, to w) that comes by this channel to v, and asks there first for a consumption channel
        and then for this output; of several outputs the last one, which decides the class of consumption channels. Of
        worms that are buffered, which ask for both at once, all ways that go to more than one destination; of a tree
        (from u) that has come by this channel for v, and goes by this output to w.
    visit_triples : int32 array [triples, 3]
        All such (u, v, w), each once, where worms have a choice of channels between their stops.
    used : bool array [channels]
        Whether worms of several destinations use the channel.
    loaded : bool array [channels]
        Whether worms use the channel while they hold a consumption channel.
    arrives : bool array [channels]
        Whether worms of several destinations come by the channel to one of them.
    complete : bool
        Whether these are known to be all ways, for all multicasts.
    replication : str, optional
        How switches copy the worms, where they do; see `TreeScheme`. The passes are those of all copies then.
    needs_whole_packet : bool
        Whether they are copied out of buffers that may hold a whole one.
    pairs : int32 array [pairs, 2], optional
        Of worms that are buffered, and no trees: a node of one switch, and one of another that they may go on to.
    """

    name: str
    topology: Topology
    routes: Routes
    stated: ConsumptionClasses
    classes: ConsumptionClasses
    passes: Integers
    stops: Integers
    visit_triples: Integers
    used: npt.NDArray[np.bool_]
    loaded: npt.NDArray[np.bool_]
    arrives: npt.NDArray[np.bool_]
    complete: bool
    replication: str | None = None
    needs_whole_packet: bool = False
    pairs: Integers | None = None

    @property
    def vc_classes(self) -> int:
        """Number of classes of virtual channels that the relation tells apart."""
        return len(self.routes.classes)

    @cached_property
    def has_stops(self) -> bool:
        """Whether worms stop on their way."""
        return bool((self.stops[..., 0] >= 0).any())

    @property
    def stops_with_a_choice(self) -> bool:
        """Whether worms have a choice of channels, and stop on their way."""
        return len(self.visit_triples) > 0

    @cached_property
    def ends(self) -> npt.NDArray[np.bool_]:
        """Whether worms come by a link to their last destination, bool [links]."""
        held, output = np.nonzero(self.passes[..., 0] >= 0)
        at = self.topology.links[held // self.vc_classes, 2]
        found = np.zeros(len(self.topology.links), bool)
        found[held[self.topology.node_of_output[at, output // self.vc_classes] >= 0] // self.vc_classes] = True
        return found

    @cached_property
    def follows(self) -> npt.NDArray[np.bool_]:
        """Whether worms that come by a link ask for an output port, after a stop or without, bool [links, ports]."""
        count = self.vc_classes
        asked = (self.passes[..., 0] >= 0) | (self.stops[..., 0] >= 0)
        return np.logical_or.reduce(asked.reshape(len(self.topology.links), count, -1, count), axis=(1, 3))


def find_channel_use(
    scheme: Scheme,
    topology: Topology,
    relation: Relation | None = None,
    classes: ConsumptionClasses | None = None,
    seed: int = 0,
    *,
    absorbed: bool = False,
) -> ChannelUse:
    """Find the ways of a scheme's worms.

    Any node may send to any other. Stops are taken from the scheme's triples; a sample of large multicasts is held
    against them.

    Parameters
    ----------
    relation : Relation, optional
        Routes the worms in place of the scheme's own relation.
    classes : ConsumptionClasses, optional
        In place of the scheme's own.
    seed : int
        Of the sample.
    absorbed : bool
        Worms end at each destination and are sent anew, so that they may take any turn there.

    Raises
    ------
    WormcastError
        The topology is refused; the relation has no way between two nodes; the scheme's triples are no nodes, or
        its worms take a way through a stop that they do not show; worms stop where several nodes share a switch, or
        by a relation that looks where they come from.
    """
    ask(scheme, "check", topology)
    own = scheme.relation_on(topology)
    routes = (relation or own).on(topology)
    arrays, starts = routes.arrays, np.ascontiguousarray(topology.injections[:, 0])
    passes, lost_at, lost_to = _unicasts(arrays, starts, routes.phase_of_node)
    if lost_at >= 0:
        raise WormcastError(
            f"relation {routes.relation.name}: it does not lead from node {lost_at} "
            f"({topology.node_name(lost_at)}) to node {lost_to} ({topology.node_name(lost_to)}) in {topology.name}"
        )
    require_unicasts(scheme, routes)
    name = scheme.name if relation is None or relation is own else f"{scheme.name} by {relation.name}"
    if scheme.needs_whole_packet:
        return _buffered(scheme, name, routes, passes, classes, seed)
    replication = scheme.replication
    triples = visit_triples_of(scheme, topology)
    sample = visit_triples_of_worms(_sample(scheme, topology, seed)) if replication is None else triples
    chosen_from = np.empty((0, 3), np.int32)
    if len(triples) or len(sample):
        _require_stops_known(scheme, routes)
        if routes.deterministic:
            first, last = _first_and_last(arrays, starts)
            stops, used, loaded, arrives = _stops(triples, first, last, arrays, starts)
            unknown = _first_unknown(sample, stops, last, arrays, starts)
        else:
            moving = (triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])
            chosen_from = np.unique(triples[moving], axis=0)
            stops, asked, used, loaded, arrives = _stops_of_choices(chosen_from, arrays, starts, routes.phase_of_node)
            _require_turns(name, routes, passes, asked)
            known = set(map(tuple, chosen_from.tolist()))
            unknown = next((row for row, leg in enumerate(sample.tolist()) if tuple(leg) not in known), -1)
        if unknown >= 0:
            raise _unknown_leg(scheme, topology, *sample[unknown].tolist())
    else:
        stops = np.full((*passes.shape[:2], 3), NOWHERE, np.int32)
        used, loaded, arrives = np.zeros((3, len(passes)), bool)
    _require_turns(name, routes, passes, np.full_like(stops, NOWHERE) if absorbed else stops)
    stated = classes_of(scheme, topology)
    chosen = stated if classes is None else classes
    return ChannelUse(name, topology, routes, stated, chosen, passes, stops, chosen_from, used, loaded, arrives,
                scheme.pairs_are_complete, replication)


def _buffered(scheme: Scheme, name: str, routes: Routes, passes: Integers, classes: ConsumptionClasses | None,
              seed: int) -> ChannelUse:
    """The ways of worms that are copied out of buffers: those may go back to the switch that they came from."""
    topology = routes.topology
    ask(scheme.routed_by(routes.relation), "check", topology)
    if not (routes.deterministic or scheme.is_tree):
        raise WormcastError(f"check: relation {routes.relation.name} leaves a choice, the analysis of worms that are "
                            "copied on their way needs one way to each node")
    used, loaded, arrives = np.zeros((3, len(passes)), bool)
    pairs = None
    if scheme.is_tree:
        stops = turning_ways(routes, passes)
    else:
        homes = topology.consumptions[:, 0]
        pairs = np.unique(visit_triples_of(scheme, topology)[:, 1:], axis=0)
        known = set(map(tuple, homes[pairs].tolist()))
        for came, at, to in visit_triples_of_worms(_sample(scheme, topology, seed)).tolist():
            if homes[at] != homes[to] and (homes[at], homes[to]) not in known:
                raise _unknown_leg(scheme, topology, came, at, to)
        stops, _ = chained_ways(routes, pairs, passes)
    stated = classes_of(scheme, topology)
    return ChannelUse(name, topology, routes, stated, stated if classes is None else classes, passes, stops,
                np.empty((0, 3), np.int32), used, loaded, arrives, scheme.pairs_are_complete, scheme.replication,
                needs_whole_packet=True, pairs=pairs)


def _unknown_leg(scheme: Scheme, topology: Topology, *leg: int) -> WormcastError:
    came, at, to = map(topology.node_name, leg)
    return WormcastError(f"scheme {scheme.name}: a worm comes from {came} to {at} and goes on to {to}, which its "
                         "visit_triples do not show; they must show all, as multicasts to two destinations do not")


def _require_turns(name: str, routes: Routes, passes: Integers, stops: Integers) -> None:
    """Refuse ways that routers do not have: an analysis that counted on them would say nothing of the hardware."""
    topology, count = routes.topology, len(routes.classes)
    turns = np.repeat(np.repeat(routes.relation.turns(topology), count, axis=0), count, axis=1)
    for ways, stopped in ((passes, False), (stops, True)):
        for channel, output in np.argwhere((ways[..., 0] >= 0) & ~turns)[:1].tolist():
            to = int(topology.neighbours[topology.links[channel // count, 2], output // count])
            raise wrong_turn(name, routes, channel // count, to, stopped)


def _require_stops_known(scheme: Scheme, routes: Routes) -> None:
    """Refuse worms that stop on their way where the triples do not tell by which channels they come and go on."""
    topology = routes.topology
    if not np.array_equal(np.sort(topology.consumptions[:, 0]), np.arange(topology.switches)) or (
            topology.injections[:, 0] != topology.consumptions[:, 0]).any():
        raise WormcastError(
            f"check: {topology.name} has {topology.nodes} nodes at {topology.switches} switches, the analysis of "
            f"worms that stop on their way, as those of {scheme.name}, needs one node at each switch"
        )
    if len(routes.options) > 1:
        raise WormcastError(
            f"check: relation {routes.relation.name} looks where a worm comes from, the analysis of worms that stop on "
            f"their way, as those of {scheme.name}, needs one that does not"
        )


def visit_triples_of(scheme: Scheme, topology: Topology) -> Integers:
    """Give the triples of a scheme as `Scheme.visit_triples` has them, whoever has written it.

    Raises
    ------
    WormcastError
        They are no rows of three nodes; or the topology is refused.
    """
    given = ask(scheme, "visit_triples", topology)
    must = f"scheme {scheme.name}: its triples must be three nodes a row, from 0 to {topology.nodes - 1}"
    try:
        triples = np.ascontiguousarray(given, np.int32)
    except (OverflowError, TypeError, ValueError) as error:
        raise WormcastError(f"{must}, they are a {type(given).__name__} ({error})") from error
    if triples.ndim != 2 or triples.shape[1] != 3 or (
            triples.size and not 0 <= triples.min() <= triples.max() < topology.nodes):
        raise WormcastError(f"{must}, they are {list(triples.shape)}")
    return triples


def _sample(scheme: Scheme, topology: Topology, seed: int) -> Worms:
    """Worms of random multicasts with three destinations and more, or of a broadcast."""
    generator = np.random.default_rng(seed)
    most = min(topology.nodes - 1, LARGEST_SAMPLE)
    sizes = generator.integers(min(3, most), most, SAMPLES, endpoint=True)
    if scheme.broadcasts:
        sizes = np.array([topology.nodes - 1])
    drawn = [generator.choice(topology.nodes, size + 1, replace=False) for size in sizes]
    return scheme.batch(
        topology,
        np.array([nodes[0] for nodes in drawn]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([nodes[1:] for nodes in drawn]),
    )


@compiled
def origins(arrays, starts, phases, sources, node, origin, stack):
    """Write to `origin` the lowest node from which worms come by each channel on their way to a node; -1: none.

    `sources` are the nodes that they may come from, ascending; `stack` is room for an entry a channel.
    """
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    origin[:] = -1
    for u in sources:
        if u == node:
            continue
        switch, phase = starts[u], phases[u]
        count, at = 0, 0
        while True:
            if switch != homes[node]:
                for place in range(options.shape[3]):
                    code = options[phase, switch, node, place]
                    if code < 0:
                        break
                    channel = link_of_port[switch, code // classes] * classes + code % classes
                    if origin[channel] < 0:
                        origin[channel] = u
                        stack[count] = channel
                        count += 1
            if at == count:
                break
            link = stack[at] // classes
            switch, phase = switch_of_link[link], phase_of_link[link]
            at += 1


@compiled
def _may_get_lost(arrays, node):
    """Whether a worm to a node may come from a phase and switch to where no way leads on, bool [phases, switches]."""
    options, _, _, _, _, homes = arrays
    arriving = np.zeros(options.shape[:2], np.bool_)
    for phase in range(len(options)):
        arriving[phase, homes[node]] = options[phase, homes[node], node, 0] >= 0
    _spread(arrays, node, arriving)
    lost = ~arriving
    _spread(arrays, node, lost)
    return lost


@compiled
def _spread(arrays, node, wanted):
    """Add the phases and switches from which a worm to a node may come to one that is wanted."""
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    phases, switches, _, most = options.shape
    changed, backwards = True, False
    while changed:
        changed = False
        for step in range(switches):
            switch = switches - 1 - step if backwards else step
            if switch == homes[node]:
                continue
            for phase in range(phases):
                if wanted[phase, switch]:
                    continue
                for place in range(most):
                    code = options[phase, switch, node, place]
                    if code < 0:
                        break
                    link = link_of_port[switch, code // classes]
                    if wanted[phase_of_link[link], switch_of_link[link]]:
                        wanted[phase, switch] = True
                        changed = True
                        break
        backwards = not backwards


@compiled
def _unicasts(arrays, starts, phases):
    """Follow worms between all pairs of nodes: passes, and a pair without a way or -1, -1."""
    options, classes, link_of_port, switch_of_link, phase_of_link, _ = arrays
    channels, outputs = len(switch_of_link) * classes, link_of_port.shape[1] * classes
    passes = np.full((channels, outputs, 2), NOWHERE, np.int32)
    origin = np.empty(channels, np.int32)
    stack = np.empty(channels, np.int32)
    everybody = np.arange(len(starts))
    lost_at, lost_to = -1, -1
    for v in range(len(starts)):
        lost = _may_get_lost(arrays, v)
        for u in range(len(starts)):
            if u != v and lost[phases[u], starts[u]] and (lost_at < 0 or u < lost_at):
                lost_at, lost_to = u, v
        if lost_at >= 0:
            continue
        origins(arrays, starts, phases, everybody, v, origin, stack)
        for channel in range(channels):
            u = origin[channel]
            if u < 0:
                continue
            link = channel // classes
            switch, phase = switch_of_link[link], phase_of_link[link]
            for place in range(options.shape[3]):
                code = options[phase, switch, v, place]
                if code < 0:
                    break
                witness = passes[channel, code]
                if witness[0] < 0 or u < witness[0]:
                    witness[0], witness[1] = u, v
    return passes, lost_at, lost_to


@compiled
def _first_and_last(arrays, starts):
    """First and last channel between all pairs of nodes, int32 [nodes, nodes] each."""
    options, _, _, _, _, _ = arrays
    nodes = len(starts)
    first = np.full((nodes, nodes), -1, np.int32)
    last = np.full((nodes, nodes), -1, np.int32)
    taken = np.empty(options.shape[1], np.int32)
    for u in range(nodes):
        for v in range(nodes):
            if u != v:
                hops = walk(arrays, starts[u], 0, v, taken)
                first[u, v] = taken[0]
                last[u, v] = taken[hops - 1]
    return first, last


@compiled
def _stops(triples, first, last, arrays, starts):
    """Channel use through stops; channels of such worms, those after a stop, and those that lead to destinations."""
    options, classes, link_of_port, switch_of_link, _, _ = arrays
    nodes, outputs = len(starts), link_of_port.shape[1] * classes
    stops = np.full((len(switch_of_link) * classes, outputs, 3), NOWHERE, np.int32)
    used = np.zeros(len(stops), np.bool_)
    loaded = np.zeros(len(stops), np.bool_)
    arrives = np.zeros(len(stops), np.bool_)
    walked_first = np.zeros((nodes, nodes), np.bool_)
    walked = np.zeros((nodes, nodes), np.bool_)
    taken = np.empty(options.shape[1], np.int32)
    for row in range(len(triples)):
        u, v, w = triples[row]
        if u == v or v == w:
            continue
        way = stops[last[u, v], options[0, starts[v], w, 0]]
        if way[0] < 0:
            way[0], way[1], way[2] = u, v, w
        arrives[last[u, v]] = True
        arrives[last[v, w]] = True
        if not walked_first[u, v]:
            walked_first[u, v] = True
            for hop in range(walk(arrays, starts[u], 0, v, taken)):
                used[taken[hop]] = True
        if not walked[v, w]:
            walked[v, w] = True
            for hop in range(walk(arrays, starts[v], 0, w, taken)):
                loaded[taken[hop]] = True
    return stops, used | loaded, loaded, arrives


@compiled
def _stops_of_choices(triples, arrays, starts, phases):
    """The same of worms with a choice; and all that they may ask for after a stop, not only what they ask for last."""
    options, classes, link_of_port, switch_of_link, phase_of_link, homes = arrays
    channels, nodes = len(switch_of_link) * classes, len(starts)
    stops = np.full((channels, link_of_port.shape[1] * classes, 3), NOWHERE, np.int32)
    asked = stops.copy()
    used = np.zeros(channels, np.bool_)
    loaded = np.zeros(channels, np.bool_)
    arrives = np.zeros(channels, np.bool_)
    walked = np.zeros((nodes, nodes), np.bool_)
    origin, stack = np.empty(channels, np.int32), np.empty(channels, np.int32)
    source = np.empty(1, np.int32)
    for row in range(len(triples)):
        u, v, w = triples[row]
        source[0] = u
        origins(arrays, starts, phases, source, v, origin, stack)
        for channel in range(channels):
            link = channel // classes
            used[channel] |= origin[channel] >= 0
            if origin[channel] < 0 or switch_of_link[link] != homes[v]:
                continue
            arrives[channel] = True
            for place in range(options.shape[3]):
                code = options[phase_of_link[link], homes[v], w, place]
                if code >= 0 and asked[channel, code, 0] < 0:
                    asked[channel, code, 0], asked[channel, code, 1], asked[channel, code, 2] = u, v, w
            way = stops[channel, last_option(options, phase_of_link[link], homes[v], w)]
            if way[0] < 0:
                way[0], way[1], way[2] = u, v, w
        if not walked[v, w]:
            walked[v, w] = True
            source[0] = v
            origins(arrays, starts, phases, source, w, origin, stack)
            for channel in range(channels):
                if origin[channel] >= 0:
                    loaded[channel] = True
                    arrives[channel] |= switch_of_link[channel // classes] == homes[w]
    return stops, asked, used | loaded, loaded, arrives


@compiled
def _first_unknown(triples, stops, last, arrays, starts):
    """The first leg whose way through its stop is not among `stops`, or -1."""
    options, _, _, _, _, _ = arrays
    for row in range(len(triples)):
        u, v, w = triples[row]
        if stops[last[u, v], options[0, starts[v], w, 0], 0] < 0:
            return row
    return -1
