"""First comment of a waveform: the network, its links, and the recorded worms."""

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

__all__ = ["ABOVE", "INTERFACES", "PERIOD", "ROUTERS", "WORMS", "RecordingFacts", "heading", "worm_to_dict"]

#: Clock period in femtoseconds.
PERIOD = 1_000_000
#: VCD scopes of the signals of links, and of the text signals of routers and interfaces.
WORMS, ROUTERS = ("bench", "top", "worms"), ("bench", "top", "routers")
INTERFACES = ("bench", "top", "interfaces")
#: VCD scope of the instances' signals, equal to the scope that Amaranth's simulator writes for the whole network.
ABOVE = ("bench", "top", "network")


@dataclass(frozen=True)
class RecordingFacts:
    """Facts that a recording needs beyond the engine's state.

    Parameters
    ----------
    message_of : int array [worms]
        Number of each worm's message.
    worms_before : int
        Number of finished worms that the hosts' program has dropped. A worm's number in a waveform is its number in the
        hosts' program plus ``worms_before``.
    lane : int
        Lane to record.
    deadlock : dict, optional
        The deadlock that ends the program, in the form of JSON results.
    """

    message_of: npt.NDArray[np.int64]
    worms_before: int = 0
    lane: int = 0
    deadlock: dict[str, Any] | None = None


def heading(network: Network, host: Host, about: RecordingFacts, links: Sequence[FabricLink], worms: Sequence[int],
            first: int, end: int) -> str:
    """Return the first comment of a waveform: ``wormcast``, and one line of JSON.

    Parameters
    ----------
    worms : sequence of int
        Numbers, in the hosts' program, of the worms to list.
    first, end : int
        First recorded cycle, and the cycle after the last recorded one.
    """
    data = {
        "version": wormcast.__version__,
        "commit": wormcast.__commit__,
        "topology": network.topology.name,
        **({} if network.topology.origin == network.topology.name else {"origin": network.topology.origin}),
        "scheme": network.scheme.name,
        "relation": network.scheme.relation.name,
        "vc_classes": len(network.blueprint.routes.classes),
        "replicates": network.scheme.replication is not None,
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
    # readers of VCD read several blanks as one
    return "wormcast " + re.sub("(?<= ) ", r"\\u0020", json.dumps(data))


def worm_to_dict(network: Network, host: Host, about: RecordingFacts, worm: int) -> dict[str, Any]:
    """Convert a worm in the hosts' program to plain data for JSON."""
    row = host.worms[worm]
    # the first worm of a message that interfaces forward represents all worms of this message
    last = host.worms[max(worm, int(row["posting"]))]
    nodes = host.deliveries["node"][row["delivery"]:last["delivery_end"]] - about.lane * network.nodes
    return {"worm": worm + about.worms_before, "message": int(about.message_of[worm]),
            "source": int(row["source"]) - about.lane * network.nodes, "destinations": nodes.tolist(),
            "length": int(row["length"])}
