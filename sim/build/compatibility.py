"""Checks, before simulations, exports and random plans, that the hardware passes on a scheme's worms."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import SCHEMES, TOPOLOGIES, Scheme, Topology, Worms
from wormcast.algorithms.host_retransmission import AbsorbedByHosts
from wormcast.algorithms.turns import require_passage
from wormcast.hw.options import require_buffers
from wormcast.hw.router import Blueprint

from .configuration import Configuration

__all__ = ["known_to_fit", "require_sendable", "require_sent"]

#: Largest number of unicasts, and of multicasts to two nodes, in a sample of worms.
PAIRS, MULTICASTS = 1 << 16, 20_000

#: Number of multicasts to three or more nodes in a sample of worms (on three nodes: to two nodes).
#: Largest number of broadcasts in the sample of a scheme that supports broadcast only.
LARGE = 200


def require_sent(topology: Topology, scheme: Scheme, configuration: Configuration, worms: Worms) -> None:
    """Refuse worms that routers of this hardware do not pass on to their destinations.

    Parameters
    ----------
    scheme : Scheme
        Scheme with its worms as hosts send them (`Configuration.as_sent`).

    Raises
    ------
    WormcastError
        Worms of the scheme need other buffers; routers cannot decode their headers under this relation; the relation
        does not lead to a destination; a worm requests a turn that routers do not have; or the consumption classes give
        it no channel at a stop.
    """
    require_buffers(scheme, deep=configuration.deep)
    if not known_to_fit(topology, scheme, configuration):
        Blueprint(topology, scheme, configuration).decoder()
    routes = configuration.relation_on(topology, scheme).on(topology)
    classes = configuration.consumption_classes(topology, scheme)
    require_passage(scheme, routes, classes, worms, whole=configuration.deep, apart=bool(configuration.slots))


def require_sendable(topology: Topology, scheme: Scheme, configuration: Configuration) -> None:
    """Refuse hardware that does not pass on a scheme's worms, judged by a sample of worms with `require_sent`.

    A scheme of this package needs no check on a network of this package, with its own relation and its own classes. The
    sample is checked if the scheme or the network is a user's, or if the relation or the classes are not the scheme's
    own. The sample has all unicasts, or beyond 256 nodes up to 65 536 random unicasts. The sample also has up to 20 000
    multicasts to two nodes, and 200 larger multicasts. Schemes that only broadcast are checked with broadcasts.

    Raises
    ------
    WormcastError
        As `require_sent`.
    """
    if not known_to_fit(topology, scheme, configuration):
        sent = configuration.as_sent(scheme)
        for worms in _samples(topology, sent):
            require_sent(topology, sent, configuration, worms)


def known_to_fit(topology: Topology, scheme: Scheme, configuration: Configuration) -> bool:
    """Return whether network and scheme are of this package, with the scheme's own relation and classes."""
    if isinstance(scheme, AbsorbedByHosts):
        scheme = scheme.scheme
    name = scheme.name.partition(":")[0]
    if name not in SCHEMES.own or topology.kind not in TOPOLOGIES.own or configuration.classes is not None:
        return False
    ours = SCHEMES[name]
    return type(scheme) is type(ours) and scheme.relation_on(topology) is ours.relation_on(topology)


@lru_cache(maxsize=1)
def _samples(topology: Topology, scheme: Scheme) -> tuple[Worms, ...]:
    """Return worms of unicasts, of multicasts to two nodes, and of large multicasts.

    For a scheme that supports broadcast only, return worms of broadcasts.
    """
    generator = np.random.default_rng(0)
    nodes = topology.nodes
    if scheme.broadcasts:
        sources = np.arange(nodes) if nodes <= LARGE else generator.choice(nodes, LARGE, replace=False)
        return (_batch(topology, scheme, [[source, *(node for node in range(nodes) if node != source)]
                                          for source in sources.tolist()]),)
    pairs = _distinct(np.indices((nodes, nodes)).reshape(2, -1).T if nodes**2 <= PAIRS else
                      generator.integers(nodes, size=(PAIRS, 2)))
    unicasts = _batch(topology, scheme, pairs.tolist())
    if nodes < 3:
        return (unicasts,)
    triples = _distinct(generator.integers(nodes, size=(MULTICASTS, 3)) if nodes**3 > MULTICASTS else
                        np.indices((nodes,) * 3).reshape(3, -1).T)
    large = [generator.choice(nodes, size + 1, replace=False).tolist()
             for size in generator.integers(min(3, nodes - 1), nodes - 1, LARGE, endpoint=True).tolist()]
    return unicasts, _batch(topology, scheme, triples.tolist()), _batch(topology, scheme, large)


def _distinct(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the rows of node ids in which no node occurs twice."""
    ordered = np.sort(rows, axis=1)
    return rows[(np.diff(ordered, axis=1) > 0).all(axis=1)]


def _batch(topology: Topology, scheme: Scheme, sets: list[list[int]]) -> Worms:
    """Return the worms of multicasts; each multicast is a list of its source and its destinations."""
    offsets = np.cumsum([0, *(len(nodes) - 1 for nodes in sets)])
    return scheme.batch(topology, [nodes[0] for nodes in sets], offsets,
                        [node for nodes in sets for node in nodes[1:]])
