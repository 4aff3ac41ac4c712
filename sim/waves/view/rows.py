"""Rows of a space-time diagram: selection, order and labels of virtual channels."""

from collections.abc import Collection
from dataclasses import dataclass

from wormcast.algorithms import Topology, WormcastError

from .history import History, RecordedLink

__all__ = ["BEHIND", "ChannelRow", "choose_links", "rows_of"]

#: Kinds of links whose rows come after the rows of all other links, in the order of the numbers.
BEHIND = {"slots": 1, "consumption": 2}


@dataclass(frozen=True)
class ChannelRow:
    """A virtual channel of a link, and its label."""

    link: int
    vc: int
    label: str


def rows_of(history: History, links: Collection[int] | None = None) -> list[ChannelRow]:
    """Return the rows of a diagram, sorted so that a worm's path looks like a staircase.

    The channels of the worm with the lowest number come first, in the order in which the worm reaches them, then the
    further channels of the next worm. The rows of all slots come after the rows of links, and the rows of
    consumption channels come last. Virtual channels of a link are adjacent. The rows' labels are names of resources, as
    in `run` and in replays.

    Parameters
    ----------
    links : collection of int, optional
        Links to show, used or not. By default only links with channels that worms hold or wait at are shown.
    """
    shown = range(len(history.links)) if links is None else links
    inside = set(shown)
    order: dict[int, set[int]] = {}
    for hold in sorted(history.holds, key=lambda hold: (hold.worm, hold.first, hold.last, hold.link)):
        if hold.link in inside:
            order.setdefault(hold.link, set()).add(hold.vc)
    for wait in history.waits:
        if wait.link in inside:
            order.setdefault(wait.link, set()).add(wait.vc)
    if links is not None:
        for link in links:
            order.setdefault(link, {0})
    rows = [ChannelRow(link, vc, history.channel_name(link, vc)) for link, used in order.items() for vc in sorted(used)]
    return sorted(rows, key=lambda row: BEHIND.get(history.links[row.link].kind, 0))


def choose_links(history: History, text: str) -> list[int] | None:
    """Parse a selection of links: ``used`` (returns None), ``all``, or names separated by commas.

    ``link:0.1>0.2`` or ``0.1>0.2`` selects a link between routers, and all parallel links; ``s0>s1#1`` selects one of
    the parallel links. ``inj:0.1`` selects the injection links of node 0.1, ``cons:0.1`` its consumption links, and
    ``retrans:0.1`` its slots. The name of a node or switch, ``0.1`` or ``s0``, selects all links that begin or end at
    this node or switch. The label of a row, ``link:0.1>0.2:0``, selects the link of this row.
    """
    if text == "used":
        return None
    if text == "all":
        return list(range(len(history.links)))
    channels = {history.channel_name(index, vc): index
                for index, link in enumerate(history.links) for vc in range(link.vcs)}
    found: dict[int, None] = {}
    for name in map(str.strip, text.split(",")):
        if name in channels:
            found[channels[name]] = None
            continue
        try:
            matching = [index for index, link in enumerate(history.links) if _means(history.topology, name, link)]
        except WormcastError:
            if ">" in name or ":" in name:
                raise
            matching = []
        if not matching:
            raise WormcastError(f"links: {name!r} is not valid: the waveform has no such link. Allowed: used, all, or "
                                "U>V, U>V#k, inj:NODE, cons:NODE, retrans:NODE, NODE, SWITCH, separated by commas.")
        found.update(dict.fromkeys(matching))
    return list(found)


def _means(topology: Topology, name: str, link: RecordedLink) -> bool:
    start, arrow, end = name.removeprefix("link:").partition(">")
    if arrow:
        end, _, number = end.partition("#")
        ends = _switch(topology, start), _switch(topology, end)
        return (link.kind, link.source, link.target) == ("network", *ends) and (
            not number or link.name.rpartition("#")[2] == number)
    kind, colon, node = name.partition(":")
    if colon and kind in ("inj", "cons", "retrans"):
        return link.name.startswith(f"{kind}:") and link.node == topology.node(node, "links")
    if name in topology.switch_names and not topology.direct:
        return topology.switch_names.index(name) in link.switches
    node_named = topology.node(name, "links")
    return link.node == node_named or (topology.direct and node_named in link.switches)


def _switch(topology: Topology, name: str) -> int:
    """Return the number of the switch with this name; in a direct network, of the switch of the node with this name."""
    if topology.direct:
        return topology.node(name, "links")
    if name.strip() not in topology.switch_names:
        raise WormcastError(f"links: {name.strip()!r} is not valid: {topology.name} has no such switch. Allowed: "
                            f"{topology.switch_names[0]} to {topology.switch_names[-1]}.")
    return topology.switch_names.index(name.strip())
