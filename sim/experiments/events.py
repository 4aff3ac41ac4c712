"""Events counted in an experiment, per flit, message and router, and their energy by a table of costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from ..engines.event_counters import COUNTED
from .load.statistics import Interval, interval

if TYPE_CHECKING:
    from .energy_table import EnergyTable

__all__ = ["EventSums"]

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EventSums:
    """Events in the counted cycles. docs/experiments.md defines them.

    Parameters
    ----------
    topology : Topology
    seeds : int64 array [events, seeds]
        Events of all routers and interfaces in each seed, in the order of `COUNTED`.
    routers : int64 array [events, switches]
        Events of each router, sums over the seeds.
    interfaces : int64 array [events, nodes]
        Events of each interface, sums over the seeds.
    flits, messages : int64 array [seeds]
        Payload flits received, and messages received.
    cycles : int
        Number of counted cycles of each seed.
    table : EnergyTable or None
    """

    topology: Topology
    seeds: Integers
    routers: Integers
    interfaces: Integers
    flits: Integers
    messages: Integers
    cycles: int
    table: "EnergyTable | None" = None

    def per_flit(self, event: str) -> Interval:
        """Return the number of events per payload flit received, mean over the seeds."""
        return _ratio(self.seeds[COUNTED.index(event)], self.flits)

    def per_message(self, event: str) -> Interval:
        """Return the number of events per message, mean over the seeds."""
        return _ratio(self.seeds[COUNTED.index(event)], self.messages)

    @property
    def costs(self) -> Floats:
        """Cost of each row of `COUNTED` in pJ; 0 without a table."""
        return np.zeros(len(COUNTED)) if self.table is None else self.table.costs

    @property
    def energy(self) -> Floats:
        """Energy in each seed in pJ, [seeds]."""
        return self.costs @ self.seeds

    def energy_per_flit(self, event: str | None = None) -> Interval:
        """Return the pJ per payload flit received, of all events or of one event, mean over the seeds."""
        return _ratio(self._energy_of(event), self.flits)

    def energy_per_message(self) -> Interval:
        """Return the pJ per message, mean over the seeds."""
        return _ratio(self.energy, self.messages)

    def _energy_of(self, event: str | None) -> Floats:
        if event is None:
            return self.energy
        row = COUNTED.index(event)
        return self.costs[row] * self.seeds[row]

    def places(self) -> Iterator[tuple[str, str, Integers, float]]:
        """Yield kind (``router`` or ``interface``), name, events and pJ of each router and interface."""
        topology = self.topology
        for kind, counts, name in (("router", self.routers, topology.switch_title),
                                   ("interface", self.interfaces, topology.node_name)):
            for k, events in enumerate(counts.T):
                yield kind, name(k), events, float(self.costs @ events)

    def to_dict(self) -> dict[str, Any]:
        """Return the events, and with a table the energy, as plain data for JSON: keys ``events`` and ``energy``."""
        found: dict[str, Any] = {"events": {
            "totals": dict(zip(COUNTED, self.seeds.sum(axis=1).tolist(), strict=True)),
            "per_flit": {event: self.per_flit(event).to_dict() for event in COUNTED},
            "per_message": {event: self.per_message(event).to_dict() for event in COUNTED},
            "cycles": self.cycles * self.seeds.shape[1],
            "routers": self._rows("switch", self.topology.switch_names, self.routers),
            "interfaces": self._rows("node", tuple(map(str, range(self.topology.nodes))), self.interfaces),
        }}
        if self.table is not None:
            found["energy"] = {
                "source": self.table.source, "technology": self.table.technology, "flit_width": self.table.flit_width,
                "picojoules": self.table.picojoules,
                "total": float(self.energy.sum()),
                "by_event": {event: float(self._energy_of(event).sum()) for event in self.table.picojoules},
                "per_flit": self.energy_per_flit().to_dict(),
                "per_message": self.energy_per_message().to_dict(),
                "routers": (self.costs @ self.routers).tolist(),
                "interfaces": (self.costs @ self.interfaces).tolist(),
            }
        return found

    @classmethod
    def zero(cls, topology: Topology, table: "EnergyTable | None" = None) -> "EventSums":
        """Return sums without any event."""
        seeds, routers, interfaces = (
            np.zeros((len(COUNTED), size), np.int64) for size in (1, topology.switches, topology.nodes))
        return cls(topology, seeds, routers, interfaces, np.zeros(1, np.int64), np.zeros(1, np.int64), 0, table)

    def summary(self) -> dict[str, Any]:
        """Return `to_dict` without the rows of routers and interfaces, and without the table of costs."""
        found, left_out = self.to_dict(), {"routers", "interfaces", "source", "technology", "flit_width", "picojoules"}
        return {key: {name: value for name, value in part.items() if name not in left_out}
                for key, part in found.items()}

    @staticmethod
    def _rows(what: str, names: tuple[str, ...], counts: Integers) -> list[dict[str, Any]]:
        """Return a row for each router, or for each interface, with the kinds of events that any of them has. A name
        that is the id of a node or switch is a number."""
        own = [row for row in range(len(COUNTED)) if counts[row].any()]
        return [{what: int(name) if name.isdigit() else name, **{COUNTED[row]: int(counts[row, k]) for row in own}}
                for k, name in enumerate(names)]


def _ratio(above: npt.NDArray[Any], below: Integers) -> Interval:
    """Return the mean over the seeds of a ratio, without the seeds in which its denominator is 0."""
    known = below > 0
    return interval(above[known] / below[known])
