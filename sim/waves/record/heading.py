"""What a waveform says of itself in its first comment: the network, its links, and the worms that appear."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import wormcast

from ...build.fabric import FabricLink
from ...build.network import Network
from ...host import Host

__all__ = ["ABOVE", "INTERFACES", "PERIOD", "ROUTERS", "WORMS", "About", "heading", "worm_to_dict"]

#: Femtoseconds of a cycle.
PERIOD = 1_000_000
#: The scope of the links, and that of the routers in words.
WORMS, ROUTERS = ("bench", "top", "worms"), ("bench", "top", "routers")
INTERFACES = ("bench", "top", "interfaces")
#: Above the instances, as in a waveform of Amaranth's simulator over the whole network.
ABOVE = ("bench", "top", "network")


@dataclass(frozen=True)
class About:
    """What is known of a program besides what an engine holds.

    Parameters
    ----------
    message_of : int array [worms]
        The message of each of the host's worms.
    worms_before : int
        Worms that the host has forgotten: in waveforms, numbers go on from there.
    lane : int
        Of which lane worms are shown.
    deadlock : dict, optional
        How the program ends, as in JSON.
    """

    message_of: npt.NDArray[np.int64]
    worms_before: int = 0
    lane: int = 0
    deadlock: dict[str, Any] | None = None


def heading(network: Network, host: Host, about: About, links: Sequence[FabricLink], worms: Sequence[int], first: int,
            end: int) -> str:
    """Write the heading of a waveform: ``wormcast``, and one line of JSON.

    Parameters
    ----------
    worms : sequence of int
        Numbers of the host's worms that appear.
    first, end : int
        The first cycle, and the one behind the last.
    """
    told = {
        "version": wormcast.__version__,
        "topology": network.topology.name,
        **({} if network.topology.origin == network.topology.name else {"origin": network.topology.origin}),
        "scheme": network.scheme.name,
        "relation": network.scheme.relation.name,
        "configuration": network.configuration.resolved(network.topology, network.scheme),
        "lane": about.lane,
        "first": first,
        "end": end,
        "period_fs": PERIOD,
        "links": [{"name": link.name, "kind": link.kind, "from": link.source, "to": link.target, "vcs": link.vcs,
                   "scope": ".".join((*WORMS, link.scope))} for link in links],
        "worms": [worm_to_dict(network, host, about, worm) for worm in worms],
        "deadlock": about.deadlock,
    }
    # readers of VCD take any number of blanks for one
    return "wormcast " + re.sub("(?<= ) ", r"\\u0020", json.dumps(told))


def worm_to_dict(network: Network, host: Host, about: About, worm: int) -> dict[str, Any]:
    """Give one of the host's worms as plain data for JSON."""
    row = host.worms[worm]
    last = host.worms[max(worm, int(row["posting"]))]  # what interfaces forward has one number
    nodes = host.deliveries["node"][row["delivery"]:last["delivery_end"]] - about.lane * network.nodes
    return {"worm": worm + about.worms_before, "message": int(about.message_of[worm]),
            "source": int(row["source"]) - about.lane * network.nodes, "destinations": nodes.tolist(),
            "length": int(row["length"])}
