"""Statements on unicasts: [Boppana98], section 2, shortest paths and deadlocks of tree worms; [Amnah], section 2, the
networks of rising and of falling labels."""

from collections.abc import Iterator

import numpy as np

from ..phrases import count
from ..routing import HAMILTONIAN, RELATIONS, Routes
from ..worms import AT_ONCE, Worms
from .problem import Problem
from .statement import TheoremCheck

__all__ = ["networks_of_labels", "two_networks", "unicasts"]


def unicasts(subject: Problem) -> list[TheoremCheck]:
    """Decide the statements of [Boppana98], section 2, about the relations that route the worms."""
    routes = _routes(subject)
    return [_shortest(subject, routes), _trees(subject, routes)]


def networks_of_labels(subject: Problem) -> list[TheoremCheck]:
    """Decide the statement of [Amnah], section 2, if R routes worms; without R the list is empty."""
    return [two_networks(routes) for routes in _routes(subject) if routes.relation is HAMILTONIAN]


def _routes(subject: Problem) -> list[Routes]:
    """Return the relations that route the worms, each once."""
    return list({part.routes.relation: part.routes for part in subject.parts}.values())


def two_networks(routes: Routes) -> TheoremCheck:
    """Decide whether each directed link is in exactly one of two networks: that of the links which unicasts to higher
    labels use, and that of the links which unicasts to lower labels use. The relation must be deterministic."""
    topology, labels = routes.topology, routes.topology.hamiltonian_labels
    source, node = np.nonzero(~np.eye(topology.nodes, dtype=bool))
    at, end, rising = topology.injections[source, 0], topology.consumptions[node, 0], labels[source] < labels[node]
    low, high = used = np.zeros((2, len(topology.links)), bool)
    while len(at):
        link = topology.link_of_port[at, routes.options[0, at, node, 0]]
        used[rising.astype(int), link] = True
        at = topology.links[link, 2]
        under_way = at != end
        at, end, node, rising = at[under_way], end[under_way], node[under_way], rising[under_way]
    both, neither = int((high & low).sum()), int((~high & ~low).sum())
    found = {"links": len(topology.links), "high": int(high.sum()), "low": int(low.sum()), "both": both,
             "neither": neither}
    return TheoremCheck(
        "Two networks", "section 2", f"of the {len(topology.links)} directed links, unicasts by {routes.relation.name} "
        f"use {found['high']} towards higher labels and {found['low']} towards lower labels. Links in both networks: "
        f"{both}, in neither: {neither}", both == neither == 0, found=found, source="Amnah")


def _shortest(subject: Problem, relations: list[Routes]) -> TheoremCheck:
    """Compare the paths between all pairs of nodes with shortest paths."""
    nodes = subject.topology.nodes
    source, node = np.nonzero(~np.eye(nodes, dtype=bool))
    pairs = len(source)
    worms = Worms(np.arange(pairs + 1), source.astype(np.int32), np.zeros(pairs, np.int32), np.full(pairs, AT_ONCE),
                  np.arange(pairs + 1), node.astype(np.int32))
    least = RELATIONS["shortest"].on(subject.topology).hops(worms)
    sentences, longer = [], 0
    for routes in relations:
        more = routes.hops(worms) - least
        longer += int((more > 0).sum())
        first = int((more > 0).argmax())
        example = (f". Example: the path {subject.worm_text(source[first], node[first])}, by "
                   f"{count(int(more[first]), 'hop')}") if more.any() else ""
        sentences.append(f"{int((more > 0).sum())} of the {pairs} paths by {routes.relation.name} are longer than a "
                         f"shortest path{example}")
    stated = subject.stated
    paper = "unicasts take shortest paths" if stated is not None and stated.shortest else None
    return TheoremCheck("Shortest ways", "section 2.1", ". ".join(sentences), longer == 0, paper,
                     None if paper is None else longer == 0, {"pairs": pairs * len(relations), "longer": longer})


def _trees(subject: Problem, relations: list[Routes]) -> TheoremCheck:
    """Search for two tree worms that would wait for each other's branches.

    In section 2 of [Boppana98], a tree worm branches where the ways to its destinations part, and advances only if all
    its branches advance. Two neighbours u and v each send a worm to two nodes w and x. The path from v to w leads
    through u, and the path from u to x through v. The worm from u holds the link from u to w, and waits for the link
    from v to x. The worm from v holds the link from v to x, and waits for the link from u to w.
    """
    found = [pair for routes in relations if routes.deterministic for pair in _crossed(subject, routes)]
    if not found:
        return TheoremCheck("Trees", "section 2", "not decided: no two neighbours were found whose tree worms "
                            "would wait for each other", None, found={"pairs": 0})
    u, w, v, x = found[0]
    sentence = (
        "tree worms would branch where the paths to their destinations part. With one virtual channel of each class "
        f"they could deadlock. Example: the worm from {subject.named(u)} to {subject.named(w)} and {subject.named(x)} "
        f"holds the link to {subject.named(w)}, and waits for the link from {subject.named(v)} to {subject.named(x)}. "
        f"The worm from {subject.named(v)} to the same destinations holds that link, and waits for the first. "
        f"{count(len(found), 'pair')} of neighbours {'has' if len(found) == 1 else 'have'} such worms")
    return TheoremCheck("Trees", "section 2", sentence, True, found={"pairs": len(found)})


def _crossed(subject: Problem, routes: Routes) -> Iterator[tuple[int, int, int, int]]:
    """Yield (u, w, v, x) once for each pair of neighbours u and v. The path from v to w leads through u, and the path
    from u to x through v."""
    topology = subject.topology
    starts, homes = topology.injections[:, 0].tolist(), topology.consumptions[:, 0].tolist()
    at = {switch: node for node, switch in enumerate(homes) if starts[node] == switch}
    beside = {switch: {int(end) for end in ends if end >= 0} for switch, ends in enumerate(topology.neighbours)}
    near: dict[int, dict[int, list[int]]] = {}  # for each node: its paths of one or two links, by their last node
    for switch, u in at.items():
        ends = beside[switch].union(*(beside[one] for one in beside[switch])) - {switch}
        ways = {at[end]: routes.channels(u, [at[end]]) for end in sorted(ends) if end in at}
        near[u] = {v: way for v, way in ways.items() if len(way) <= 2}
    for u, around in near.items():
        for v, link in around.items():
            if len(link) != 1 or v < u:
                continue
            beyond_u, beyond_v = (
                [node for node, way in near[own].items() if len(way) == 1 and node != other
                 and len(near[other].get(node, ())) == 2 and near[other][node][-1] == way[0]]
                for own, other in ((u, v), (v, u)))
            if beyond_u and beyond_v:
                yield u, beyond_u[0], v, beyond_v[0]
