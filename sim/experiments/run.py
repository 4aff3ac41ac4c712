"""Run of given messages: cycle-accurate simulation until all are delivered, a deadlock is proved or time is up."""

import os
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wormcast.algorithms import Scheme, Topology, WormcastError, Worms
from wormcast.algorithms.errors import MessageError, nearest
from wormcast.algorithms.phrases import count
from wormcast.algorithms.typecheck import checked, require_kind

from ..build.compatibility import require_sent
from ..build.configuration import Configuration
from ..build.limits import ENGINES, MOST_RUN_CYCLES, MOST_RUN_LENGTH
from ..build.network import Network
from ..engines.bulk import BulkEngine
from ..engines.faults import Fault, find_faults
from ..engines.residence import Residence, find_residences
from ..engines.token_meter import require_tokens
from ..host import ADMISSION, NOW, UNDELIVERED, Host, Message, check_receipts, first_wrong_receipt, make_host
from ..waves.record import find_instances
from .contention import contention as waits_of
from .contention import require_followed
from .energy_table import EnergyTable
from .message_file import unreceived

if TYPE_CHECKING:
    from ..engines.deadlock import Deadlock
    from ..engines.event_counters import Events
    from .events import EventSums

__all__ = ["Run", "plan_messages", "run", "run_bulk"]

#: The wait-for graph is built if hosts have not sent or received a flit of a worm under way for this number of cycles.
#: t_ns and t_nr are added to PATIENCE. PATIENCE doubles each time that the wait-for graph shows no deadlock.
PATIENCE = 512
CHUNK = 4096


