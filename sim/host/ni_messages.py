"""Messages that smart interfaces forward: which they are, and what the rows of their child tables hold."""

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, Worms
from wormcast.algorithms.worms import AT_ONCE, INTERFACE

from ..build.network import Network
from .constants import NONE
from .dependents import awaited

__all__ = ["forwarded_messages", "lay_out_rows"]


def forwarded_messages(network: Network, worms: Worms) -> npt.NDArray[np.bool_]:
    """Which messages interfaces forward: those of more than one worm of such a scheme, [messages].

    Raises
    ------
    WormcastError
        Worms are to be forwarded, and interfaces are conventional.
    """
    first = worms.message_offsets[:-1]
    several = np.diff(worms.message_offsets) > 1
    onwards = np.zeros(worms.messages, bool)
    onwards[several] = np.add.reduceat(worms.tier == INTERFACE, first)[several] > 0 if several.any() else False
    found = onwards | (several & network.scheme.forwarded)
    if found.any() and not network.configuration.smart:
        raise WormcastError(f"ni: conventional is given, scheme {network.scheme.name} has network interfaces forward "
                            "its worms: allowed are fcfs, fpfs")
    return found


def lay_out_rows(network: Network, worms: Worms, forwarded: npt.NDArray[np.bool_],
                 rows: npt.NDArray[np.void], deliveries: npt.NDArray[np.void]) -> None:
    """Say in a program's rows of worms and deliveries who forwards to whom.

    Raises
    ------
    WormcastError
        A row has no room for its children's headers; FCFS has fewer places than a message has packets; a node
        is to forward what it does not get.
    """
    configuration, offsets = network.configuration, worms.message_offsets
    message_of = np.repeat(np.arange(worms.messages), np.diff(offsets))
    chosen = np.flatnonzero(forwarded[message_of])
    rows["root"][chosen] = offsets[message_of[chosen]]
    heads = offsets[:-1][forwarded]
    rows["posting"][heads] = offsets[1:][forwarded] - 1
    rows["headers"][heads] = 1  # the flit that says so
    # one behind the other: the worms of a node and a message, in the order of sending
    order = chosen[np.lexsort((worms.rank[chosen], worms.source[chosen], message_of[chosen]))]
    same = (message_of[order[1:]] == message_of[order[:-1]]) & (worms.source[order[1:]] == worms.source[order[:-1]])
    rows["sibling"][order[:-1][same]] = order[1:][same]
    starts = np.flatnonzero(np.concatenate([[True], ~same])) if len(order) else np.zeros(0, np.int64)
    flits = np.add.reduceat(rows["own_headers"][order], starts)
    if flits.max() > configuration.row:
        most = order[starts[flits.argmax()]]
        raise WormcastError(f"row: {configuration.row} flits are given, the headers of all children of node "
                            f"{worms.source[most]} have {flits.max()}")
    if configuration.counts_packets:
        packets = int((rows["length"][heads].max() - 1) // configuration.packet) + 1
        if packets > configuration.places:
            default = " (the default)" * (configuration.places == type(configuration).places)
            raise WormcastError(f"places: {configuration.places}{default} are too few for ni {configuration.ni}, "
                                f"which keeps all packets of a message: a message of {rows['length'][heads].max()} "
                                f"flits has {packets}")
    # the first worm that each node sends is told by the delivery that brings it the message
    first = order[starts]
    onward = first[worms.after[first] != AT_ONCE]
    brought = awaited(worms, onward, network.nodes)
    lost = (brought == NONE) | (worms.after[onward] >= onward)
    if lost.any():
        worm = int(onward[lost.argmax()])
        raise WormcastError(f"worm {worm} is to be forwarded by node {worms.source[worm]}, worm {worms.after[worm]} "
                            "must bring it there before")
    deliveries["child"][brought] = onward
