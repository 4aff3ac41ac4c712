"""Check of what hosts have received: a wrong flit, or flits held back for want of a tag, is an error."""

from wormcast.algorithms import WormcastError

from .constants import FAULT, FAULT_CHANNEL, FAULT_NODE, HELD, WIDTH
from .program_layout import Host

__all__ = ["check_receipts"]

FAULTS = (
    "",
    "a first payload flit that belongs to no worm for this node",
    "a payload flit that is not the next one of its worm, or is wrongly marked",
)


def check_receipts(host: Host, *, faults: bool = False) -> None:
    """Raise an error if a receipt was wrong.

    Parameters
    ----------
    faults : bool
        The routers have found errors on the wire. With ``faults``, a wrong receipt is a consequence of these errors and
        is ignored. The delivery stays open.

    Raises
    ------
    WormcastError
        A worm was held back because no tag was free: flits are too narrow to tell the worms under way apart.
    RuntimeError
        The hardware lost, reordered or corrupted a flit: a bug of the hardware or of an engine.
    """
    if host.counters[HELD]:
        raise WormcastError(f"flit-width: {host.options[WIDTH]} is not valid: the {host.counters[HELD]} bits of the "
                            "shortest worms are too few to tell all worms under way apart. Allowed: wider flits, or "
                            "longer messages.")
    fault = int(host.counters[FAULT])
    if fault and not faults:
        node, channel = int(host.counters[FAULT_NODE]), int(host.counters[FAULT_CHANNEL])
        raise RuntimeError(f"node {node}, consumption channel {channel}: received {FAULTS[fault]}")
