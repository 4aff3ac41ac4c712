"""Reference engine: Amaranth's own simulator for the whole network, with every signal in the waveform."""

import contextlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.hdl import ClockDomain, Module
from amaranth.lib import wiring
from amaranth.sim import Simulator

from wormcast.hw.bundles import by_name

from ..build.network import HOST, Network
from ..host import NOW, UNDELIVERED, Host, host_step, link_data, needed
from ..lowering.elaboration import make_simulator
from ..lowering.names import signal_parts
from .event_counters import COUNTED, Events, events_of

__all__ = ["AmaranthEngine", "compose"]


def compose(network: Network) -> tuple[Module, dict[str, list[wiring.Component]]]:
    """Return the network as one module, and its components by kind; links to and from hosts stay unconnected."""
    module = Module()
    components: dict[str, list[wiring.Component]] = {}
    ports: dict[str, list[dict]] = {}  # ports of each component, by port name
    for kind in network.kinds.values():
        components[kind.name], ports[kind.name] = [], []
        for index, name in enumerate(kind.instances):
            component = kind.build()
            components[kind.name].append(component)
            module.submodules[name] = component
            own = by_name(component)
            ports[kind.name].append(own)
            module.d.comb += [own[strap].eq(int(values[index])) for strap, values in kind.straps.items()]
    for (near, first), (far, second) in pairwise(network.chain):
        module.d.comb += components[far][second].tables_in.eq(components[near][first].tables_out)
    for join in network.joins:
        if HOST in (join.from_kind, join.to_kind):
            continue
        for start, end in zip(join.from_instances, join.to_instances, strict=True):
            wiring.connect(
                module,
                ports[join.from_kind][start][join.from_port],
                ports[join.to_kind][end][join.to_port],
            )
    return module, components


class AmaranthEngine:
    """Engine in Amaranth's simulator: slow, for networks up to about 3x3.

    Parameters
    ----------
    network : Network
    host : Host
        Program of the hosts to run, which also stores the results.
    vcd : Path, optional
        Waveform file for every signal.
    observe : callable, optional
        Called in every cycle with two arguments, the cycle's number and a function. This function returns the word
        (valid, virtual channel, flit) that a link port drives, given (kind, instance, port). Only tests use
        ``observe``.
    events : bool
        Count events in routers and interfaces.

    Attributes
    ----------
    events : Events or None
        Events of the last `run`.
    """

    def __init__(self, network: Network, host: Host, *, vcd: Path | None = None, observe=None, events: bool = False):
        self.events = Events.none(network) if events else None
        self.network = network
        self.host = host
        self.vcd = vcd
        self.observe = observe
        network_module, self.components = compose(network)
        self.module = Module()
        self._domain = ClockDomain("sync")
        if network.chain:  # in a network without tables, the simulator creates the clock domain itself
            self.module.domains.sync = self._domain
        self.module.submodules.network = network_module

    def run(self, cycles: int, *, beyond: bool = False) -> None:
        """Run from reset up to cycle ``cycles``; without ``beyond``, stop earlier if everything is delivered."""
        simulator = make_simulator(self.module)
        simulator.add_clock(1e-9)
        terms, counts = self._event_terms(simulator) if self.events is not None else ([], {})

        def count(context) -> None:
            for values, instance, row, flits, signals in terms:
                if all(context.get(signal) for signal in signals):
                    values[row, instance] += flits

        async def drive(context):
            await self._drive(context, cycles, beyond, count)

        simulator.add_testbench(drive)
        with contextlib.nullcontext() if self.vcd is None else simulator.write_vcd(str(self.vcd)):
            simulator.run()
        if self.events is not None:
            self.events = Events.of(self.network, counts)

    def _event_terms(self, simulator: Simulator) -> tuple[list[tuple[Any, ...]], dict[str, Any]]:
        """Return, for each event of each instance: counters of its kind, column (instance) and row of the counters,
        flits that an event counts for, signals that show the event.

        The counters of each kind, int64 [events, instances], are also returned by kind.
        """
        found = signal_parts(simulator)
        counts = {name: np.zeros((len(COUNTED), len(kind.instances)), np.int64)
                  for name, kind in self.network.kinds.items()}
        return [(counts[name], k, COUNTED.index(event.name), event.flits,
                 [found[f"network.{instance}.{signal}"] for signal in event.signals])
                for name, kind in self.network.kinds.items() for event in events_of(self.network, name)
                for k, instance in enumerate(kind.instances)], counts

    async def _write_tables(self, context) -> None:
        """Fill the routers' tables over their bus, then reset the network for cycle 0. The reset keeps the tables."""
        kind, instance = self.network.chain[0]
        bus = self.components[kind][instance].tables_in
        for entry in self.network.table_writes():
            context.set(bus, entry)
            await context.tick()
        context.set(bus, {})
        for _ in self.network.chain:
            await context.tick()
        context.set(self._domain.rst, 1)
        await context.tick()
        context.set(self._domain.rst, 0)

    async def _drive(self, context, cycles: int, beyond: bool, count) -> None:
        if self.network.chain:
            await self._write_tables(context)
        host, nodes = self.host, self.network.hosts
        parts = host.header.shape[1]
        fed, links = self.network.fed, self.network.links
        ports = len(fed)
        rx, rx_credit = (np.zeros((links, nodes), np.uint64) for _ in range(2))
        tx, tx_credit = (np.zeros((ports, nodes), np.uint64) for _ in range(2))
        rx_data, tx_data = (np.zeros((count, parts, nodes), np.uint64) for count in (links, ports))
        interfaces = [by_name(one) for one in self.components["interface"]]
        into = [(p, n, one[name]) for p, name in enumerate(fed) for n, one in enumerate(interfaces)]
        out_of = [(c, n, one[f"host_out_{c}"]) for c in range(links) for n, one in enumerate(interfaces)]

        def word(link) -> int:
            vc_bits = len(link.vc)
            vc = context.get(link.vc) if vc_bits else 0
            return context.get(link.valid) | vc << 1 | context.get(link.flit.as_value()) << 1 + vc_bits

        step = host_step.prepared(host, rx, link_data(rx_data), tx_credit, tx, link_data(tx_data), rx_credit,
                                  np.empty(nodes + 1, np.int64), **needed(host))

        def look(kind: str, instance: int, port: str) -> int:
            return word(getattr(self.components[kind][instance], port))

        while host.counters[NOW] < cycles and (beyond or host.counters[UNDELIVERED] > 0):
            if self.observe is not None:
                self.observe(int(host.counters[NOW]), look)
            count(context)
            for port, node, link in into:
                tx_credit[port, node] = context.get(link.credit)
            for index, node, link in out_of:
                vc_bits = len(link.vc)
                channel = context.get(link.vc) if vc_bits else 0
                flit = context.get(link.flit)
                rx[index, node] = context.get(link.valid) | channel << 1 | (flit.head | flit.tail << 1) << 1 + vc_bits
                for part in range(parts):
                    rx_data[index, part, node] = flit.data >> 64 * part & 0xFFFF_FFFF_FFFF_FFFF
            step()
            await context.tick()
            for port, node, link in into:
                marks = int(tx[port, node])
                data = sum(int(tx_data[port, part, node]) << 64 * part for part in range(parts))
                context.set(link.valid, marks & 1)
                context.set(link.flit, {"head": marks >> 1 & 1, "tail": marks >> 2 & 1, "data": data})
            for index, node, link in out_of:
                context.set(link.credit, int(rx_credit[index, node]))
