"""Checkers of links: each assertion fails on the error that it names, and on no other."""

import os
import re
import shutil
import subprocess
from typing import NamedTuple

import pytest
from verilated import compile_at_once

from tools.bench.verilator import translate
from wormcast.sim.export.verilog.checkers import CHECKS, KNOWN, RANGE, TEXTS, modules

from .cases import blueprint

#: Flits of 14 bits: three addresses of four bits, bit 12 unused, bit 13 in the last header flit. Node 1.1 has label 4.
BUILT = blueprint("mesh:3x3", flit_width=14)
WIDTH, LAST, OWN = 14, 1 << 13, 0b0101

#: Checkers by name: module, parameters.
LINKS = {
    "needed": ("link", {"VCS": 3, "CREDITS": 2}),
    "chunks": ("link", {"CREDITS": 2, "CHUNK": 3}),
    "none": ("link", {"CREDITS": 8, "HEADERS": 0}),
    "allowed": ("link", {"CREDITS": 8, "HEADERS": 1}),
    "posts": ("link", {"CREDITS": 8, "HEADERS": 3}),
    "any": ("link", {"CREDITS": 8, "HEADERS": 4}),
    "requests": ("link", {"CREDITS": 4, "HEADERS": 5}),
    "enters": ("header", {"VCS": 2, "ORDER": 1, "PLACED": 1}),
    "leaves": ("header", {"VCS": 2, "ORDER": 1, "PLACED": 1, "PASSED": 1}),
    "unplaced": ("header", {"ORDER": 1}),
    "unordered": ("header", {}),
    "report": ("report", {"VCS": 2}),
}


def labels(*listed, last=True):
    """Data of a header flit to the nodes with these labels."""
    nodes = [BUILT.topology.labels.tolist().index(label) for label in listed]
    [flit] = BUILT.header.encode(nodes)
    return flit if last else flit & ~LAST


class Case(NamedTuple):
    """A link, what is on it, and the assertion that must fail.

    ``cycles`` has a word for each cycle: the marks of a flit (H head, T tail, P none, B both, - no flit), its channel,
    after a colon its data; then ``+`` and the mask of ``credit`` or ``arrived``; ``R`` is a reset.
    """

    link: str
    cycles: str
    fails: str | None = None


GOOD = [
    Case("needed", "H0 T0+1 H0 -+1 P0 -+1 T0+1 -+1 H1 H1 -+2 T1+2"),
    # channels interleave, and a reset ends worms and returns credits
    Case("needed", "H0 H1 H2 T0 R H0 H0 -+1 P0 H2+1 T0 T2"),
    # the credit in the flit's own cycle is legal, but no flit spends it
    Case("needed", "H0+1 P0+1 P0+1 T0+1"),
    Case("chunks", "H0 H0 P0 P0 P0 P0 -+1 P0 P0 T0 -+1 -+1 H0 T0 H0 T0"),
    Case("none", "P0 P0 T0 T0 -+1"),
    Case("allowed", "H0 T0 P0 T0 T0"),
    Case("posts", "H0 T0 B0 P0 T0 B0 T0"),
    Case("any", "T0 B0 B0 H0 P0 H0"),
    # refused flits use no credits
    Case("requests", "H0 H0 H0 H0 H0 H0 -+1 H0 -"),
    Case("enters", f"H0:{labels(4, 5, 8):x} T0 H1:{labels(4):x} T1 H0:{labels(3, 1):x} T0"),
    Case("enters", f"H0:{labels(4, 5, 6, last=False):x} H0:{labels(7, 8):x} T0"),
    Case("leaves", f"H0:{labels(5, 8):x} T0 P1 T1 H1:{labels(3, 2, 0):x} P1 T1"),
    Case("unplaced", f"H0:{labels(0, 4, 8):x} T0 H0:{labels(8, 0):x} T0 B0 T0"),
    Case("unordered", f"H0:{labels(4, 8, 0):x} T0"),
    Case("report", "H0:1 T0 -+1 H0:1 H0:0 T0 -+1 H1:0 H1:1 T1 H1:0"),
]

