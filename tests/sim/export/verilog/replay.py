"""Plumbing of the replay tests: what Amaranth's simulator was given and answered, once more in Verilog.

Stimuli go to files, a line a cycle; a module in Verilog reads them, and writes what the components answer.
"""

import random
from dataclasses import dataclass, field

from amaranth.hdl import ClockDomain, Module
from verilated import compile_at_once

from tools.bench.verilator import run, translate
from wormcast.hw.deep.chunk_buffer import ChunkBuffer
from wormcast.hw.deep.input_unit import DeepInput
from wormcast.hw.interface.smart import ChildTable, Forwarding, RowAdmission
from wormcast.sim.export.verilog import component_verilog, has_clock, ports
from wormcast.sim.host.row_requests import GIVE_BACK
from wormcast.sim.lowering.elaboration import make_simulator

from ....hw.smart import release, request

#: Clocks the module below; Verilator's own main programs ask for more of the compiler.
MAIN = """
#include "Vreplay.h"
#include "verilated.h"
int main() {{
    VerilatedContext context;
    {start}
    Vreplay replay(&context, "replay");
    for (int cycle = 0; cycle < {cycles}; ++cycle) {{
        replay.clk = 0; replay.eval();
        replay.clk = 1; replay.eval();
    }}
    replay.final();
    return 0;
}}
"""

ONE = """
  reg [{inputs}:0] {name}_given [0:{last}];
  wire [{inputs}:0] {name}_now = {name}_given[at];
  wire [{outputs}:0] {name}_out;
  integer {name}_file;
  initial begin
    $readmemh("{name}.given", {name}_given);
    {name}_file = $fopen("{name}.answered", "w");
  end
  {name} {name}_dut({pins});
  always @(posedge clk) if (at <= {last}) $fwrite({name}_file, "%h\\n", {name}_out);
"""


@dataclass
class Recording:
    """Words of a component in each cycle: one of all inputs with ``rst`` as the highest bit, one of all outputs."""

    component: object
    given: list = field(default_factory=list)
    answered: list = field(default_factory=list)

    @property
    def widths(self):
        found = list(ports(self.component))
        return tuple(sum(port.width for port in found if port.inward is inward) for inward in (True, False))

    def agrees(self, answers):
        """Return whether the Verilog has the same outputs.

        The ``row`` of a deep buffer is compared only in the cycle after its fetch: in other cycles it is the word that
        the memory, which has no reset, read last.
        """
        if not isinstance(self.component, ChunkBuffer | DeepInput):
            return answers == self.answered
        (fetch, _), (at, width) = self._places(inward=True)["fetch"], self._places(inward=False)["row"]
        unread = ~(((1 << width) - 1) << at)
        masks = [-1 if before >> fetch & 1 and not before >> self.widths[0] else unread for before in [0, *self.given]]
        return len(answers) == len(self.answered) and all(
            (one ^ other) & mask == 0 for one, other, mask in zip(answers, self.answered, masks[:-1], strict=True))

    def _places(self, *, inward):
        """First bit and width of each input or output in a whole number, by port."""
        found, at = {}, 0
        for port in ports(self.component):
            if port.inward is inward:
                found[port.name] = at, port.width
                at += port.width
        return found

    def toggled(self, without=()):
        """Share of the bits of the outputs that were seen both at 0 and at 1, except those of some ports."""
        low = high = 0
        for value in self.answered:
            low, high = low | ~value, high | value
        counted = sum((1 << width) - 1 << at for name, (at, width) in self._places(inward=False).items()
                      if name not in without)
        return (low & high & counted).bit_count() / counted.bit_count()


def record(component, cycles, stimulus):
    """Run in Amaranth's simulator. ``stimulus(cycle, get)`` gives the inputs by name, and ``rst``; what is not given
    stays; ``get(name)`` is an output as it is before them."""
    recording = Recording(component)
    inputs = [port for port in ports(component) if port.inward]
    outputs = [port for port in ports(component) if not port.inward]
    values = {port.name: port.value for port in outputs}
    m = Module()
    m.domains.sync = domain = ClockDomain()
    m.submodules.dut = component

    async def testbench(context):
        now = {port.name: 0 for port in inputs} | {"rst": 0}
        for cycle in range(cycles):
            now |= stimulus(cycle, lambda name: context.get(values[name]))
            for port in inputs:
                context.set(port.value, now[port.name])
            context.set(domain.rst, now["rst"])
            recording.given.append(_packed(inputs, now.__getitem__) | now["rst"] << recording.widths[0])
            recording.answered.append(_packed(outputs, lambda name: context.get(values[name])))
            await context.tick()

    simulator = make_simulator(m)
    simulator.add_clock(1e-9)
    simulator.add_testbench(testbench)
    simulator.run()
    return recording


