"""Probes of input units: they decode from registers what the worm at the front of a buffer holds and requests.

Deadlock proofs, statistics and waveforms read the registers of input units only through probes. Each kind of input unit
has its own probe.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from wormcast.algorithms.channels import channels_of_class
from wormcast.algorithms.errors import WormcastError

from .port import PortSpec
from .ring import fill_level
from .switch_spec import SwitchSpec

__all__ = ["TOKEN", "TURN", "BranchesProbe", "InputProbe", "Of", "PathProbe", "Target", "Wait", "owner_flags"]

Of = Callable[[str], Any]
"""Function from a register's name to its value, or to an array of its values."""

Target = tuple[int, int]
"""A virtual channel that a worm holds or requests: number of the router's output, number of the channel there."""

TOKEN: Target = (-1, 0)
"""The token of the router's group. A worm holds and requests the token like a channel."""

Wait = dict[str, str]
"""Names of the registers that show one wait of a worm, by meaning. A register is true if any of its bits is set.

``needs_link``: the worm needs a link. ``owns``: the worm owns the link. ``no_wait``: the worm does not wait for the
link now. ``requests_consumption``: the worm requests a consumption channel. ``needs_consumption``: the worm needs a
consumption channel, which it does not have while ``owns`` is 0. ``token``: the worm requests the token.
"""

LINK, CONSUMPTION, FOR_TOKEN, ALTERNATIVES = 1, 2, 4, 8
WHAT = LINK | CONSUMPTION
# lowest bit of each field of a code; the kind of wait (`LINK`, `CONSUMPTION` or `FOR_TOKEN`) begins at bit 0; for
# replicated worms bit `ALTERNATIVES` is set if one of the requested links suffices
ENDS_HERE, EXIT, LINKS = 2, 3, 8
TURN = 62
MOST_TARGETS = TURN - LINKS


def owner_flags(output: PortSpec) -> list[str]:
    """Return the names of the registers, one per virtual channel of an output, that are 1 while a worm owns it."""
    return [f"{output.name}_output.vc{vc}_busy" for vc in range(output.vcs)]


