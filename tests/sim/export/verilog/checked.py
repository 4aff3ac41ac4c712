"""Networks under traffic of their hosts, in Verilator, with the checkers of their links bound to them."""

import random
import re
from dataclasses import dataclass
from typing import NamedTuple

from verilated import compile_at_once

from tools.bench.verilator import run, translate
from wormcast.algorithms.multicast_plan import plan
from wormcast.hw.interface import HOST_DEPTH
from wormcast.sim.build.network import Network
from wormcast.sim.export.verilog import NETWORK, export, ports
from wormcast_tb import make_worm

__all__ = ["Fault", "Program", "Traffic", "traffic"]

CYCLES = 1500

#: A failed assertion is printed, and the simulation goes on.
MAIN = """
#include "Vbench.h"
#include "verilated.h"
int main(int count, char** words) {{
    VerilatedContext context;
    context.commandArgs(count, words);
    context.errorLimit(1 << 30);
    Vbench bench(&context, "bench");
    for (int cycle = 0; cycle < {cycles}; ++cycle) {{
        bench.clk = 0; bench.eval();
        bench.clk = 1; bench.eval();
    }}
    bench.final();
    return 0;
}}
"""

#: A host's links: it sends flits of a file as credits allow, and returns credits with waits.
HOST = """
module sender #(parameter FILE = "", parameter integer WIDTH = 1, COUNT = 1, DEPTH = 1) (
  input clk, input rst, output reg valid, output reg [WIDTH + 1:0] flit, input credit
);
  reg [WIDTH + 1:0] flits [0:COUNT];
  integer at, held;
  initial $readmemh(FILE, flits);
  always @(posedge clk) if (rst || bench.enable) begin
    valid <= 1'b0;
    if (rst) begin
      at <= 0;
      held <= DEPTH;
    end else if (at < COUNT && held + credit > 0 && $urandom_range(3) != 0) begin
      valid <= 1'b1;
      flit <= flits[at];
      at <= at + 1;
      held <= held + credit - 1;
    end else held <= held + credit;
  end
endmodule
module receiver #(parameter integer VCS = 1) (
  input clk, input rst, input valid, input tail, input [(VCS > 1 ? $clog2(VCS) : 1) - 1:0] vc,
  output reg [VCS - 1:0] credit, output integer tails
);
  integer owed [0:VCS - 1];
  integer v;
  always @(posedge clk) tails <= rst ? 0 : tails + (valid && tail && bench.enable);
  always @(posedge clk) if (rst || bench.enable) for (v = 0; v < VCS; v = v + 1) begin
    credit[v] <= 1'b0;
    if (rst) owed[v] <= 0;
    else if (owed[v] + (valid && vc == v) > 0 && $urandom_range(2) == 0) begin
      credit[v] <= 1'b1;
      owed[v] <= owed[v] + (valid && vc == v) - 1;
    end else owed[v] <= owed[v] + (valid && vc == v);
  end
endmodule
"""


class Fault(NamedTuple):
    """A fault of a link in a network.

    Parameters
    ----------
    pin : str
        Regular expression of the port that has it; of the ports that match, the first one in the network.
    value : str
        What comes to the port in place of the wire ``{}``.
    fails : str
        The assertion that must fail at this link.
    """

    pin: str
    value: str
    fails: str


@dataclass
class Traffic:
    """A network, and what its hosts send.

    Parameters
    ----------
    blueprint : Blueprint
    flits : dict of str to list of Flit
        By the prefix of the host's link.
    copies : int
        Worms that must come to the hosts.
    clock_enable : bool
        Network and hosts stand still in random cycles.
    """

    blueprint: object
    flits: dict
    copies: int
    clock_enable: bool = False

    @property
    def network(self):
        return Network(self.blueprint.topology, self.blueprint.scheme, self.blueprint.configuration)


def traffic(blueprint, worms=40, longest=9):
    """Worms of random multicasts, from each source those that it sends at once."""
    rng, topology = random.Random(1), blueprint.topology
    flits, copies = {}, 0
    for _ in range(worms):
        source = rng.randrange(topology.nodes)
        others = [node for node in range(topology.nodes) if node != source]
        most = len(others) if blueprint.header.multicast else 3
        chosen = rng.sample(others, rng.randint(1, min(most, len(others))))
        for worm in plan(topology, blueprint.scheme, source, chosen).worms:
            if worm.after is None:
                copies += len(worm.destinations)
                payload = [rng.getrandbits(blueprint.header.flit_width) for _ in range(rng.randint(1, longest))]
                flits.setdefault(source, []).extend(make_worm(blueprint.header.encode(worm.destinations), payload))
    scope = Network(topology, blueprint.scheme, blueprint.configuration).node_scope
    return Traffic(blueprint, {f"node_{scope(node)}_host_in_0": listed for node, listed in flits.items()}, copies)


