"""What the registers of an input say of the worm at its front: what it holds, and what it waits for.

Whoever proves deadlocks, counts waits or draws them asks here, and knows no register by name. Each kind of input unit
has a class of its own.
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

__all__ = ["TOKEN", "TURN", "CopiesFront", "Front", "Of", "PathFront", "Target", "Wait", "owner_flags"]

Of = Callable[[str], Any]
"""A register's name -> its value, or an array of its values."""

Target = tuple[int, int]
"""A virtual channel that a worm holds or asks for: number of the router's output, and of the channel there."""

TOKEN: Target = (-1, 0)
"""The token of the router's group, which may be held and asked for as channels are."""

Wait = dict[str, str]
"""Registers any bit of which tells one thing that a worm may wait for: ``asks`` of a link, ``owns`` it, is ``through``
with it; ``claims`` a consumption channel; ``leaves``, asks for one and has none unless it ``owns`` it; ``token``, asks
for one."""

LINK, CONSUMPTION, FOR_TOKEN = 1, 2, 4
WHAT = LINK | CONSUMPTION
# where the parts of a code lie: what is waited for from bit 0, then
ENDS_HERE, EXIT, LINKS = 2, 3, 8
TURN = 62
MOST_TARGETS = TURN - LINKS


def owner_flags(output: PortSpec) -> list[str]:
    """Registers of a router that are 1 while a worm owns a virtual channel of this output, one for each of them."""
    return [f"{output.name}_output.vc{vc}_busy" for vc in range(output.vcs)]


class Front(ABC):
    """The front of a virtual channel of an input.

    Values may be numbers or arrays, wherever nothing else is said.

    Parameters
    ----------
    router : SwitchSpec
    port, vc : int
        Number of the input, and of its virtual channel.

    Attributes
    ----------
    readers : int
        Readers of its buffer.
    exits : list of int
        Outputs to nodes that its worms may take.
    """

    readers: int
    exits: list[int]

    def __init__(self, router: SwitchSpec, port: int, vc: int):
        self.spec = router.inputs[port]
        self.name, self.vc = self.spec.name, vc

    @property
    def scope(self) -> str:
        """Where the registers of its worm are."""
        return f"{self.name}_input.channel_{self.vc}"

    @abstractmethod
    def register(self, name: str) -> str | None:
        """Name of one of these registers in the router; None if it is built without, and says 0."""

    @property
    def frame(self) -> str:
        """Register that is 0 while no worm is arriving."""
        return f"{self.name}_input.intake.vc{self.vc}_frame"

    @abstractmethod
    def waits(self) -> list[Wait]:
        """What its worm may wait for at the same time."""

    def unread(self, read: Callable[[str], Any]) -> list[Any]:
        """Flits stored that each reader has before it; ``read`` gives a router's register by its full name."""
        return [self._before(read, f"read{r}_at", f"filled{r}") for r in range(self.readers)]

    def ready(self, read: Callable[[str], Any]) -> list[Any]:
        """Of these, flits that it can take as soon as it may send."""
        return self.unread(read)

    def _at(self, position: str, read: Callable[[str], Any]) -> Any:
        """A position in the buffer; with room for one flit there is no register of it."""
        return 0 if self.spec.depth == 1 else read(f"{self.name}_input.buffer.vc{self.vc}_{position}")

    def _before(self, read: Callable[[str], Any], position: str, filled: str) -> Any:
        """Flits stored from a position on."""
        return fill_level(self._at("write_at", read), self._at(position, read),
                          read(f"{self.name}_input.buffer.vc{self.vc}_{filled}"), self.spec.depth)

    @property
    def position(self) -> str:
        """Register that changes whenever the first reader takes a flit."""
        return f"{self.name}_input.buffer.vc{self.vc}_" + ("read0_at" if self.spec.depth > 1 else "filled0")

    def flits(self, read: Callable[[str], Any]) -> list[int]:
        """Flits stored, the oldest first, of one front: data, then head mark, then what `row_layout` has; ``read``
        gives a memory's register as its rows."""
        unread = [int(flits) for flits in self.unread(read)]
        # of several readers the last one has the most before it
        oldest = unread.index(max(unread))
        if not unread[oldest]:
            return []
        memory, first = read(f"{self.name}_input.buffer.memory"), self.vc << (self.spec.depth - 1).bit_length()
        start = int(self._at(self._start(oldest), read))
        return [int(memory[first + (start + k) % self.spec.depth]) for k in range(unread[oldest])]

    def _start(self, reader: int) -> str:
        """Register with the place of the flit that a reader takes next."""
        return f"read{reader}_at"

    def reader(self, output: int) -> int:
        """The reader that sends to an output."""
        return 0

    def leaving(self, output: int, read: Callable[[str], Any]) -> list[int]:
        """Flits that have left a buffer and wait at an output to be sent, the next one first, as `flits` gives them;
        whichever input they are from."""
        return []

    def together(self, output: int) -> list[int]:
        """Outputs that get each flit in the cycle in which this one does, itself among them; none where a worm has but
        one copy for other switches, which waits for no other."""
        return []

    @abstractmethod
    def active(self, of: Of) -> Any:
        """Whether a worm's header has been read."""

    @abstractmethod
    def consuming(self, of: Of) -> list[tuple[int, Any]]:
        """Readers that send to nodes alone, and whether each has a consumption channel."""

    @abstractmethod
    def owns(self, of: Of) -> list[tuple[int, Any, Any]]:
        """Outputs of which the worm may own a virtual channel: which, whether it does, and its number."""

    def holds(self, of: Of) -> list[Target]:
        """What the worm holds from here on; of numbers alone."""
        return [(output, int(vc)) for output, whether, vc in self.owns(of) if whether]

    @abstractmethod
    def waiting(self, of: Of) -> Any:
        """A code for what the worm waits for, 0 for nothing; see `wants`."""

    @abstractmethod
    def in_vain(self, now: Any, following: Any) -> Any:
        """What of a code that `waiting` gave, array, is still asked for in the next cycle, by the code of that."""

    @abstractmethod
    def wants(self, code: int, mask: Callable[[int, int | None, bool], int]) -> list[list[Target]]:
        """What a worm waits for, of a code that `waiting` gave: of each of these sets any one, and one of each.

        Parameters
        ----------
        mask : callable
            The consumption channels that a worm may take: of which output, by which output it goes on as far as that is
            known (of several by the one that it takes last), and whether it ends here -> a mask.
        """

    @abstractmethod
    def going(self, of: Of) -> Any:
        """A code for where the worm goes, see `ways`. It is 0 for a cycle at least between two worms, or they differ in
        bit `TURN`."""

    @abstractmethod
    def ways(self, code: int) -> tuple[list[int], list[int]]:
        """Outputs to other switches and to nodes that a worm goes to, of a code that `going` gave."""


