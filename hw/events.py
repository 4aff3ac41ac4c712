"""Events that cost energy, and the signals by which they are counted.

Both engines count events by these signals. docs/experiments.md has a table of the events.
"""

from typing import NamedTuple

__all__ = ["EVENTS", "REPLICATION", "Event", "buffer_events", "leaving", "replicated"]

#: Events of routers, then those of interfaces.
EVENTS = ("buffer_write", "buffer_read", "crossbar", "link", "ejection", "injection", "interface_write",
          "interface_read")

#: Name of a count that is no event of its own: payload flits that leave a router, minus those that enter it.
REPLICATION = "replication"


class Event(NamedTuple):
    """Signals that show an event in one component.

    Parameters
    ----------
    name : str
        One of `EVENTS`, or `REPLICATION`.
    signals : tuple of str
        One or two signals of one bit, each by the path of its submodules and its name. The event takes place in each
        cycle in which all of its signals are 1.
    flits : int
        Number of flits that are counted in such a cycle; negative: subtracted.
    """

    name: str
    signals: tuple[str] | tuple[str, str]
    flits: int = 1


def buffer_events(buffer: str, write: str, read: str, *, readers: int, vcs: int) -> list[Event]:
    """Return the writes and reads of a `ReplicationBuffer` or `BranchBuffer`.

    Parameters
    ----------
    buffer : str
        Path of the buffer.
    write, read : str
        Names of the events.
    readers : int
        Number of readers.
    vcs : int
        Number of virtual channels whose front flit can leave by ``skip``.
    """
    return [Event(write, (f"{buffer}.write_port__en",)),
            *(Event(read, (f"{buffer}.readers__{r}__pop",)) for r in range(readers)),
            *(Event(read, (f"{buffer}.vc{v}_skip",)) for v in range(vcs))]


def leaving(link: str, *names: str) -> list[Event]:
    """Return events that take place in each cycle in which a flit is on a component's outgoing link."""
    return [Event(name, (f"{link}__valid",)) for name in names]


def replicated(link: str, flits: int) -> list[Event]:
    """Return the events that count the payload flits on a router's link as `REPLICATION`.

    ``flits`` is 1 for a link that leaves the router, and -1 for a link that enters it.
    """
    return [Event(REPLICATION, (f"{link}__valid",), flits),
            Event(REPLICATION, (f"{link}__valid", f"\\{link}__flit.head"), -flits)]
