"""Names of a mapped netlist's wires, on netlists written by hand, and the path that is told in them."""

import pytest

from wormcast.sim.export.synthesis.names import Names
from wormcast.sim.export.synthesis.paths import critical_path

SOURCE = r"""
module \harness
  wire width 1  \request
module \harness.component
module \harness.component.allocator
  wire width 1 input 0  \asks
  wire width 1  \won
module \harness.component.input
  wire width 1 input 3  \won
  wire width 1  \copied
  cell $dff $1
    connect \Q \owner
"""

OUTPUTS = {"Y", "Z", "Q", "O", "DO"}


def netlist(wires, *cells):
    return {
        "netnames": {name: {"bits": bits} for name, bits in wires.items()},
        "cells": {
            name: {
                "type": kind, "parameters": parameters, "connections": {pin: [bit] for pin, bit in pins.items()},
                "port_directions": {pin: "output" if pin in OUTPUTS else "input" for pin in pins},
            }
            for name, kind, parameters, pins in cells
        },
    }


#: won = asks & ~owner, where owner is a register; copied says the same as owner.
GATES = netlist(
    {"component.allocator.asks": [1], "component.input.owner": [2], "component.input.copied": [2],
     "component.allocator.won": [4], "component.input.won": [4], "$made_up": [3]},
    ("$1", "TRELLIS_FF", {}, {"DI": 4, "Q": 2}),
    ("$2", "$_NOT_", {}, {"A": 2, "Y": 3}),
    ("$3", "$_AND_", {}, {"A": 1, "B": 3, "Y": 4}),
)
#: The same in tables: 14 is not won, and 15 a wire whose value no signal has.
MAPPED = netlist(
    {"component.allocator.asks": [11], "component.input.owner": [12], "component.input.owner_LUT4_A_Z": [14],
     "component.input.owner_LUT4_B_Z": [15], "component.allocator.won_LUT4_Z": [16]},
    ("component.input.owner_TRELLIS_FF_Q", "TRELLIS_FF", {}, {"DI": 16, "Q": 12}),
    ("lut0", "LUT4", {"INIT": "1101" * 4}, {"A": 12, "B": 11, "C": "0", "D": "0", "Z": 13}),
    ("lut1", "LUT4", {"INIT": "1011" * 4}, {"A": 12, "B": 11, "C": "0", "D": "0", "Z": 14}),
    ("lut2", "LUT4", {"INIT": "0110" * 4}, {"A": 12, "B": 11, "C": "0", "D": "0", "Z": 15}),
    ("lut3", "LUT4", {"INIT": "0100" * 4}, {"A": 12, "B": 11, "C": "0", "D": "0", "Z": 16}),
)


@pytest.fixture(scope="module")
def names():
    return Names(SOURCE, GATES, MAPPED)


def test_a_register_is_called_as_where_it_is(names):
    assert names.of_wire("component.input.owner") == "component.input.owner"
    assert names.of_register("component.input.owner_TRELLIS_FF_Q") == "component.input.owner"


def test_a_wire_is_called_as_the_signal_with_its_value_where_that_is_made(names):
    assert names.of_wire("component.allocator.won_LUT4_Z") == "component.allocator.won"


def test_an_inverse_says_so(names):
    assert names.of_wire("component.input.owner_LUT4_A_Z") == "~component.allocator.won"


def test_constants_stay_what_they_are():
    """A signal that turned out to be constant while tables were formed."""
    mapped = MAPPED | {"netnames": MAPPED["netnames"] | {"component.input.copied": {"bits": ["0"]}}}
    assert Names(SOURCE, GATES, mapped).of_wire("component.allocator.won_LUT4_Z") == "component.allocator.won"


def test_other_values_have_no_name(names):
    assert names.of_wire("component.input.owner_LUT4_B_Z") is None
    assert names.of_wire("nowhere") is None


def test_a_register_packed_with_its_table_is_found():
    """As nextpnr packs those of iCE40."""
    mapped = netlist(
        {"component.allocator.asks": [11], "component.input.owner": [12], "next": [13]},
        ("flop", "SB_DFF", {}, {"D": 13, "Q": 12}),
        ("lut", "SB_LUT4", {"LUT_INIT": "0100" * 4}, {"I0": 12, "I1": 11, "I2": "0", "I3": "0", "O": 13}),
    )
    names = Names(SOURCE, GATES, mapped)
    assert names.of_register("lut_LC") == names.of_register("flop_DFFLC") == "component.input.owner"
    assert names.of_register("else") is None


def test_path_has_each_signal_once_and_counts_unnamed_wires_to_the_next(names):
    def part(kind, delay, net=None, cell=""):
        named = {"net": net} if net else {}
        return {"type": kind, "delay": delay, "from": {"cell": cell}, "to": {"cell": cell}, **named}

    slow = [part("clk-to-q", 0.5), part("routing", 1.0, "component.input.owner"),
            part("logic", 0.2), part("routing", 0.3, "component.input.owner_LUT4_B_Z"),
            part("logic", 0.2), part("routing", 0.4, "component.allocator.won_LUT4_Z"),
            part("logic", 0.1), part("routing", 0.1, "component.allocator.won_LUT4_Z"),
            part("setup", 0.25, cell="component.input.owner_TRELLIS_FF_Q")]
    entries = [("<async>", "posedge clk", [part("routing", 99.0, "elsewhere")]),
               ("posedge clk", "posedge clk", slow[:2] + slow[-1:]), ("posedge clk", "posedge clk", slow)]
    path = critical_path({"critical_paths": [{"from": a, "to": b, "path": steps} for a, b, steps in entries]}, names)
    assert [(step.signal, round(step.ns, 3)) for step in path.steps] == [
        ("input.owner", 1.5), ("allocator.won", 1.3), ("input.owner", 0.25)]
    assert (path.start, path.end, round(path.ns, 3)) == ("input.owner", "input.owner", 3.05)


def test_a_memory_at_an_end_is_called_after_the_memory(names):
    path = critical_path({"critical_paths": [{"from": "posedge clk", "to": "posedge clk", "path": [
        {"type": "clk-to-q", "delay": 1.0, "from": {"cell": "m"}, "to": {"cell": "m"}},
        {"type": "routing", "delay": 1.0, "net": "nowhere", "from": {"cell": "component.input.memory.0.2$DPRAM_COMB1"},
         "to": {"cell": "x"}},
        {"type": "setup", "delay": 0.0, "from": {"cell": "x"}, "to": {"cell": "chain_TRELLIS_FF_Q"}},
    ]}]}, names)
    assert [step.signal for step in path.steps] == ["input.memory", "harness.chain"]
