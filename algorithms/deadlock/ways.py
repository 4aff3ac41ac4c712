"""Which links the worms of a scheme ask for, and from where: everything that their deadlocks depend on."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..compiled import compiled
from ..consumption import ConsumptionClasses
from ..errors import WormcastError
from ..legs import legs_of_worms
from ..routing import Relation
from ..schemes import Scheme, ask, classes_of
from ..topologies import Topology
from ..worms import Worms

__all__ = ["NOWHERE", "Ways", "find_ways", "link_of_port"]

NOWHERE = -1
"""First entry of a witness where no worm goes."""

SAMPLES = 512
"""Large multicasts that are held against the legs of their scheme."""

LARGEST_SAMPLE = 64

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ways:
    """The ways of a scheme's worms through the switches of a topology, each with a worm that takes it.

    A witness is a row of nodes that describes a worm: where it comes from, and where it goes. Its first entry is
    ``NOWHERE`` where there is no such worm.

    Parameters
    ----------
    name : str
        Scheme, and the relation where it is not the scheme's own.
    topology : Topology
    stated : ConsumptionClasses
        Which consumption channels the worms reserve on their way, as the scheme states it.
    classes : ConsumptionClasses
        The same, or what the user put in its place.
    passes : int32 array [links, ports, 2]
        A worm (from u, to v) that holds the link and asks next for this output, without a stop between.
    ends : int32 array [links, 2]
        A worm (from u, to v) that comes by this link to its last destination.
    stops : int32 array [links, ports, 3]
        A worm (from u, to v, to w) that comes by this link to v, and asks there first for a consumption channel
        and then for this output.
    loaded : bool array [links]
        Whether worms use the link while they hold a consumption channel.
    arrives : bool array [links]
        Whether worms of several destinations come by the link to one of them.
    complete : bool
        Whether these are known to be all ways, for all multicasts.
    """

    name: str
    topology: Topology
    stated: ConsumptionClasses
    classes: ConsumptionClasses
    passes: Integers
    ends: Integers
    stops: Integers
    loaded: npt.NDArray[np.bool_]
    arrives: npt.NDArray[np.bool_]
    complete: bool


def find_ways(
    scheme: Scheme,
    topology: Topology,
    relation: Relation | None = None,
    classes: ConsumptionClasses | None = None,
    seed: int = 0,
) -> Ways:
    """Find the ways of a scheme's worms.

    Any node may send to any other. Stops are taken from the scheme's legs; a sample of large multicasts is held
    against them.

    Parameters
    ----------
    relation : Relation, optional
        Routes the worms in place of the scheme's own relation.
    classes : ConsumptionClasses, optional
        In place of the scheme's own.
    seed : int
        Of the sample.

    Raises
    ------
    WormcastError
        The topology is refused; the relation has no way between two nodes; the scheme's legs are no nodes, or
        its worms take a way through a stop that they do not show.
    """
    ask(scheme, "check", topology)
    own = scheme.relation
    routes = (relation or own).on(topology)
    if topology.nodes != topology.switches:
        raise WormcastError(
            f"check: {topology.name} has {topology.nodes} nodes at {topology.switches} switches, "
            "the analysis needs one node at each switch"
        )
    tables = routes.table, topology.neighbours, link_of_port(topology)
    passes, ends, first, last, lost_at, lost_to = _unicasts(*tables, topology.injections[:, 0])
    if lost_at >= 0:
        raise WormcastError(
            f"relation {routes.relation.name}: it does not lead from node {lost_at} "
            f"({topology.node_name(lost_at)}) to node {lost_to} ({topology.node_name(lost_to)}) in {topology.name}"
        )
    legs = _legs(scheme, topology)
    stops, loaded, arrives = _stops(legs, first, last, *tables, topology.injections[:, 0])
    sample = legs_of_worms(_sample(scheme, topology, seed))
    unknown = _first_unknown(sample, stops, first, last, topology.links[:, 1])
    if unknown >= 0:
        came, at, to = map(topology.node_name, sample[unknown].tolist())
        raise WormcastError(
            f"scheme {scheme.name}: a worm comes from {came} to {at} and goes on to {to}, which its legs do not "
            "show; legs() must give all of them, as multicasts to two destinations do not"
        )
    name = scheme.name if relation is None or relation is own else f"{scheme.name} by {relation.name}"
    stated = classes_of(scheme, topology)
    chosen = stated if classes is None else classes
    return Ways(name, topology, stated, chosen, passes, ends, stops, loaded, arrives, scheme.pairs_tell_all)


def _legs(scheme: Scheme, topology: Topology) -> Integers:
    """The legs of a scheme, checked."""
    given = ask(scheme, "legs", topology)
    must = f"scheme {scheme.name}: its legs must be three nodes a row, from 0 to {topology.nodes - 1}"
    try:
        legs = np.ascontiguousarray(given, np.int32)
    except (OverflowError, TypeError, ValueError) as error:
        raise WormcastError(f"{must}, they are a {type(given).__name__} ({error})") from error
    if legs.ndim != 2 or legs.shape[1] != 3 or (legs.size and not 0 <= legs.min() <= legs.max() < topology.nodes):
        raise WormcastError(f"{must}, they are {list(legs.shape)}")
    return legs


def link_of_port(topology: Topology) -> Integers:
    """Row in `Topology.links` of each output port, int32 [switches, ports]; -1 where there is none."""
    numbers = np.full(topology.neighbours.shape, -1, np.int32)
    numbers[topology.links[:, 0], topology.links[:, 1]] = np.arange(len(topology.links))
    return numbers


def _sample(scheme: Scheme, topology: Topology, seed: int) -> Worms:
    """Worms of random multicasts with three destinations and more."""
    generator = np.random.default_rng(seed)
    most = min(topology.nodes - 1, LARGEST_SAMPLE)
    sizes = generator.integers(min(3, most), most, SAMPLES, endpoint=True)
    drawn = [generator.choice(topology.nodes, size + 1, replace=False) for size in sizes]
    return scheme.batch(
        topology,
        np.array([nodes[0] for nodes in drawn]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([nodes[1:] for nodes in drawn]),
    )


@compiled
def _unicasts(table, neighbours, link_of_port, starts):
    """Walk between all pairs of nodes: passes, ends, each pair's first and last link, and a pair without a way."""
    nodes, (switches, ports) = len(starts), neighbours.shape
    links = link_of_port.max() + 1
    passes = np.full((links, ports, 2), NOWHERE, np.int32)
    ends = np.full((links, 2), NOWHERE, np.int32)
    first = np.full((nodes, nodes), -1, np.int32)
    last = np.full((nodes, nodes), -1, np.int32)
    for u in range(nodes):
        for v in range(nodes):
            if u == v:
                continue
            switch, held, hops = starts[u], -1, 0
            while switch != starts[v]:
                port = table[switch, v]
                if port < 0 or neighbours[switch, port] < 0 or hops == switches:
                    return passes, ends, first, last, u, v
                link = link_of_port[switch, port]
                if held < 0:
                    first[u, v] = link
                elif passes[held, port, 0] < 0:
                    passes[held, port, 0], passes[held, port, 1] = u, v
                held = link
                switch = neighbours[switch, port]
                hops += 1
            last[u, v] = held
            if ends[held, 0] < 0:
                ends[held, 0], ends[held, 1] = u, v
    return passes, ends, first, last, -1, -1


