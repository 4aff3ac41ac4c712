"""Base class of all curves: a figure's series, optionally under a variation, and the results of its points."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from .definition import Figure, Series, Variation

__all__ = ["NETWORK", "SeriesCurve", "drawn_network"]

#: Placeholder of a network's number in the name of a random topology.
NETWORK = "{network}"


def drawn_network(topology: str, number: int) -> str:
    """Return the name of one network of a random topology. Network ``number``, from 0, has ``number`` + 1 in its name.
    """
    return topology.replace(NETWORK, str(number + 1))


@dataclass
class SeriesCurve(ABC):
    """Curve of a figure's series, optionally under a variation that replaces options.

    Parameters
    ----------
    figure : Figure
        Figure of the series.
    series : Series
    variation : Variation or None
        Variation of this series.
    quick : bool
        Measure fewer cycles or fewer points.

    Attributes
    ----------
    results : dict of int to dict
        Result of each measured point, by the point's number (place).
    """

    figure: Figure
    series: Series
    variation: Variation | None = None
    quick: bool = False
    results: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Curve's name: FIGURE:SERIES, followed by the variation's name if there is one."""
        return f"{self.figure.name}:{self.series.name}" + (f" ({self.variation.name})" if self.variation else "")

    @property
    def given(self) -> dict[str, Any]:
        """Options of the curve. The variation's options have priority over the series', and these over the figure's."""
        return {**self.figure.options, **self.series.options, **(self.variation.options if self.variation else {})}

    @property
    @abstractmethod
    def hardware(self) -> dict[str, Any]:
        """Resolved options of the first point, without the configuration's name and the options of `DECIDED`."""

    @property
    def places(self) -> list[int]:
        """Numbers of the measured points, in increasing order."""
        return sorted(self.results)
