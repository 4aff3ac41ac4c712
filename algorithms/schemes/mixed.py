"""Unicasts and trees in one network, each with a header of its own format."""

from ..headers import MixedHeader
from .tree import Tree

__all__ = ["Mixed"]


class Mixed(Tree):
    """Trees for multicasts, beside unicasts whose header is the id of a node.

    The worms and their paths are those of `Tree`. A worm with one destination has a shorter header than a bit string.
    """

    name = "mixed"
    description = "as tree, beside unicasts with the id of a node in place of a bit string"
    provenance = "Sivaram et al. 1998, 5.2.3 and 5.3 (the mixture: ours)"
    header = MixedHeader
