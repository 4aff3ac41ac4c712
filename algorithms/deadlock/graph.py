"""Dependency graph: resources that worms hold, and the resources that they then request."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..channels import Resource, class_channels, link_names
from ..class_coverage import without_class
from ..compiled import compiled
from ..consumption import NO_CLASS, ClassMap
from ..ejection import EjectionPorts, ejection_ports
from ..token_groups import TokenGroups
from ..topologies import Topology
from .adaptive_states import find_header_states
from .branch_dependencies import BranchDependencies, Edges, ResourceNumbers, beyond, branch_dependencies
from .branch_pairs import find_branch_pairs
from .channel_use import ChannelUse
from .multidrop_edges import find_multidrop_edges
from .token_cycles import may_return

__all__ = ["DependencyGraph", "dependency_graph"]

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class DependencyGraph:
    """Resources of a network, the dependencies between them, and a cycle of dependencies if there is one.

    Resources, in this order: the channels (link x `vc_classes` + class), and for each ejection port the groups of its
    consumption channels (port x `groups` + group). The last resources are the retransmission slots of each node, the
    tokens, and for each ejection port the resource "any channel".

    - The virtual channels of a link that belong to one class are one resource. A worm takes any virtual channel of its
      class. So a worm waits for ever only if other worms hold all virtual channels of its class for ever. The graph
      does not depend on the number of virtual channels of a class.
    - A worm may have entered the buffer of a virtual channel behind the tail of another worm, and wait until that worm
      leaves. The worm behind the tail holds its previous channels and needs the channel whose buffer its head is in. A
      worm that waits to enter a buffer also has an edge from its previous channel to the buffer's channel.
    - If relations distinguish different numbers of classes, each link has in the graph as many channels as the least
      common multiple of these numbers. A class of a relation with fewer classes then consists of several channels of
      the graph, and worms of this class have an edge to each of these channels. One free channel suffices to enter the
      link, but a worm may be in any buffer of its class behind the tail of another worm.
    - Consumption class k owns consumption channel k % channels, so that an ejection port has min(classes, channels)
      groups, or one group without classes. Consumption channels beyond the number of classes are open to all worms. A
      worm that waits for a consumption channel beyond the number of classes may also take the channel of its class. So
      the graph contains only the channels of classes.
    - A worm at its last destination takes any free consumption channel. When a worm has a consumption channel of its
      last destination, it requests nothing more, so that no other worm waits for ever behind it. While a worm waits for
      a consumption channel of its last destination, it holds its last link. The wait for any consumption channel of a
      port is an edge to the resource "any channel" of the port. The resource "any channel" of a port is unsafe only if
      *every* group of the port is unsafe (Figure 4 of [Boppana98]: two worms at their last destinations).
    - If a node has an ejection port for each link, worms that arrive by different links do not share consumption
      channels.
    - With retransmission slots a worm ends at each destination. A worm with further destinations holds its consumption
      channel until it has a slot, and the slot until its last flit has left the slot. A worm in a slot waits for its
      next link, or waits at the injection port behind another worm of the node, which may go to any destination. The
      slots of a node are one resource, as any slot suffices.
    - A replicated worm keeps its channels in one branch while another branch waits. So a worm that holds a channel may
      wait for the first channel of each other branch (`BranchPairs`), in addition to the next channel of its own
      branch. With synchronous replication a worm that holds a channel also holds the first channels of all branches.
      With synchronous replication, a worm waits for a channel after a branch's first channel, or behind another worm
      that is still in the buffer of this first channel.
    - If a switch stores a whole worm (`fits`), the branches of the worm do not wait for each other. A stored worm holds
      its input channel until its last branch has left, and each branch needs the next channel on its way. A branch with
      a consumption channel requests nothing more. So a worm that is stored whole has the dependencies of unicasts on
      the paths of its branches (Theorem 5 of [Sivaram98]).
    - With tokens a worm requests the token of the switch's group before it is replicated, and keeps the token while it
      waits for channels behind the switch. With tokens, a cycle of dependencies counts only if no two of its waits
      behind replicating switches use the same token (`may_return`).
    - Worms in their source's queue hold nothing, and nodes accept all flits from consumption channels.

    A resource is safe if all resources that its holders may request are safe. The resource "any channel" of an ejection
    port is safe if one group of the port's consumption channels is safe. If all resources are safe, no deadlock is
    possible. Proof: in the order in which resources are found safe, take the first one that a waiting worm requests;
    its holders do not wait. Resources that are not safe contain a cycle of dependencies. The analysis does not decide
    if the worms of a cycle can occur at the same time in a run. As in the analyses of the papers, a graph without a
    cycle is a sufficient condition for freedom from deadlock, not a necessary one.

    Parameters
    ----------
    topology : Topology
    groups : int
        Consumption resources of each ejection port.
    starts, ends : int32 arrays [edges]
        A worm that holds `starts` may request `ends`. Sorted, without duplicates.
    witnesses : int32 array [edges, 4]
        A worm of each edge: the index of its scheme, its source or previous stop, and one or two further stops (-1: no
        stop).
    vc_classes : int
        Classes of virtual channels that are distinguished on each link.
    consumption : int
        Consumption channels of each ejection port, for the names of resources.
    ejection : "one" or "all"
        As in `ejection_ports`.
    slots : int
        Retransmission slots of each node. With 0 slots, a worm goes on to its next stop while it is consumed at a stop.
    copied : int32 array [edges], optional
        The switch that replicates the worm of the edge: one branch holds `starts` while another branch waits for
        `ends`. `copied` is -1 if the worm holds `starts` and waits for `ends` in the same branch.
    tokens : TokenGroups, optional
        The groups of switches that share a token.
    """

    topology: Topology
    groups: int
    starts: Integers
    ends: Integers
    witnesses: Integers
    vc_classes: int = 1
    consumption: int = 1
    ejection: str = "one"
    slots: int = 0
    copied: Integers | None = None
    tokens: TokenGroups | None = None

    @property
    def channels(self) -> int:
        """Number of channels of links, which are the first resources."""
        return len(self.topology.links) * self.vc_classes

    @property
    def resources(self) -> int:
        """Number of resources."""
        return self.first_choice + len(self.ports)

    @property
    def ports(self) -> EjectionPorts:
        """The ejection ports."""
        return ejection_ports(self.topology, self.ejection)

    @property
    def asked_at_the_end(self) -> int:
        """Index of the first resource that worms request at their last destination.

        At its last destination a worm requests the resource "any channel" of an ejection port, or the port's only group
        of consumption channels.
        """
        return self.channels if self.groups == 1 else self.first_choice

    @property
    def first_choice(self) -> int:
        """Index of the first resource "any channel", which represents a choice among the groups of an ejection port."""
        return self.first_tokens + (0 if self.tokens is None else len(self.tokens.names))

    @property
    def first_tokens(self) -> int:
        """Index of the first resource that is a token."""
        return self.first_slots + (self.topology.nodes if self.slots else 0)

    @property
    def first_slots(self) -> int:
        """Index of the first slot resource. All retransmission slots of a node are one resource."""
        return self.channels + len(self.ports) * self.groups

    def describe(self, resource: int, vcs: int) -> str:
        """Return the name of a resource as `Resource` writes it. Links have `vcs` virtual channels."""
        if resource < self.channels:
            link, vc_class = divmod(resource, self.vc_classes)
            return str(Resource.link(link_names(self.topology)[link], class_channels(vcs, self.vc_classes, vc_class)))
        if resource >= self.first_tokens and self.tokens is not None:
            return str(Resource.token(*self.tokens.names[resource - self.first_tokens]))
        if resource >= self.first_slots:
            number = "0" if self.slots == 1 else f"0-{self.slots - 1}"
            return str(Resource.retrans(resource - self.first_slots, number))
        return str(self.ports.channel(*divmod(resource - self.channels, self.groups), self.consumption))

    def locked(self) -> npt.NDArray[np.bool_]:
        """Return the resources that are not safe, which may be held for ever, bool [resources]."""
        return _locked(self.resources, self.first_choice, self.starts, self.ends)

    @property
    def free(self) -> bool:
        """The graph proves that no deadlock is possible."""
        locked = self.locked()
        if self.tokens is None or self.copied is None or not locked.any():
            return not locked.any()
        inside = locked[self.starts] & locked[self.ends]
        labels = np.where(self.copied[inside] < 0, -1, self.tokens.numbers[self.copied[inside]]).astype(np.int32)
        return not may_return(self.resources, self.starts[inside], self.ends[inside], labels)

    def cycle(self) -> list[tuple[int, Integers]]:
        """Return the resources of the cycle that `cycle_edges` returns, each with a worm that requests the next one."""
        return [(int(self.starts[edge]), self.witnesses[edge]) for edge in self.cycle_edges()]

    def cycle_edges(self) -> list[int]:
        """Return the edges of a shortest cycle of resources that are not safe.

        Cycles without a resource "any channel" are preferred, even to shorter cycles. In a cycle with "any channel",
        the edge from "any channel" to a group is left out: the group represents "any channel". The result is
        deterministic.
        """
        locked = self.locked()
        inside = np.flatnonzero(locked[self.starts] & locked[self.ends])
        plain = inside[(self.starts[inside] < self.first_choice) & (self.ends[inside] < self.first_choice)]
        for edges in (plain, inside):
            found = _shortest_cycle(self.resources, self.starts[edges], self.ends[edges])
            if len(found):
                return [edge for edge in edges[found].tolist() if self.starts[edge] < self.first_choice]
        return []


def dependency_graph(
    parts: Sequence[ChannelUse], channels: int, classes: ClassMap | None = None, *, ejection: str = "one",
    without: Sequence[ChannelUse] = (), slots: int = 0, tokens: TokenGroups | None = None, consumed: bool = False,
    fits: bool = False,
) -> DependencyGraph:
    """Build the graph of several schemes in one network.

    Parameters
    ----------
    parts : sequence of ChannelUse
        At least one, all on one topology.
    channels : int
        Consumption channels of each ejection port.
    classes : ClassMap, optional
        Class map for all worms, in place of each scheme's own.
    ejection : "one" or "all"
        As in `ejection_ports`.
    without : sequence of ChannelUse
        Parts whose worms are left out, except for the edges at stops of worms with `needs_whole_packet`. In the
        remaining parts, worms with a choice of channels have an edge to each candidate, so that a cycle need not be a
        deadlock.
    slots : int
        Retransmission slots of each node. With slots, worms are absorbed at each destination and have no classes.
    tokens : TokenGroups, optional
        Tokens of replicated worms.
    consumed : bool
        Consumption channels suffice for all worms that may arrive (`all_consumed`), so that no replicated worm waits
        for a consumption channel. If `consumed` is False, all consumption channels of a port are one resource for
        replicated worms.
    fits : bool
        Switch buffers store a whole worm of the schemes with `needs_whole_packet`.
    """
    topology = parts[0].topology
    maps: list[ClassMap] = [part.classes if classes is None else classes for part in parts]
    groups = min(channels, max(1, *map(len, maps)))
    ports = ejection_ports(topology, ejection)
    vc_classes = math.lcm(*(part.vc_classes for part in parts))
    first_cons = len(topology.links) * vc_classes
    first_slots = first_cons + len(ports) * groups
    first_token = first_slots + (topology.nodes if slots else 0)
    first_any = first_token + (0 if tokens is None else len(tokens.names))
    end_of, link_of, node_of = topology.links[:, 2], topology.link_of_port, topology.node_of_output

    rows: list[Integers] = []
    copies: list[tuple[int, BranchDependencies]] = []

    def add(part: int, starts: npt.NDArray, ends: npt.NDArray, witness: npt.NDArray,
            copied: npt.NDArray | int = -1) -> None:
        count, stops = witness.shape
        block = np.full((count, 7), -1, np.int32)
        block[:, 0], block[:, 1], block[:, 2], block[:, 6] = starts, ends, part, copied
        block[:, 3 : 3 + stops] = witness
        rows.append(block)

    def add_branch_edges(part: int, edges: Edges) -> None:
        add(part, edges.starts, edges.ends, edges.witness, edges.copied)

    def any_of(port: npt.NDArray) -> npt.NDArray:
        """Return the resource "any channel" of ejection ports; with one group, that group."""
        return first_cons + port if groups == 1 else first_any + port

    for index, (part, mapped) in enumerate(zip(parts, maps, strict=True)):
        count = part.vc_classes
        share = vc_classes // count

        def add_held(held: npt.NDArray, ends: npt.NDArray, witness: Integers, part: int = index, share: int = share,
                     ) -> None:
            """Add edges from channels that a worm may hold."""
            for one in range(share):
                add(part, held * share + one, ends, witness)

        def requested_after(held: npt.NDArray, output: npt.NDArray, count: int = count, share: int = share,
                     ) -> list[npt.NDArray]:
            """Return the resources requested after channels: next channels, or "any channel" of an ejection port."""
            at, port = end_of[held // count], output // count
            channel = (link_of[at, port] * count + output % count) * share
            node = node_of[at, port]
            return [np.where(node >= 0, any_of(ports.at(node, held // count)), channel + one) for one in range(share)]

        held, output = np.nonzero(part.stops[:, :, 0] >= 0)
        if part.stops_with_a_choice:
            if len(mapped):
                onwards = link_of[end_of[held // count], output // count] * count + output % count
                _class_of_stops(part, mapped, held, onwards, part.stops[held, output])  # refuses a missing class
            if part not in without:
                states = find_header_states(part, mapped, channels, groups=groups, ports=ports, share=share)
                add(index, *states.edges())
        elif part.needs_whole_packet:
            for ends in requested_after(held, output):
                add_held(held, ends, part.stops[held, output])
        elif len(held):
            requested, witness = requested_after(held, output), part.stops[held, output]
            ejections = ports.at(witness[:, 1], held // count)
            if slots:
                nodes = witness[:, 1]
                add(index, first_cons + ejections, first_slots + nodes, witness)
                for ends in requested:
                    add(index, first_slots + nodes, ends, witness)
                first, sent = _first_channels(part, np.unique(nodes))
                for one in range(share):
                    add(index, first_slots + sent[:, 0], first * share + one, sent)
            elif len(mapped):
                onwards = link_of[end_of[held // count], output // count] * count + output % count
                group = first_cons + ejections * groups + (
                    _class_of_stops(part, mapped, held, onwards, witness) % channels)
                add_held(held, group, witness)
                for ends in requested:
                    add(index, group, ends, witness)
            else:  # without classes a worm may take and hold any consumption channel
                add_held(held, any_of(ejections), witness)
                for one in range(groups):
                    for ends in requested:
                        add(index, first_cons + ejections * groups + one, ends, witness)
        if part not in without and not part.stops_with_a_choice:
            held, output = np.nonzero(part.passes[:, :, 0] >= 0)
            for ends in requested_after(held, output):
                add_held(held, ends, part.passes[held, output])
        if part.replication is not None and not (part.needs_whole_packet and fits):
            branch_pairs = (find_branch_pairs(part.routes, ports) if part.pairs is None else
                            find_multidrop_edges(part, ports))
            numbering = ResourceNumbers(share, len(part.passes), first_cons if groups == 1 else first_any, first_token)
            found = branch_dependencies(part, branch_pairs, numbering, tokens, consumed)
            add_branch_edges(index, found.to_tokens)
            copies.append((index, found))

    if groups > 1:
        ejections = np.repeat(np.arange(len(ports)), groups)
        add(-1, any_of(ejections), first_cons + np.arange(len(ejections)), np.empty((len(ejections), 0), np.int32))
    if copies:
        along = np.concatenate(rows)[:, :2].T
        for index, found in copies:
            add_branch_edges(index, found.from_tokens)
            # with synchronous replication a worm that holds a channel also holds the first channel of each branch
            at_once = parts[index].replication == "synchronous"
            add_branch_edges(index, beyond(found.across, *along) if at_once else found.across)

    edges = np.concatenate([np.empty((0, 7), np.int32), *rows])
    resources = first_any + len(ports)
    pairs = edges[:, 0].astype(np.int64) * resources + edges[:, 1]
    _, kept = np.unique(pairs * (topology.switches + 1) + edges[:, 6] + 1, return_index=True)
    starts, ends, copied = np.ascontiguousarray(edges[kept][:, [0, 1, 6]].T)
    return DependencyGraph(topology, groups, starts, ends, edges[kept][:, 2:6], vc_classes, channels, ejection, slots,
                           copied if (copied >= 0).any() else None, tokens)


def _first_channels(part: ChannelUse, nodes: npt.NDArray) -> tuple[npt.NDArray, Integers]:
    """Return, for a worm from each of these nodes to each other node, the channel of its first link between switches,
    and its source and destination."""
    topology, count = part.topology, part.vc_classes
    pairs = np.array([(u, v) for u in nodes.tolist() for v in range(topology.nodes) if u != v], np.int32).reshape(-1, 2)
    switches = topology.injections[pairs[:, 0], 0]
    codes = part.routes.options[0, switches, pairs[:, 1], 0]
    return topology.link_of_port[switches, codes // count] * count + codes % count, pairs


def _class_of_stops(
    part: ChannelUse, classes: ClassMap, held: npt.NDArray, requested: npt.NDArray, witness: Integers
) -> npt.NDArray:
    """Return the consumption class that a worm requests at a stop, for each pair of channels into and out of the
    stop."""
    of_channel = classes.of_channels(part.topology, part.vc_classes)
    chosen = classes.at_stop(of_channel[held], of_channel[requested])
    without = np.flatnonzero(chosen == NO_CLASS)
    if len(without):
        first = int(without[0])

        def suffices(wider: ClassMap) -> bool:
            of_hop = wider.of_channels(part.topology, part.vc_classes)
            return bool(wider.at_stop(of_hop[held[first]], of_hop[requested[first]]) != NO_CLASS)

        raise without_class(classes, part.name, part.topology, *witness[first].tolist(), suffices=suffices)
    return chosen


@compiled
def _offsets(resources, keys):
    """Return the index of each resource's first edge, in edges that are sorted by the resources `keys`."""
    offsets = np.zeros(resources + 1, np.int64)
    for key in keys:
        offsets[key + 1] += 1
    return np.cumsum(offsets)


