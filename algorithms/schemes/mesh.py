"""What the schemes for meshes have in common: the form that each takes, by the number of dimensions."""

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import Scheme

__all__ = ["MeshScheme"]


class MeshScheme(Scheme):
    """A scheme that is described on meshes of two dimensions, or of three, and may have a form on others.

    Attributes
    ----------
    in_two_dimensions : str
        How what it does there relates to its source; empty where it has no natural form.
    in_three_dimensions : str
        The same; where nothing is stated that of more dimensions.
    in_more_dimensions : str
        What it does there; empty where it has no natural form.
    """

    kinds = ("mesh",)
    in_two_dimensions: str = "as printed"
    in_three_dimensions: str = ""
    in_more_dimensions: str = ""

    @property
    def dimensions(self) -> str:
        """Of how many dimensions it has a form: ``"2"``, ``"2 and more"``."""
        if self.in_more_dimensions:
            return "2 and more" if self.in_two_dimensions else "3 and more"
        return " and ".join(str(count) for count in (2, 3) if self._words(count))

    def check(self, topology: Topology) -> None:
        """Refuse what is no mesh, and a mesh of so many dimensions that the scheme has no form for it."""
        super().check(topology)
        dimensions = len(topology.shape)
        if not self._words(dimensions):
            raise WormcastError(
                f"scheme {self.name}: {topology.name} has {dimensions} dimensions, it is defined on meshes of "
                f"{self.dimensions}"
            )

    def form(self, topology: Topology) -> str:
        """Say which form the scheme takes on a mesh: ``"2-D, as printed"``, ``"3-D: ..."``."""
        dimensions = len(topology.shape)
        words = self._words(dimensions)
        return f"{dimensions}-D, {words}" if words == "as printed" or dimensions == 2 else f"{dimensions}-D: {words}"

    def _words(self, dimensions: int) -> str:
        """Its form on meshes of so many dimensions; empty if it has none."""
        if dimensions == 2:
            return self.in_two_dimensions
        return (dimensions == 3 and self.in_three_dimensions) or self.in_more_dimensions
