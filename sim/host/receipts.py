"""Check of the hosts' receipts: a wrong flit is an error, and so is a worm that waited for a free tag."""

from dataclasses import dataclass

from wormcast.algorithms import WormcastError

from .constants import (
    CHANNELS,
    FAULT,
    FAULT_CHANNEL,
    FAULT_EXPECTED,
    FAULT_FLIT,
    FAULT_MARKS,
    FAULT_NODE,
    FAULT_RECEIVED,
    FAULT_WORM,
    HEAD,
    HELD,
    MARK_BITS,
    NODES,
    NONE,
    TAIL,
    WIDTH,
)
from .program_layout import Host

__all__ = ["WrongReceipt", "check_receipts", "first_wrong_receipt"]

#: Causes of wrong receipts, as in results, each with a description of the received flit.
CAUSES = {
    "unexpected worm": "a first payload flit that belongs to no worm for this node",
    "wrong flit": "a payload flit that is not the next one of its worm, or is wrongly marked",
}


@dataclass(frozen=True)
class WrongReceipt:
    """First wrong flit that a host received.

    Parameters
    ----------
    lane, node : int
        Lane of the network, and node in this lane.
    link, vc : int
        Consumption link, and its virtual channel.
    cause : str
        One of `CAUSES`.
    received : str
        Received flit: bits 0 to 63 of its data in hexadecimal, and its marks.
    worm : int or None
        Worm of the expected flit, by its index in the hosts' program; None with the cause "unexpected worm".
    flit : int or None
        Number of the expected payload flit in the worm, from 0.
    expected : str or None
        Expected flit, as `received`.
    """

    lane: int
    node: int
    link: int
    vc: int
    cause: str
    received: str
    worm: int | None = None
    flit: int | None = None
    expected: str | None = None


def first_wrong_receipt(host: Host) -> WrongReceipt | None:
    """Return the first wrong flit that a host received, or None."""
    found = host.counters.tolist()
    if not found[FAULT]:
        return None
    lane, node = divmod(found[FAULT_NODE], int(host.options[NODES]))
    link, vc = divmod(found[FAULT_CHANNEL], int(host.options[CHANNELS]))
    wanted, marks = divmod(found[FAULT_MARKS], 1 << MARK_BITS)
    cause, received = list(CAUSES)[found[FAULT] - 1], _flit(found[FAULT_RECEIVED], marks)
    if found[FAULT_WORM] == NONE:
        return WrongReceipt(lane, node, link, vc, cause, received)
    return WrongReceipt(lane, node, link, vc, cause, received, found[FAULT_WORM], found[FAULT_FLIT],
                        _flit(found[FAULT_EXPECTED], wanted))


def _flit(data: int, marks: int) -> str:
    """Return a flit in words."""
    names = "".join(f", {name}" for name, bit in (("head", HEAD), ("tail", TAIL)) if marks & bit)
    return f"{data % (1 << 64):#x}{names}"


def check_receipts(host: Host, *, faults: bool = False) -> None:
    """Raise an error if a receipt was wrong.

    Parameters
    ----------
    faults : bool
        Components have detected errors on the wire, and the caller reports them. A wrong receipt is then ignored,
        because it is one of these errors or a consequence of them.

    Raises
    ------
    WormcastError
        A worm was held back because no tag was free: flits are too narrow to tell the worms under way apart.
    RuntimeError
        The hardware lost, reordered or corrupted a flit: a bug of the hardware or of an engine.
    """
    if host.counters[HELD]:
        raise WormcastError(f"flit-width: {host.options[WIDTH]} is not valid: the {host.counters[HELD]} payload bits "
                            "in the first packet of a worm are too few to tell all worms under way apart. Allowed: "
                            "wider flits, or longer messages.")
    wrong = None if faults else first_wrong_receipt(host)
    if wrong is not None:
        channel = int(host.counters[FAULT_CHANNEL])
        raise RuntimeError(f"lane {wrong.lane}, node {wrong.node}, consumption channel {channel}: received "
                           f"{CAUSES[wrong.cause]}")
