"""Options of events: whether they are counted, and the table of their costs."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..build.configuration import Configuration
from .option_types import PathLike

if TYPE_CHECKING:
    from ..experiments.energy_table import EnergyTable
    from ..experiments.events import EventSums

__all__ = ["NO_EVENTS", "Counting"]


class _Counted(Protocol):
    """Dataclass with the events of an experiment."""

    @property
    def events(self) -> "EventSums | None": ...


Result = TypeVar("Result", bound=_Counted)


@dataclass(frozen=True)
class Counting:
    """Options ``events`` and ``energy``.

    Parameters
    ----------
    events : bool
        Events are counted.
    table : EnergyTable or None
    file : str or None
        File of the table.
    """

    events: bool
    table: "EnergyTable | None" = None
    file: str | None = None

    @classmethod
    def of(cls, events: bool, energy: PathLike | None) -> "Counting":
        """Return the options ``events`` and ``energy``, with the table of costs in the file ``energy``.

        ``energy`` implies ``events``.
        """
        if energy is None:
            return cls(events)
        from ..experiments.energy_table import read_energy

        return cls(True, read_energy(Path(energy)), os.fspath(energy))

    def require_width(self, configuration: Configuration) -> None:
        """Refuse a table of costs whose flits have another width than the flits of the network.

        With ``header="ideal"``, the network's flits may be wider than the option ``flit_width``.
        """
        if self.table is not None:
            self.table.require_width(configuration.flit_width)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of JSON that these options add."""
        return ("events",) * self.events + ("energy",) * (self.table is not None)

    def to_dict(self) -> dict[str, Any]:
        """Return the options for the configuration in JSON; no options if events are not counted."""
        return {"events": True, "energy": self.file} if self.events else {}

    def priced(self, result: Result) -> Result:
        """Return an experiment's result, with the table of costs if there is one."""
        if self.table is None or result.events is None:
            return result
        return replace(result, events=replace(result.events, table=self.table))  # type: ignore[type-var]


NO_EVENTS = Counting(False)
"""Options of an experiment that counts no events."""
