"""Benchmark of Verilator on the exported Verilog: build and timing of models, components with a fixed stimulus."""

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from amaranth.lib import wiring

from wormcast.sim.build.network import Network
from wormcast.sim.common.external import find_tool, run_tool, scratch_folder
from wormcast.sim.common.verilator import DEFINES, verilator_root
from wormcast.sim.export.verilog import component_verilog, ports

__all__ = ["compile_program", "component_speed", "export", "run", "timed_program", "translate"]

SECONDS = 1.0

#: Options for speed. Unknown values become 0.
OPTIONS = ("--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint",
           "--output-split", "20000")

#: Compiler options for code that runs in every cycle, and for code that runs once.
OFTEN, ONCE = ("-O3", "-march=native"), ("-O0",)

#: C++ main program of all benchmarks: calls ``setup(argument)``, then ``cycle(k)`` for each cycle k.
MAIN = """
{headers}
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
{body}
int main(int, char** argv) {{
    setup(argv[1]);
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
static void setup(const char* count) {{
    for (int k = 0; k < atoi(count); ++k) all.push_back(new Vtop(&context, ("top" + std::to_string(k)).c_str()));
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


def run(at: Path, *command: str) -> str:
    """Run a tool in a folder and return its output. If the tool fails, the error contains the end of its output."""
    return run_tool(command, who="bench", folder=at)


def export(at: Path, component: wiring.Component, name: str) -> str:
    """Return the Verilog of a component, and write it to the file ``{name}.v`` in a folder."""
    text, _ = component_verilog(component, name)
    (at / f"{name}.v").write_text(text)
    return text


def translate(at: Path, top: str, *arguments: str) -> Path:
    """Translate Verilog to the C++ class ``V{top}``; return its folder."""
    run(at, *find_tool("verilator-cli", "cocotb"), *OPTIONS, "--Mdir", f"made_{top}", "--prefix", f"V{top}",
        "--top-module", top, *arguments)
    return at / f"made_{top}"


def timed_program(body: str, *classes: str) -> str:
    """Return a C++ program that prints cycles per second, in processor time."""
    headers = "\n".join(f'#include "V{name}.h"' for name in classes)
    return MAIN.format(headers=headers, body=body, seconds=SECONDS)


def compile_program(at: Path, program: str, folders: Sequence[Path]) -> None:
    """Compile a program and the models in ``folders`` to ``bench``."""
    (at / "main.cpp").write_text(program)
    root = verilator_root()
    assert root is not None  # Verilator is installed, as it has translated these models
    include = root / "include"
    options = [*DEFINES, *(f"-I{folder}" for folder in (*folders, include, include / "vltstd"))]
    sources = [*(source for folder in folders for source in sorted(folder.glob("*.cpp"))),
               include / "verilated.cpp", include / "verilated_threads.cpp", at / "main.cpp"]

    def compiled(source: Path) -> str:
        run(at, "g++", *(ONCE if "Slow" in source.name else OFTEN), *options, "-c", str(source),
            "-o", f"{source.name}.o")
        return f"{source.name}.o"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    run(at, "g++", *objects, "-o", "bench", "-lpthread")


def component_speed(network: Network, kind: str, instances: int) -> float:
    """Return cycles per second of processor time of ``instances`` components of a kind, in Verilator.

    In every second cycle, the stimulus is a flit on every link and a credit for every virtual channel.
    """
    component = network.kinds[kind].build()
    drive = "\n".join(f"top->{port.name} = busy ? {(1 << port.width) - 1:#x}ULL : 0;"
                      for port in ports(component) if port.inward)
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        at = Path(folder)
        export(at, component, "top")
        made = translate(at, "top", "top.v")
        compile_program(at, timed_program(COMPONENT.format(drive=drive), "top"), [made])
        return float(run(at, "./bench", str(instances)))
