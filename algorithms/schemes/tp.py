"""TP, two-phase: dual-path on meshes of three dimensions, under its authors' name."""

from .dual_path import DualPath

__all__ = ["TwoPhase"]


class TwoPhase(DualPath):
    """Visit the destinations above the source's label with one worm, and those below with another: `DualPath`.

    The labels of meshes of three dimensions, and R on them, are those of [Amnah], equations 2 and 3.

    Cost: at most two start-ups; a worm may be as long as the Hamiltonian path. In three dimensions R is not always
    shortest: 432 of the 4032 pairs of 4x4x4 take more hops than their distance. Source: [Amnah], TP. Ours: the worm of
    the higher labels is sent first.
    """

    name = "tp"
    description = "two-phase: dual-path by the labels of a three-dimensional mesh"
    provenance = "[Amnah], TP: dual-path's code (order of sending: ours)"
    in_two_dimensions = "dual-path"
    in_three_dimensions = "as printed"
