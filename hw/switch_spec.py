"""Parameters of a switch, and its properties that do not need its logic."""

from typing import NamedTuple

from wormcast.algorithms.channels import channels_of_class
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from .decoders import Decoder, PathDecoder
from .events import Event, buffer_events, leaving, replicated
from .options import CONSUMPTION_LINKS, DELAYS, EJECTED_HEADER, READERS
from .port import PortSpec
from .tables import TableBus

__all__ = ["ConsumptionLink", "SwitchSpec"]


class ConsumptionLink(NamedTuple):
    """A link from a switch to a node.

    Parameters
    ----------
    name : str
        Name of the switch's port for the link, without ``_out``.
    output : int
        The switch's output that the link belongs to.
    first : int
        Number of the link's first channel among the node's consumption channels.
    channels : int
        Number of the link's consumption channels.
    """

    name: str
    output: int
    first: int
    channels: int


class SwitchSpec:
    """Parameters of a `Switch`, names of its ports, and masks of channels.

    `Switch` documents the parameters.
    """

    decoders: type = PathDecoder
    """Class of the decoders that the switch accepts."""

    copies = False
    """True if the switch can replicate a worm to several other switches. A switch for path worms replicates only to a
    link and a consumption channel."""

    has_reports = False
    """True if arrivals are reported on the links from and to other switches."""

    has_rows = False
    """True if the buffers consist of rows, one per chunk, which the outputs read and fetch."""

    has_tokens = False
    """True if the switch is in a group with a token."""

    @checked
    def __init__(self, *, inputs: list[PortSpec], outputs: list[PortSpec], decoder: Decoder, width: int,
                 readers: str = "coupled", storage: str = "lutram", delays: str = "paper",
                 consumption_links: str = "shared", ejected_header: str = "keep", tables: TableBus | None = None):
        if not isinstance(decoder, self.decoders):
            raise WormcastError(f"{type(self).__name__.removesuffix('Spec')}.decoder: {type(decoder).__name__} is not "
                                f"valid. Allowed: a {self.decoders.__name__}.")
        for field, value, allowed in (("readers", readers, READERS), ("delays", delays, DELAYS),
                                      ("consumption_links", consumption_links, CONSUMPTION_LINKS),
                                      ("ejected_header", ejected_header, EJECTED_HEADER)):
            if value not in allowed:
                raise WormcastError(f"Switch.{field}: {value!r} is not valid. Allowed: {', '.join(allowed)}.")
        for field, ports, names in (("inputs", inputs, decoder.inputs), ("outputs", outputs, decoder.outputs)):
            if tuple(p.name for p in ports) != names:
                raise WormcastError(f"Switch.{field}: {', '.join(p.name for p in ports)} is not valid. Allowed: the "
                                    f"decoder's ports {', '.join(names)}.")
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.decoder = decoder
        self.width = width
        self.readers = readers
        self.storage = storage
        self.delays = delays
        self.separate = consumption_links == "separate"
        self.ejected_header = ejected_header
        self.ejection = decoder.ejection
        if len({p.vcs for p in outputs[self.ejection:]}) > 1:
            raise WormcastError(f"Switch.outputs: {', '.join(str(p.vcs) for p in outputs[self.ejection:])} consumption "
                                "channels are not valid. Allowed: the same number at all ejection ports.")
        for p in outputs[:self.ejection]:
            if p.vcs % decoder.vc_classes:
                raise WormcastError(f"Switch.outputs: {p.vcs} virtual channels of {p.name} are not valid. Allowed: a "
                                    f"multiple of {decoder.vc_classes}, the number of their classes.")
        self.tables = tables
        if decoder.table_bits is not None and tables is None:
            self.tables = TableBus(decoder.table_count, *decoder.table_bits)

    @property
    def injection_ports(self) -> tuple[str, ...]:
        """Names of the inputs from nodes."""
        return self.decoder.injection_ports

    @property
    def consumption_ports(self) -> tuple[str, ...]:
        """Names of the links to nodes."""
        return tuple(name for o in range(self.ejection, len(self.outputs)) for name in self._names(o))

    def _names(self, o: int) -> tuple[str, ...]:
        """Return the names of an output's links."""
        port = self.outputs[o]
        return tuple(f"{port.name}_{c}" for c in range(port.vcs)) if self._is_separate(o) else (port.name,)

    def _is_separate(self, o: int) -> bool:
        """Return true if an output has a link for each virtual channel."""
        return self.separate and o >= self.ejection

    def readers_of(self, port: int) -> int:
        """Return the number of readers of an input's buffer."""
        both = self.decoder.ejection_ports(port) and self.decoder.reaches(port)
        return 2 if self.readers == "independent" and both else 1

    def events(self) -> list[Event]:
        """Return the signals that show the events of a switch."""
        found: list[Event] = []
        for i, port in enumerate(self.inputs):
            found += [*self._buffer_events(i), *replicated(f"{port.name}_in", -1)]
        for o in range(len(self.outputs)):
            kind = "link" if o < self.ejection else "ejection"
            for name in self._names(o):
                found += [*leaving(f"{name}_out", "crossbar", kind), *replicated(f"{name}_out", 1)]
        return found

    def _buffer_events(self, port: int) -> list[Event]:
        """Return the writes and reads of an input's buffer."""
        spec, readers = self.inputs[port], self.readers_of(port)
        return buffer_events(f"{spec.name}_input.buffer", "buffer_write", "buffer_read", readers=readers,
                             vcs=spec.vcs if readers > 1 else 0)

    @property
    def injections(self) -> tuple[tuple[str, ...], ...]:
        """Names of the inputs from each node, in the order of the kind's injections."""
        return tuple(tuple(self.inputs[i].name for i in ports) for ports in self.decoder.injections)

    @property
    def consumptions(self) -> tuple[tuple[ConsumptionLink, ...], ...]:
        """Links to each node, in the order of the kind's ejections."""
        found = []
        for outputs in self.decoder.ejections:
            links: list[ConsumptionLink] = []
            first = 0
            for o in outputs:
                names = self._names(o)
                channels = self.outputs[o].vcs // len(names)
                for name in names:
                    links.append(ConsumptionLink(name, o, first, channels))
                    first += channels
            found.append(tuple(links))
        return tuple(found)

    def consumption_masks(self) -> list[int]:
        """Return, for each consumption class, the mask of an ejection port's channels that worms of the class may take.

        The last mask has all channels, for worms that may take any channel. Class k owns channel k; all classes
        share the channels beyond the number of classes. If there are fewer channels than classes, classes share
        channels, which can deadlock ([Boppana98], section 3.1).
        """
        channels, classes = self.outputs[-1].vcs, len(self.decoder.consumption)
        extra = sum(1 << c for c in range(classes, channels))
        return [*(1 << k % channels | extra for k in range(classes)), (1 << channels) - 1]

    def class_masks(self, port: PortSpec) -> list[int]:
        """Return, for each class of virtual channels, the mask of its channels on a link to another switch."""
        classes = self.decoder.vc_classes
        return [sum(1 << v for v in channels_of_class(port.vcs, classes, k)) for k in range(classes)]

    def enough(self, port: int) -> bool:
        """Return true if there are enough consumption channels for all worms of an input.

        The channels are enough if each ejection port of the input has a consumption channel for each virtual channel of
        all inputs that use this port. With enough channels, no worm of the input waits for a consumption channel.
        """
        return all(self.outputs[o].vcs >= sum(p.vcs for i, p in enumerate(self.inputs)
                                              if o in self.decoder.ejection_ports(i))
                   for o in self.decoder.ejection_ports(port))
