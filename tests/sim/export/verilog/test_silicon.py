"""What a chip needs of the Verilog: it starts from a reset alone, and RAM macros replace its memories."""

import re

import pytest

from wormcast.sim.build.components import build_component
from wormcast.sim.export.verilog import component_verilog, ports
from wormcast.sim.export.verilog.export import components_verilog

from .cases import blueprint, having
from .replay import Stimulus, record, replay
from .test_replay import straps

# each compiles a program in C++; tests/sim/export/verilog/test_modules.py reads the same Verilog with every test
pytestmark = pytest.mark.slow

#: A memory in another style: one long register.
MACRO = """
module {name}({listed});
  input clk, write_en;
  input [{address}:0] write_addr, {reads};
{enables}  input [{width}-1:0] write_data;
  output [{width}-1:0] {outputs};
  reg [{width}*{depth}-1:0] all = 0;
  always @(posedge clk) if (write_en) all[write_addr*{width} +: {width}] <= write_data;
{bodies}endmodule
"""
BODY = {
    0: "  assign read_data{k} = all[read_addr{k}*{width} +: {width}] ^ {wrong};\n",
    1: "  reg [{width}-1:0] q{k} = 0;\n  always @(posedge clk) {when} q{k} <= all[read_addr{k}*{width} +: {width}];\n"
       "  assign read_data{k} = q{k} ^ {wrong};\n",
}


def with_macros(text, *, wrong=0):
    """The Verilog with each memory replaced, and the number of memories; bits in ``wrong`` are read wrong."""
    count = 0

    def macro(found):
        nonlocal count
        count += 1
        name, listed = found[1], found[2]
        width, depth = map(int, re.search(r"_memory_(\d+)x(\d+)", name).groups())
        latency = int("_latency1" in name)
        several = re.findall(r"read_data(\w*)", listed)
        return MACRO.format(
            name=name, listed=listed, width=width, depth=depth, address=(depth - 1).bit_length() - 1,
            reads=", ".join(f"read_addr{k}" for k in several), outputs=", ".join(f"read_data{k}" for k in several),
            enables="".join(f"  input read_en{k};\n" for k in several if f"read_en{k}" in listed),
            bodies="".join(
                BODY[latency].format(k=k, width=width, wrong=f"{width}'d{wrong}",
                                     when=f"if (read_en{k})" if f"read_en{k}" in listed else "") for k in several))

    changed = re.sub(r"^module (\w+_memory_\w+)\((.*?)\);.*?^endmodule$", macro, text, flags=re.MULTILINE | re.DOTALL)
    return changed, count


@pytest.mark.parametrize(("what", "options"), [
    ("replication-buffer", {"readers": "independent"}),
    ("retransmission", {"slot": 8}),
    ("chunk-store", {}),
])
def test_memories_are_replaced(what, options, tmp_path):
    built = having(what, **options)
    component = build_component(built, what)
    recording = record(component, 600, Stimulus(component, built, what))
    text, _ = component_verilog(component, "own")
    named = {"own": text}
    for name, wrong in (("macro", 0), ("other", 1)):
        changed, count = with_macros(re.sub(r"\bown(?=\b|_)", name, text), wrong=wrong)
        assert count >= 1
        named[name] = changed
    answers = replay(dict.fromkeys(named, recording), tmp_path, verilog=named)
    assert answers["own"] == answers["macro"] == recording.answered
    assert answers["other"] != recording.answered


def without_initial(text):
    """The Verilog without values at power-up."""
    text = re.sub(r"^  initial begin\n.*?^  end\n", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^  initial .*\n", "", text, flags=re.MULTILINE)


def said(component, answer):
    """Outputs by name; without the flit and the channel of links on which there is no flit."""
    values, at = {}, 0
    for port in ports(component):
        if not port.inward:
            values[port.name] = answer >> at & (1 << port.width) - 1
            at += port.width
    return {name: value for name, value in values.items()
            if not name.endswith(("_flit", "_vc")) or values[f"{name.rpartition('_')[0]}_valid"]}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_router_starts_from_a_reset_alone(seed, tmp_path):
    """Registers and memories are random at power-up; a mutant whose output units have no reset does not start."""
    built = blueprint("mesh:2x2")
    component = build_component(built, "router")
    stimulus = Stimulus(component, built, seed, fixed=straps(built))

    def from_reset(cycle, get):
        return stimulus(cycle, get) | ({"rst": 1} if cycle < 2 else {})

    recording = record(component, 500, from_reset)
    texts = {reset: without_initial(components_verilog({f"r_{reset}": component}, f"r_{reset}", reset=reset)[0])
             for reset in ("sync", "async")}
    assert "initial" not in texts["sync"]
    assert "posedge rst" in texts["async"]
    before, unit, after = texts["sync"].replace("r_sync", "r_mutant").partition("module r_mutant_output_unit(")
    mutant = before + unit + re.sub(r"rst \? \S+ : ", "", after)
    named = {"r_sync": texts["sync"], "r_async": texts["async"], "r_mutant": mutant}
    answers = replay(dict.fromkeys(named, recording), tmp_path, verilog=named, seed=seed)
    resets = [given >> recording.widths[0] for given in recording.given]

    def differ(name):
        return [cycle for cycle, reset in enumerate(resets) if cycle >= 2 and not reset
                and said(component, answers[name][cycle]) != said(component, recording.answered[cycle])]

    assert (differ("r_sync"), differ("r_async")) == ([], [])
    assert differ("r_mutant")