@compiled
def _locked(resources, first_choice, starts, ends):
    """Return the resources that are left when all safe ones are removed, one after the other."""
    order = np.argsort(ends, kind="mergesort")
    offsets = _offsets(resources, ends)
    needs = np.zeros(resources, np.int64)
    for start in starts:
        needs[start] += 1
    for resource in range(first_choice, resources):
        needs[resource] = min(needs[resource], 1)
    locked = needs > 0
    safe = np.empty(resources, np.int64)
    count = 0
    for resource in range(resources):
        if not locked[resource]:
            safe[count] = resource
            count += 1
    done = 0
    while done < count:
        for edge in order[offsets[safe[done]] : offsets[safe[done] + 1]]:
            start = starts[edge]
            needs[start] -= 1
            if needs[start] == 0:
                locked[start] = False
                safe[count] = start
                count += 1
        done += 1
    return locked


@compiled
def _shortest_cycle(resources, starts, ends):
    """Return the edges of a shortest cycle, from its lowest resource on. The result is empty if there is no cycle.

    `starts` and `ends` are edges, sorted by start.
    """
    offsets = _offsets(resources, starts)
    best = np.empty(0, np.int64)
    came_by = np.empty(resources, np.int64)
    queue = np.empty(resources, np.int64)
    distance = np.empty(resources, np.int64)
    for root in range(resources):
        if offsets[root] == offsets[root + 1]:
            continue
        distance[:] = -1
        distance[root] = 0
        queue[0] = root
        count, done, closing = 1, 0, -1
        while done < count and closing < 0:
            at = queue[done]
            done += 1
            if len(best) and distance[at] + 1 >= len(best):
                break
            for edge in range(offsets[at], offsets[at + 1]):
                to = ends[edge]
                if to == root:
                    closing = edge
                    break
                if distance[to] < 0:
                    distance[to] = distance[at] + 1
                    came_by[to] = edge
                    queue[count] = to
                    count += 1
        if closing >= 0:
            length = distance[starts[closing]] + 1
            best = np.empty(length, np.int64)
            edge = closing
            for place in range(length - 1, -1, -1):
                best[place] = edge
                if place > 0:
                    edge = came_by[starts[edge]]
    return best
