"""What the schemes for meshes have in common: the form that each takes, by the number of dimensions."""

from ..errors import WormcastError
from ..topologies.base import Topology
from .base import Scheme

__all__ = ["MeshScheme"]


class MeshScheme(Scheme):
    """A scheme that is described on meshes of two dimensions, and may have a form on those of more.

    Attributes
    ----------
    in_two_dimensions : str
        How what it does there relates to its source.
    in_more_dimensions : str
        What it does there; empty where it has no natural form.
    """

    kinds = ("mesh",)
    in_two_dimensions: str = "as printed"
    in_more_dimensions: str = ""

    def check(self, topology: Topology) -> None:
        """Refuse what is no mesh, and a mesh of more dimensions where the scheme has no form for it."""
        super().check(topology)
        dimensions = len(topology.shape)
        if dimensions != 2 and not self.in_more_dimensions:
            raise WormcastError(
                f"scheme {self.name}: {topology.name} has {dimensions} dimensions, it is defined on meshes of 2"
            )

    def form(self, topology: Topology) -> str:
        """Say which form the scheme takes on a mesh: ``"2-D, as printed"``, ``"3-D: ..."``."""
        dimensions = len(topology.shape)
        if dimensions == 2:
            return f"2-D, {self.in_two_dimensions}"
        return f"{dimensions}-D: {self.in_more_dimensions}"
