"""The hardware options of a run, resolved and checked."""

from dataclasses import asdict, dataclass, replace
from typing import Any

from wormcast.algorithms import ConsumptionClasses, Scheme, Topology, WormcastError, ideal_width
from wormcast.hw.buffer import STORAGE
from wormcast.hw.decoders.base import EJECTION, INJECTION
from wormcast.hw.switch import CONSUMPTION_LINKS, DELAYS, READERS

__all__ = ["ALLOWED", "LIMITS", "Configuration"]

#: Largest number of cycles of an overhead of the hosts.
MOST_OVERHEAD = 2**32

#: Values that options of few values may have, and least and most of the numbers.
ALLOWED: dict[str, tuple[str, ...]] = {
    "readers": READERS,
    "header": ("real", "ideal"),
    "delays": DELAYS,
    "storage": tuple(STORAGE),
    "ports": INJECTION,
    "ejection": EJECTION,
    "consumption_links": CONSUMPTION_LINKS,
}
LIMITS = {
    "vcs": (1, 16), "buffer": (1, 16), "consumption": (1, 16), "flit_width": (1, 1024), "packet": (0, 65535),
    "queue": (1, 16), "t_ns": (0, 65535), "t_nr": (0, 65535), "t_hs": (0, MOST_OVERHEAD),
    "t_hr": (0, MOST_OVERHEAD), "injection_delay": (0, MOST_OVERHEAD),
}
#: What changes no hardware, the network interfaces alone, and the routers alone.
HOST_FIELDS = ("t_hs", "t_hr", "injection_delay")
INTERFACE_FIELDS = ("packet", "queue", "t_ns", "t_nr")
ROUTER_FIELDS = ("readers", "delays", "classes")


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Hardware options: one object from the command line down to the components.

    Parameters
    ----------
    vcs : int
        Virtual channels of each link, 1 to 16.
    buffer : int
        Flits of buffer per virtual channel, 1 to 16; the same for each consumption channel.
    readers : "coupled" or "independent"
        Whether a worm's outputs advance together.
    consumption : int
        Consumption channels of each ejection port, 1 to 16.
    flit_width : int
        Data bits of a flit, 1 to 1024.
    header : "real" or "ideal"
        ``ideal`` widens the flit until every header of the run fits into one.
    delays : "paper" or "fast"
        Header 3 and data 2 cycles a hop, or 4 and 3 at a higher clock.
    storage : "lutram" or "registers"
        What the buffers are built of; no cycle depends on it.
    ports : "one" or "all"
        Injection ports of each node: one, or one for each of its router's links.
    ejection : "one" or "all"
        Ejection ports of each node: one, or one for each way in from which worms can end there, reached by no other;
        each has consumption channels of its own.
    consumption_links : "shared" or "separate"
        All consumption channels of an ejection port on one physical link, or a link for each.
    classes : str, optional
        Map of directions to consumption classes, as `ConsumptionClasses.parse` reads it; None for the scheme's.
    packet : int
        Payload flits of a packet, up to 65535; 0: worms are sent whole.
    queue : int
        Flits of buffer between host and each injection port, 1 to 16.
    t_hs, t_hr : int
        Host processor's cycles before it posts a worm, and for each receipt.
    t_ns, t_nr : int
        Cycles that a network interface waits before each packet it sends, and before it hands over the last flit
        of each packet it gets; up to 65535.
    injection_delay : int
        Host processor's cycles before it posts the first worm of a message: it prepares the headers (paper 002,
        section 4).

    Raises
    ------
    WormcastError
        A value that is not allowed.
    """

    vcs: int = 2
    buffer: int = 4
    readers: str = "coupled"
    consumption: int = 2
    flit_width: int = 32
    header: str = "real"
    delays: str = "paper"
    storage: str = "lutram"
    ports: str = "one"
    ejection: str = "one"
    consumption_links: str = "shared"
    packet: int = 0
    queue: int = 4
    t_hs: int = 0
    t_hr: int = 0
    t_ns: int = 0
    t_nr: int = 0
    injection_delay: int = 0
    classes: str | None = None

    def __post_init__(self) -> None:
        for field, allowed in ALLOWED.items():
            value = getattr(self, field)
            if value not in allowed:
                raise WormcastError(f"{field}: {value!r} is given, allowed are {', '.join(allowed)}")
        for field, (least, most) in LIMITS.items():
            value = getattr(self, field)
            if not least <= value <= most:
                raise WormcastError(f"{field}: {value} is given, allowed are {least} to {most}")

        if self.classes is not None:
            ConsumptionClasses.parse(self.classes)

    def for_headers(self, topology: Topology, destinations: int) -> "Configuration":
        """Resolve ``header="ideal"`` for worms of at most so many destinations."""
        if self.header == "real":
            return self
        width = ideal_width(topology.shape, max(destinations, 1))
        return replace(self, flit_width=max(self.flit_width, width))

    def resolved(self, topology: Topology, scheme: Scheme) -> dict[str, Any]:
        """Give all options as plain data for JSON, the scheme's classes where none are chosen."""
        return {**self.to_dict(), "classes": str(self.consumption_classes(topology, scheme))}

    def consumption_classes(self, topology: Topology, scheme: Scheme) -> ConsumptionClasses:
        """Give the classes that the routers are built for."""
        return scheme.classes_on(topology) if self.classes is None else ConsumptionClasses.parse(self.classes)

    def to_dict(self) -> dict[str, Any]:
        """Give all options, resolved, as plain data for JSON."""
        return asdict(self)
