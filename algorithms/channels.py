"""Channels and other resources that worms hold and wait for."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from .errors import WormcastError
from .topologies.base import Topology

__all__ = ["Resource", "channels_of_class", "class_channels", "link_names", "link_rows", "require_share",
           "switch_pair"]

SPELLINGS = {
    "link": "link:U>V:vc",
    "cons": "cons:NODE:i",
    "inj": "inj:NODE:port:vc",
    "retrans": "retrans:NODE:i",
    "place": "place:NODE:i",
    "token": "token:STAGE:GROUP",
}
NUMBER = re.compile(r"\*|[0-9]+(-[0-9]+)?")


@dataclass(frozen=True)
class Resource:
    """A resource that one worm at a time can hold. A resource's text is the same in results, waveforms, pictures and
    JSON, except that coordinates may replace node ids.

    Parameters
    ----------
    kind : str
        ``"link"`` (a virtual channel of a link between switches), ``"cons"`` (a consumption channel), ``"inj"`` (a
        virtual channel from a node into its switch), ``"retrans"``, ``"place"`` or ``"token"``.
    where : str
        For ``"link"``: name of the link (see `link_names`). For ``"token"``: stage of the switches that share the
        token. For all other kinds: id of the node.
    number : str
        Number of the channel, slot or packet buffer entry, or group of the token. For several channels, slots or
        entries, `number` is ``"*"`` (all of the link or node) or a range with both ends: ``"0-1"``.
    port : int, optional
        For ``"inj"``: number of the node's injection port.

    Raises
    ------
    WormcastError
        The kind is unknown, or a number is not valid.
    """

    kind: str
    where: str
    number: str
    port: int | None = None

    def __post_init__(self) -> None:
        known = self.kind in SPELLINGS and (self.port is not None) == (self.kind == "inj")
        placed = bool(self.where) if self.kind == "link" else self.where.isdigit()
        if not (known and placed and NUMBER.fullmatch(self.number)):
            raise WormcastError(f"resource: {':'.join(self._parts())!r} is not valid. Allowed: "
                                f"{', '.join(SPELLINGS.values())}.")

    def __str__(self) -> str:
        return ":".join(self._parts())

    def _parts(self) -> list[str]:
        return [self.kind, self.where, *([] if self.port is None else [str(self.port)]), self.number]

    @classmethod
    def parse(cls, text: str) -> "Resource":
        """Return the resource with this text, as ``str`` writes it."""
        kind, _, rest = text.partition(":")
        where, _, number = rest.rpartition(":")
        port: int | None = None
        if kind == "inj":
            where, _, digits = where.partition(":")
            port = int(digits) if digits.isdigit() else None
        return cls(kind, where, number, port)

    @classmethod
    def link(cls, name: str, vc: int | str) -> "Resource":
        """A virtual channel of the link with this name."""
        return cls("link", name, str(vc))

    @classmethod
    def cons(cls, node: int, channel: int) -> "Resource":
        """A consumption channel of a node."""
        return cls("cons", str(node), str(channel))

    @classmethod
    def inj(cls, node: int, port: int, vc: int) -> "Resource":
        """A virtual channel of an injection port of a node."""
        return cls("inj", str(node), str(vc), port)

    @classmethod
    def token(cls, stage: int, group: int) -> "Resource":
        """The token of a group of switches."""
        return cls("token", str(stage), str(group))

    @classmethod
    def retrans(cls, node: int, slot: int | str) -> "Resource":
        """A retransmission slot of a node's interface."""
        return cls("retrans", str(node), str(slot))

    @classmethod
    def place(cls, node: int, number: int | str) -> "Resource":
        """A packet buffer entry of a node's smart interface. The entries of an interface are numbered consecutively,
        row after row of its child table."""
        return cls("place", str(node), str(number))


@lru_cache(maxsize=16)
def link_names(topology: Topology) -> tuple[str, ...]:
    """Name the links between switches, in the order of `Topology.links`.

    A link from switch U to V is ``U>V``; of several links from U to V, number k, from 0 in their order, is ``U>V#k``.
    """
    pairs = [switch_pair(topology, start, end) for start, _, end, _ in topology.links.tolist()]
    several, seen = Counter(pairs), Counter[str]()
    names = []
    for pair in pairs:
        names.append(f"{pair}#{seen[pair]}" if several[pair] > 1 else pair)
        seen[pair] += 1
    return tuple(names)


@lru_cache(maxsize=16)
def link_rows(topology: Topology) -> dict[str, int]:
    """Return a dictionary from each name in `link_names` to its row in `Topology.links`. Read-only."""
    return {name: row for row, name in enumerate(link_names(topology))}


def switch_pair(topology: Topology, start: int, end: int) -> str:
    """Return the names of two switches as ``U>V``."""
    return f"{topology.switch_names[start]}>{topology.switch_names[end]}"


def channels_of_class(vcs: int, classes: int, one: int) -> range:
    """Return the virtual channels of a link that belong to one class of the link.

    Parameters
    ----------
    vcs : int
        Virtual channels of the link, a multiple of its classes.
    classes, one : int
        Number of classes of the link, and number of the class, from 0. Class `one` owns vcs/classes channels; the first
        is channel one*vcs/classes.
    """
    share = vcs // classes
    return range(one * share, (one + 1) * share)


def require_share(vcs: int, classes: int, whose: str, topology: Topology) -> None:
    """Refuse a number of virtual channels that is not a multiple of the number of classes.

    Parameters
    ----------
    whose : str
        Owner of the classes, with the verb: ``"e-cube has"``.
    """
    if vcs % classes:
        raise WormcastError(f"vcs: {vcs} is not valid: {whose} {classes} classes of virtual channels on "
                            f"{topology.name}. Allowed: multiples of {classes} with shallow buffers, or any "
                            "number with vc_classes none.")


def class_channels(vcs: int, classes: int, one: int) -> str:
    """Return the channels of a class as text: ``"2"``, ``"0-1"``, or ``"*"`` for all of several channels."""
    channels = channels_of_class(vcs, classes, one)
    if len(channels) == 1:
        return str(channels[0])
    return "*" if classes == 1 else f"{channels[0]}-{channels[-1]}"