class CopiesFront(Front):
    """The front of a virtual channel of an input whose worms are copied to several outputs.

    Attributes
    ----------
    leads : list of int
        Outputs that its worms may take.
    """

    leads: list[int]

    def __init__(self, router: SwitchSpec, port: int, vc: int, leads: list[int]):
        super().__init__(router, port, vc)
        self.leads, self.exits = leads, router.decoder.exits(port)
        self._channels = {o: range(router.outputs[o].vcs) for o in leads}

    def asking(self, asked: Any) -> Any:
        """A code for outputs that are asked for, bits from `LINKS` on."""
        exits = sum(1 << LINKS + i for i, output in enumerate(self.leads) if output in self.exits)
        links = (1 << LINKS + len(self.leads)) - (1 << LINKS) - exits
        return LINK * (asked & links != 0) | CONSUMPTION * (asked & exits != 0) | asked

    def in_vain(self, now: Any, following: Any) -> Any:
        both = now & following
        return np.asarray(self.asking(both >> LINKS << LINKS) | both & FOR_TOKEN)

    def wants(self, code: int, mask: Callable[[int, int | None, bool], int]) -> list[list[Target]]:
        asked = [output for i, output in enumerate(self.leads) if code >> LINKS + i & 1]
        return [*([[TOKEN]] if code & FOR_TOKEN else []), *([(o, v) for v in self._channels[o]] for o in asked)]

    def ways(self, code: int) -> tuple[list[int], list[int]]:
        ways = [output for i, output in enumerate(self.leads) if code >> LINKS + i & 1]
        return [o for o in ways if o not in self.exits], [o for o in ways if o in self.exits]


