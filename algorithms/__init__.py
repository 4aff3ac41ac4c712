"""Multicast algorithms: topologies, routing relations, headers, schemes, deadlock analysis. Independent of hardware.

    from wormcast.algorithms import SCHEMES, topology
    from wormcast.algorithms.multicast_plan import plan

    mesh = topology("mesh:8x8")
    plan(mesh, SCHEMES["dual-path"], "3.2", ["5.0", "1.4"]).to_dict()

- ``topologies/``: networks.
- ``routing/``: routing relations.
- ``headers/``: header formats.
- ``irregular/``: chains of switches in networks with up and down links.
- ``schemes/``: multicast schemes; compiled code plans many multicasts in one call.
- ``worms``: arrays of worms.
- ``channels``: names of the resources that worms hold.
- ``ejection``: ejection ports of the nodes.
- ``consumption``, ``class_coverage``: consumption classes, and a check that each stop of a worm before its last one has
  a class.
- ``multicast_plan``: readable, checked plan of one multicast.
- ``plan_statistics``: average cost of many multicasts.
- ``visit_triples``, ``deadlock/``: deadlock analysis.
- ``theory/``: theorems on deadlock, applied to a scheme.
- ``lookup``: schemes and relations by their names on the command line.
"""

if __name__ != "wormcast.algorithms":
    raise ImportError(f"import this package as wormcast.algorithms, not as {__name__}")

from typing import TYPE_CHECKING

from .lazy import lazily
from .old_names import EXPORTS

if TYPE_CHECKING:
    from .consumption import NO_CLASS, ConsumptionClasses
    from .deadlock.check import Analysis, Dependency, HeldWorm
    from .errors import WormcastError
    from .headers import AddressList, BitString, Header, MixedHeader, MultiDrop, Unicast
    from .lookup import RELATIONS, file_digest, find_scheme, load_relation, load_scheme, user_file
    from .multicast_plan import Plan, PlannedWorm
    from .plan_statistics import PlanStatistics, survey
    from .routing import E_CUBE, HAMILTONIAN, ChoiceRelation, Choices, Relation, Routes, without_classes
    from .schemes import SCHEMES, MeshScheme, PlainScheme, Scheme
    from .theory.explain import explain
    from .theory.statement import TheoremCheck
    from .topologies import TOPOLOGIES, Places, Topology, TopologyKind, to_toml, topology
    from .worms import AT_ONCE, MessageBatch, Worms
else:
    __getattr__ = lazily(__name__, {
        "consumption": ("NO_CLASS", "ConsumptionClasses"),
        "deadlock.check": ("Analysis", "Dependency", "HeldWorm"),
        "errors": ("WormcastError",),
        "headers": ("AddressList", "BitString", "Header", "MixedHeader", "MultiDrop", "Unicast"),
        "lookup": ("RELATIONS", "file_digest", "find_scheme", "load_relation", "load_scheme", "user_file"),
        "multicast_plan": ("Plan", "PlannedWorm"),
        "routing": ("E_CUBE", "HAMILTONIAN", "ChoiceRelation", "Choices", "Relation", "Routes", "without_classes"),
        "schemes": ("SCHEMES", "MeshScheme", "PlainScheme", "Scheme"),
        "plan_statistics": ("PlanStatistics", "survey"),
        "theory.explain": ("explain",),
        "theory.statement": ("TheoremCheck",),
        "topologies": ("TOPOLOGIES", "Places", "Topology", "TopologyKind", "to_toml", "topology"),
        "worms": ("AT_ONCE", "MessageBatch", "Worms"),
    }, EXPORTS)

__all__ = [
    "AT_ONCE",
    "E_CUBE",
    "HAMILTONIAN",
    "NO_CLASS",
    "RELATIONS",
    "SCHEMES",
    "TOPOLOGIES",
    "AddressList",
    "Analysis",
    "BitString",
    "ChoiceRelation",
    "Choices",
    "ConsumptionClasses",
    "Dependency",
    "Header",
    "HeldWorm",
    "MeshScheme",
    "MessageBatch",
    "MixedHeader",
    "MultiDrop",
    "Places",
    "PlainScheme",
    "Plan",
    "PlanStatistics",
    "PlannedWorm",
    "Relation",
    "Routes",
    "Scheme",
    "TheoremCheck",
    "Topology",
    "TopologyKind",
    "Unicast",
    "WormcastError",
    "Worms",
    "explain",
    "file_digest",
    "find_scheme",
    "load_relation",
    "load_scheme",
    "survey",
    "to_toml",
    "topology",
    "user_file",
    "without_classes",
]
