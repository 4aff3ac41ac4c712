"""Channel use of a scheme: for each held channel, the outputs and consumption channels that a worm requests next."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ConsumptionClasses
from ..errors import WormcastError
from ..phrases import count
from ..routing import Relation, Routes, last_option, walk
from ..routing.base import follow, no_path, turns_of
from ..schemes import Scheme, ask, check_scheme, classes_of
from ..topologies import TOPOLOGIES, Topology
from ..turns import require_unicasts, wrong_turn
from ..visit_triples import visit_triples_of_worms
from .deep_turns import turns_at_stops, turns_down

__all__ = ["NOWHERE", "ChannelUse", "find_channel_use", "visit_triples_of"]

NOWHERE = -1
"""First entry of a witness that names no worm."""

SAMPLES = 512
"""Number of random multicasts that validate the visit triples of a scheme."""

LARGEST_SAMPLE = 64

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ChannelUse:
    """Steps of a scheme's worms from a held channel to a requested output, each with a worm that makes it.

    A channel is a link and one of the relation's classes of virtual channels, ``link * classes + class``. An output is
    ``port * classes + class``, as in relations. A witness is a row of nodes that describes a worm: its source or
    previous stop, and its next stops. The first entry of a witness is ``NOWHERE`` if there is no worm to describe.

    Parameters
    ----------
    name : str
        Name of the scheme. The name of the relation is appended if the scheme has another relation of its own, or if
        the topology is of a user's kind.
    topology : Topology
    routes : Routes
        Routes of the worms.
    stated : ConsumptionClasses
        Class map that the scheme states.
    classes : ConsumptionClasses
        Class map in use: the user's, or that of the scheme.
    passes : int32 array [channels, outputs, 2]
        A worm (from u, to v) that holds the channel and requests this output next, without a stop in between. An output
        that is an ejection port leads to the worm's last destination.
    stops : int32 array [channels, outputs, 3]
        A worm (from u, to v, to w) that comes by this channel to v. At v the worm requests first a consumption channel
        and then the output of the entry. If the worm has several candidate outputs, the entry is that of the last
        candidate, which decides the consumption class. Worms of schemes with `needs_whole_packet` request the
        consumption channel and the output at the same time. For a tree worm, (u, v, w) are the source u, a node v that
        the worm reaches through the channel, and a node w that it reaches through the output.
    visit_triples : int32 array [triples, 3]
        Each (u, v, w) once: worms from u, or from the stop u, stop next at v and then at w. `visit_triples` is empty
        unless worms have a choice of channels between their stops.
    used : bool array [channels]
        Worms of several destinations use the channel. For worms that switches replicate, `used`, `loaded` and `arrives`
        are all False.
    loaded : bool array [channels]
        Worms use the channel while they hold a consumption channel.
    arrives : bool array [channels]
        Worms of several destinations arrive by the channel at one of their destinations.
    complete : bool
        The arrays are known to cover the worms of all multicasts, not only of multicasts to two destinations.
    replication : str, optional
        Replication of the worms in switches, see `TreeScheme`. For replicated worms `passes` has the steps of all
        branches.
    needs_whole_packet : bool
        The worms are replicated from buffers that can store a whole worm.
    pairs : int32 array [pairs, 2], optional
        For path worms of schemes with `needs_whole_packet`: a node at one switch, and a node at another switch to which
        a worm may continue.
    sampled : int
        Number of random multicasts that validated the visit triples.
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
    sampled: int = 0

    @property
    def vc_classes(self) -> int:
        """Number of classes of virtual channels that the relation distinguishes."""
        return len(self.routes.classes)

    @cached_property
    def has_stops(self) -> bool:
        """Some worms have a stop before their last destination."""
        return bool((self.stops[..., 0] >= 0).any())

    @property
    def stops_with_a_choice(self) -> bool:
        """Some worms have a choice of channels and a stop before their last destination."""
        return len(self.visit_triples) > 0

    @cached_property
    def ends(self) -> npt.NDArray[np.bool_]:
        """Links by which worms come to their last destination, bool [links]."""
        held, output = np.nonzero(self.passes[..., 0] >= 0)
        at = self.topology.links[held // self.vc_classes, 2]
        found = np.zeros(len(self.topology.links), bool)
        found[held[self.topology.node_of_output[at, output // self.vc_classes] >= 0] // self.vc_classes] = True
        return found

    @cached_property
    def follows(self) -> npt.NDArray[np.bool_]:
        """Output ports that worms request after each link, with or without a stop, bool [links, ports]."""
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
    """Find the channel use of a scheme's worms.

    Any node may send to any other. Stops come from the scheme's visit triples. Unless the worms are trees, a random
    sample of multicasts to three or more destinations validates the visit triples.

    Parameters
    ----------
    relation : Relation, optional
        Routes the worms in place of the scheme's own relation.
    classes : ConsumptionClasses, optional
        Class map in place of the scheme's own.
    seed : int
        Seed of the random sample of multicasts.
    absorbed : bool
        Worms end at each destination and are sent again, so that they may take any turn there.
    """
    check_scheme(scheme, topology)
    own = scheme.relation_on(topology)
    routes = (relation or own).on(topology)
    arrays, starts = routes.arrays, np.ascontiguousarray(topology.injections[:, 0])
    passes, lost_at, lost_to = _unicasts(arrays, starts, routes.phase_of_node)
    if lost_at >= 0:
        raise no_path(routes, int(topology.injections[lost_at, 0]), lost_to)
    require_unicasts(scheme, routes)
    usual = (relation is None or relation is own) and topology.kind in TOPOLOGIES.own
    name = scheme.name if usual else f"{scheme.name} by {(relation or own).name}"
    if scheme.needs_whole_packet:
        return _buffered(scheme, name, routes, passes, classes, seed)
    replication = scheme.replication
    triples = visit_triples_of(scheme, topology)
    sampled, sample = 0, triples
    if replication is None:
        sampled, sample = _sample(scheme, topology, seed)
    chosen_from = np.empty((0, 3), np.int32)
    if len(triples) or len(sample):
        _require_stops_known(scheme, routes)
        if routes.deterministic:
            phases = np.unique([0, *routes.phase_of_link[:1]])  # phases at a source, and at a stop
            for onward in phases[1:]:
                further, _, _ = _unicasts(arrays, starts, np.full_like(routes.phase_of_node, onward))
                passes = np.where(passes[..., :1] < 0, further, passes)
            last = np.stack([_last_channels(arrays, starts, phase) for phase in phases])
            stops, used, loaded, arrives = _stops(triples, last, arrays, starts, phases)
            unknown = _first_unknown(sample, stops, last, arrays, starts, phases[-1])
        else:
            moving = (triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])
            chosen_from = np.unique(triples[moving], axis=0)
            stops, asked, used, loaded, arrives = _stops_of_choices(chosen_from, arrays, starts, routes.phase_of_node)
            _require_turns(name, routes, passes, asked)
            known = set(map(tuple, chosen_from.tolist()))
            unknown = next((row for row, triple in enumerate(sample.tolist()) if tuple(triple) not in known), -1)
        if unknown >= 0:
            raise _unknown_triple(scheme, topology, *sample[unknown].tolist())
    else:
        stops = np.full((*passes.shape[:2], 3), NOWHERE, np.int32)
        used, loaded, arrives = np.zeros((3, len(passes)), bool)
    _require_turns(name, routes, passes, np.full_like(stops, NOWHERE) if absorbed else stops)
    stated = classes_of(scheme, topology)
    chosen = stated if classes is None else classes
    return ChannelUse(name, topology, routes, stated, chosen, passes, stops, chosen_from, used, loaded, arrives,
                scheme.pairs_are_complete, replication, sampled=sampled)


def _buffered(scheme: Scheme, name: str, routes: Routes, passes: Integers, classes: ConsumptionClasses | None,
              seed: int) -> ChannelUse:
    """Return the channel use of worms replicated from whole-worm buffers. A worm in a whole-worm buffer may turn back
    to the previous switch.
    """
    topology = routes.topology
    ask(scheme.routed_by(routes.relation), "check", topology)
    used, loaded, arrives = np.zeros((3, len(passes)), bool)
    pairs, sampled = None, 0
    if scheme.is_tree:
        stops = turns_down(routes, passes)
    else:
        homes = topology.consumptions[:, 0]
        pairs = np.unique(visit_triples_of(scheme, topology)[:, 1:], axis=0)
        known = set(map(tuple, homes[pairs].tolist()))
        sampled, sample = _sample(scheme, topology, seed)
        for came, at, to in sample.tolist():
            if homes[at] != homes[to] and (homes[at], homes[to]) not in known:
                raise _unknown_triple(scheme, topology, came, at, to)
        stops, _ = turns_at_stops(routes, pairs, passes)
    stated = classes_of(scheme, topology)
    return ChannelUse(name, topology, routes, stated, stated if classes is None else classes, passes, stops,
                np.empty((0, 3), np.int32), used, loaded, arrives, scheme.pairs_are_complete, scheme.replication,
                needs_whole_packet=True, pairs=pairs, sampled=sampled)


def _unknown_triple(scheme: Scheme, topology: Topology, *triple: int) -> WormcastError:
    came, at, to = map(topology.node_title, triple)
    return WormcastError(f"scheme {scheme.name}: visit_triples(topology) is not complete: a worm comes from {came} to "
                         f"{at} and goes on to {to}. Needed: all triples, also those of multicasts to more than two "
                         "destinations.")


def _require_turns(name: str, routes: Routes, passes: Integers, stops: Integers) -> None:
    """Refuse turns that routers do not have: an analysis with them would not hold for the hardware."""
    topology, count = routes.topology, len(routes.classes)
    turns = np.repeat(np.repeat(turns_of(routes.relation, topology), count, axis=0), count, axis=1)
    for ways, stopped in ((passes, False), (stops, True)):
        for channel, output in np.argwhere((ways[..., 0] >= 0) & ~turns)[:1].tolist():
            to = int(topology.neighbours[topology.links[channel // count, 2], output // count])
            raise wrong_turn(name, routes, channel // count, to, stopped)


def _require_stops_known(scheme: Scheme, routes: Routes) -> None:
    """Refuse networks in which some switch does not have exactly one node, and relations whose candidates depend on the
    link by which a worm arrives.

    A relation that always has one candidate may have two phases: one of worms at their source, and one of all worms
    that have arrived by a link.
    """
    topology = routes.topology
    names, (sends, receives) = topology.switch_names, (topology.injections[:, 0], topology.consumptions[:, 0])
    nodes = np.bincount(receives, minlength=topology.switches)
    if (nodes != 1).any() or (sends != receives).any():
        odd, apart = int((nodes != 1).argmax()), int((sends != receives).argmax())
        found = (f"switch {names[odd]} has {count(int(nodes[odd]), 'node')}" if nodes[odd] != 1 else
                 f"node {apart} sends to switch {names[sends[apart]]} and receives from switch "
                 f"{names[receives[apart]]}")
        raise WormcastError(f"check: {topology.name} is not valid: {found}, and worms of {scheme.name} stop on their "
                            "way. Allowed: networks with exactly one node at each switch.")
    phases = len(np.unique(routes.phase_of_link)) if routes.deterministic else len(routes.options)
    if phases > 1:
        raise WormcastError(
            f"check: relation {routes.relation.name} is not valid: its candidates depend on the input channel, and "
            f"worms of {scheme.name} stop on their way. Allowed: relations that depend on switch and destination only."
        )


def visit_triples_of(scheme: Scheme, topology: Topology) -> Integers:
    """Return the visit triples of a scheme, after a check of their type, shape and range."""
    given = ask(scheme, "visit_triples", topology)
    allowed = f"Allowed: rows of three nodes from 0 to {topology.nodes - 1}."
    try:
        triples = np.ascontiguousarray(given, np.int32)
    except (OverflowError, TypeError, ValueError) as error:
        raise WormcastError(f"scheme {scheme.name}: visit_triples(topology) returns a value of type "
                            f"{type(given).__name__}, which is not valid ({error}). {allowed}") from error
    if triples.ndim == 2 and triples.shape[1] == 3:
        for node in triples[(triples < 0) | (triples >= topology.nodes)][:1].tolist():
            raise WormcastError(f"scheme {scheme.name}: visit_triples(topology) returns node {node}. {allowed}")
    else:
        raise WormcastError(f"scheme {scheme.name}: visit_triples(topology) returns an array of shape "
                            f"{list(triples.shape)}. {allowed}")
    return triples


def _sample(scheme: Scheme, topology: Topology, seed: int) -> tuple[int, Integers]:
    """Return the number of random multicasts to three or more destinations, and the visit triples of their worms.

    For a scheme that only broadcasts, the sample is one broadcast. In networks of fewer than four nodes, the multicasts
    are to all other nodes.
    """
    generator = np.random.default_rng(seed)
    most = min(topology.nodes - 1, LARGEST_SAMPLE)
    sizes = generator.integers(min(3, most), most, SAMPLES, endpoint=True)
    if scheme.broadcasts:
        sizes = np.array([topology.nodes - 1])
    drawn = [generator.choice(topology.nodes, size + 1, replace=False) for size in sizes]
    worms = scheme.batch(
        topology,
        np.array([nodes[0] for nodes in drawn]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([nodes[1:] for nodes in drawn]),
    )
    return len(sizes), visit_triples_of_worms(worms)


@compiled
def origins(arrays, starts, phases, sources, node, origin, stack):
    """Write to `origin`, for each channel, the lowest source whose worms to a node may use the channel, or -1.

    `sources` are the possible source nodes, ascending. `stack` is scratch memory with an entry for each channel.
    """
    origin[:] = NOWHERE
    for u in sources:
        if u != node:
            follow(arrays, starts[u], phases[u], node, origin, u, stack)


@compiled
def _may_get_lost(arrays, node):
    """Return the phases and switches where a worm to a node may reach a dead end, bool [phases, switches]."""
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
    """Add to `wanted` all phases and switches from which a worm to a node may reach a wanted phase and switch."""
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
    """Follow worms between all pairs of nodes. Return the array `passes` of `ChannelUse`, and a pair of nodes between
    which a worm may reach a dead end, or -1, -1."""
    options, classes, link_of_port, switch_of_link, phase_of_link, _ = arrays
    channels, outputs = len(switch_of_link) * classes, link_of_port.shape[1] * classes
    passes = np.full((channels, outputs, 2), NOWHERE, np.int32)
    origin = np.empty(channels, np.int32)
    stack = np.empty(channels, np.int32)
    all_nodes = np.arange(len(starts))
    lost_at, lost_to = -1, -1
    for v in range(len(starts)):
        lost = _may_get_lost(arrays, v)
        for u in range(len(starts)):
            if u != v and lost[phases[u], starts[u]] and (lost_at < 0 or u < lost_at):
                lost_at, lost_to = u, v
        if lost_at >= 0:
            continue
        origins(arrays, starts, phases, all_nodes, v, origin, stack)
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
def _last_channels(arrays, starts, phase):
    """Return the last channel of the path between each pair of nodes, int32 [nodes, nodes]; paths begin in
    ``phase``."""
    options, _, _, _, _, _ = arrays
    nodes = len(starts)
    last = np.full((nodes, nodes), -1, np.int32)
    taken = np.empty(options.shape[1], np.int32)
    for u in range(nodes):
        for v in range(nodes):
            if u != v:
                hops = walk(arrays, starts[u], phase, v, taken)
                last[u, v] = taken[hops - 1]
    return last


@compiled
def _stops(triples, last, arrays, starts, phases):
    """Return the arrays `stops`, `used`, `loaded` and `arrives` of `ChannelUse`.

    The first node of a triple is a source or a stop. `phases` has the phase of worms at their source and, if it is
    another one, the phase at all stops. `last` has the last channels of paths that begin in each phase of `phases`,
    int32 [phases, nodes, nodes].
    """
    options, classes, link_of_port, switch_of_link, _, _ = arrays
    nodes, outputs, onward = len(starts), link_of_port.shape[1] * classes, phases[-1]
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
        for begin in range(len(phases)):
            way = stops[last[begin, u, v], options[onward, starts[v], w, 0]]
            if way[0] < 0:
                way[0], way[1], way[2] = u, v, w
            arrives[last[begin, u, v]] = True
            if not walked_first[u, v]:
                for hop in range(walk(arrays, starts[u], phases[begin], v, taken)):
                    used[taken[hop]] = True
        walked_first[u, v] = True
        arrives[last[-1, v, w]] = True
        if not walked[v, w]:
            walked[v, w] = True
            for hop in range(walk(arrays, starts[v], onward, w, taken)):
                loaded[taken[hop]] = True
    return stops, used | loaded, loaded, arrives


@compiled
def _stops_of_choices(triples, arrays, starts, phases):
    """Return `stops`, `asked`, `used`, `loaded` and `arrives` for worms with a choice of channels.

    The array `asked` is like `stops`, but has an entry for each candidate at a stop. The other arrays are as in
    `_stops`.
    """
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
def _first_unknown(triples, stops, last, arrays, starts, onward):
    """Return the row of the first triple (u, v, w) whose channel into v and output to w have no entry in `stops`, or
    -1."""
    options, _, _, _, _, _ = arrays
    for row in range(len(triples)):
        u, v, w = triples[row]
        for begin in range(len(last)):
            if stops[last[begin, u, v], options[onward, starts[v], w, 0], 0] < 0:
                return row
    return -1
