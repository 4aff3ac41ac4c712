"""Plans of one multicast, and of many random ones."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from wormcast.algorithms import Plan, PlannedWorm, Scheme, Topology, WormcastError, find_scheme
from wormcast.algorithms import topology as find_topology
from wormcast.algorithms.announcements import announce
from wormcast.algorithms.multicast_plan import plan as plan_one
from wormcast.algorithms.packet_steps import DISCIPLINES
from wormcast.algorithms.routing import with_ties
from wormcast.algorithms.theory.conflicts import Conflict, conflicts
from wormcast.algorithms.theory.contention import Contention, contention
from wormcast.algorithms.typecheck import checked

from ..build.configuration import chosen
from ..common.packet_count import packets_of
from ..common.progress import watched
from ..common.text import count
from .arguments import known, require_at_least
from .option_types import DestinationOptions, RelationLike, SchemeLike, TopologyLike
from .results import CommandResult, names_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..experiments.load import Interval

__all__ = ["MEANS", "PlanResult", "RandomPlansResult", "plan", "plan_random"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PlanResult(CommandResult):
    """Result of `plan`: the worms of a multicast, and the pairs of worms that share a link.

    Parameters
    ----------
    plan : Plan
        The worms.
    contention : Contention or None
        Pairs of worms that share a link; None if a worm has several destinations, or worms have no steps.
    met : dict of str to list of Conflict, or None
        Pairs of packets that share a link in a step, by the interfaces' order of sends. None without packet steps.
    """

    plan: Plan
    contention: Contention | None
    met: dict[str, list[Conflict]] | None

    @property
    def worms(self) -> tuple[PlannedWorm, ...]:
        """The worms, each after the worm that releases it."""
        return self.plan.worms

    @property
    def hops(self) -> int:
        """Sum of the worms' path lengths, in links between switches."""
        return self.plan.hops

    @property
    def steps(self) -> int:
        """Number of message-passing steps until all destinations have the message."""
        return self.plan.steps

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each worm."""
        name = self.plan.topology.node_name
        return [{"worm": one.id, "after": one.after, "step": one.step, "source": name(one.source),
                 "visits": " ".join(map(name, one.destinations)), "hops": len(one.links)} for one in self.plan.worms]

    def _figure(self) -> "Figure":
        """Return a drawing of the worms' paths and visiting orders."""
        from ..drawing.paths import paths_sheet

        return paths_sheet(self.plan).figure

    def _data(self) -> dict[str, Any]:
        met = None if self.met is None else {name: [pair.to_dict(self.plan) for pair in pairs]
                                             for name, pairs in self.met.items()}
        return {**self.plan.to_dict(), "contention": self.contention and self.contention.to_dict(),
                "slot_conflicts": met}

    def _lines(self) -> list[str]:
        plan = self.plan
        sums = {"worms": plan.copies, "hops": plan.hops, "channels": plan.channels, "start-ups": plan.start_ups,
                "phases": plan.phases, "steps": plan.steps}
        return [f"{plan.scheme.name} on {plan.topology.name}, from {plan.topology.node_name(plan.source)}: "
                + ", ".join(f"{name} {number}" for name, number in sums.items())]


@checked
def plan(
    topology: TopologyLike,
    scheme: SchemeLike,
    source: int | str,
    destinations: int | str | Iterable[int | str],
    *,
    length: int | None = None,
    packet: int | None = None,
    relation: RelationLike | None = None,
    ties: str | None = None,
) -> PlanResult:
    """Plan one multicast, without simulation: worms, visiting orders and paths.

    Parameters
    ----------
    topology, scheme, relation
        By name, as on the command line, or objects. Default relation: the scheme's.
    source : int or str
        Source node: an id, coordinates (``"1.3"``) or a label (``"@12"``).
    destinations : str or iterable
        Destination nodes: a list of nodes, a text of nodes with commas between, or ``"all"`` for all other nodes.
    length, packet : int, optional
        Payload of the message, and of a packet, in flits. Default: one packet.
    ties : str, optional
        Which of two equally long ways around a ring worms take, as for ``--ties``.
    """
    network, found, packets = _planned(topology, scheme, relation, ties, length, packet)
    if isinstance(destinations, int):
        destinations = [destinations]
    made = plan_one(network, found, source, destinations, packets=packets)
    met = None if made.slots is None else {name: conflicts(made, name) or [] for name in DISCIPLINES}
    named = names_of(network, scheme, relation, source=made.source, destinations=sorted(made.destinations),
                   ties=chosen("ties", ties), length=length, packet=packet)
    return PlanResult(configuration=named, files={"plot": None}, plan=made, contention=contention(made), met=met)


