"""Latency of a broadcast by a scheme's formula, with times measured on the routers."""

from dataclasses import dataclass, replace
from typing import Any

from wormcast.algorithms import Scheme, Topology, find_scheme
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.schemes.cost import Cost

from ..build.configuration import Configuration
from ..host import Message
from .run import run

__all__ = ["Formula", "UnloadedLatency", "formula_of", "has_formula", "unloaded_latency"]


@dataclass(frozen=True)
class UnloadedLatency:
    """Latency of a unicast without other messages, less t_s and t_r: ``hop`` cycles for each hop, plus ``c`` cycles."""

    hop: int
    c: int


@dataclass(frozen=True)
class Formula:
    """Cost formula of a scheme, with the times of a configuration and a message length.

    t_s is the host's time before it posts a worm (``t_hs``), t_r its time for a receipt (``t_hr``).
    """

    cost: Cost
    t_s: int
    t_r: int
    alone: UnloadedLatency

    @property
    def latency(self) -> int:
        """Latency by the formula: cycles from the start of the source's first t_s to the last receipt."""
        return self.cost.latency(t_s=self.t_s, t_r=self.t_r, t_hop=self.alone.hop, c=self.alone.c)

    def __str__(self) -> str:
        """Return the formula with numbers: ``5 t_s + 4 t_hop + 2 (c + t_r) = 68, with t_s 0, t_hop 3, c 28, t_r 0``."""
        cost = self.cost
        return (f"{cost.start_ups} t_s + {cost.hops} t_hop + {cost.receipts} (c + t_r) = {self.latency}, with t_s "
                f"{self.t_s}, t_hop {self.alone.hop}, c {self.alone.c}, t_r {self.t_r}")

    def to_dict(self) -> dict[str, Any]:
        """Return the formula as plain data for JSON."""
        return {**vars(self.cost), "t_s": self.t_s, "t_r": self.t_r, "t_hop": self.alone.hop, "c": self.alone.c,
                "latency": self.latency}


def unloaded_latency(topology: Topology, configuration: Configuration, length: int) -> UnloadedLatency | None:
    """Measure the latency of unicasts from node 0 to nodes 1 and 2 of the last dimension.

    The result is None unless nodes 1 and 2 exist, and are one hop and two hops away from node 0. On a ring of three
    nodes, for example, node 2 is one hop away from node 0.
    """
    if topology.shape[-1] < 3:
        return None
    configuration = replace(configuration, t_hs=0, t_hr=0, injection_delay=0, multicast_delay=0, copy_delay=0)
    scheme = find_scheme("individual", topology)
    near, far = (topology.node(".".join(["0"] * (len(topology.shape) - 1) + [str(hops)])) for hops in (1, 2))
    if [plan(topology, scheme, 0, [node]).hops for node in (near, far)] != [1, 2]:
        return None
    one, two = (run(topology, scheme, [Message(0, 0, (node,), length)], configuration).message_to_dict(0)["latency"]
                for node in (near, far))
    return UnloadedLatency(two - one, one - (two - one))


def has_formula(topology: Topology, configuration: Configuration, message: Message) -> bool:
    """Return whether the formulas of schemes apply to a message and a configuration.

    The formulas apply to broadcasts in one packet, if the last dimension has four nodes or more, nodes inject on all
    ports, and a send costs the host only t_s.
    """
    return (len(message.destinations) == topology.nodes - 1 and topology.shape[-1] >= 4
            and configuration.ports == "all" and not configuration.packet and configuration.copying == "overlapped"
            and not (configuration.injection_delay or configuration.multicast_delay or configuration.copy_delay))


def formula_of(topology: Topology, scheme: Scheme, configuration: Configuration, message: Message) -> Formula | None:
    """Return the formula of a scheme's broadcasts; None if the scheme has no formula or `has_formula` is False."""
    cost = scheme.cost(topology)
    if cost is None or not has_formula(topology, configuration, message):
        return None
    one = unloaded_latency(topology, configuration, message.length)
    return None if one is None else Formula(cost, configuration.t_hs, configuration.t_hr, one)
