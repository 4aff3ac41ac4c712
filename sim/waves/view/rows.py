"""Which virtual channels are shown, in which order, and what they are called."""

from collections.abc import Collection
from dataclasses import dataclass

from wormcast.algorithms import Topology, WormcastError

from .history import History, RecordedLink

__all__ = ["ChannelRow", "choose_links", "rows_of"]

#: Kinds that come behind all others, in this order.
BEHIND = {"slots": 1, "consumption": 2}


@dataclass(frozen=True)
class ChannelRow:
    """A virtual channel of a link, and its label."""

    link: int
    vc: int
    label: str


def rows_of(history: History, links: Collection[int] | None = None) -> list[ChannelRow]:
    """Put virtual channels in an order in which a worm's path reads as a staircase.

    First those of the first worm, in the order in which it comes to them, then what the next one adds; slots and
    consumption channels behind all others. Virtual channels of a link lie side by side. Labels are names of resources,
    as `run` and replays have them.

    Parameters
    ----------
    links : collection of int, optional
        Show these, used or not; otherwise those that are used.
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
    """Read which links are meant: ``used`` (None), ``all``, or some, joined by commas.

    ``link:0.1>0.2`` or ``0.1>0.2`` is a link between routers, of parallel ones all of them, and ``s0>s1#1`` one;
    ``inj:0.1`` and ``cons:0.1`` are those between a router and its node, ``retrans:0.1`` the slots there, and
    ``0.1`` or ``s0`` all that begin or end there. A virtual channel, ``link:0.1>0.2:0`` as its row is called, stands
    for its link.

    Raises
    ------
    WormcastError
        There is no such link in the waveform.
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
        except WormcastError as error:
            raise WormcastError(f"links: {error}") from error
        if not matching:
            raise WormcastError(f"links: {name!r} is given, the waveform has no such link; allowed are used, all, and "
                                "U>V, U>V#k, inj:NODE, cons:NODE, retrans:NODE, NODE or SWITCH, joined by commas")
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
        return link.name.startswith(f"{kind}:") and link.node == topology.node(node)
    if name in topology.switch_names and not topology.direct:
        return topology.switch_names.index(name) in link.switches
    node_named = topology.node(name)
    return link.node == node_named or (topology.direct and node_named in link.switches)


def _switch(topology: Topology, name: str) -> int:
    """Which switch a user names: in a direct network its node."""
    if topology.direct:
        return topology.node(name)
    if name.strip() not in topology.switch_names:
        raise WormcastError(f"{name.strip()!r} is no switch of {topology.name}, they are {topology.switch_names[0]} to "
                            f"{topology.switch_names[-1]}")
    return topology.switch_names.index(name.strip())
