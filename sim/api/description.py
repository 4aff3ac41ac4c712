"""Description of a network: nodes, switches, links, and groups of switches that share a token."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import Topology
from wormcast.algorithms import topology as find_topology
from wormcast.algorithms.headers import format_sizes
from wormcast.algorithms.routing import UP_DOWN, goes_up, usual_relation
from wormcast.algorithms.token_groups import TokenGroups, all_consumed, require_one_or_all, token_groups
from wormcast.algorithms.topologies.coordinates import levels
from wormcast.algorithms.typecheck import checked

from .arguments import require_at_least
from .option_types import TopologyLike
from .results import CommandResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["NetworkResult", "describe"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NetworkResult(CommandResult):
    """Description of a network, as ``wormcast topology`` prints it.

    Parameters
    ----------
    topology : Topology
    groups : TokenGroups or None
        Groups of switches that share a token, on request.
    headers : list of dict or None
        Sizes of the header formats, on request; see `format_sizes`.
    """

    topology: Topology
    groups: TokenGroups | None
    headers: list[dict[str, Any]] | None = None

    @property
    def description(self) -> dict[str, Any]:
        """Nodes, switches and links as plain data."""
        return self.topology.describe()

    @property
    def up(self) -> list[bool] | None:
        """Directions of all links: True for a link that leads up. None if the network's unicasts are not routed by
        up*/down* by default."""
        network = self.topology
        return goes_up(network).tolist() if usual_relation(network.kind) is UP_DOWN else None

    @property
    def levels(self) -> list[int]:
        """Level of each switch: its number of hops from the nearest root."""
        return levels(self.topology).tolist()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each link: its ends, and their ports."""
        return self.description["links"]

    def _figure(self) -> "Figure":
        """Return a drawing of the nodes, links and token groups."""
        from ..drawing import topology_sheet

        return topology_sheet(self.topology, self.groups, self.up).figure

    def _data(self) -> dict[str, Any]:
        stages: dict[int, list[list[int]]] = {}
        for (stage, _), ring in (self.groups.rings() if self.groups else {}).items():
            stages.setdefault(stage, []).append(ring)
        return self.description | {"tokens": self.groups and [{"stage": stage, "groups": rings}
                                                              for stage, rings in stages.items()],
                                   "headers": self.headers, "up": self.up, "levels": self.levels if self.up else None}

    def _lines(self) -> list[str]:
        network = self.topology
        return [f"{network.name}: {network.nodes} nodes, {network.switches} switches, {len(network.links)} links"]


@checked
def describe(topology: TopologyLike, *, tokens: int | None = None, headers: int | None = None) -> NetworkResult:
    """Describe a network.

    Parameters
    ----------
    topology
        By name, as on the command line, or an object.
    tokens : int, optional
        Consumption channels per node of a multistage network. With this option, the groups of switches that share a
        token are described, too.
    headers : int, optional
        Width of a flit, in bits. With this option, the sizes of the header formats are described, too.
    """
    network = find_topology(topology)
    require_at_least(1, headers=headers)
    groups = None
    if tokens is not None:
        single: dict[str, Any] = {"channels": tokens, "vcs": 1, "ejection": "one"}
        require_one_or_all(network, **single, option="tokens")
        groups = token_groups(network, consumed=all_consumed(network, **single))
    return NetworkResult(configuration={"topology": network.origin}, files=dict.fromkeys(("plot", "toml")),
                         topology=network, groups=groups,
                         headers=None if headers is None else [
                             one._asdict() for one in format_sizes(network, headers)])
