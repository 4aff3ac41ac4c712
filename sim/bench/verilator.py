"""Verilator on the same Verilog: a component with a fixed stimulus, and whole networks with recorded traffic."""

import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.back import rtlil
from amaranth.hdl import Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from wormcast.algorithms import WormcastError

from ..engines.bulk import BulkEngine
from ..engines.words import credit_word, data_word
from ..network import HOST, Network
from ..synthesis import find_tool, scratch_folder

__all__ = ["component_speed", "network_speed", "record"]

SECONDS = 1.0

#: Words recorded of a node in a cycle.
WORDS = 6

#: What Verilator's own makefiles define; its sources misbehave without.
DEFINES = ["VERILATOR=1", *(f"VM_{name}=0" for name in (
    "COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_VCD", "TRACE_SAIF"))]

#: What both programs share: ``cycle(k)`` is one cycle of everything.
MAIN = """
#include "Vtop.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
{body}
int main(int, char** argv) {{
    setup(atoi(argv[1]));
    long cycles = 16;
    for (;;) {{
        std::clock_t started = std::clock();
        for (long k = 0; k < cycles; ++k) cycle(k);
        const double spent = double(std::clock() - started) / CLOCKS_PER_SEC;
        if (spent > {seconds}) {{ std::printf("%f\\n", cycles / spent); std::fflush(stdout); std::_Exit(0); }}
        cycles *= 2;
    }}
}}
"""

COMPONENT = """
static VerilatedContext context;
static std::vector<Vtop*> all;
static void setup(int count) {{
    for (int k = 0; k < count; ++k) all.push_back(new Vtop(&context, ("top" + std::to_string(k)).c_str()));
}}
static void cycle(long number) {{
    const bool busy = number & 1;
    for (Vtop* top : all) {{
        {drive}
        top->clk = 0; top->eval();
        top->clk = 1; top->eval();
    }}
}}
"""

#: The hosts' links as bytes of a file, cycle after cycle: what goes in, then what must have come out before.
NETWORK = """
static VerilatedContext context;
static Vtop* top;
static std::vector<uint32_t> words;
static const long SIZE = {words}, CYCLES = {cycles};
static void setup(int) {{
    top = new Vtop(&context, "top");
    words.resize(SIZE * CYCLES);
    FILE* file = std::fopen("traffic", "rb");
    if (!file || std::fread(words.data(), 4, words.size(), file) != words.size()) std::exit(3);
    top->rst = 0; top->clk = 0; top->eval();
}}
static void cycle(long number) {{
    if (number % CYCLES == 0) {{
        // the recording begins after reset
        top->rst = 1; top->clk = 0; top->eval(); top->clk = 1; top->eval(); top->rst = 0;
    }}
    const uint32_t* now = &words[number % CYCLES * SIZE];
    {drive}
    {check}
    top->clk = 0; top->eval();
    top->clk = 1; top->eval();
}}
"""


def _verilog(component: wiring.Component, name: str) -> str:
    return rtlil.convert(component, name=name, emit_src=False)


def _run(at: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=at, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-1000:]
        raise WormcastError(f"bench: {Path(command[0]).name} ended with {done.returncode}: {said}")
    return done.stdout


def _speed(at: Path, main: str, argument: int) -> float:
    """Build ``top.v`` and ``main`` and run them: cycles per second, by processor time."""
    (at / "main.cpp").write_text(main)
    _run(at, *find_tool("verilator-cli"), "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
         "-Wno-fatal", "--Mdir", "made", "--top-module", "top", "top.v")
    include = next(Path(sysconfig.get_path("purelib")).glob("verilator/include"))
    sources = [*(at / "made").glob("*.cpp"), include / "verilated.cpp", include / "verilated_threads.cpp"]
    _run(at, "g++", "-O3", "-march=native", *(f"-D{name}" for name in DEFINES), "-Imade", f"-I{include}",
         f"-I{include / 'vltstd'}", "main.cpp", *map(str, sources), "-o", "bench", "-lpthread")
    return float(_run(at, "./bench", str(argument)))


def component_speed(network: Network, kind: str, instances: int) -> float:
    """Cycles per second of so many of one kind of component: a flit on every link, and a credit for every virtual
    channel, in every other cycle."""
    component = network.kinds[kind].build()
    drive = ""
    for path, member, value in component.signature.flatten(component):
        width = len(Value.cast(value))
        if member.flow is In and width:
            port = "___05F".join(path)  # Verilator's spelling of two underscores
            drive += f"top->{port} = busy ? {(1 << width) - 1:#x}ULL : 0;\n"
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        at = Path(folder)
        (at / "top.il").write_text(_verilog(component, "top"))
        _run(at, *find_tool("yosys"), "-q", "-p",
             "read_rtlil top.il; hierarchy -top top; write_verilog -noattr top.v")
        return _speed(at, MAIN.format(body=COMPONENT.format(drive=drive), seconds=SECONDS), instances)


