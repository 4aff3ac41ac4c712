"""Control packets that request rows of child tables, laid out for `ask_for_rows`."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from wormcast.algorithms import WormcastError, Worms
from wormcast.algorithms.compiled import compiled
from wormcast.hw.options import LABEL_BITS, MOST_PACKET, MOST_PLACES

from .constants import NONE, TAG_BITS

if TYPE_CHECKING:
    from ..build.network import Network

__all__ = ["ASK", "lay_out_control"]

#: Request for a row at a delivery's node. ``at``: index in `Host.control` of the request's header, and then of the
#: payload flits that are the same at each try. ``headers``: number of header flits of the request.
#: ``flits``: number of flits of the request. ``answer``: number of flits of its answer. ``state``: see `ask_for_rows`.
ASK = np.dtype([("at", np.int64), *((field, np.int32) for field in ("headers", "flits", "answer", "state"))])


def lay_out_control(network: "Network", worms: Worms, rows: npt.NDArray[np.void], deliveries: npt.NDArray[np.void],
                    header: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.void], npt.NDArray[np.uint64]]:
    """Return the requests for rows at the nodes of all deliveries, and their flits; empty arrays without requests.

    Parameters
    ----------
    rows, deliveries : records [worms], [deliveries]
        Records of the hosts' program, with children.
    header : uint64 array [header flits, parts]
        Header flits of all worms.

    Raises
    ------
    WormcastError
        A request has more flits than a packet, or a message more packets than a request can state.
    """
    configuration = network.configuration
    if not configuration.requests_rows:
        return np.zeros(0, ASK), np.zeros((0, header.shape[1]), np.uint64)
    asks = np.zeros(len(deliveries), ASK)
    root = rows["root"][deliveries["worm"]]
    chosen = np.flatnonzero(root >= 0)
    if not len(chosen):
        return asks, np.zeros((0, header.shape[1]), np.uint64)
    source, node = rows["source"][root[chosen]] % network.nodes, deliveries["node"][chosen] % network.nodes
    (request_at, request), (answer_at, answer) = (
        network.encode(_unicasts(*ends)) for ends in ((source, node), (node, source)))
    width = configuration.flit_width
    word, label = (-(-bits // width) for bits in (2 * TAG_BITS, LABEL_BITS))
    asks["headers"][chosen] = np.diff(request_at)
    asks["answer"][chosen] = np.diff(answer_at) + word
    _count(asks, chosen, np.diff(answer_at), deliveries, rows, word, label)
    longest = int((asks["flits"] - asks["headers"]).max(initial=0))
    if longest > configuration.packet:
        raise WormcastError(f"packet: {configuration.packet} is not valid with admission messages: a request for a row "
                            f"has up to {longest} payload flits. Allowed: {longest} or more.")
    length = int(rows["length"][root[chosen]].max(initial=0))
    packets = configuration.packets_of(length)
    if packets > MOST_PLACES:
        least = -(-length // MOST_PLACES)
        allowed = f"{least} or more" if least <= MOST_PACKET else f"{MOST_PACKET}, with shorter messages"
        raise WormcastError(f"packet: {configuration.packet} is not valid with admission messages: a message has "
                            f"{packets} packets, and a request states up to {MOST_PLACES}. Allowed: {allowed}.")
    kept = np.where(asks["flits"], asks["flits"] - word - 1, 0)
    asks["at"] = np.cumsum(kept) - kept
    control = np.zeros((int(kept.sum()), header.shape[1]), np.uint64)
    _fill(asks, control, chosen, node, request_at, request, answer_at, answer, deliveries, rows, header, label,
          width, configuration.packet)
    return asks, control


def _unicasts(source: npt.NDArray[np.int64], node: npt.NDArray[np.int64]) -> Worms:
    count = np.arange(len(source) + 1)
    return Worms(count, source.astype(np.int32), np.zeros(len(source), np.int32), np.full(len(source), NONE), count,
                 node.astype(np.int32))


@compiled
def _count(asks, chosen, answers, deliveries, rows, word, label):
    """Count the flits of each request. ``answers``: header flits of each answer."""
    for k in range(len(chosen)):
        delivery = chosen[k]
        # number, packets and the length of the first list have a flit each
        flits = asks[delivery].headers + word + 3 + label + answers[k]
        child = deliveries[delivery].child
        while child >= 0:
            flits += 1 + rows[child].own_headers
            child = rows[child].sibling
        asks[delivery].flits = flits


@compiled
def _fill(asks, control, chosen, nodes, request_at, request, answer_at, answer, deliveries, rows, header, label, width,
          packet):
    """Write the flits of each request that are the same at each try.

    ``request``, ``answer``: header flits of the requests and of their answers. ``request_at``, ``answer_at``: index of
    the first header flit of each.
    """
    parts = control.shape[1]
    for k in range(len(chosen)):
        delivery = chosen[k]
        at = asks[delivery].at
        for flit in range(request_at[k], request_at[k + 1]):
            for part in range(parts):
                control[at, part] = request[flit, part]
            at += 1
        control[at, 0] = (rows[deliveries[delivery].worm].length - 1) // packet
        at += 1
        for piece in range(label):
            control[at, 0] = nodes[k] >> piece * width & ((1 << min(width, LABEL_BITS)) - 1)
            at += 1
        control[at, 0] = answer_at[k + 1] - answer_at[k]
        at += 1
        for flit in range(answer_at[k], answer_at[k + 1]):
            for part in range(parts):
                control[at, part] = answer[flit, part]
            at += 1
        child = deliveries[delivery].child
        while child >= 0:
            control[at, 0] = rows[child].own_headers
            at += 1
            for flit in range(rows[child].header_at, rows[child].header_at + rows[child].own_headers):
                for part in range(parts):
                    control[at, part] = header[flit, part]
                at += 1
            child = rows[child].sibling
