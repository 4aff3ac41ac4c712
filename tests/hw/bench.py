# amaranth: UnusedElaboratable=no
"""Plumbing of the hardware tests: run a component in Amaranth's simulator with a Python function a cycle."""

from functools import lru_cache

from amaranth.hdl import Module

from wormcast.algorithms import ConsumptionClasses
from wormcast.algorithms.headers import AddressList, Unicast
from wormcast.hw import PortSpec, Switch
from wormcast.hw.decoders import MeshDecoder, TableDecoder
from wormcast.hw.router_kind import switch_kinds
from wormcast.sim.lowering.elaboration import make_simulator

UP_DOWN = ConsumptionClasses((("up",), ("down",)))


def simulate(component, cycles, step, before=()):
    """Call ``step(cycle, context)`` in each cycle, from 0 to ``cycles`` - 1. It reads outputs, then sets the next
    inputs.

    Each function in ``before`` sets inputs for a cycle before cycle 0.
    """

    async def testbench(context):
        for prepare in before:
            prepare(context)
            await context.tick()
        for cycle in range(cycles):
            step(cycle, context)
            await context.tick()

    simulator, running = _simulator(component)
    if running:
        simulator.reset()
    running[:] = [testbench]
    try:
        simulator.run()
    except BaseException:
        _simulator.cache_clear()  # a simulation that was broken off cannot be reset
        raise


@lru_cache(maxsize=16)
def _simulator(component):
    """A component's simulator, which is reset before each further use, and the list with its testbench."""
    running = []

    async def testbench(context):
        await running[0](context)

    simulator = make_simulator(component)
    simulator.add_clock(1e-9)
    simulator.add_testbench(testbench)
    return simulator, running


@lru_cache(maxsize=16)
def built(component, /, *args, **options):
    """A component, the same one for the same parameters."""
    return component(*args, **options)


def settle(build, cases):
    """Build a combinational module around ``build(m) -> (inputs, outputs)``; return the outputs of each case."""
    m = Module()
    inputs, outputs = build(m)
    results = []

    async def testbench(context):
        for case in cases:
            for signal, value in zip(inputs, case, strict=True):
                context.set(signal, value)
            results.append(tuple(context.get(signal) for signal in outputs))

    simulator = make_simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()
    return results


@lru_cache(maxsize=16)
def mesh_switch(
    shape, *, width=32, vcs=1, depth=4, consumption=2, relations=("hamiltonian",), multicast=True,
    injection="one", classes=UP_DOWN, table=False, absorbs=False, **options,
):
    """A mesh router with the same buffers everywhere; with ``table`` its straps say what the relation is."""
    header = (AddressList if multicast else Unicast)(shape, width, relations=len(relations))
    decoder: MeshDecoder | TableDecoder
    if table:
        decoder = TableDecoder(header, consumption=classes, multicast=multicast, injection=injection, absorbs=absorbs)
    else:
        decoder = MeshDecoder(header, relations=relations, consumption=classes, multicast=multicast,
                              injection=injection, absorbs=absorbs)
    inputs = [PortSpec(name, vcs=vcs, depth=depth) for name in decoder.inputs]
    outputs = [PortSpec(name, vcs=vcs, depth=depth) for name in decoder.outputs[:-1]]
    outputs.append(PortSpec("local", vcs=consumption, depth=depth))
    return Switch(inputs=inputs, outputs=outputs, decoder=decoder, width=width, **options)


def straps_of(switch, mesh, relation, node):
    """Values of the straps of one router of a mesh, in the decoder's order."""
    return [column[node] for column in switch.decoder.strap_values(relation.on(mesh), switch_kinds(mesh)[0]).values()]


def injection_port(switch, output):
    """Return the input from the node whose worms can use an output, given by name."""
    return "local" if switch.decoder.injection == "one" else f"local_{output}"


def both_ways(interface, cycles, *, send=(), receive=(), comes=lambda: True, network=lambda cycle: True,
              host=lambda cycle: True):
    """Let an interface with a link for each direction send and receive flits (head, tail, data) at the same time.

    Return cycle and data of each flit on the links to the network and to the host, and the flits that were not sent.
    ``comes()``: the network sends a flit if it has a credit. ``network``, ``host``: their ends return an owed credit.
    """
    ports = interface
    sides = [(list(send), ports.host_in_0, lambda: True), (list(receive), ports.network_in_0, comes)]
    room = [interface.injections[0].queue, interface.consumptions[0].port.depth]
    ends, owed = [(ports.network_out_0, network, []), (ports.host_out_0, host, [])], [0, 0]

    def step(cycle, context):
        for k, (link, returns, seen) in enumerate(ends):
            if context.get(link.valid):
                seen.append((cycle, int(context.get(link.flit).data)))
                owed[k] += 1
            credit = owed[k] > 0 and returns(cycle)
            owed[k] -= credit
            context.set(link.credit, credit)
        for k, (flits, link, goes) in enumerate(sides):
            room[k] += context.get(link.credit)
            valid = bool(flits) and room[k] > 0 and goes()
            context.set(link.valid, valid)
            if valid:
                room[k] -= 1
                context.set(link.flit, dict(zip(("head", "tail", "data"), flits.pop(0), strict=True)))

    simulate(interface, cycles, step)
    return ends[0][2], ends[1][2], sides[0][0]