class InputProbe(ABC):
    """State of the worm at the front of a virtual channel of an input.

    The methods return numbers, or arrays if the values of registers are arrays, except where stated otherwise.

    Parameters
    ----------
    router : SwitchSpec
    port, vc : int
        Number of the input, and of its virtual channel.

    Attributes
    ----------
    readers : int
        Number of readers of the buffer.
    ejection_ports : list of int
        Ejection ports that worms of this input can use.
    """

    readers: int
    ejection_ports: list[int]

    def __init__(self, router: SwitchSpec, port: int, vc: int):
        self.spec = router.inputs[port]
        self.name, self.vc = self.spec.name, vc

    @property
    def scope(self) -> str:
        """Prefix of the names of the worm's registers."""
        return f"{self.name}_input.channel_{self.vc}"

    @abstractmethod
    def register(self, name: str) -> str | None:
        """Return the full name of one of the worm's registers; None if the router is built without it (its value is 0).
        """

    @property
    def frame(self) -> str:
        """Name of a register on the input's write side that is 0 while no worm arrives on this virtual channel."""
        return f"{self.name}_input.intake.vc{self.vc}_frame"

    @abstractmethod
    def waits(self) -> list[Wait]:
        """Return the waits that a worm can have at the same time."""

    def unread(self, read: Callable[[str], Any]) -> list[Any]:
        """Return, for each reader, the number of stored flits that the reader has not taken.

        ``read`` returns a register of the router by its full name.
        """
        return [self._before(read, f"read{r}_at", f"filled{r}") for r in range(self.readers)]

    def ready(self, read: Callable[[str], Any]) -> list[Any]:
        """Return how many of the flits counted by `unread` each reader can send without waiting, given credits."""
        return self.unread(read)

    def _at(self, position: str, read: Callable[[str], Any]) -> Any:
        """Return a position register of the buffer; 0 for a buffer of one flit, which has no position registers."""
        return 0 if self.spec.depth == 1 else read(f"{self.name}_input.buffer.vc{self.vc}_{position}")

    def _before(self, read: Callable[[str], Any], position: str, filled: str) -> Any:
        """Return the number of flits that the buffer stores from position register ``position`` on."""
        return fill_level(self._at("write_at", read), self._at(position, read),
                          read(f"{self.name}_input.buffer.vc{self.vc}_{filled}"), self.spec.depth)

    @property
    def position(self) -> str:
        """Name of the register that changes with each flit that the first reader takes."""
        return f"{self.name}_input.buffer.vc{self.vc}_" + ("read0_at" if self.spec.depth > 1 else "filled0")

    def flits(self, read: Callable[[str], Any]) -> list[int]:
        """Return the flits that one router stores in this virtual channel, oldest first, as rows of `row_layout`.

        ``read`` returns a memory as its rows.
        """
        unread = [int(flits) for flits in self.unread(read)]
        # the reader with the most unread flits has the oldest one
        oldest = unread.index(max(unread))
        if not unread[oldest]:
            return []
        memory, first = read(f"{self.name}_input.buffer.memory"), self.vc << (self.spec.depth - 1).bit_length()
        start = int(self._at(self._start(oldest), read))
        return [int(memory[first + (start + k) % self.spec.depth]) for k in range(unread[oldest])]

    def _start(self, reader: int) -> str:
        """Return the name of the register with the position of the flit that a reader takes next."""
        return f"read{reader}_at"

    def reader(self, output: int) -> int:
        """Return the number of the reader that sends to an output."""
        return 0

    def leaving(self, output: int, read: Callable[[str], Any]) -> list[int]:
        """Return the flits that have left the buffer of some input of the router, and wait at an output to be sent.

        The flit that the output sends next comes first. The flits have the format of `flits`.
        """
        return []

    def together(self, output: int) -> list[int]:
        """Return the outputs to which each flit is sent in the same cycle as to this output, which is included.

        The list is empty at inputs whose worms have at most one branch to other switches.
        """
        return []

    @abstractmethod
    def active(self, of: Of) -> Any:
        """Return true while a worm is at the front whose header has been read."""

    @abstractmethod
    def consuming(self, of: Of) -> list[tuple[int, Any]]:
        """Return the numbers of the buffer's readers that send to nodes only, each with whether it has a consumption
        channel.
        """

    @abstractmethod
    def owns(self, of: Of) -> list[tuple[int, Any, Any]]:
        """Return (output, owned, channel) for each output that the worm can use; tree inputs add the token.

        ``owned`` is true if the worm owns a virtual channel of the output; ``channel`` is its number.
        """

    def holds(self, of: Of) -> list[Target]:
        """Return the virtual channels that the worm holds beyond this input. Values are numbers."""
        return [(output, int(vc)) for output, whether, vc in self.owns(of) if whether]

    @abstractmethod
    def waiting(self, of: Of) -> Any:
        """Return a code for the worm's requests; 0 for none. `wants` decodes it."""

    @abstractmethod
    def in_vain(self, now: Any, following: Any) -> Any:
        """Return the part of the codes of `waiting` that is still requested in the next cycle.

        Parameters
        ----------
        now, following : array
            The codes of this cycle, and of the next one.
        """

    @abstractmethod
    def wants(self, code: int, mask: Callable[[int, int | None, bool], int]) -> list[list[Target]]:
        """Decode the requests in a code of `waiting`: the worm needs one channel of each set that is returned.

        Parameters
        ----------
        mask : callable
            Returns the mask of the consumption channels that a worm may take. ``mask`` has three arguments. The first
            argument of ``mask`` is the ejection port. The second argument of ``mask`` is the output of the worm's next
            hop: the last of several, None if it is not known. The third argument of ``mask`` is true if the worm ends
            here.
        """

    @abstractmethod
    def going(self, of: Of) -> Any:
        """Return a code for the outputs that the worm uses, which `ways` decodes.

        Between two worms the code is 0 for at least a cycle, or the worms' codes differ in bit `TURN`.
        """

    @abstractmethod
    def ways(self, code: int) -> tuple[list[int], list[int]]:
        """Decode a code of `going`: the outputs to other switches, and the ejection ports, that the worm uses."""


