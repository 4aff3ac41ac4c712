"""Options that name topology, scheme, relation and hardware, resolved once for every command."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from wormcast.algorithms import Scheme, Topology, find_scheme
from wormcast.algorithms import topology as find_topology

from .configuration import Configuration
from .configurations import hardware

__all__ = ["DEFAULTS", "Origin", "Setup"]

#: Network and scheme for which components are built by default.
DEFAULTS = {"topology": "mesh:8x8", "scheme": "dual-path"}

HARDWARE = {"configuration", *(field.name for field in fields(Configuration))}


@dataclass(frozen=True)
class Origin:
    """User's names of the simulated objects, for files and reports.

    Parameters
    ----------
    scheme : str
    relation : str or None
        As for `find_scheme`.
    named : str or None
        Named configuration that options came from.
    """

    scheme: str
    relation: str | None = None
    named: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Origin":
        """Return the names in options."""
        return cls(options["scheme"], options.get("relation"), options.get("configuration"))


@dataclass(frozen=True)
class Setup:
    """Objects that options name, and these names."""

    topology: Topology
    scheme: Scheme
    configuration: Configuration
    origin: Origin

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Setup":
        """Resolve options by name: ``topology``, ``scheme``, ``relation``, and the hardware options."""
        network = find_topology(options["topology"])
        return cls.on(network, find_scheme(options["scheme"], network, options.get("relation")), options)

    @classmethod
    def on(cls, topology: Topology, scheme: Scheme, options: Mapping[str, Any]) -> "Setup":
        """Resolve the hardware options, as `hardware` does, for a given topology and scheme. Ignore other options."""
        given = {name: value for name, value in options.items() if name in HARDWARE}
        return cls(topology, scheme, hardware(topology, scheme, given), Origin.of(options))

    def to_dict(self, others: Mapping[str, Any] | None = None, *, named: str = "named",
                without: Collection[str] = ()) -> dict[str, Any]:
        """Return all options as plain data, as the user named them or as resolved.

        Parameters
        ----------
        others : mapping, optional
            Further options of the command. They come before the hardware.
        named : str
            Key in the returned dict for the name of the configuration that the user chose.
        without : collection of str
            Options that are left out.
        """
        told = {
            "topology": self.topology.origin, "scheme": self.origin.scheme,
            "relation": self.origin.relation or self.scheme.relation.name, **(others or {}),
            named: self.origin.named, **self.configuration.resolved(self.topology, self.scheme),
        }
        return {name: value for name, value in told.items() if name not in without}