BAD = [
    Case("needed", "H0 H0 H0", "flit_has_credit"),
    Case("needed", "H0 H0 P0+1", "flit_has_credit"),
    Case("chunks", "H0 P0 T0 H0 P0 P0 P0", "flit_has_credit"),
    Case("chunks", "H0 T0 H0 T0 H0", "flit_has_credit"),
    Case("needed", "P1", "begins_with_header"),
    Case("needed", "H0 T0+1 T0", "begins_with_header"),
    Case("posts", "P0", "begins_with_header"),
    Case("none", "H0", "has_no_header"),
    Case("needed", "H0 P0+1 H0", "ends_with_tail"),
    Case("allowed", "P0 H0", "ends_with_tail"),
    Case("posts", "B0 B0", "ends_with_tail"),
    Case("needed", "H0 B0", "is_not_cut_off"),
    Case("posts", "H0 B0", "is_not_cut_off"),
    Case("needed", "-+1", "credit_was_spent"),
    Case("needed", "H0 -+2", "credit_was_spent"),
    Case("requests", "H0 - -+1", "credit_was_spent"),
    Case("chunks", "H0 P0 -+1 P0+1", "credit_was_spent"),
    Case("needed", "H3", "channel_exists"),
    Case("enters", f"H0:{labels(5, 6, 7, last=False):x} T0", "list_is_complete"),
    Case("enters", f"H0:{labels(5):x} H0:{labels(6):x}", "list_has_ended"),
    Case("unordered", "H0:200f", "destination_exists"),
    Case("enters", f"H0:{labels(5, 8, 6):x}", "labels_are_ordered"),
    Case("enters", f"H0:{labels(4, 5, 6, last=False):x} H0:{labels(3):x}", "labels_are_ordered"),
    Case("enters", f"H0:{labels(3, 5):x}", "labels_are_ordered"),
    Case("leaves", f"H0:{labels(4):x}", "labels_are_ordered"),
    # a slot is repeated, and another one follows
    Case("unplaced", "H0:2100", "labels_are_ordered"),
    Case("report", "-+1", "report_was_owed"),
    Case("report", "H0:1 T0 -+1 -+1", "report_was_owed"),
    Case("report", "H0:0 T0 -+1", "report_was_owed"),
    Case("report", "H0:1 T0 H0:0", "channel_is_reported"),
]

BENCH = """
module bench(input clk);
  reg [63:0] words [0:63];
  reg [1023:0] file;
  integer at = 0, pick = 0;
  initial begin
    if (!$value$plusargs("file=%s", file)) $finish;
    if (!$value$plusargs("pick=%d", pick)) $finish;
    $readmemh(file, words);
  end
  wire [63:0] now = words[at];
  wire rst = now[40];
  always @(posedge clk) if (now[41]) $finish; else at <= at + 1;
"""
MAIN = """
#include "Vbench.h"
#include "verilated.h"
int main(int count, char** words) {
    VerilatedContext context;
    context.commandArgs(count, words);
    Vbench bench(&context, "bench");
    while (!context.gotFinish()) {
        bench.clk = 0; bench.eval();
        bench.clk = 1; bench.eval();
    }
    return 0;
}
"""


def bench():
    """Verilog that puts the words of a file on one of `LINKS`."""
    parts = [BENCH]
    for k, (name, (kind, parameters)) in enumerate(LINKS.items()):
        vcs, here = parameters.get("VCS", 1), f"pick == {k}"
        bits = max((vcs - 1).bit_length(), 1)
        back = {"link": "credit", "report": "arrived"}.get(kind)
        own = f", .own(4'd{OWN})" if kind == "header" else ""
        given = ", ".join(f".{parameter}({value})" for parameter, value in {**parameters, "WIDTH": WIDTH}.items())
        parts.append(f"  dut_{kind}_checks #({given}) {name} (.clk(clk), .rst(rst), .valid(now[32] && {here}), "
                     f".vc(now[{32 + bits}:33]), .flit(now[{WIDTH + 1}:0])"
                     + (f", .{back}({here} ? now[{35 + vcs}:36] : {vcs}'d0)" if back else own) + ");\n")
    return "".join([*parts, "endmodule\n", modules(BUILT, "dut", TEXTS)])