@compiled
def _stops(legs, first, last, table, neighbours, link_of_port, starts):
    """Ways through stops, the links used after one, and those by which such worms come to a destination."""
    nodes, ports = len(starts), neighbours.shape[1]
    links = link_of_port.max() + 1
    stops = np.full((links, ports, 3), NOWHERE, np.int32)
    loaded = np.zeros(links, np.bool_)
    arrives = np.zeros(links, np.bool_)
    walked = np.zeros((nodes, nodes), np.bool_)
    for row in range(len(legs)):
        u, v, w = legs[row]
        if u == v or v == w:
            continue
        port = table[starts[v], w]
        way = stops[last[u, v], port]
        if way[0] < 0:
            way[0], way[1], way[2] = u, v, w
        arrives[last[u, v]] = True
        arrives[last[v, w]] = True
        if not walked[v, w]:
            walked[v, w] = True
            switch = starts[v]
            while switch != starts[w]:
                port = table[switch, w]
                loaded[link_of_port[switch, port]] = True
                switch = neighbours[switch, port]
    return stops, loaded, arrives


@compiled
def _first_unknown(legs, stops, first, last, port_of_link):
    """The first leg whose way through its stop is not among `stops`, or -1."""
    for row in range(len(legs)):
        u, v, w = legs[row]
        if stops[last[u, v], port_of_link[first[v, w]], 0] < 0:
            return row
    return -1