def _packed(found, value):
    packed = at = 0
    for port in found:
        packed |= value(port.name) << at
        at += port.width
    return packed


def replay(recordings, folder, *, verilog=(), seed=None):
    """Answers of the exported Verilog to the same stimuli, by name: lists of numbers, a cycle each.

    ``verilog`` has other text for some of them. With ``seed``, registers without a value at power-up have random ones.
    """
    parts, modules = [], []
    for name, recording in recordings.items():
        text = verilog[name] if name in verilog else component_verilog(recording.component, name)[0]
        modules.append(text)
        parts.append(_instance(name, recording, clocked=has_clock(text)))
        (folder / f"{name}.given").write_text("".join(f"{value:x}\n" for value in recording.given))
    body = "".join(["module replay(input clk);\n  integer at = 0;\n", *parts,
                    "  always @(posedge clk) at <= at + 1;\nendmodule\n"])
    (folder / "replay.v").write_text("\n".join([body, *modules]))
    random = () if seed is None else ("--x-initial", "unique")
    start = "" if seed is None else f"context.randReset(2); context.randSeed({seed});"
    made = translate(folder, "replay", *random, "replay.v")
    cycles = max(len(recording.given) for recording in recordings.values())
    compile_at_once(folder, MAIN.format(cycles=cycles, start=start), made)
    run(folder, "./bench")
    return {name: [int(line, 16) for line in (folder / f"{name}.answered").read_text().split()] for name in recordings}


def _instance(name, recording, *, clocked):
    widths = recording.widths
    pins = [".clk(clk)", f".rst({name}_now[{widths[0]}])"] if clocked else []
    at = {True: 0, False: 0}
    for port in ports(recording.component):
        first = at[port.inward]
        at[port.inward] += port.width
        bus = "now" if port.inward else "out"
        pins.append(f".{port.name}({name}_{bus}[{at[port.inward] - 1}:{first}])")
    return ONE.format(name=name, inputs=widths[0], outputs=widths[1] - 1, last=len(recording.given) - 1,
                      pins=", ".join(pins))