def record(engine: BulkEngine, cycles: int) -> np.ndarray:
    """Run an engine, and record its hosts' links: uint32 [cycles, nodes, words] from reset.

    The words are, of what the hosts drive: marks, data, credits; and of what the interfaces drive, the same.
    """
    result = np.zeros((cycles, engine.network.instances, WORDS), np.uint32)
    sides = [("out", "tx"), ("out", data_word("tx")), ("out", credit_word("rx")),
             ("in", "rx"), ("in", data_word("rx")), ("in", credit_word("tx"))]
    for cycle in range(cycles):
        # what the interfaces drive in a cycle reaches the hosts' words as the cycle begins
        driven = [engine._host_word(*side)[0, 0].copy() for side in sides[:3]]
        engine.run(1, beyond=True)
        seen = [engine._host_word(*side)[0, 0] for side in sides[3:]]
        result[cycle] = np.stack([*driven, *seen], axis=1)
    return result


def network_speed(network: Network, traffic: np.ndarray) -> float:
    """Cycles per second of a whole network that is driven by recorded traffic, and must answer as recorded.

    Routers and interfaces are modules that are instantiated for each node: Verilator compiles each kind once.
    """
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        at = Path(folder)
        for kind in network.kinds.values():
            (at / f"{kind.name}.il").write_text(_verilog(kind.build(), f"a_{kind.name}"))
            _run(at, *find_tool("yosys"), "-q", "-p", f"read_rtlil {kind.name}.il; hierarchy -top a_{kind.name}; "
                 "proc -nomux -norom; memory_collect; "
                 f"write_verilog -noattr {kind.name}.v")
        top = [*(at / f"{kind}.v" for kind in network.kinds)]
        (at / "top.v").write_text("".join(path.read_text() for path in top) + "\n".join(_top(network)))
        traffic.astype(np.uint32).tofile(at / "traffic")
        body = NETWORK.format(words=traffic[0].size, cycles=len(traffic), **_hosts(network))
        return _speed(at, MAIN.format(body=body, seconds=SECONDS), 1)


def _ports(component: Any) -> Iterator[tuple[str, bool, int]]:
    """Name, whether an input, and width of each port."""
    for path, member, value in component.signature.flatten(component):
        if width := len(Value.cast(value)):
            yield "__".join(path), member.flow is In, width


def _top(network: Network) -> Iterator[str]:
    """Verilog of the network: a wire for each port of each instance, those of the hosts' links as ports."""
    nodes = range(network.instances)
    sides = {kind: list(_ports(component)) for kind, component in network.components.items()}
    wires = [(f"{kind}_{name}_{node}", "input" if inward else "output", width,
              kind == "interface" and name.startswith(("host_in_0__", "host_out_0__")))
             for kind, ports in sides.items() for name, inward, width in ports for node in nodes]
    outside = {name for name, _, _, open_ in wires if open_}
    ports = [f"{way} [{width - 1}:0] {name}" for name, way, width, _ in wires if name in outside]
    yield f"module top({', '.join(['input clk', 'input rst', *ports])});"
    yield from (f"  wire [{width - 1}:0] {name};" for name, _, width, _ in wires if name not in outside)
    driven = set(outside)
    for join in network.joins:
        if HOST in (join.from_kind, join.to_kind):
            continue
        members = [(name.removeprefix(f"{join.to_port}__"), inward) for name, inward, _ in sides[join.to_kind]
                   if name.startswith(f"{join.to_port}__")]
        for start, end in zip(join.from_instances.tolist(), join.to_instances.tolist(), strict=True):
            for member, inward in members:
                near = f"{join.from_kind}_{join.from_port}__{member}_{start}"
                far = f"{join.to_kind}_{join.to_port}__{member}_{end}"
                driven.add(far if inward else near)
                yield f"  assign {far if inward else near} = {near if inward else far};"
    for kind, entries in sides.items():
        straps = network.kinds[kind].straps
        for name, inward, width in entries:
            for node in nodes:
                wire = f"{kind}_{name}_{node}"
                if inward and wire not in driven:
                    yield f"  assign {wire} = {width}'d{int(straps[name][node]) if name in straps else 0};"
        for node in nodes:
            links = [f".{name}({kind}_{name}_{node})" for name, _, _ in entries]
            yield f"  a_{kind} {kind}_{node}({', '.join(['.clk(clk)', '.rst(rst)', *links])});"
    yield "endmodule"


def _hosts(network: Network) -> dict[str, str]:
    """C++ that drives the hosts' links from ``now``, and compares what they answer where there is a flit."""
    widths = {name: width for name, _, width in _ports(network.components["interface"])}
    drive, check = [], []
    for node in range(network.instances):
        for link, side, into in (("host_in_0", 0, True), ("host_out_0", 3, False)):
            first = node * WORDS + side
            valid, vc, flit, credit = (f"{link}__{member}" for member in ("valid", "vc", "flit", "credit"))
            channel = widths.get(vc, 0)
            marks = {valid: f"now[{first}] & 1", vc: f"now[{first}] >> 1 & {(1 << channel) - 1}",
                     flit: f"(now[{first}] >> {1 + channel} & 3) | uint64_t(now[{first + 1}]) << 2",
                     credit: f"now[{node * WORDS + (5 if into else 2)}]"}
            for port, value in marks.items():
                name = f"top->interface_{port.replace('__', '___05F')}_{node}"
                if port in widths and into == (port != credit):
                    drive.append(f"{name} = {value};")
                elif port in widths:
                    given = f"(now[{first}] & 1) && " if port in (vc, flit) else ""
                    check.append(f"if ({given}{name} != ({value})) std::exit(4);")
    return {"drive": "\n".join(drive), "check": "\n".join(check)}