class Program:
    """A network with its checkers, compiled.

    Parameters
    ----------
    case : Traffic
    folder : Path
    faults : sequence of Fault
        Faults that a run can have.
    """

    def __init__(self, case, folder, faults=()):
        self.faults, self._folder = list(faults), folder
        made = export(case.blueprint, NETWORK, module="net", clock_enable=case.clock_enable, command="none")
        body = "\n".join([
            "module bench(input clk);", "integer at = 0, fault = 0;",
            'initial if (!$value$plusargs("fault=%d", fault)) fault = 0;', "always @(posedge clk) at <= at + 1;",
            "reg enable = 1'b1;",
            *["always @(posedge clk) enable <= $urandom_range(3) != 0;"] * case.clock_enable,
            *_instance(case, made.tables, folder), "endmodule", HOST,
            _with_faults(made.verilog, self.faults),
            made.checks, made.bind])
        (folder / "bench.sv").write_text(body)
        model = translate(folder, "bench", "bench.sv", "--assert")
        compile_at_once(folder, MAIN.format(cycles=CYCLES), model)

    def run(self, fault=None):
        """Run the network, with a fault or without.

        Returns
        -------
        failed : set of (str, str, str)
            The assertions that failed: instance, checker, assertion.
        delivered : int
            The worms that have come to the hosts.
        """
        number = 0 if fault is None else self.faults.index(fault) + 1
        said = run(self._folder, "./bench", f"+fault={number}")
        [delivered] = re.findall(r"^delivered (\d+)$", said, re.MULTILINE)
        paths = (path.split(".") for path in re.findall(r"Assertion failed in (?:bench\.)+net\.(\S+): ", said))
        return {(path[0], path[1], path[-1]) for path in paths}, int(delivered)


def _with_faults(verilog, faults):
    """The Verilog of a network in which faults are switched on by their numbers."""
    changes = {}
    for number, fault in enumerate(faults, 1):
        pin, wire = re.search(rf"\.({fault.pin})\((router_\w+|interface_\w+)\)", verilog).groups()
        changed = changes.get((pin, wire), wire)
        changes[pin, wire] = f"bench.fault == {number} ? ({fault.value.format(wire)}) : {changed}"
    for (pin, wire), value in changes.items():
        verilog = verilog.replace(f".{pin}({wire})", f".{pin}({value})")
    return verilog


def _instance(case, tables, folder):
    """Lines that put a network between hosts."""
    network = case.network
    pins, lines, tails = [".clk(clk)", ".rst(rst)", *[".enable(enable)"] * case.clock_enable], [], []
    lines.append(f"wire rst = at == {len(tables)};")
    if tables:
        (folder / "tables").write_text("".join(f"{word:x}\n" for word in [*tables, 0]))
        bus = network.blueprint.tables.layout.size
        lines.append(f"reg [{bus - 1}:0] words [0:{len(tables)}]; initial $readmemh(\"tables\", "
                     f"words);")
        pins.append(f".tables_in(at < {len(tables)} ? words[at] : {bus}'d0)")
    component = network.components["interface"]
    widths = {port.name: port.width for port in ports(component)}
    data = widths["host_in_0_flit"]
    depth = {"host_in_0": network.configuration.queue, "table_in": HOST_DEPTH}
    for node in range(network.nodes):
        scope = f"node_{network.node_scope(node)}"
        for link in ("host_in_0", *(["table_in"] if "table_in_valid" in widths else [])):
            prefix = f"{scope}_{link}"
            signal, flits = f"host_{prefix}", case.flits.get(prefix, [])
            (folder / signal).write_text("".join(
                f"{flit.head | flit.tail << 1 | flit.data << 2:x}\n" for flit in flits) + "0\n")
            lines.append(f"wire {signal}_valid, {signal}_credit; wire [{data - 1}:0] {signal}_flit;\n"
                         f"sender #(.FILE(\"{signal}\"), .WIDTH({data - 2}), .COUNT({len(flits)}), "
                         f".DEPTH({depth[link]})) {signal} (clk, rst, {signal}_valid, {signal}_flit, "
                         f"{signal}_credit);")
            pins += [f".{prefix}_{member}({signal}_{member})" for member in ("valid", "flit", "credit")]
        signal, vcs = f"host_{scope}_host_out_0", widths["host_out_0_credit"]
        lines.append(f"wire {signal}_valid; wire [{vcs - 1}:0] {signal}_credit; "
                     f"wire [{max((vcs - 1).bit_length(), 1) - 1}:0] {signal}_vc;\n"
                     f"wire [{data - 1}:0] {signal}_flit; integer {signal}_tails;\n"
                     f"receiver #(.VCS({vcs})) {signal} (clk, rst, {signal}_valid, {signal}_flit[1], "
                     f"{signal}_vc, {signal}_credit, {signal}_tails);")
        tails.append(f"{signal}_tails")
        pins += [f".{scope}_host_out_0_{member}({signal}_{member})"
                 for member in ("valid", "flit", *(["vc"] if vcs > 1 else []), "credit")]
        if vcs == 1:
            lines.append(f"assign {signal}_vc = 1'b0;")
    lines.append(f'always @(posedge clk) if (at == {CYCLES} - 1) $display("delivered %0d", {" + ".join(tails)});')
    return [*lines, f"net net ({', '.join(pins)});"]