class Stimulus:
    """Random inputs that get through to what lies behind: worms and honest credits on links, seldom something else.

    How busy everything is changes every few cycles: next to nothing, half, every cycle. Straps are those of a node.
    """

    def __init__(self, component, blueprint, seed, *, fixed=None):
        self.random = random.Random(seed)
        self.inputs = [port for port in ports(component) if port.inward]
        self.outputs = {port.name: port for port in ports(component) if not port.inward}
        self.header = blueprint.header
        self.nodes = blueprint.topology.nodes
        self.fixed = fixed or {}
        # links: bundles with flits one way and credits the other way
        back = {port.bundle for port in self.inputs if port.path[-1] == "credit"}
        self.receivers = {port.bundle: port for port in self.inputs
                          if port.path[-1] == "flit" and f"{port.bundle}_credit" in self.outputs}
        self.senders = {port.bundle: port for port in self.outputs.values()
                        if port.path[-1] == "flit" and port.bundle in back}
        self.depth = blueprint.configuration.buffer
        self.rows = blueprint.configuration.rows if blueprint.configuration.smart else 0
        self.counts_packets = blueprint.configuration.counts_packets
        self.requests = blueprint.configuration.admission == "messages"
        self.component = component
        self.tables = isinstance(component, ChildTable | Forwarding | RowAdmission)
        self.restart()

    def restart(self):
        """Begin anew, as after a reset."""
        self.worms = {}
        self.sent = {}
        self.owed = {}
        self.consumed = []

    def __call__(self, cycle, get):
        if cycle % 32 == 0:
            self.busy = self.random.choice((0.05, 0.5, 0.5, 1.0))
        reset = cycle > 0 and self.random.random() < 0.01
        values = {"rst": int(reset)}
        if reset:
            self.restart()
        for link in self.receivers:
            values |= self._send(link, get)
        for link in self.senders:
            values |= self._take(link, get)
        for port in self.inputs:
            if port.bundle not in (*self.receivers, *self.senders):
                on = self.random.random() < self.busy
                values[port.name] = self.fixed.get(port.name, self._other(port, get) if on else 0)
        if isinstance(self.component, RowAdmission) and values["consumed"]:
            if not self.consumed:
                self.consumed = [flit & ~1 for flit in self._control()]
                self.consumed[-1] |= self.random.random() < 0.1  # cut off
            # seldom while the channel is closed
            values["consumed"] = int(get("closed") == 0 or self.random.random() < 0.1)
            values["control"] = int(self.random.random() < 0.98)
            if values["consumed"] and values["control"]:
                values["consumed_flit"] = self.consumed.pop(0)
        return values

    def _other(self, port, get):
        """A value of an input that belongs to no link: what leads on, where few of all values do."""
        bits = self.random.getrandbits(port.width)
        if isinstance(self.component, ChunkBuffer) and port.name == "fetch_row":
            # a row that was written lately: of the others most are empty
            return max(get("write_row") - self.random.randint(0, 3), 0)
        if isinstance(self.component, Forwarding) and port.name.endswith("_flit"):
            # packets of several flits; a first payload flit's low 8 bits are a row of the table
            for mask, share in ((2, 0.9), ((0xFF & -self.rows) << 2, 0.9)):
                bits &= ~mask if self.random.random() < share else -1
        return bits

    def _send(self, link, get):
        """A flit on a link, as credits allow; the worms of its virtual channels one after the other."""
        credit = get(f"{link}_credit")
        vcs = self.outputs[f"{link}_credit"].width
        table = self.tables or link == "table_in"
        for v in range(vcs):
            self.sent[link, v] = 0 if self.requests and table else self.sent.get((link, v), 0) - (credit >> v & 1)
        values = {f"{link}_valid": 0}
        vc = self.random.randrange(vcs)
        allowed = self.sent[link, vc] < self.depth or self.random.random() < 0.02
        if self.random.random() < self.busy and allowed:
            queue = self.worms.setdefault((link, vc), [])
            if not queue:
                queue += self._row() if table else self._worm()
            values |= {f"{link}_valid": 1, f"{link}_flit": queue.pop(0)}
            self.sent[link, vc] += 1
            if vcs > 1:
                values[f"{link}_vc"] = vc
        return values

    def _row(self):
        """Flits that write a row of a child table: its number, the children's headers, each with a tail at its end."""
        flits = [1 | self.random.randrange(self.rows) << 2]
        if self.requests and self.random.random() < 0.4:  # give the row back
            return [flits[0] | 2 | GIVE_BACK << 2]
        if self.counts_packets or self.requests:
            flits.append(self.random.getrandbits(8) << 2)
        for _ in range(self.random.randint(1, 3)):
            header = [data << 2 for data in self.header.encode([self.random.randrange(self.nodes)])]
            flits += [*header[:-1], header[-1] | 2]
        flits[-1] |= 3
        if self.random.random() < 0.05:
            flits[self.random.randrange(len(flits))] ^= self.random.getrandbits(6)
        return flits

    def _control(self):
        """Payload of a request or a release."""
        width, pick = self.header.flit_width, self.random.randrange
        row, source, number = pick(self.rows), pick(2), pick(2)
        if pick(2):
            data = release(row, source, number, width)
        else:
            children = [self.header.encode([pick(self.nodes)]) for _ in range(pick(3))]
            data = request(row, source, number, packets=1 + pick(3), label=self.random.getrandbits(16),
                           header=self.header.encode([pick(self.nodes)]), children=children, width=width)
        return [(k == len(data) - 1) << 1 | flit << 2 for k, flit in enumerate(data)]

    def _worm(self):
        width = self.header.flit_width
        stops = 1 if type(self.header).__name__ == "Unicast" else self.random.randint(1, 3)
        nodes = self.random.sample(range(self.nodes), stops)
        relation = [self.random.randrange(self.header.relations)] if self.header.relations > 1 else []
        flits = [1 | data << 2 for data in self.header.encode(nodes, *relation)]
        length = self.random.randint(1, 6)
        if self.requests and self.random.random() < 0.5:
            flits += self._control()
        else:
            flits += [(k == length - 1) << 1 | self.random.getrandbits(width) << 2 for k in range(length)]
        if self.random.random() < 0.05:
            flits[self.random.randrange(len(flits))] ^= self.random.getrandbits(4)
        return flits

    def _take(self, link, get):
        """Credits for what has come, each in its time."""
        vcs = next(port.width for port in self.inputs if port.name == f"{link}_credit")
        if get(f"{link}_valid"):
            vc = get(f"{link}_vc") if vcs > 1 else 0
            self.owed[link, vc] = self.owed.get((link, vc), 0) + 1
        credit = 0
        for v in range(vcs):
            owed = self.owed.get((link, v), 0) > 0
            if self.random.random() < (max(self.busy, 0.3) if owed else 0.0005):
                credit |= 1 << v
                self.owed[link, v] = self.owed.get((link, v), 0) - owed
        return {f"{link}_credit": credit}
