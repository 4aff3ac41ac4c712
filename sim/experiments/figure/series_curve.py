"""What all curves are: a series of a figure under a variation, and what came of its places."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from .definition import Figure, Series, Variation

__all__ = ["SeriesCurve"]


@dataclass
class SeriesCurve(ABC):
    """A series of a figure, with a variation's options in place of its own or as it is.

    Parameters
    ----------
    figure : Figure
        Whose series it is.
    series : Series
    variation : Variation or None
        What it changes of this series.
    quick : bool
        To be measured in short.

    Attributes
    ----------
    results : dict of int to dict
        What came of each place that is measured.
    """

    figure: Figure
    series: Series
    variation: Variation | None = None
    quick: bool = False
    results: dict[int, dict[str, Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """FIGURE:SERIES, and the variation."""
        return f"{self.figure.name}:{self.series.name}" + (f" ({self.variation.name})" if self.variation else "")

    @property
    def given(self) -> dict[str, Any]:
        """Options that the figure gives it."""
        return {**self.figure.options, **self.series.options, **(self.variation.options if self.variation else {})}

    @property
    @abstractmethod
    def hardware(self) -> dict[str, Any]:
        """All that is run at its first place, resolved; but for what a figure decides, and a configuration's name."""

    @property
    def places(self) -> list[int]:
        """Places that are measured, in their order."""
        return sorted(self.results)
