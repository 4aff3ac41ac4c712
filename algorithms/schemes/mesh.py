"""Base of schemes for meshes: their forms by the number of dimensions."""

from ..errors import WormcastError
from ..phrases import count
from ..topologies.base import Topology
from .base import Scheme

__all__ = ["MeshScheme"]


class MeshScheme(Scheme):
    """Base class of schemes that papers describe on meshes of two or three dimensions.

    A scheme of this class may also have a form on meshes of more dimensions.

    Attributes
    ----------
    in_two_dimensions : str
        How the form in two dimensions relates to the paper: ``as printed``, or in words. `in_two_dimensions` is empty
        if the scheme has no form in two dimensions.
    in_three_dimensions : str
        How the form in three dimensions relates to the paper. Default: `in_more_dimensions`.
    in_more_dimensions : str
        Describes the form on meshes of more than two dimensions. `in_more_dimensions` is empty if the scheme has no
        form in four or more dimensions.
    """

    kinds = ("mesh",)
    in_two_dimensions: str = "as printed"
    in_three_dimensions: str = ""
    in_more_dimensions: str = ""

    @property
    def dimensions(self) -> str:
        """Numbers of dimensions for which the scheme has a form: ``"2"``, ``"2 and more"``."""
        if self.in_more_dimensions:
            return "2 and more" if self.in_two_dimensions else "3 and more"
        return " and ".join(str(count) for count in (2, 3) if self._words(count))

    def check(self, topology: Topology) -> None:
        """Refuse networks other than meshes, and meshes for which the scheme has no form."""
        if topology.kind in self.kinds and not self._words(dimensions := len(topology.shape)):
            raise WormcastError(
                f"scheme {self.name}: {topology.name} has {count(dimensions, 'dimension')}. Allowed: "
                f"{self.dimensions} dimensions."
            )
        if self.kinds == ("mesh",) and topology.kind != "mesh" and not (self._words(2) and self._words(4)):
            raise WormcastError(f"scheme {self.name}: topology {topology.name} is not valid. Allowed: networks of kind "
                                f"mesh with {self.dimensions} dimensions.")
        super().check(topology)

    def form(self, topology: Topology) -> str:
        """Describe the form on a mesh: ``"2-D, as printed"``, ``"3-D: ..."``."""
        dimensions = len(topology.shape)
        words = self._words(dimensions)
        return f"{dimensions}-D, {words}" if words == "as printed" or dimensions == 2 else f"{dimensions}-D: {words}"

    def _words(self, dimensions: int) -> str:
        """Form on meshes with this number of dimensions. Empty if the scheme has no form in this number of
        dimensions."""
        if dimensions == 2:
            return self.in_two_dimensions
        return (dimensions == 3 and self.in_three_dimensions) or self.in_more_dimensions