class PathFront(Front):
    """The front of a virtual channel of an `InputUnit`: worms go on by one link, to a consumption channel, or both."""

    def __init__(self, router: SwitchSpec, port: int, vc: int):
        super().__init__(router, port, vc)
        decoder: Any = router.decoder
        self.targets, self.exits, self.choice = decoder.targets(port), decoder.exits(port), decoder.adaptive
        self.readers = 2 if router.readers == "independent" and self.exits and self.targets else 1
        self.ejection = router.ejection
        self._channels = {(o, k): channels_of_class(router.outputs[o].vcs, decoder.vc_classes, k)
                          for o, k in self.targets}
        consumption = router.outputs[-1].vcs if len(router.outputs) > router.ejection else 1
        without = {
            "links": not self.targets, "link_vc": not self.targets or self.spec.vcs == 1,
            "consumption_vc": not self.exits or consumption == 1, "exit": len(self.exits) < 2,
            "options": not self.choice, **dict.fromkeys(("done_0", "done_1"), self.readers == 1),
            **dict.fromkeys(("here", "ends_here", "wants_consumption"), not self.exits),
        }
        self._bits = dict.fromkeys(range(len(router.outputs)), 0)  # of `links`, by output
        for i, (o, _) in enumerate(self.targets):
            self._bits[o] |= 1 << i
        self._lacking = {name for name, lacks in without.items() if lacks}
        if len(self.targets) > MOST_TARGETS:
            raise WormcastError(f"network: input {self.name} of a router can ask for {len(self.targets)} outputs and "
                                f"classes, what waits there is told of up to {MOST_TARGETS}")

    def register(self, name: str) -> str | None:
        return None if name in self._lacking else f"{self.scope}.{name}"

    def reader(self, output: int) -> int:
        return 1 if self.readers > 1 and output in self.exits else 0

    def waits(self) -> list[Wait]:
        named = {"asks": "links", "owns": "owns_link", "through": "done_0", "claims": "wants_consumption"}
        return [{what: name for what, register in named.items() if (name := self.register(register))}]

    def consumes(self, of: Of) -> Any:
        """Whether the worm holds a consumption channel."""
        # of two readers the second one may be through with it before the worm is gone
        return (of("here") != 0) & (of("wants_consumption") == 0) & (of("done_1") == 0)

    def owns_link(self, of: Of) -> Any:
        """Whether the worm owns a virtual channel of its link."""
        # and so may the first one with the link
        return (of("links") != 0) & (of("owns_link") != 0) & (of("done_0") == 0)

    def active(self, of: Of) -> Any:
        return (of("here") != 0) | (of("links") != 0)

    def consuming(self, of: Of) -> list[tuple[int, Any]]:
        return [(1, self.consumes(of))] if self.readers > 1 else []

    def goes(self, of: Of, output: int) -> Any:
        """Whether the worm's link is that of an output."""
        return of("links") & self._bits[output] != 0

    def leaves(self, of: Of, output: int) -> Any:
        """Whether the worm's exit is an output."""
        return (of("exit") == self.exits.index(output)) if output in self.exits else of("exit") < 0

    def owns(self, of: Of) -> list[tuple[int, Any, Any]]:
        found = [(output, self.consumes(of) & self.leaves(of, output), of("consumption_vc")) for output in self.exits]
        return found + [(output, self.owns_link(of) & self.goes(of, output), of("link_vc"))
                        for output in dict.fromkeys(output for output, _ in self.targets)]

    def waiting(self, of: Of) -> Any:
        for_link = (of("links") != 0) & (of("owns_link") == 0) & (of("wants_consumption") == 0)
        kind = CONSUMPTION * (of("wants_consumption") != 0) + LINK * for_link
        asked = of("options") if self.choice else of("links")
        return kind + (kind != 0) * ((of("ends_here") << ENDS_HERE) + (of("exit") << EXIT) + (asked << LINKS))

    def in_vain(self, now: Any, following: Any) -> Any:
        # of the same kind: a choice may have moved on
        return np.where((now & WHAT) == (following & WHAT), now, 0)

    def wants(self, code: int, mask: Callable[[int, int | None, bool], int]) -> list[list[Target]]:
        asked = [target for i, target in enumerate(self.targets) if code >> LINKS + i & 1]
        kind = code & (1 << ENDS_HERE) - 1
        if kind == CONSUMPTION:
            output = self.exits[code >> EXIT & (1 << LINKS - EXIT) - 1]
            channels = mask(output, asked[-1][0] if asked else None, bool(code >> ENDS_HERE & 1))
            return [[(output, c) for c in range(channels.bit_length()) if channels >> c & 1]]
        if kind == LINK:
            return [[(o, v) for o, k in asked for v in self._channels[o, k]]]
        return []

    def going(self, of: Of) -> Any:
        return (of("here") != 0) * (1 + (of("exit") << EXIT)) + (of("links") << LINKS)

    def ways(self, code: int) -> tuple[list[int], list[int]]:
        links = {o for i, (o, _) in enumerate(self.targets) if code >> LINKS + i & 1}
        here = [self.exits[code >> EXIT & (1 << LINKS - EXIT) - 1]] if code & 1 else []
        return sorted(links), here
