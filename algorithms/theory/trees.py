"""Statements of [Varavithya], section 3: replicated worms in multistage networks."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..deadlock.branch_pairs import find_branch_pairs
from ..deadlock.channel_use import ChannelUse
from ..deadlock.graph import DependencyGraph, dependency_graph
from ..deadlock.token_cycles import may_return
from ..ejection import ejection_ports
from ..token_groups import NO_TOKEN, TokenGroups, token_groups
from ..topologies.min import read_min
from .statement import TheoremCheck

__all__ = ["TreeDependencies", "overlapped_networks", "trees"]

SOURCE = "Varavithya"

Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class TreeDependencies:
    """Replicated worms of one scheme in a multistage network, and their dependencies without tokens.

    Parameters
    ----------
    part : ChannelUse
    ejection : "one" or "all"
        As in `ejection_ports`.
    consumed : bool
        Consumption channels suffice for all worms that may arrive at a node at a time.
    """

    part: ChannelUse
    ejection: str
    consumed: bool

    @cached_property
    def graph(self) -> DependencyGraph:
        """Dependencies of the worms. The graph includes consumption channels unless `consumed`."""
        return dependency_graph([self.part], 1, ejection=self.ejection, consumed=self.consumed)

    @cached_property
    def groups(self) -> TokenGroups:
        """Groups of switches that share a token."""
        return token_groups(self.part.topology, consumed=self.consumed)

    @cached_property
    def meets(self) -> Flags:
        """Pairs of switches of a stage whose replicated worms can wait for each other, bool [switches, switches].

        Each of two worms that wait for each other holds a resource behind one output of its switch, and waits behind
        another output for the resource that the other worm holds.
        """
        graph, topology = self.graph, self.part.topology
        plain = np.ones(len(graph.starts), bool) if graph.copied is None else graph.copied < 0
        behind = np.eye(graph.resources, dtype=bool)
        starts, ends = graph.starts[plain], graph.ends[plain]
        stage = self.groups.stage
        for one in range(int(stage.max()), -1, -1):
            for edge in np.flatnonzero((starts < graph.channels) & (stage[topology.links[
                    np.minimum(starts, graph.channels - 1) // graph.vc_classes, 0]] == one)).tolist():
                behind[starts[edge]] |= behind[ends[edge]]
        if self.consumed:  # no worm waits for a consumption channel
            behind[:, graph.channels:] = False
        found = np.zeros((topology.switches, topology.switches), bool)
        for one in range(int(stage.max()) + 1):
            members = np.flatnonzero(stage == one)
            outputs = np.array([self._outputs(switch) for switch in members.tolist()])
            if not outputs.size:
                continue
            count, ports = outputs.shape
            held = behind[outputs.reshape(-1)].astype(np.float32)
            waits = held.copy()
            if self.part.replication == "synchronous":  # a worm that waits behind an output holds the output
                waits[np.arange(len(waits)), outputs.reshape(-1)] = 0
            share = (waits @ held.T > 0).reshape(count, ports, count, ports)
            pairs = [(p, q) for p in range(ports) for q in range(ports) if p != q]
            mutual = np.zeros((count, count), bool)
            for waiting, having in pairs:
                for others_waiting, others_having in pairs:
                    mutual |= share[:, waiting, :, others_having] & share[:, others_waiting, :, having].T
            found[np.ix_(members, members)] = mutual
        return found

    def _outputs(self, switch: int) -> list[int]:
        """Return the resources that worms request at a switch: links, or consumption channels in the last stage.

        The list is empty for switches of the last stage if consumption channels suffice for all worms (`consumed`).
        """
        topology, graph = self.part.topology, self.graph
        links = [link * graph.vc_classes for link in topology.link_of_port[switch].tolist() if link >= 0]
        if links or self.consumed:
            return links
        nodes = np.flatnonzero(topology.consumptions[:, 0] == switch)
        into = np.flatnonzero(topology.links[:, 2] == switch)
        return [graph.asked_at_the_end + int(graph.ports.at(node, into[0])) for node in nodes.tolist()]


def overlapped_networks(part: ChannelUse) -> Integers:
    """Partition the links into as many sets as possible, with no worm that uses links of two sets, int64 [links].

    Source: [Varavithya], section 3.1, Figure 2 (c) and (d).
    """
    links, count = len(part.topology.links), part.vc_classes
    splits = find_branch_pairs(part.routes, ejection_ports(part.topology, "one"))
    pairs = splits.pairs[(splits.pairs[:, :2] < links * count).all(axis=1), :2] // count
    held, output = np.nonzero(part.passes[:, :, 0] >= 0)
    following = part.topology.link_of_port[part.topology.links[held // count, 2], output // count]
    along = np.stack([held // count, following], axis=1)[following >= 0]
    number = np.arange(links)
    while True:  # each link gets the lowest number of its set
        before = number.copy()
        for one, other in (pairs.T, along.T):
            least = np.minimum(number[one], number[other])
            np.minimum.at(number, one, least)
            np.minimum.at(number, other, least)
        number = number[number]
        if (number == before).all():
            return np.unique(number, return_inverse=True)[1]


def trees(copies: TreeDependencies) -> list[TheoremCheck]:
    """Decide Lemma 1, Lemma 2, the bound in the proof of Lemma 2, and if the token groups are as small as possible."""
    return [_lemma1(copies), _lemma2(copies), _rows(copies), _groups(copies)]


def _lemma1(copies: TreeDependencies) -> TheoremCheck:
    """Decide if each cycle of the dependency graph that consists only of links lies in one set of links."""
    sets = overlapped_networks(copies.part)
    graph = dependency_graph([copies.part], 1, ejection=copies.ejection, consumed=True)
    b, _, _ = read_min(copies.part.topology.name.partition(":")[2])
    locked = graph.locked()[:graph.channels]
    inside = locked[graph.starts % graph.channels] & (graph.starts < graph.channels) & (graph.ends < graph.channels)
    crossing = sets[graph.starts[inside] // graph.vc_classes] != sets[graph.ends[inside] // graph.vc_classes]
    number = int(sets.max()) + 1
    sentence = (f"the links form {number} sets, and no worm uses links of two sets. {int(inside.sum())} dependencies "
                f"of worms can be part of a cycle of links. {int(crossing.sum()) or 'None'} of them "
                f"{'leads' if crossing.sum() == 1 else 'lead'} from one set to another, so "
                f"{'each cycle lies' if not crossing.any() else 'not each cycle lies'} in one set")
    return TheoremCheck("Lemma 1", "section 3.1", sentence, not crossing.any(), f"{b} sets for switches of {b} x {b}",
                     number == b, {"sets": number, "waits": int(inside.sum()), "between": int(crossing.sum())},
                     source=SOURCE)


def _lemma2(copies: TreeDependencies) -> TheoremCheck:
    """Decide if each cycle of waits has two worms that are replicated in the same stage."""
    graph, stage = copies.graph, copies.groups.stage
    copied = np.full(len(graph.starts), -1, np.int32) if graph.copied is None else graph.copied
    labels = np.where(copied < 0, -1, stage[copied]).astype(np.int32)
    differ = may_return(graph.resources, graph.starts, graph.ends, labels)
    any_at_all = bool(graph.locked().any())
    sentence = ("worms cannot wait in a cycle" if not any_at_all else
                "worms can wait in a cycle in which each worm is replicated in a different stage" if differ else
                "in every cycle of waiting worms, two worms are replicated in the same stage")
    return TheoremCheck("Lemma 2", "section 3.1", sentence, not differ,
                     "at least two worms are replicated in the same stage", not differ, {"circles": any_at_all},
                     source=SOURCE)


def _rows(copies: TreeDependencies) -> TheoremCheck:
    """Count the switches of one later stage that a worm may reach through one output of a switch, at most."""
    topology, stage = copies.part.topology, copies.groups.stage
    b, stages, _ = read_min(topology.name.partition(":")[2])
    behind = np.zeros((topology.switches, topology.switches), bool)
    most = [0] * (stages - 1)
    for link in np.argsort(-stage[topology.links[:, 0]], kind="stable").tolist():
        start, _, end, _ = topology.links[link].tolist()
        reached = behind[end] | (np.arange(topology.switches) == end)
        behind[start] |= reached
        most[stage[start]] = max(most[stage[start]], int(np.bincount(stage[reached]).max()))
    paper = [topology.nodes // b**one for one in range(stages - 1)]
    return TheoremCheck("Lemma 2, its proof", "section 3.1", "behind an output of stage 0, 1, ..., a worm can reach at "
                     f"most {', '.join(map(str, most))} switches of a later stage", all(map(int.__le__, most, paper)),
                     f"at most {', '.join(map(str, paper))} rows (N/b^j)", most == paper,
                     {"switches": most, "paper": paper}, source=SOURCE)


def _groups(copies: TreeDependencies) -> TheoremCheck:
    """Decide if worms that can wait for each other are always replicated by switches of the same token group, and if no
    token group can be divided."""
    groups, meets, topology = copies.groups, copies.meets, copies.part.topology
    b, stages, kind = read_min(topology.name.partition(":")[2])
    first, second = np.nonzero(np.triu(meets))
    apart = (groups.stage[first] != groups.stage[second]) | (groups.group[first] != groups.group[second]) | (
        groups.group[first] == NO_TOKEN)
    divisible = [ring for ring in groups.rings().values() if not _connected(meets[np.ix_(ring, ring)])]
    sizes = [sorted({len(ring) for (one, _), ring in groups.rings().items() if one == stage})
             for stage in range(stages)]
    shown = ", ".join("/".join(map(str, some)) if some else "no" for some in sizes)
    pairs = sum(len(ring) * (len(ring) + 1) // 2 for ring in groups.rings().values())
    sentence = (
        f"in stage 0, 1, ..., {shown} switches share a token. In {len(first)} pairs of switches of a stage, worms that "
        "the switches replicate can wait for each other. A pair may be one switch twice. "
        f"{int(apart.sum()) or 'None'} of these pairs {'is' if apart.sum() == 1 else 'are'} in different groups. The "
        f"groups have {pairs} pairs. {len(divisible) or 'None'} of the {len(groups.names)} groups can be divided")
    down = 2 if copies.consumed else 1
    paper = [b**(stages - down - stage) if stage <= stages - down else None for stage in range(stages)]
    stated = ", ".join("none" if one is None else str(one) for one in paper)
    return TheoremCheck(
        "Groups", "section 3.2", sentence, not apart.any() and not divisible,
        f"{stated} switches" if kind == "baseline" else None,
        sizes == [[] if one is None else [one] for one in paper] if kind == "baseline" else None,
        {"sizes": sizes, "meeting": len(first), "apart": int(apart.sum()), "pairs": pairs,
         "divisible": len(divisible)}, source=SOURCE)


def _connected(meets: Flags) -> bool:
    """Return whether `meets` connects all switches; a single switch must be paired with itself."""
    if len(meets) == 1:
        return bool(meets[0, 0])
    reached = np.zeros(len(meets), bool)
    reached[0] = True
    while (more := meets[reached].any(axis=0) & ~reached).any():
        reached |= more
    return bool(reached.all())
