"""Verilog for chips: a reset is enough to start, a clock enable stops the clock, and RAM macros replace memories."""

import random
import re
from itertools import chain

import pytest

from wormcast.sim.build.components import build_component
from wormcast.sim.export.verilog import component_verilog, ports
from wormcast.sim.export.verilog.export import components_verilog

from .cases import blueprint, having
from .replay import Recording, Stimulus, record, replay
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
    assert answers["own"] == answers["macro"]
    assert recording.agrees(answers["own"])
    assert not recording.agrees(answers["other"])


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


#: A component without enable around one whose enable comes from a file, a line a cycle.
STRETCHED = """
module {name}(clk, rst{listed});
  input clk, rst;
{declared}  reg enables [0:{last}];
  integer now = 0;
  initial $readmemb("{name}.enables", enables);
  always @(posedge clk) now <= now + 1;
  {name}_core core(.clk(clk), .rst(rst), .enable(now > {last} || enables[now]){pins});
endmodule
"""


def stretched(recording, rng):
    """The recording with cycles without enable before each cycle, and enable in each cycle.

    Without enable, inputs are random, and outputs are those of the cycle to come. Resets come without enable.
    """
    inputs = recording.widths[0]
    rows = [[*(((rng.getrandbits(inputs), answer, 0) for _ in range(rng.choice((0, 0, 1, 3)))) if not given >> inputs
               else ()), (given, answer, not given >> inputs)]
            for given, answer in zip(recording.given, recording.answered, strict=True)]
    given, answered, enables = zip(*chain.from_iterable(rows), strict=True)
    return Recording(recording.component, list(given), list(answered)), enables


@pytest.mark.parametrize(("what", "network", "options"), [
    ("router", ("mesh:2x2",), {}),
    ("router", ("min:b=2,stages=2", "atbm"), {"flit_width": 9}),
    ("router", ("min:b=2,stages=2", "atbm"), {"buffer_kind": "deep", "vcs": 1, "consumption": 1, "buffer": 16,
                                              "chunk": 4, "flit_width": 9}),
    ("interface", ("mesh:2x2",), {}),
])
def test_cycles_without_clock_enable_do_not_count(what, network, options, tmp_path):
    """Between two cycles with enable, a component ignores its inputs. A mutant does not hold one of its registers."""
    built = blueprint(*network, **options)
    component = build_component(built, what)
    recording = record(component, 400, Stimulus(component, built, what, fixed=straps(built)))
    longer, enables = stretched(recording, random.Random(what))
    assert len(longer.given) > 1.5 * len(recording.given)
    found = list(ports(component))
    texts = {}
    for name in ("held", "mutant"):
        core, _ = components_verilog({f"{name}_core": component}, f"{name}_core", clock_enable=True)
        if name == "mutant":
            core = re.sub(r"= enable \? (.*) : (\w+_valid|\w+_spent|rows);$", r"= \1;", core, flags=re.MULTILINE)
        texts[name] = core + STRETCHED.format(
            name=name, last=len(enables) - 1, listed="".join(f", {port.name}" for port in found),
            declared="".join(f"  {'input' if port.inward else 'output'} [{port.width - 1}:0] {port.name};\n"
                             for port in found),
            pins="".join(f", .{port.name}({port.name})" for port in found))
        (tmp_path / f"{name}.enables").write_text("".join(f"{one:b}\n" for one in enables))
    answers = replay(dict.fromkeys(texts, longer), tmp_path, verilog=texts)
    assert longer.agrees(answers["held"])
    assert not longer.agrees(answers["mutant"])
