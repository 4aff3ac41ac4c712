"""Verilog of a link between two clocks: linted, constrained, and run in Verilator with clocks without relation."""

import re

import pytest
from cases import slow
from verilated import compile_at_once

from tools.bench.verilator import run, translate
from wormcast.algorithms import WormcastError
from wormcast.sim.build.host_port import HostPort
from wormcast.sim.export.verilog import CROSSING, export

from .cases import blueprint
from .test_lint import slang_says, unexpected, verilator_warnings, yosys_says

#: Clocks of two periods, and a reset of both sides at the start and in the middle.
MAIN = """
#include "Vbench.h"
#include "verilated.h"
int main(int count, char** words) {{
    VerilatedContext context;
    context.commandArgs(count, words);
    Vbench bench(&context, "bench");
    const int up = atoi(words[1]), down = atoi(words[2]);
    for (long long time = 0; time < 40000; ++time) {{
        bench.reset = time < 300 || (time > 20000 && time < 20300);
        bench.up = time / up & 1;
        bench.down = (time + 3) / down & 1;
        bench.eval();
    }}
    bench.final();
    return 0;
}}
"""

#: A sender with a counter for each virtual channel, and a receiver that expects its numbers and returns credits late.
BENCH = """
module bench(input up, input down, input reset);
  reg [1:0] up_sync, down_sync;
  wire up_rst = up_sync[1], down_rst = down_sync[1];
  always @(posedge up or posedge reset) if (reset) up_sync <= 2'b11; else up_sync <= {up_sync[0], 1'b0};
  always @(posedge down or posedge reset) if (reset) down_sync <= 2'b11; else down_sync <= {down_sync[0], 1'b0};
  reg valid, vc, side;
  reg [9:0] flit;
  wire [1:0] credit;
  reg [1:0] returned;
  wire out_valid, out_vc, overflow;
  wire [9:0] out_flit;
  cdc dut(.upstream_clk(up), .upstream_rst(up_rst), .downstream_clk(down), .downstream_rst(down_rst),
    .upstream_valid(valid), .upstream_vc(vc), .upstream_flit(flit), .upstream_credit(credit),
    .downstream_valid(out_valid), .downstream_vc(out_vc), .downstream_flit(out_flit), .downstream_credit(returned),
    .overflow(overflow));
  reg [9:0] next [0:1], expected [0:1];
  integer room [0:1], owed [0:1], received [0:1], wait_up, wrong, v;
  initial begin received[0] = 0; received[1] = 0; wrong = 0; end
  always @(posedge up or posedge up_rst) if (up_rst) begin
    valid <= 0; wait_up <= 60; side <= 0;
    for (v = 0; v < 2; v = v + 1) begin next[v] <= v * 512; room[v] <= DEPTH; end
  end else begin
    if (wait_up > 0) wait_up <= wait_up - 1;
    valid <= wait_up == 0 && room[side] + credit[side] > 0;
    vc <= side; flit <= next[side]; side <= ~side;
    for (v = 0; v < 2; v = v + 1) room[v] <= room[v] + credit[v]
      - (wait_up == 0 && v == side && room[side] + credit[side] > 0);
    if (wait_up == 0 && room[side] + credit[side] > 0) next[side] <= next[side] + 1;
    if (overflow) wrong = wrong + 1;
  end
  always @(posedge down or posedge down_rst) if (down_rst) begin
    returned <= 0;
    for (v = 0; v < 2; v = v + 1) begin expected[v] <= v * 512; owed[v] <= 0; end
  end else begin
    if (out_valid) begin
      received[out_vc] = received[out_vc] + 1;
      expected[out_vc] <= expected[out_vc] + 1;
      if (out_flit != expected[out_vc]) wrong = wrong + 1;
    end
    for (v = 0; v < 2; v = v + 1) begin
      returned[v] <= owed[v] > 0 && $urandom_range(1) == 0;
      owed[v] <= owed[v] + (out_valid && out_vc == v) - (returned[v] ? 1 : 0);
      if (owed[v] - (returned[v] ? 1 : 0) <= 0) returned[v] <= 0;
    end
  end
  final $display("received %0d %0d wrong %0d", received[0], received[1], wrong);
endmodule
"""


@pytest.fixture(scope="module")
def made():
    return export(blueprint("mesh:2x2", vcs=2, buffer=12, flit_width=8), CROSSING, module="cdc", reset="async",
                  command="this one")


def test_linters_report_nothing(made, tmp_path):
    file = tmp_path / "cdc.v"
    file.write_text(made.verilog)
    assert unexpected(verilator_warnings(file)) == []
    assert (yosys_says(file), slang_says(file)) == ([], [])


def test_both_clocks_and_resets_are_documented_and_constrained(made):
    names = re.search(r"^module cdc\((.*?)\);", made.verilog, re.MULTILINE)[1].split(", ")
    for side in ("upstream", "downstream"):
        for name in (f"{side}_clk", f"{side}_rst"):
            assert name in names
            assert f"| `{name}` | in | 1 |" in made.document
            assert f"[get_ports {name}]" in made.sdc
    assert "set_max_delay -from [get_clocks upstream_clk] -to [get_clocks downstream_clk]" in made.sdc
    assert "module cdc_memory_11x32_latency1_2clk(clk, write_en, write_addr, write_data, read_clk, " in made.verilog


@pytest.fixture(scope="module")
def program(made, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crossing")
    (folder / "bench.sv").write_text(BENCH.replace("DEPTH", "12") + made.verilog)
    compile_at_once(folder, MAIN.format(), translate(folder, "bench", "bench.sv"))
    return folder


@pytest.mark.parametrize("halves", [(5, 7), (11, 3), (4, 4), slow((7, 29))], ids=str)
def test_flits_and_credits_pass_between_clocks_without_relation(program, halves):
    """Half periods of the clocks. Each number arrives once, in the order of its virtual channel, before and after a
    reset of both sides; and credits come back: more flits arrive than the buffers have room for."""
    said = run(program, "./bench", *map(str, halves))
    *received, wrong = map(int, re.search(r"received (\d+) (\d+) wrong (\d+)", said).groups())
    assert wrong == 0
    assert min(received) > 0.15 * 40000 / (2 * max(halves)) > 4 * 12


@pytest.mark.parametrize(("given", "sentence"), [
    ({"reset": "sync"}, "reset: sync is not valid with clock-crossing: each side resets registers of the other one."),
    ({"port": "east"}, "port: east is not valid with clock-crossing. Allowed: with router and its parts."),
    ({"host_port": HostPort(host="axis")}, "host: axis is not valid with clock-crossing. Allowed: with network, inter"),
])
def test_options_of_other_components_are_refused(given, sentence):
    with pytest.raises(WormcastError, match=re.escape(sentence)):
        export(blueprint("mesh:2x2"), CROSSING, **{"reset": "async", "command": ""} | given)