class BranchesProbe(InputProbe):
    """State of the worm at the front of an input that replicates worms to several outputs.

    Attributes
    ----------
    leads : list of int
        Outputs that worms of this input can use.
    """

    leads: list[int]

    def __init__(self, router: SwitchSpec, port: int, vc: int, leads: list[int]):
        super().__init__(router, port, vc)
        self.leads, self.ejection_ports = leads, router.decoder.ejection_ports(port)
        self._channels = {o: range(router.outputs[o].vcs) for o in leads}

    def asking(self, asked: Any) -> Any:
        """Return the code of `waiting` for requested outputs: bit `LINKS` + i of ``asked`` is 1 if output ``leads[i]``
        is requested."""
        ejection_ports = sum(1 << LINKS + i for i, output in enumerate(self.leads) if output in self.ejection_ports)
        links = (1 << LINKS + len(self.leads)) - (1 << LINKS) - ejection_ports
        return LINK * (asked & links != 0) | CONSUMPTION * (asked & ejection_ports != 0) | asked

    def in_vain(self, now: Any, following: Any) -> Any:
        both = now & following
        return np.asarray(self.asking(both >> LINKS << LINKS) | both & (FOR_TOKEN | ALTERNATIVES))

    def wants(self, code: int, mask: Callable[[int, int | None, bool], int]) -> list[list[Target]]:
        asked = [output for i, output in enumerate(self.leads) if code >> LINKS + i & 1]
        sets = [[(o, v) for v in self._channels[o]] for o in asked]
        if code & ALTERNATIVES:
            links = [target for o, one in zip(asked, sets, strict=True) if o not in self.ejection_ports
                     for target in one]
            sets = [*([links] if links else []),
                    *(one for o, one in zip(asked, sets, strict=True) if o in self.ejection_ports)]
        return [*([[TOKEN]] if code & FOR_TOKEN else []), *sets]

    def ways(self, code: int) -> tuple[list[int], list[int]]:
        ways = [output for i, output in enumerate(self.leads) if code >> LINKS + i & 1]
        return [o for o in ways if o not in self.ejection_ports], [o for o in ways if o in self.ejection_ports]


