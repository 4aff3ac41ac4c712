"""Input of the theorem checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..consumption import ClassMap, ConsumptionClasses
from ..deadlock.channel_use import ChannelUse, visit_triples_of
from ..deadlock.graph import dependency_graph
from ..deadlock.knot_search import is_free
from ..schemes import Scheme
from ..topologies import Topology
from .boppana98_claims import STATED, SchemeClaims

__all__ = ["Problem"]

VisitTriples = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Problem:
    """The worms of some schemes in one network.

    Parameters
    ----------
    schemes : sequence of Scheme
    parts : sequence of ChannelUse
        Channel use of each scheme, in the same order.
    vcs : int
        Virtual channels of each link.
    ejection : "one" or "all"
        As in `ejection_ports`.
    """

    schemes: Sequence[Scheme]
    parts: Sequence[ChannelUse]
    vcs: int
    ejection: str

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.parts[0].topology

    @property
    def stated(self) -> SchemeClaims | None:
        """Claims of [Boppana98] for one scheme with its own relation on a two-dimensional mesh; otherwise None."""
        alone = len(self.parts) == 1 and self.topology.kind == "mesh" and len(self.topology.shape) == 2
        return STATED.get(self.parts[0].name) if alone else None

    @property
    def complete(self) -> bool:
        """Multicasts to two destinations are known to cover all larger multicasts."""
        return all(part.complete for part in self.parts)

    @property
    def has_stops(self) -> bool:
        """Some worms have a stop before their last destination."""
        return any(part.has_stops for part in self.parts)

    @cached_property
    def unfit(self) -> str:
        """Reason why section 3.2 of [Boppana98] does not apply to these worms, as a clause.

        The text is empty if section 3.2 applies.
        """
        if not is_free(self.parts, 1, ConsumptionClasses(), "all"):
            return "section 3.2 assumes that the links alone cause no deadlock. Here this is false or not known"
        if self.has_stops and any(not part.routes.deterministic for part in self.parts):
            return "worms choose between channels"
        if self.has_stops and any(part.vc_classes > 1 for part in self.parts):
            return "section 3.2 counts links, but the relation distinguishes classes of virtual channels"
        if self.has_stops and any(len(part.routes.options) > 1 for part in self.parts):
            return "section 3.2 assumes that the path to a node is the same from a source and from a stop"
        return ""

    @cached_property
    def maps(self) -> list[ConsumptionClasses]:
        """Class maps of the worms that stop on their way, each once."""
        return list(dict.fromkeys(part.classes for part in self.parts if part.has_stops))

    def cycle(self, channels: int, classes: ClassMap | None = None) -> list[str]:
        """Return the resources of a shortest cycle with `channels` consumption channels at each node.

        The list is empty if the dependencies have no cycle.
        """
        graph = dependency_graph(self.parts, channels, classes)
        return [graph.describe(resource, self.vcs) for resource, _ in graph.cycle()]

    @cached_property
    def visit_triples(self) -> list[VisitTriples]:
        """Visit triples (u, v, w) of each scheme, int32 [triples, 3]: a worm with source u, or with a stop at u, stops
        next at v and then at w."""
        found = []
        for scheme, part in zip(self.schemes, self.parts, strict=True):
            triples = visit_triples_of(scheme, part.topology) if part.has_stops else np.empty((0, 3), np.int32)
            found.append(triples[(triples[:, 0] != triples[:, 1]) & (triples[:, 1] != triples[:, 2])])
        return found

    def named(self, *nodes: int) -> str:
        """Return the names of nodes for messages."""
        return ", ".join(self.topology.node_name(int(node)) for node in nodes)

    def worm(self, part: int, source: int, *destinations: int) -> dict[str, object]:
        """Return a worm as data for JSON."""
        return {"scheme": self.parts[part].name, "source": int(source), "destinations": [int(v) for v in destinations]}

    def worm_text(self, source: int, *destinations: int) -> str:
        """Return the source and the destinations of a worm in words."""
        return f"from {self.named(source)} to {' and then '.join(self.named(node) for node in destinations)}"
