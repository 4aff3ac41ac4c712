"""Routing relations: the outputs by which a worm may leave a switch for its next destination.

A relation is data. On a topology, a relation is one table of candidate outputs, for each switch, each destination node,
and each way of arrival: by injection, or by a link. Paths, plans, deadlock analysis and route memories all read the
table of the relation. To add a relation, write one file with a class that has one method, and add the relation to
`RELATIONS`.
"""

from ..registry import Registry
from ..topologies import TOPOLOGIES
from .adaptive import ADAPTIVE, Adaptive
from .base import AnyChannel, ChoiceRelation, Choices, Relation, Routes, last_option, walk, without_classes
from .d_mod_k import D_MOD_K, DModK
from .destination_tags import DESTINATION_TAGS, DestinationTags
from .dragonfly_minimal import DRAGONFLY_MINIMAL, DragonflyMinimal
from .e_cube import E_CUBE, E_CUBE_EITHER, E_CUBE_SIGNED, ECube
from .e_cube_adaptive import E_CUBE_ADAPTIVE
from .hamiltonian import ALONG_LABELS, HAMILTONIAN, HAMILTONIAN_ROW_FIRST, Hamiltonian, HamiltonianRowFirst
from .reachability import Reachability, reachability
from .shortest import SHORTEST, Shortest
from .ties import TIES, as_built, default_signs, routes_of, signed_dimensions, with_any_signs, with_ties
from .tree_channels import count_tree_links, find_tree_channels, walk_to_replication
from .up_down import UP_DOWN, UP_DOWN_ADAPTIVE, UpDown, goes_up, links_up
from .up_down_tree import UP_DOWN_TREE, UP_DOWN_TREE_ADAPTIVE, UP_DOWN_TREE_ANY, UpDownTree

__all__ = [
    "ADAPTIVE",
    "ALONG_LABELS",
    "DESTINATION_TAGS",
    "DRAGONFLY_MINIMAL",
    "D_MOD_K",
    "E_CUBE",
    "E_CUBE_ADAPTIVE",
    "E_CUBE_EITHER",
    "E_CUBE_SIGNED",
    "HAMILTONIAN",
    "HAMILTONIAN_ROW_FIRST",
    "RELATIONS",
    "SHORTEST",
    "TIES",
    "UP_DOWN",
    "UP_DOWN_ADAPTIVE",
    "UP_DOWN_TREE",
    "UP_DOWN_TREE_ADAPTIVE",
    "UP_DOWN_TREE_ANY",
    "Adaptive",
    "AnyChannel",
    "ChoiceRelation",
    "Choices",
    "DModK",
    "DestinationTags",
    "DragonflyMinimal",
    "ECube",
    "Hamiltonian",
    "HamiltonianRowFirst",
    "Reachability",
    "Relation",
    "Routes",
    "Shortest",
    "UpDown",
    "UpDownTree",
    "as_built",
    "count_tree_links",
    "default_signs",
    "find_tree_channels",
    "goes_up",
    "last_option",
    "links_up",
    "reachability",
    "routes_of",
    "signed_dimensions",
    "usual_relation",
    "walk",
    "walk_to_replication",
    "with_any_signs",
    "with_ties",
    "without_classes",
]


RELATIONS: Registry[Relation] = Registry(
    "relation", Relation, "wormcast.relations", files=True)  # type: ignore[type-abstract]
for _relation in (E_CUBE, E_CUBE_EITHER, HAMILTONIAN, HAMILTONIAN_ROW_FIRST, DESTINATION_TAGS, D_MOD_K,
                  DRAGONFLY_MINIMAL, UP_DOWN, UP_DOWN_ADAPTIVE, UP_DOWN_TREE, UP_DOWN_TREE_ANY,
                  UP_DOWN_TREE_ADAPTIVE, ADAPTIVE, E_CUBE_ADAPTIVE, SHORTEST):
    RELATIONS.add(_relation.name, _relation)


def usual_relation(kind: str) -> Relation:
    """Return the relation of unicasts on a kind of topology if the user names no relation.

    `TopologyKind.relation` names the relation for each kind of topology in this package. For users' own networks, the
    relation is up*/down*.
    """
    return RELATIONS[TOPOLOGIES[kind].relation] if kind in TOPOLOGIES else UP_DOWN
