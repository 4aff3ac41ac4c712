"""Activities of hosts and network interfaces in a run, packet by packet: bars of a Gantt chart."""

from collections.abc import Iterator

import numpy as np

from wormcast.algorithms import WormcastError

from ..engines.bulk import BulkEngine
from ..engines.interface_times import InterfaceTimes, follow_interfaces
from ..host import make_host
from .bars import OPEN, Bar, Steps, on_tracks
from .run import Run

__all__ = ["COMES_IN", "HOST_ENDS", "HOST_STARTS", "MOST_DRAWN_CYCLES", "POSTED", "RECEPTION", "SENDS", "STARTS",
           "WAITS", "interface_bars", "interfaces_work"]

#: Largest number of cycles of a run that is drawn. In a run of more cycles, packets would be too narrow to see.
MOST_DRAWN_CYCLES = 50_000

#: Kinds of bars.
HOST_STARTS, HOST_ENDS = "t_hs, host start-up", "t_hr, host reception"
POSTED, COMES_IN, RECEPTION = "flits from the host", "packet comes in", "t_nr, interface reception"
STARTS, WAITS, SENDS = "t_ns, interface start-up", "waits for a virtual channel", "packet is sent"

#: Bars of a kind (key) share a part of a node's row, and its tracks, with bars of another kind (value).
SHARED = {HOST_ENDS: HOST_STARTS, COMES_IN: POSTED, WAITS: STARTS, SENDS: STARTS}


def interfaces_work(result: Run) -> bool:
    """Return whether a chart of the run should show its interfaces.

    The chart shows interfaces that forward packets. In a run of up to 50000 cycles the chart also shows interfaces that
    cut messages into packets, or have a t_ns or t_nr above 0.
    """
    configuration = result.network.configuration
    own = configuration.packet or configuration.t_ns or configuration.t_nr
    return configuration.smart or bool(own and result.cycles <= MOST_DRAWN_CYCLES)


def interface_bars(result: Run) -> list[Bar]:
    """Return the bars of a run, from the hosts' records and from the interfaces' links and registers in a second run.

    Start-ups and receptions of a host are the cycles in which its processor works on them. A packet comes in, or is
    sent, while its flits are on the link between router and interface, from the first to the last. t_nr and t_ns are
    measured from the interface's counters.

    Raises
    ------
    WormcastError
        The run has more than 50000 cycles.
    """
    if result.cycles > MOST_DRAWN_CYCLES:
        raise WormcastError(f"plot: a run of {result.cycles} cycles is not valid: it is too long to show packets at "
                            f"interfaces. Allowed: at most {MOST_DRAWN_CYCLES} cycles.")
    host = make_host(result.network, result.messages, result.worms, stall=result.stall, seed=result.seed)
    times = follow_interfaces(BulkEngine(result.network, host), result.cycles)
    return sorted(on_tracks([*_of_hosts(result), *_sent(result, times), *_received(result, times)], SHARED))


def _of_hosts(result: Run) -> Iterator[Steps]:
    host, t_hr = result.host, result.network.configuration.t_hr
    for worm in host.worms:
        node = int(worm["source"])
        if worm["posted"] >= 0:
            yield [Bar(HOST_STARTS, node, int(worm["posted"] - worm["cost"]), int(worm["posted"]))]
        if worm["posting"] >= 0:
            yield [Bar(POSTED, node, int(worm["injected"]), _behind(worm["handed"]))]
    for delivery in host.deliveries[host.received >= 0]:
        received = int(delivery["received"])
        yield [Bar(HOST_ENDS, int(delivery["node"]), received - t_hr, received)]


def _sent(result: Run, times: InterfaceTimes) -> Iterator[Steps]:
    for sent in times.sent:
        number, receiver = _number(result, sent.worm, sent.packet), _receiver(result, sent.worm)
        steps = [Bar(STARTS, sent.node, sent.presented, sent.started, number, receiver)]
        # if the packet does not wait, its first flit is on the link one cycle after the start of the packet
        if sent.started >= 0 and sent.first != sent.started + 1:
            steps.append(Bar(WAITS, sent.node, sent.started, sent.first if sent.first >= 0 else OPEN))
        yield [*steps, Bar(SENDS, sent.node, sent.first, _behind(sent.last), number, receiver)]


def _received(result: Run, times: InterfaceTimes) -> Iterator[Steps]:
    for one in times.received:
        yield [Bar(COMES_IN, one.node, one.first, _behind(one.last), _number(result, one.worm, one.packet))]
        yield [Bar(RECEPTION, one.node, one.held, one.passed)]


def _behind(last: int) -> int:
    """Return the end of a bar from the last cycle of its activity; `OPEN` if this last cycle is -1."""
    return int(last) + 1 if last >= 0 else OPEN


def _number(result: Run, worm: int, packet: int) -> str:
    """Return a packet's number, see `Bar`; empty if the worm is not known."""
    if worm < 0:
        return ""
    message = int(np.searchsorted(result.worms.message_offsets, worm, side="right")) - 1
    return f"{message}:{packet + 1}" if len(result.messages) > 1 else f"{packet + 1}"


def _receiver(result: Run, worm: int) -> str:
    """Return the name of a worm's only destination.

    The name is empty if the worm has several destinations, or if the worm is not known (``worm`` is negative).
    """
    visits = result.worms.visits(worm).tolist() if worm >= 0 else []
    return result.network.topology.node_name(visits[0]) if len(visits) == 1 else ""