@dataclass(frozen=True)
class Run:
    """Results of a run.

    Parameters
    ----------
    outcome : "delivered", "deadlock", "stalled" or "error"
        Outcome "stalled": messages were neither delivered nor in deadlock when the time was up. Outcome "error":
        messages were not delivered when the time was up, and routers or interfaces had detected errors on the wire; or
        a host received a wrong flit, which no router or interface had detected.
    cycles : int
        Cycles simulated.
    messages, worms, host
        Messages, their worms, and the host program. The host's arrays hold the first and last cycle of every delivery.
    deadlock : Deadlock or None
    faults : tuple of Fault
        Errors on the wire. Payload that was lost by errors on the wire stays undelivered.
    stall : float
        Probability that a consumption channel accepts no flit in a cycle.
    contention : list of dict or None
        Waiting cycles of each message, see `contention`; None if they were not measured.
    residences : tuple of Residence
        For each smart interface that has forwarded packets: number of these packets, and sum of their times in its
        buffer.
    events : EventSums or None
        Events in all cycles of the run; None if they were not counted.
    """

    network: Network
    engine: str
    seed: int
    outcome: str
    cycles: int
    messages: tuple[Message, ...]
    worms: Worms
    host: Host
    deadlock: "Deadlock | None"
    faults: tuple[Fault, ...]
    stall: float = 0.0
    contention: list[dict[str, Any]] | None = None
    residences: tuple[Residence, ...] = ()
    events: "EventSums | None" = None

    @property
    def ending(self) -> str:
        """Outcome and its cycle, in words.

        For a delivered run, the cycle is the cycle of the last receipt, where the latencies end.
        """
        if self.outcome == "delivered":
            return f"delivered in cycle {int(self.host.received.max())}"
        if self.deadlock:
            return f"deadlock, proved in cycle {self.deadlock.at}"
        return f"{self.outcome} after {self.cycles} cycles"

    @property
    def header_flits(self) -> int:
        """Number of header flits of all worms: for each worm, the header flits of a packet times its packets."""
        return int((self.host.worms["headers"] * self.host.packets).sum())

    @property
    def admission(self) -> dict[str, Any]:
        """Counters of requests for rows (`ADMISSION`), the mean wait of the admitted messages, and the share of control
        flits in the flits of all worms and control packets."""
        found = dict(zip(ADMISSION, self.host.admission.sum(axis=0).tolist(), strict=True))
        worms = self.host.worms
        flits = int((worms["own_headers"] * self.host.packets + worms["length"]).sum())
        admitted, control = found["admitted"], found["control_flits"]
        return {**found, "admission_wait": found["admission_wait"] / admitted if admitted else None,
                "control_share": control / (control + flits)}

    def record(self, path: Path, first: int, end: int, instances: Sequence[tuple[str, int]]) -> None:
        """Write the waveform of some instances in cycles ``first`` to ``end`` - 1, by a second simulation.

        Raises
        ------
        WormcastError
            The run does not have these cycles, or there are too many signals and cycles; see `record_window`.
        """
        if not 0 <= first < end <= self.cycles:
            reason = f"the run has {count(self.cycles, 'cycle')}" if first < end else f"{first} is not below {end}"
            raise WormcastError(f"window: {first}:{end} is not valid: {reason}. "
                                f"Allowed: A:B with 0 <= A < B <= {self.cycles}.")
        from ..waves.record import RecordingFacts, record_window

        host = make_host(self.network, self.messages, self.worms, stall=self.stall, seed=self.seed)
        message_of = np.repeat(np.arange(self.worms.messages), np.diff(self.worms.message_offsets))
        about = RecordingFacts(message_of, deadlock=self.deadlock.to_dict() if self.deadlock else None)
        record_window(self.network, host, path, first, end, instances, about)

    def deliveries_of(self, index: int) -> dict[int, dict[str, int | None]]:
        """Return the cycles of a message's deliveries, by node: ``head``, ``tail`` and ``received``. A cycle is None if
        the event did not happen."""
        places, host = self._deliveries(index), self.host
        rows = zip(self.worms.destinations[places].tolist(), host.head[places], host.tail[places],
                   host.received[places], strict=True)
        return {node: {"head": _cycle(head), "tail": _cycle(tail), "received": _cycle(received)}
                for node, head, tail, received in rows}

    def _deliveries(self, index: int) -> slice:
        """Return the indices of a message's deliveries."""
        worms = self.worms.message_offsets[index:index + 2]
        return slice(*self.worms.destination_offsets[worms].tolist())

    def message_to_dict(self, index: int) -> dict[str, Any]:
        """Return a message and its deliveries as plain data for JSON. A cycle is None if the event did not happen."""
        message, places, host = self.messages[index], self._deliveries(index), self.host
        first, end = self.worms.message_offsets[index:index + 2]
        tails, received = host.tail[places], host.received[places]
        done = bool((received >= 0).all())
        injected = host.injected[first:end]
        started = int(injected[injected >= 0].min()) if (injected >= 0).any() else None
        created = int(host.worms["ready"][first]) if host.worms["waits"][first] == 0 or not message.after else None
        return {
            "id": index,
            "source": message.source,
            "created": created,
            "latency": int(received.max()) - created if done and created is not None else None,
            "network_latency": int(tails.max()) - started if done and started is not None else None,
            "deliveries": {str(node): cycles for node, cycles in self.deliveries_of(index).items()},
            "contention": None if self.contention is None else self.contention[index],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data for JSON, as ``wormcast run --json`` prints it."""
        return {
            "outcome": self.outcome,
            "cycles": self.cycles,
            "engine": self.engine,
            "header_flits": self.header_flits,
            "messages": [self.message_to_dict(index) for index in range(len(self.messages))],
            "deadlock": self.deadlock.to_dict() if self.deadlock else None,
            "faults": [fault.to_dict() for fault in self.faults],
            "interfaces": [residence.to_dict() for residence in self.residences],
            **({"admission": self.admission} if self.network.configuration.requests_rows else {}),
        }


def _cycle(value: np.int64) -> int | None:
    return int(value) if value >= 0 else None


def check_messages(messages: Sequence[Message]) -> None:
    """Refuse messages that cannot be sent. The messages' nodes are checked later, by the scheme."""
    require_kind("messages", messages, Sequence)
    if not messages:
        raise WormcastError("messages: an empty list is not valid. Allowed: one or more messages.")
    several = len(messages) > 1
    for index, message in enumerate(messages):
        if not isinstance(message, Message):
            raise WormcastError(f"messages[{index}]: {reprlib.repr(message)} is not valid. Allowed: "
                                "wormcast.Message(at=CYCLE, source=NODE, destinations=(NODE, ...), length=FLITS).")
        try:
            require_kind("destinations", message.destinations, Sequence, np.ndarray)
            require_kind("after", message.after, Sequence)
            for name, number in (("at", message.at), ("source", message.source), ("length", message.length),
                                 *(("destinations", node) for node in message.destinations)):
                require_kind(name, number, int)
        except WormcastError as error:
            raise MessageError(str(error), index, several=several) from error
        if not 1 <= message.length <= MOST_RUN_LENGTH:
            raise MessageError(f"length: {message.length} is not valid. Allowed: 1 to {MOST_RUN_LENGTH} flits.", index,
                               several=several)
        if not 0 <= message.at <= MOST_RUN_CYCLES:
            raise MessageError(f"at: {message.at} is not valid. Allowed: cycles 0 to {MOST_RUN_CYCLES}.", index,
                               several=several)
        for other in message.after:
            if not 0 <= other < index or message.source not in messages[other].destinations:
                known = (earlier for earlier in range(index) if message.source in messages[earlier].destinations)
                raise MessageError(str(unreceived(other, index, str(message.source), known)), index, several=several)
        if len(set(message.after)) < len(message.after):
            raise MessageError(f"after: {message.after} is not valid: a message occurs twice. Allowed: each message at "
                               "most once.", index, several=several)


def plan_messages(topology: Topology, scheme: Scheme, messages: Sequence[Message],
                  configuration: Configuration | None = None) -> Worms:
    """Plan the worms of all messages. Without ``configuration``, which determines the packets, each worm is one packet.
    """
    check_messages(messages)
    offsets = np.cumsum([0, *(len(message.destinations) for message in messages)])
    worms = scheme.batch(
        topology,
        [message.source for message in messages],
        offsets,
        [node for message in messages for node in message.destinations],
        packets=None if configuration is None else configuration.packets_of(
            np.array([message.length for message in messages], np.int64)),
        validated=True,
    )
    scheme.hops(scheme.relation_on(topology).on(topology), worms)  # raises an error if the relation misses a node
    return worms


@checked
def run(
    topology: Topology,
    scheme: Scheme,
    messages: Sequence[Message],
    configuration: Configuration,
    *,
    engine: str = "bulk",
    vcd: str | os.PathLike[str] | None = None,
    window: tuple[int, int] | None = None,
    instances: str | None = None,
    timeout: int = 1_000_000,
    stall: float = 0.0,
    seed: int = 0,
    contention: bool = False,
    events: bool = False,
    costs: EnergyTable | None = None,
) -> Run:
    """Send messages through a network, and return all deliveries or the reason why some are missing.

    Parameters
    ----------
    messages : sequence of Message
    engine : "bulk" or "amaranth"
    vcd : Path, optional
        Waveform file to write. Engine ``bulk`` also writes layout files for waveform viewers in the waveform's
        folder (`beside`).
    window : (int, int), optional
        First cycle of the waveform, and the cycle after its last one. Default: the whole run.
    instances : str, optional
        Instances in the waveform, see `find_instances`. Default: all. Engine ``amaranth`` always records all
        instances in the whole run.
    timeout : int
        Cycles after which a run that is neither delivered nor in deadlock ends as ``stalled`` or ``error``.
    stall : float
        Probability, 0 to below 1, that a consumption channel accepts no flit in a cycle.
    seed : int
        Seed of the stalls, and of the waits before a row is requested again.
    contention : bool
        Measure the causes of waiting; see `Run`.
    events : bool
        Count events in routers and interfaces; see `Run`.
    costs : EnergyTable, optional
        Costs of the events, for flits as wide as the network's flits. With ``header="ideal"`` the width of flits
        depends on the worms.
    """
    if contention:
        require_followed(configuration.as_sent(scheme), configuration)
    if engine not in ENGINES:
        raise WormcastError(f"engine: {engine!r} is not valid.{nearest(engine, ENGINES)} "
                            f"Allowed: {', '.join(ENGINES)}.")
    for name, value in (("window", window), ("instances", instances)):
        if value is not None and (vcd is None or engine != "bulk"):
            text = value if isinstance(value, str) else ":".join(map(str, value))
            raise WormcastError(f"{name}: {text} is not valid without --vcd. Needed: --vcd FILE." if vcd is None else
                                f"{name}: {text} is not valid with --engine {engine}, which always records the whole "
                                "run. Allowed: with --engine bulk.")
    if timeout < 1:
        raise WormcastError(f"timeout: {timeout} is not valid. Allowed: 1 or more cycles.")
    scheme = configuration.as_sent(scheme)
    worms = plan_messages(topology, scheme, messages, configuration)
    require_sent(topology, scheme, configuration, worms)
    longest = int(np.diff(worms.destination_offsets).max())
    configuration = configuration.for_headers(topology, scheme, longest)
    if costs is not None:
        costs.require_width(configuration.flit_width)
    network = Network(topology, scheme, configuration)
    shown = find_instances(network, "all" if instances is None else instances)

    def fresh_host() -> Host:
        return make_host(network, messages, worms, stall=stall, seed=seed)

    host = fresh_host()
    bulk = BulkEngine(network, host, events=events)
    if contention:
        bulk.follow(turns=True)
    outcome, deadlock, faults = run_bulk(bulk, timeout)
    cycles = int(host.counters[NOW])
    counted = None if bulk.events is None else bulk.events.take(network)
    if engine == "amaranth":
        # the bulk engine has determined the cycles and looked for deadlocks; both engines must have the same deliveries
        from ..engines.amaranth import AmaranthEngine

        host = fresh_host()
        reference = AmaranthEngine(network, host, vcd=None if vcd is None else Path(vcd), events=events)
        reference.run(cycles)
        check_receipts(host, faults=bool(faults))
        judged = bulk.host
        if not np.array_equal(host.deliveries, judged.deliveries) or (
                first_wrong_receipt(host) != first_wrong_receipt(judged)):
            raise RuntimeError("the engines disagree on the deliveries of this run")
        if counted is not None and reference.events != counted:
            raise RuntimeError("the engines disagree on the events of this run")
    waits = waits_of(bulk.host, bulk.grants.take(), network.nodes) if bulk.grants else None
    result = Run(network, engine, seed, outcome, cycles, tuple(messages), worms, host, deadlock, faults, stall, waits,
                 find_residences(bulk),
                 None if counted is None else _sums(network, counted, messages, worms, host, cycles, costs))
    if vcd is not None and engine == "bulk":
        result.record(Path(vcd), *(window or (0, cycles)), shown)
    return result


def _sums(network: Network, counted: "Events", messages: Sequence[Message], worms: Worms, host: Host, cycles: int,
          costs: EnergyTable | None) -> "EventSums":
    """Return the events of a run."""
    from .events import EventSums

    wanted = sum(message.length * len(message.destinations) for message in messages)
    received = np.add.reduceat(host.left, worms.message_offsets[:-1]) == 0
    return EventSums(
        network.topology, (counted.routers.sum(axis=2) + counted.interfaces.sum(axis=2)), counted.routers[:, 0],
        counted.interfaces[:, 0], np.array([wanted - int(host.deliveries["due"].sum())]),
        np.array([int(received.sum())]), cycles, costs)


def run_bulk(engine: BulkEngine, timeout: int) -> "tuple[str, Deadlock | None, tuple[Fault, ...]]":
    """Run until everything is delivered, a deadlock is proved, or the time is up.

    After a detected error, worms on the wire may differ from the sent ones, so deadlocks are not proved. The outcome is
    ``error`` if an error was detected and a message does not arrive in time, or if a host received a wrong flit.

    Returns
    -------
    (str, Deadlock or None, tuple of Fault)
        Outcome, deadlock and faults of a `Run`.
    """
    configuration = engine.network.configuration
    # also without a deadlock, an interface holds a packet for t_ns or t_nr cycles, and its host moves no flit
    host, patience = engine.host, PATIENCE + configuration.t_ns + configuration.t_nr
    while True:
        now, step = int(host.counters[NOW]), min(CHUNK, patience)
        # while no worm is under way, nothing changes before the next event
        engine.run(min(max(1, (engine.next_event() - now) // step) * step, timeout - now))
        faults = find_faults(engine)
        require_tokens(engine)
        check_receipts(host, faults=bool(faults))
        if host.counters[UNDELIVERED] == 0:
            return "error" if any(fault.receipt for fault in faults) else "delivered", None, faults
        now = int(host.counters[NOW])
        waiting = (host.injected >= 0) & (host.left > 0)
        aged = (waiting & (now - host.touched > patience)).any()
        if aged or now >= timeout:
            from ..engines.deadlock import find_deadlock  # imported here, because most runs do not need the module

            deadlock = None if faults else find_deadlock(engine)
            if deadlock:
                return "deadlock", deadlock, faults
            patience *= 2
        if now >= timeout:
            return "error" if faults else "stalled", None, faults