def words(case):
    """The file of a case: a reset, the words of its cycles, and the end."""
    lines = [1 << 40]
    for word in case.cycles.split():
        sent, _, mask = word.partition("+")
        marks, _, data = sent.partition(":")
        lines.append((1 << 40 if marks == "R" else 0) | int(mask or "0", 16) << 36)
        if marks[0] in "HTPB":
            lines[-1] |= 1 << 32 | int(marks[1]) << 33 | {"H": 1, "T": 2, "P": 0, "B": 3}[marks[0]]
            lines[-1] |= int(data or "0", 16) << 2
    return "".join(f"{line:x}\n" for line in [*lines, 1 << 41])


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkers")
    (folder / "bench.sv").write_text(bench())
    compile_at_once(folder, MAIN, translate(folder, "bench", "bench.sv", "--assert"))
    return folder / "bench"


def failed(program, case, folder):
    """Name of the assertion that fails first; None if none does."""
    (folder / "words").write_text(words(case))
    done = subprocess.run([program, f"+file={folder / 'words'}", f"+pick={list(LINKS).index(case.link)}"],
                          capture_output=True, text=True, check=False)
    found = re.findall(r"Assertion failed in (?:bench\.)+(\w+)\.(?:channel\[\d+\]\.)?(\w+)", done.stdout + done.stderr)
    assert bool(found) == (done.returncode != 0)
    assert {link for link, _ in found} <= {case.link}
    return found[0][1] if found else None


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_good_flits_and_credits_fail_no_assertion(case, program, tmp_path):
    assert failed(program, case, tmp_path) is None


@pytest.mark.parametrize("case", BAD, ids=str)
def test_each_error_fails_its_assertion(case, program, tmp_path):
    assert failed(program, case, tmp_path) == case.fails


def test_each_assertion_has_a_case():
    # no signal in Verilator is X
    assert {case.fails for case in BAD} == {check.name for check in (*CHECKS, RANGE)}


#: For simulators with X: what is on the link in the cycle after reset.
UNKNOWN = [("1'bx", "1'b0", "16'd1", "1'b0", "valid_is_known"), ("1'b1", "1'b0", "16'bx1", "1'b0", "flit_is_known"),
           ("1'b1", "1'bx", "16'd1", "1'b0", "flit_is_known"), ("1'b0", "1'b0", "16'd1", "1'bz", "credit_is_known"),
           ("1'b0", "1'bx", "16'bx", "1'b0", None), ("1'b1", "1'b0", "16'd1", "1'b0", None)]


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Verilator has no X, and there is no iverilog on the path")
@pytest.mark.parametrize(("valid", "vc", "flit", "credit", "fails"), UNKNOWN)
def test_unknown_bits_fail_their_assertion(valid, vc, flit, credit, fails, tmp_path):
    (tmp_path / "bench.sv").write_text(f"""
module bench;
  reg clk = 0, rst = 1, on = 0;
  dut_link_checks #(.WIDTH({WIDTH}), .CREDITS(2)) link (.clk(clk), .rst(rst), .valid(on ? {valid} : 1'b0),
    .vc({vc}), .flit({flit}), .credit(on ? {credit} : 1'b0));
  initial begin
    repeat (4) begin #1 clk = 1; #1 clk = 0; rst = 0; end
    on = 1; #1 clk = 1; #1 $finish;
  end
endmodule
{modules(BUILT, "dut", ["link"])}""")
    subprocess.run(["iverilog", "-g2012", "-o", "bench", "bench.sv"], cwd=tmp_path, check=True,
                   env=os.environ | {"LC_ALL": "C"})
    said = subprocess.run(["vvp", "-n", "bench"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert {name for name in (check.name for check in KNOWN) if name in said} == ({fails} if fails else set()), said
