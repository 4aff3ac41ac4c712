"""Energy tables: the cost of each event in pJ, in a TOML file."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import naming
from wormcast.algorithms.file_schema import ALLOWED, FileSchema
from wormcast.algorithms.toml_file import read_toml
from wormcast.hw.events import EVENTS

from ..engines.event_counters import COUNTED

__all__ = ["ENERGY", "EnergyTable", "read_energy"]

#: JSON Schema of an energy table.
ENERGY = FileSchema("an energy table", {
    "type": "object", "required": ["source", "flit_width", "picojoules"], "additionalProperties": False,
    "properties": {
        "source": {"type": "string", "minLength": 1, ALLOWED: "text that says where the costs come from",
                   "description": "where the costs come from"},
        "technology": {"type": "string", "description": "process, voltage and other conditions of the costs"},
        "flit_width": {"type": "integer", "minimum": 1, "description": "data bits of the flits that the costs are for"},
        "picojoules": {
            "type": "object", "title": "the costs", "additionalProperties": False, "minProperties": 1,
            ALLOWED: "a table with the costs of one or more events",
            "description": "energy of each event, for one flit, in pJ; an event without a cost adds nothing",
            "properties": {event: {"type": "number", "minimum": 0, "maximum": 1_000_000_000} for event in EVENTS}},
    }})


@dataclass(frozen=True)
class EnergyTable:
    """Energy of each event for one flit.

    Parameters
    ----------
    source : str
        Where the costs come from.
    technology : str or None
        Process, voltage and other conditions of the costs.
    flit_width : int
        Data bits of the flits that the costs are for.
    picojoules : dict of str to float
        Cost of an event in pJ; events that are not in it cost nothing.
    """

    source: str
    technology: str | None
    flit_width: int
    picojoules: dict[str, float]

    def require_width(self, flit_width: int) -> None:
        """Refuse the table for flits of another width."""
        if flit_width != self.flit_width:
            raise WormcastError(f"flit_width in the energy table: {self.flit_width} is not valid: the network has "
                                f"flits of {flit_width} bits. Needed: costs for flits of {flit_width} bits.")

    @cached_property
    def costs(self) -> npt.NDArray[np.float64]:
        """Cost of each row of `COUNTED` in pJ."""
        return np.array([self.picojoules.get(event, 0.0) for event in COUNTED])

    @property
    def free(self) -> list[str]:
        """Events without a cost."""
        return [event for event in EVENTS if event not in self.picojoules]


def read_energy(path: Path) -> EnergyTable:
    """Read an energy table from a TOML file.

    Raises
    ------
    WormcastError
        The file cannot be read or does not match `ENERGY`.
    """
    if path.suffix != ".toml":
        raise WormcastError(f"energy: {path} is not valid. Allowed: a file NAME.toml.")
    entries = read_toml(path, "energy")
    with naming(str(path)):
        ENERGY.require(entries)
    return EnergyTable(entries["source"], entries.get("technology"), entries["flit_width"], entries["picojoules"])