def cut(flits):
    """Cut flits (head, tail, data) behind each tail."""
    worms, worm = [], []
    for flit in flits:
        worm.append(flit)
        if flit[1]:
            worms.append(worm)
            worm = []
    return [*worms, worm] if worm else worms


class Driver:
    """Drives one switch's links: sends a list of (first cycle, port, vc, flits), and records each flit that leaves.

    The neighbours return each credit this number of cycles after the flit (0: in the flit's cycle), or never (None).
    Tables are written before the first cycle.
    """

    def __init__(self, switch, coordinates, *, credit_after=1, writes=()):
        self.switch = switch
        self.coordinates = coordinates
        self.credit_after = credit_after
        self.writes = writes
        self.queues = {port: [] for port in switch.decoder.inputs}
        self.room = {port.name: [port.depth] * port.vcs for port in switch.inputs}
        self.seen = []
        self.credits = []
        self.false_credits = {}
        self.fault = None

    def send(self, cycle, port, flits, vc=0):
        """Put flits (head, tail, data) on a link, the first not before ``cycle``, as credits allow."""
        self.queues[port] += [(cycle, vc, flit) for flit in flits]

    def _written(self):
        """Put each of ``writes``, (hops, input, address, entry), on the bus of the tables."""
        for hops, port, address, entry in self.writes:
            word = {"write": 1, "hops": hops, "input": port, "address": address, "entry": entry}
            yield lambda context, word=word: context.set(self.switch.tables_in, word)
        if self.writes:
            yield lambda context: context.set(self.switch.tables_in, {"write": 0})

    def worms(self, port):
        """Return the worms sent by an output port, or by all consumption links: one virtual channel after the other."""
        names = self.switch.consumption_ports if port == "local" else (port,)
        by_channel = {}
        for _, out, vc, *flit in self.seen:
            if out in names:
                by_channel.setdefault((out, vc), []).append(tuple(flit))
        return [worm for _, flits in sorted(by_channel.items()) for worm in cut(flits)]

    def run(self, cycles):
        """Run; ``seen`` has (cycle, output, vc, head, tail, data), ``credits`` (cycle, input, vc)."""
        links = [*self.switch.decoder.outputs[:self.switch.ejection], *self.switch.consumption_ports]
        owed = {}

        def step(cycle, context):
            for name, value in zip(self.switch.decoder.straps, self.coordinates, strict=True):
                context.set(getattr(self.switch, f"strap_{name}"), value)
            for port in links:
                out = getattr(self.switch, f"{port}_out")
                if context.get(out.valid):
                    vc, flit = context.get(out.vc), context.get(out.flit)
                    self.seen.append((cycle, port, vc, flit.head, flit.tail, flit.data))
                    if self.credit_after is not None:
                        owed.setdefault((cycle + self.credit_after, port), []).append(vc)
                credit = sum(1 << vc for vc in owed.get((cycle, port), ())) | self.false_credits.get((cycle, port), 0)
                context.set(out.credit, credit)
            for port in self.switch.decoder.inputs:
                into = getattr(self.switch, f"{port}_in")
                # a credit seen in this cycle can be spent on the link in the cycle after the next, as by a switch
                room, queue = self.room[port], self.queues[port]
                ready = queue and queue[0][0] <= cycle and room[queue[0][1]] > 0
                for vc in range(len(into.credit)):
                    if context.get(into.credit) >> vc & 1:
                        self.credits.append((cycle, port, vc))
                        room[vc] += 1
                context.set(into.valid, bool(ready))
                if ready:
                    _, vc, (head, tail, data) = queue.pop(0)
                    room[vc] -= 1
                    context.set(into.vc, vc)
                    context.set(into.flit, {"head": head, "tail": tail, "data": data})

            fault = context.get(self.switch.fault)
            self.fault = fault.cause.name, fault.port, fault.vc

        simulate(self.switch, cycles, step, self._written())
        return self


def worm(header, payload):
    """Return the flits of a worm: header flits, then ``payload`` payload flits numbered from 100."""
    return [(1, 0, data) for data in header] + [(0, k == payload - 1, 100 + k) for k in range(payload)]