def _planned(topology: TopologyLike, scheme: SchemeLike, relation: RelationLike | None, ties: str | None,
             length: int | None, packet: int | None) -> tuple[Topology, Scheme, int | None]:
    """Return the network, the scheme with its relation, and the number of packets of a message."""
    require_at_least(1, length=length)
    network = find_topology(topology)
    found, wanted = find_scheme(scheme, network, relation), chosen("ties", ties)
    tied = with_ties(found.relation, network, wanted)
    if tied is not found.relation:
        found = found.routed_by(tied)
    chosen("packet", packet)
    if length is None and packet:
        raise WormcastError(f"packet: {packet} is not valid without --length. Needed: --length FLITS.")
    return network, found, None if length is None else packets_of(length, chosen("packet", packet))


#: Descriptions of the means that `plan_random` returns.
MEANS = {"destinations": "destinations", "copies": "worms", "hops": "hops", "longest": "hops of the longest worm",
         "hops_per_destination": "hops per destination", "channels": "channels", "start_ups": "start-ups",
         "phases": "phases",
         "first_links": "first links of the source",
         "sharing": "share of multicasts with worms that leave their sender by the same link",
         "shared": "share of multicasts with worms that share a link",
         "as_unicasts": "share of worms on the path of a unicast to their last destination",
         "planning_ns": "planning time of a multicast on this machine, ns"}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class RandomPlansResult(CommandResult):
    """Result of `plan_random`: mean costs of random multicasts.

    Parameters
    ----------
    means : dict of str to Interval
        Mean and half its 95 % interval of each cost, by the names of `PlanStatistics`.
    title : str
        Scheme, network and number of multicasts in words.
    """

    means: "dict[str, Interval]"
    title: str

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each cost."""
        return [{"cost": words, "mean": self.means[name].mean, "half_width": self.means[name].half_width}
                for name, words in MEANS.items()]

    def _data(self) -> dict[str, Any]:
        return {name: value.to_dict() for name, value in self.means.items()}

    def _lines(self) -> list[str]:
        means = self.means
        return [f"{self.title}, means and 95 % intervals",
                ", ".join(f"{MEANS[name]} {means[name].mean:.5g}" for name in ("copies", "hops", "start_ups"))]


@checked
def plan_random(
    topology: TopologyLike,
    scheme: SchemeLike,
    multicasts: int,
    *,
    source: int | str | None = None,
    length: int | None = None,
    packet: int | None = None,
    relation: RelationLike | None = None,
    ties: str | None = None,
    seed: int = 0,
    progress: bool = True,
    **law: Unpack[DestinationOptions],
) -> RandomPlansResult:
    """Plan random multicasts, and return their mean costs: ``wormcast plan --random``.

    Parameters
    ----------
    multicasts : int
        Number of random multicasts.
    source : int or str, optional
        Source of all multicasts. Default: in each part the nodes are sources in turn, in the order of their ids.
    seed : int
        Seed of the first of the parts that the multicasts are divided into.
    topology, scheme, relation, length, packet, ties
        As for `plan`.
    progress : bool
        Announce long work on a terminal.
    **law
        Distribution of the number of destinations: options of the traffic that begin with ``destinations``.
    """
    from ..experiments.random_plans import random_plans

    asked = known("plan_random", law, DestinationOptions.__annotations__)
    require_at_least(0, seed=seed)
    network, found, packets = _planned(topology, scheme, relation, ties, length, packet)
    if packets is not None:
        found = found.for_packets(packets)
    sender = None if source is None else network.node(source, "source")
    with watched(progress), announce(f"planning {multicasts} multicasts"):
        means = random_plans(network, found, asked, multicasts, seed, sender)
    named = names_of(network, scheme, relation, ties=chosen("ties", ties), length=length, packet=packet,
                   random=multicasts, source=sender, **asked)
    return RandomPlansResult(configuration=named, seed=seed, means=means,
                             title=f"{found.name} on {network.name}: {count(multicasts, 'random multicast')}")
