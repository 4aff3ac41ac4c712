"""Values that options name: topology, scheme, relation and hardware configuration."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any, overload

from wormcast.algorithms import Relation, Scheme, Topology, find_scheme
from wormcast.algorithms import topology as find_topology

from .configuration import Configuration
from .configurations import hardware

__all__ = ["DEFAULTS", "Origin", "Setup", "name_of"]

#: Network and scheme for which components are built by default.
DEFAULTS = {"topology": "mesh:8x8", "scheme": "dual-path"}

HARDWARE = {"configuration", *(field.name for field in fields(Configuration))}


@overload
def name_of(part: str | Scheme | Relation) -> str: ...


@overload
def name_of(part: str | Scheme | Relation | None) -> str | None: ...


def name_of(part: str | Scheme | Relation | None) -> str | None:
    """Return the name of a scheme or relation. A name, and None, are returned unchanged."""
    return part.name if isinstance(part, Scheme | Relation) else part


@dataclass(frozen=True)
class Origin:
    """Names of scheme, relation and configuration as the user wrote them, for files and reports.

    Parameters
    ----------
    scheme : str
    relation : str or None
        As for `find_scheme`.
    named : str or None
        Name of the named configuration that supplied options; None: without one.
    """

    scheme: str
    relation: str | None = None
    named: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Origin":
        """Return the names of scheme, relation and configuration in options. For an object in place of a name, return
        the object's name."""
        return cls(name_of(options["scheme"]), name_of(options.get("relation")), options.get("configuration"))


@dataclass(frozen=True)
class Setup:
    """Topology, scheme and hardware configuration that options name, and the names."""

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
        """Return all options as plain data: topology, scheme and relation by name, hardware options as resolved.

        Parameters
        ----------
        others : mapping, optional
            Further options of the command, which the returned dict has before the hardware options.
        named : str
            Key in the returned dict for the name of the configuration that the user chose.
        without : collection of str
            Options that are left out.
        """
        options = {
            "topology": self.topology.origin, "scheme": self.origin.scheme,
            "relation": self.origin.relation or self.scheme.relation.name, **(others or {}),
            named: self.origin.named, **self.configuration.resolved(self.topology, self.scheme),
        }
        return {name: value for name, value in options.items() if name not in without}