class PathProbe(InputProbe):
    """State of the worm at the front of a virtual channel of an `InputUnit`.

    The worm uses a link, a consumption channel, or both.
    """

    def __init__(self, router: SwitchSpec, port: int, vc: int):
        super().__init__(router, port, vc)
        decoder: Any = router.decoder
        self.targets, self.ejection_ports = decoder.targets(port), decoder.ejection_ports(port)
        self.choice = decoder.adaptive
        self.readers = router.readers_of(port)
        self.ejection = router.ejection
        self._channels = {(o, k): channels_of_class(router.outputs[o].vcs, decoder.vc_classes, k)
                          for o, k in self.targets}
        consumption = router.outputs[-1].vcs if len(router.outputs) > router.ejection else 1
        without = {
            "links": not self.targets, "link_vc": not self.targets or self.spec.vcs == 1,
            "consumption_vc": not self.ejection_ports or consumption == 1,
            "ejection_port": len(self.ejection_ports) < 2,
            "options": not self.choice, **dict.fromkeys(("done_0", "done_1"), self.readers == 1),
            **dict.fromkeys(("here", "ends_here", "wants_consumption"), not self.ejection_ports),
        }
        self._bits = dict.fromkeys(range(len(router.outputs)), 0)  # of `links`, by output
        for i, (o, _) in enumerate(self.targets):
            self._bits[o] |= 1 << i
        self._lacking = {name for name, lacks in without.items() if lacks}
        if len(self.targets) > MOST_TARGETS:
            raise WormcastError(f"topology: worms at input {self.name} of a switch choose between {len(self.targets)} "
                                f"pairs of an output and a class of virtual channels. At most {MOST_TARGETS} are "
                                "possible. Needed: switches with fewer links, or fewer classes.")

    def register(self, name: str) -> str | None:
        return None if name in self._lacking else f"{self.scope}.{name}"

    def reader(self, output: int) -> int:
        return 1 if self.readers > 1 and output in self.ejection_ports else 0

    def waits(self) -> list[Wait]:
        named = {"needs_link": "links", "owns": "owns_link", "no_wait": "done_0",
                 "requests_consumption": "wants_consumption"}
        return [{what: name for what, register in named.items() if (name := self.register(register))}]

    def consumes(self, of: Of) -> Any:
        """Return true while the worm holds a consumption channel."""
        # with two readers, the reader of the consumption channel can finish before the reader of the link
        return (of("here") != 0) & (of("wants_consumption") == 0) & (of("done_1") == 0)

    def owns_link(self, of: Of) -> Any:
        """Return true while the worm owns a virtual channel of its link."""
        # with two readers, the reader of the link can finish before the reader of the consumption channel
        return (of("links") != 0) & (of("owns_link") != 0) & (of("done_0") == 0)

    def active(self, of: Of) -> Any:
        return (of("here") != 0) | (of("links") != 0)

    def consuming(self, of: Of) -> list[tuple[int, Any]]:
        return [(1, self.consumes(of))] if self.readers > 1 else []

    def goes(self, of: Of, output: int) -> Any:
        """Return true if the worm uses the link of an output."""
        return of("links") & self._bits[output] != 0

    def leaves(self, of: Of, output: int) -> Any:
        """Return true if the worm's ejection port is this output."""
        port = of("ejection_port")
        return port == self.ejection_ports.index(output) if output in self.ejection_ports else port < 0

    def owns(self, of: Of) -> list[tuple[int, Any, Any]]:
        found = [(output, self.consumes(of) & self.leaves(of, output), of("consumption_vc"))
                 for output in self.ejection_ports]
        return found + [(output, self.owns_link(of) & self.goes(of, output), of("link_vc"))
                        for output in dict.fromkeys(output for output, _ in self.targets)]

    def waiting(self, of: Of) -> Any:
        for_link = (of("links") != 0) & (of("owns_link") == 0) & (of("wants_consumption") == 0)
        kind = CONSUMPTION * (of("wants_consumption") != 0) + LINK * for_link
        asked = of("options") if self.choice else of("links")
        return kind + (kind != 0) * ((of("ends_here") << ENDS_HERE) + (of("ejection_port") << EXIT) + (asked << LINKS))

    def in_vain(self, now: Any, following: Any) -> Any:
        # compare only the kinds of the two waits: an adaptive choice may have changed the output
        return np.where((now & WHAT) == (following & WHAT), now, 0)

    def wants(self, code: int, mask: Callable[[int, int | None, bool], int]) -> list[list[Target]]:
        asked = [target for i, target in enumerate(self.targets) if code >> LINKS + i & 1]
        kind = code & (1 << ENDS_HERE) - 1
        if kind == CONSUMPTION:
            output = self.ejection_ports[code >> EXIT & (1 << LINKS - EXIT) - 1]
            channels = mask(output, asked[-1][0] if asked else None, bool(code >> ENDS_HERE & 1))
            return [[(output, c) for c in range(channels.bit_length()) if channels >> c & 1]]
        if kind == LINK:
            return [[(o, v) for o, k in asked for v in self._channels[o, k]]]
        return []

    def going(self, of: Of) -> Any:
        return (of("here") != 0) * (1 + (of("ejection_port") << EXIT)) + (of("links") << LINKS)

    def ways(self, code: int) -> tuple[list[int], list[int]]:
        links = {o for i, (o, _) in enumerate(self.targets) if code >> LINKS + i & 1}
        here = [self.ejection_ports[code >> EXIT & (1 << LINKS - EXIT) - 1]] if code & 1 else []
        return sorted(links), here
