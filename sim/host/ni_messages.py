"""Messages that smart interfaces forward, and the contents of the rows of their child tables."""

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, Worms
from wormcast.algorithms.phrases import allowed_text, given_text
from wormcast.algorithms.worms import AT_ONCE, INTERFACE
from wormcast.hw.options import MOST_PLACES, MOST_ROW_FLITS

from ..build.network import Network
from .constants import NONE
from .dependents import awaited

__all__ = ["forwarded_messages", "lay_out_rows"]


def forwarded_messages(network: Network, worms: Worms) -> npt.NDArray[np.bool_]:
    """Return for each message whether interfaces forward it: it has several worms, planned for smart interfaces.

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
        raise WormcastError(f"scheme: {network.scheme.name} is not valid with ni conventional (the default): network "
                            "interfaces forward its worms. Allowed: with ni fcfs or with ni fpfs.")
    return found


def lay_out_rows(network: Network, worms: Worms, forwarded: npt.NDArray[np.bool_],
                 rows: npt.NDArray[np.void], deliveries: npt.NDArray[np.void]) -> None:
    """Write the children of each node to a program's rows of worms and deliveries.

    Raises
    ------
    WormcastError
        A row is too short for its children's headers; FCFS has fewer packet buffer entries than a message has packets;
        or a node forwards a worm that no earlier worm brings.
    """
    configuration, offsets = network.configuration, worms.message_offsets
    message_of = np.repeat(np.arange(worms.messages), np.diff(offsets))
    chosen = np.flatnonzero(forwarded[message_of])
    rows["root"][chosen] = offsets[message_of[chosen]]
    heads = offsets[:-1][forwarded]
    rows["posting"][heads] = offsets[1:][forwarded] - 1
    rows["headers"][heads] = 1  # a flit in place of the header, which marks a forwarded message
    # ``order``: the worms that one node sends of one message are adjacent, in the order of sending
    order = chosen[np.lexsort((worms.rank[chosen], worms.source[chosen], message_of[chosen]))]
    same = (message_of[order[1:]] == message_of[order[:-1]]) & (worms.source[order[1:]] == worms.source[order[:-1]])
    rows["sibling"][order[:-1][same]] = order[1:][same]
    starts = np.flatnonzero(np.concatenate([[True], ~same])) if len(order) else np.zeros(0, np.int64)
    flits = np.add.reduceat(rows["own_headers"][order], starts)
    if flits.max() > configuration.row:
        most = order[starts[flits.argmax()]]
        allowed = (f"{flits.max()} to {MOST_ROW_FLITS}" if flits.max() <= MOST_ROW_FLITS else
                   f"{MOST_ROW_FLITS}, with a greater flit_width")
        raise WormcastError(f"row: {given_text(configuration, 'row')} is not valid: the headers of all children of "
                            f"node {worms.source[most]} have {flits.max()} flits. "
                            + allowed_text(configuration, "row", allowed))
    if configuration.counts_packets:
        packets = int((rows["length"][heads].max() - 1) // configuration.packet) + 1
        if packets > configuration.places:
            allowed = (f"{packets} to {MOST_PLACES}" if packets <= MOST_PLACES else
                       f"{MOST_PLACES}, with longer packets")
            raise WormcastError(f"places: {given_text(configuration, 'places')} is not valid: ni {configuration.ni} "
                                f"keeps all packets of a message, and a message of {rows['length'][heads].max()} flits "
                                f"has {packets}. {allowed_text(configuration, 'places', allowed)}")
    # field ``child`` of a delivery to a node: the first worm by which the node forwards the message
    first = order[starts]
    onward = first[worms.after[first] != AT_ONCE]
    brought = awaited(worms, onward, network.nodes)
    lost = (brought == NONE) | (worms.after[onward] >= onward)
    if lost.any():
        worm = int(onward[lost.argmax()])
        raise WormcastError(f"scheme: {network.scheme.name} is not valid with ni {configuration.ni}: worm {worm} is "
                            f"sent by the interface of node {worms.source[worm]}, to which worm {worms.after[worm]} "
                            "does not bring the message before. Needed: in after of the worm, an earlier worm with "
                            f"the destination {worms.source[worm]}.")
    deliveries["child"][brought] = onward
