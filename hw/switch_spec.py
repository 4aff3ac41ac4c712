"""Parameters of a switch, and what follows from them without its logic."""

from typing import NamedTuple

from wormcast.algorithms.channels import channels_of_class
from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.schemes.atbm import REPLICATION

from .decoders import BitStringDecoder, Decoder
from .options import CONSUMPTION_LINKS, DELAYS, READERS
from .port import PortSpec
from .tables import TableBus

__all__ = ["ConsumptionLink", "SwitchSpec"]


class ConsumptionLink(NamedTuple):
    """A link from a switch to a node.

    Parameters
    ----------
    name : str
        As the switch's member has it, without ``_out``.
    output : int
        The switch's output that it belongs to.
    first : int
        Which of the node's consumption channels its first one is.
    channels : int
        Consumption channels on it.
    """

    name: str
    output: int
    first: int
    channels: int


class SwitchSpec:
    """Parameters of a `Switch`, and what follows from them without its logic: names of its ports, and masks.

    Parameters and errors are those of `Switch`.
    """

    def __init__(self, *, inputs: list[PortSpec], outputs: list[PortSpec], decoder: Decoder, width: int,
                 readers: str = "coupled", storage: str = "lutram", delays: str = "paper",
                 consumption_links: str = "shared", tables: TableBus | None = None,
                 replication: str = "asynchronous", reports: bool = False, tokens: bool = False):
        for field, value, allowed in (("readers", readers, READERS), ("delays", delays, DELAYS),
                                      ("replication", replication, REPLICATION),
                                      ("consumption_links", consumption_links, CONSUMPTION_LINKS)):
            if value not in allowed:
                raise WormcastError(f"Switch.{field}: must be one of {', '.join(allowed)}, not {value!r}")
        for field, ports, names in (("inputs", inputs, decoder.inputs), ("outputs", outputs, decoder.outputs)):
            if tuple(p.name for p in ports) != names:
                raise WormcastError(f"Switch.{field}: must be {', '.join(names)} as in the decoder, "
                                    f"not {', '.join(p.name for p in ports)}")
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.decoder = decoder
        self.width = width
        self.readers = readers
        self.storage = storage
        self.delays = delays
        self.separate = consumption_links == "separate"
        self.ejection = decoder.ejection
        self.replication = replication
        self.has_reports = reports
        self.has_tokens = tokens
        if ((reports or tokens) and not isinstance(decoder, BitStringDecoder)) or (tokens and not reports):
            raise WormcastError(f"Switch.tokens: {tokens} is given with reports {reports} and a "
                                f"{type(decoder).__name__}; reports go with bit strings, and tokens with reports")
        if len({p.vcs for p in outputs[self.ejection:]}) > 1:
            raise WormcastError("Switch.outputs: ejection ports must have the same number of consumption channels, not "
                                f"{', '.join(str(p.vcs) for p in outputs[self.ejection:])}")
        for p in outputs[:self.ejection]:
            if p.vcs % decoder.vc_classes:
                raise WormcastError(f"Switch.outputs: {p.name} has {p.vcs} virtual channels, for "
                                    f"{decoder.vc_classes} classes of them it must be a multiple of that")
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
        """Names of an output's links."""
        port = self.outputs[o]
        return tuple(f"{port.name}_{c}" for c in range(port.vcs)) if self._is_separate(o) else (port.name,)

    def _is_separate(self, o: int) -> bool:
        """Whether an output has a link for each virtual channel."""
        return self.separate and o >= self.ejection

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
        """For each consumption class the mask of an ejection port's channels that its worms may take; last, that of
        worms of no class.

        Class k owns channel k; channels beyond the classes are open to all. With fewer channels than classes
        the classes share them (and can deadlock: [Boppana98], section 3.1).
        """
        channels, classes = self.outputs[-1].vcs, len(self.decoder.consumption)
        extra = sum(1 << c for c in range(classes, channels))
        return [*(1 << k % channels | extra for k in range(classes)), (1 << channels) - 1]

    def class_masks(self, port: PortSpec) -> list[int]:
        """For each class of virtual channels on a link to another switch the mask of those that it has."""
        classes = self.decoder.vc_classes
        return [sum(1 << v for v in channels_of_class(port.vcs, classes, k)) for k in range(classes)]

    @property
    def copies(self) -> bool:
        """Whether worms are copied to several outputs."""
        return isinstance(self.decoder, BitStringDecoder)

    def enough(self, port: int) -> bool:
        """Whether each worm that comes by an input is consumed without waiting for another to be."""
        return all(self.outputs[o].vcs >= sum(p.vcs for i, p in enumerate(self.inputs) if o in self.decoder.exits(i))
                   for o in self.decoder.exits(port))
