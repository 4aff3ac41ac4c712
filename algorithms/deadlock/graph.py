"""The dependency graph: which resource a worm may hold while it asks for which other."""

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
from .adaptive_states import find_heads
from .branch_dependencies import CopiedEdges, Edges, Numbering, beyond, branch_dependencies
from .branch_pairs import find_branch_pairs
from .channel_use import ChannelUse
from .multidrop_edges import find_multidrop_edges
from .token_cycles import may_return

__all__ = ["DependencyGraph", "dependency_graph"]

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class DependencyGraph:
    """Resources and who waits for whom, and a cycle of them where worms can lock.

    Resources are the channels (link x `vc_classes` + class), then for each ejection port the groups of its consumption
    channels (port x `groups` + group), with retransmission slots those of each node, the tokens, then for each port
    "any channel of it".

    - The virtual channels of a link that belong to one class are one resource: a worm takes any of them, so that it
      waits for ever only where all of them are held for ever, by worms that came the same way. Their number does not
      matter.
    - A worm may also have come into the buffer of a virtual channel behind the end of another, and wait for that to
      leave. It holds what it came by and needs the channel that it is in, just as one that still waits to enter it:
      the same edge stands for both.
    - Where relations tell different numbers of classes apart, channels are divided as finely as all of them need; a
      worm of the coarser one may then be found in each part, and needs all of them: any of them would do to enter, but
      it may have come into the buffer of each behind the end of another.
    - Class k owns channel k % channels, so that there are min(classes, channels) groups. A channel beyond the
      classes is open to all: who waits for one may take its class's own as well, and those alone decide.
    - A worm at its last destination takes any channel that comes free. It needs nothing more once it has one, so
      nobody ever waits on account of such a holder; but until then it holds the link that it came by. That is
      an edge to "any channel", which is lost only where *every* group of the port is (Figure 4 of [Boppana98]
      is two worms at their last destinations).
    - Where a node has an ejection port for each link, worms that come by different links do not share channels.
    - With retransmission slots a worm ends at each destination. One that goes on from there holds its consumption
      channel until it has a slot, and the slot until its last flit has left it: for the link that it takes next, or
      behind another worm of this node, of whichever destination, at the injection port. A node's slots are one
      resource, as each of them will do.
    - A worm that is copied keeps what it has in one branch while another one waits. So whoever holds a channel may wait
      for the first one of each other branch (`BranchPairs`), beside the next one of its own. Where it takes the
      outputs of a switch all at once, it has that first one already: it waits for what comes next there, for itself
      or behind a worm that is still in the buffer.
    - Where a switch holds a whole worm that is copied, each copy goes on whatever the others wait for (`fits`): the
      worm holds the channel that it came by until the last of them has gone, and each needs the next channel on its own
      way. One that is consumed needs nothing more. So such a worm waits for no more than unicasts on these ways do
      (Theorem 5 of [Sivaram98]).
    - With tokens it asks for that of the switch's group where it comes to be copied, and keeps it while it waits for
      anything behind the switch: a cycle counts only where no two such waits are by one token (`may_return`).
    - Worms in their source's queue hold nothing, and nodes take whatever a consumption channel brings.

    A resource is safe when all that its holders may ask for is safe; "any channel" when one of the groups is. If
    all are, then in the order in which they are found so: of the worms that wait, the one whose resource was
    found first has holders that wait for nothing, so there is no deadlock. Otherwise those left contain a
    cycle. Whether the worms of a cycle can meet in a run is another question: the analysis is sufficient, as those
    of the paper.

    Parameters
    ----------
    topology : Topology
    groups : int
        Consumption resources of each ejection port.
    starts, ends : int32 arrays [edges]
        Who holds `starts` may ask for `ends`; sorted, no pair twice.
    witnesses : int32 array [edges, 4]
        A worm that does: the part that it belongs to, where it comes from, and one or two further stops
        (-1 where there is none).
    vc_classes : int
        Classes of virtual channels that are told apart on each link.
    consumption : int
        Consumption channels of each ejection port, by which they are named.
    ejection : "one" or "all"
        As `ejection_ports` has it.
    slots : int
        Retransmission slots of each node; 0: worms go on while they are consumed.
    copied : int32 array [edges], optional
        The switch where the worm is copied that keeps `starts` while another branch waits for `ends`; -1: no other.
    tokens : TokenGroups, optional
        Who shares a token, where worms are copied by tokens.
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
        """Number of channels of links, which come first among the resources."""
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
        """What worms at their last destination wait for: the first of the ports' resources "any channel", or of their
        only groups."""
        return self.channels if self.groups == 1 else self.first_choice

    @property
    def first_choice(self) -> int:
        """The first of the resources "any channel", which stand for a choice among others."""
        return self.first_tokens + (0 if self.tokens is None else len(self.tokens.names))

    @property
    def first_tokens(self) -> int:
        """The first of the resources that are tokens."""
        return self.first_slots + (self.topology.nodes if self.slots else 0)

    @property
    def first_slots(self) -> int:
        """The first of the resources that are the retransmission slots of a node."""
        return self.channels + len(self.ports) * self.groups

    def describe(self, resource: int, vcs: int) -> str:
        """Name a channel of a link, of so many virtual channels, a consumption channel or slots, as `Resource` does."""
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
        """Resources that are not safe, bool [resources]."""
        return _locked(self.resources, self.first_choice, self.starts, self.ends)

    @property
    def free(self) -> bool:
        """Whether no deadlock is possible."""
        locked = self.locked()
        if self.tokens is None or self.copied is None or not locked.any():
            return not locked.any()
        inside = locked[self.starts] & locked[self.ends]
        labels = np.where(self.copied[inside] < 0, -1, self.tokens.numbers[self.copied[inside]]).astype(np.int32)
        return not may_return(self.resources, self.starts[inside], self.ends[inside], labels)

    def cycle(self) -> list[tuple[int, Integers]]:
        """Give a shortest cycle among the resources that are not safe: each with the witness that asks for the next."""
        return [(int(self.starts[edge]), self.witnesses[edge]) for edge in self.cycle_edges()]

    def cycle_edges(self) -> list[int]:
        """Give that cycle as edges.

        Cycles without a choice come first; otherwise it is left out, as the channel after it stands for it.
        The same graph gives the same cycle.
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
        For all worms, in place of each part's own.
    ejection : "one" or "all"
        As `ejection_ports` has it.
    without : sequence of ChannelUse
        Parts whose worms are left out. Those of others that have a choice of channels are taken as if they asked for
        all of them: then a cycle need not be a deadlock.
    slots : int
        Retransmission slots of each node, where worms are absorbed at each destination; they have no classes then.
    tokens : TokenGroups, optional
        By which worms are copied.
    consumed : bool
        Consumption channels are enough for all worms that may come (`all_consumed`): nobody waits for one. Otherwise
        those of a port are one resource for worms that are copied, however many there are.
    fits : bool
        A switch's buffers hold a whole worm, of those that are buffered.

    Raises
    ------
    WormcastError
        A worm stops where neither its last nor its next hop has a class.
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
    copies: list[tuple[int, CopiedEdges]] = []

    def add(part: int, starts: npt.NDArray, ends: npt.NDArray, witness: npt.NDArray,
            copied: npt.NDArray | int = -1) -> None:
        count, stops = witness.shape
        block = np.full((count, 7), -1, np.int32)
        block[:, 0], block[:, 1], block[:, 2], block[:, 6] = starts, ends, part, copied
        block[:, 3 : 3 + stops] = witness
        rows.append(block)

    def add_copied(part: int, edges: Edges) -> None:
        add(part, edges.starts, edges.ends, edges.witness, edges.copied)

    def any_of(port: npt.NDArray) -> npt.NDArray:
        """The resource "any channel" of some ejection ports; the channel itself where there is but one group."""
        return first_cons + port if groups == 1 else first_any + port

    for index, (part, mapped) in enumerate(zip(parts, maps, strict=True)):
        count = part.vc_classes
        share = vc_classes // count

        def add_held(held: npt.NDArray, ends: npt.NDArray, witness: Integers, part: int = index, share: int = share,
                     ) -> None:
            """Edges from channels that a worm may be found in."""
            for one in range(share):
                add(part, held * share + one, ends, witness)

        def asked_of(held: npt.NDArray, output: npt.NDArray, count: int = count, share: int = share,
                     ) -> list[npt.NDArray]:
            """What is asked for at the end of channels: channels, or any of a node."""
            at, port = end_of[held // count], output // count
            channel = (link_of[at, port] * count + output % count) * share
            node = node_of[at, port]
            return [np.where(node >= 0, any_of(ports.at(node, held // count)), channel + one) for one in range(share)]

        held, output = np.nonzero(part.stops[:, :, 0] >= 0)
        if part.stops_with_a_choice:
            if len(mapped):
                onwards = link_of[end_of[held // count], output // count] * count + output % count
                _class_of_stops(part, mapped, held, onwards, part.stops[held, output])  # refuses what has none
            if part not in without:
                heads = find_heads(part, mapped, channels, groups=groups, ports=ports, share=share)
                add(index, *heads.edges())
        elif part.needs_whole_packet:
            for ends in asked_of(held, output):
                add_held(held, ends, part.stops[held, output])
        elif len(held):
            asked, witness = asked_of(held, output), part.stops[held, output]
            exits = ports.at(witness[:, 1], held // count)
            if slots:
                nodes = witness[:, 1]
                add(index, first_cons + exits, first_slots + nodes, witness)
                for ends in asked:
                    add(index, first_slots + nodes, ends, witness)
                first, sent = _first_channels(part, np.unique(nodes))
                for one in range(share):
                    add(index, first_slots + sent[:, 0], first * share + one, sent)
            elif len(mapped):
                onwards = link_of[end_of[held // count], output // count] * count + output % count
                group = first_cons + exits * groups + (
                    _class_of_stops(part, mapped, held, onwards, witness) % channels)
                add_held(held, group, witness)
                for ends in asked:
                    add(index, group, ends, witness)
            else:  # such a worm takes any channel, and may be found in each
                add_held(held, any_of(exits), witness)
                for one in range(groups):
                    for ends in asked:
                        add(index, first_cons + exits * groups + one, ends, witness)
        if part not in without and not part.stops_with_a_choice:
            held, output = np.nonzero(part.passes[:, :, 0] >= 0)
            for ends in asked_of(held, output):
                add_held(held, ends, part.passes[held, output])
        if part.replication is not None and not (part.needs_whole_packet and fits):
            splits = find_branch_pairs(part.routes, ports) if part.pairs is None else find_multidrop_edges(part, ports)
            numbering = Numbering(share, len(part.passes), first_cons if groups == 1 else first_any, first_token)
            found = branch_dependencies(part, splits, numbering, tokens, consumed)
            add_copied(index, found.to_tokens)
            copies.append((index, found))

    if groups > 1:
        exits = np.repeat(np.arange(len(ports)), groups)
        add(-1, any_of(exits), first_cons + np.arange(len(exits)), np.empty((len(exits), 0), np.int32))
    if copies:
        along = np.concatenate(rows)[:, :2].T
        for index, found in copies:
            add_copied(index, found.from_tokens)
            # all outputs of a switch at once: who has a channel there has the first one of each branch, too
            at_once = parts[index].replication == "synchronous"
            add_copied(index, beyond(found.across, *along) if at_once else found.across)

    edges = np.concatenate([np.empty((0, 7), np.int32), *rows])
    resources = first_any + len(ports)
    pairs = edges[:, 0].astype(np.int64) * resources + edges[:, 1]
    _, kept = np.unique(pairs * (topology.switches + 1) + edges[:, 6] + 1, return_index=True)
    starts, ends, copied = np.ascontiguousarray(edges[kept][:, [0, 1, 6]].T)
    return DependencyGraph(topology, groups, starts, ends, edges[kept][:, 2:6], vc_classes, channels, ejection, slots,
                           copied if (copied >= 0).any() else None, tokens)


def _first_channels(part: ChannelUse, nodes: npt.NDArray) -> tuple[npt.NDArray, Integers]:
    """Channels that worms of some nodes take first, and a worm for each: its source, and where it goes."""
    topology, count = part.topology, part.vc_classes
    pairs = np.array([(u, v) for u in nodes.tolist() for v in range(topology.nodes) if u != v], np.int32).reshape(-1, 2)
    switches = topology.injections[pairs[:, 0], 0]
    codes = part.routes.options[0, switches, pairs[:, 1], 0]
    return topology.link_of_port[switches, codes // count] * count + codes % count, pairs


def _class_of_stops(
    part: ChannelUse, classes: ClassMap, held: npt.NDArray, asked: npt.NDArray, witness: Integers
) -> npt.NDArray:
    """Class that a worm asks for at each way through a stop."""
    of_channel = classes.of_channels(part.topology, part.vc_classes)
    chosen = classes.at_stop(of_channel[held], of_channel[asked])
    without = np.flatnonzero(chosen == NO_CLASS)
    if len(without):
        raise without_class(classes, part.name, part.topology, *witness[without[0]].tolist())
    return chosen


@compiled
def _offsets(resources, keys):
    """Where each resource's edges begin, once they are sorted by `keys`."""
    offsets = np.zeros(resources + 1, np.int64)
    for key in keys:
        offsets[key + 1] += 1
    return np.cumsum(offsets)


@compiled
def _locked(resources, first_choice, starts, ends):
    """Take away what is safe, until nothing more is."""
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
    """Give the edges of a shortest cycle, from its lowest resource on; edges are sorted by start. Empty: none."""
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
