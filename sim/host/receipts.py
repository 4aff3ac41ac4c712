"""What was wrong with a receipt."""

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
    """Refuse to go on after a receipt that was not as it must be.

    Parameters
    ----------
    faults : bool
        The routers have found errors on the wire: then a wrong receipt is what comes of one, and is let pass. Its
        delivery stays open.

    Raises
    ------
    WormcastError
        A worm was held back because its tag was in use: flits too narrow to tell the worms under way apart.
    RuntimeError
        The hardware lost, reordered or corrupted a flit: a bug of the hardware or of an engine, never the user's.
    """
    if host.counters[HELD]:
        raise WormcastError(f"flit-width: {host.options[WIDTH]} is given, with {host.counters[HELD]} bits of "
                            "its shortest worms to tell those under way apart: this run has more at a time, and needs "
                            "longer messages or wider flits")
    fault = int(host.counters[FAULT])
    if fault and not faults:
        node, channel = int(host.counters[FAULT_NODE]), int(host.counters[FAULT_CHANNEL])
        raise RuntimeError(f"node {node}, consumption channel {channel}: received {FAULTS[fault]}")
