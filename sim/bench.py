"""``make bench``: how fast the lowered components are, against Verilator on the same Verilog, and whole networks.

Both step the same router, 64 of them (an 8x8 mesh), on one core, with the same stimulus: in every other cycle a flit
on every link and a credit for every virtual channel. Times are processor time of this process and of Verilator's.
Networks run random unicasts of 20 flits, routers, interfaces and hosts together, on one core; load experiments their
seeds on one core and on two. Schemes make plans.
"""

import platform
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path

import numpy as np
from amaranth.back import rtlil
from amaranth.hdl import Value
from amaranth.lib.wiring import In
from rich.console import Console
from rich.table import Table

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.compiled import compiled

from .configuration import Configuration
from .engines.bulk import BulkEngine, kernels
from .host import check_receipts, lay_out
from .load import Traffic, load
from .lowering import Kernel, call_step
from .network import Network
from .synthesis import find_tool, scratch_folder

__all__ = ["main"]

SIZES = {"8x8, 1 lane": 64, "32x32, 1 lane": 1024, "8x8, 64 lanes": 64 * 64}
SECONDS = 1.0
MESHES = {"mesh:8x8": 100_000, "mesh:32x32": 10_000}
RATES = (0.001, 0.1, 0.2)
#: Load experiments: mesh, seeds and cycles of each.
LOADS = (("mesh:8x8", 1, 60_000), ("mesh:8x8", 8, 20_000), ("mesh:8x8", 64, 4_000), ("mesh:32x32", 1, 4_000),
         ("mesh:32x32", 2, 4_000))
LENGTH = 20
PLANS = 100_000

#: What Verilator's own makefiles define; its sources misbehave without.
DEFINES = ["VERILATOR=1", *(f"VM_{name}=0" for name in (
    "COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_VCD", "TRACE_SAIF"))]


@compiled
def _step(cycles, address, state, quiet, busy, outputs, n):
    for cycle in range(cycles):
        call_step(address, state, busy if cycle & 1 else quiet, outputs, n)


def kernel_speed(kernel: Kernel, instances: int) -> float:
    """Cycles per second of all instances together, by processor time."""
    block = kernel.allocate(instances)
    busy = block.copy()
    for name in kernel.inputs:
        busy.input(name)[...] = np.iinfo(busy.input(name).dtype).max
    arguments = (kernel.address, block.state.ctypes.data, block.inputs.ctypes.data, busy.inputs.ctypes.data,
                 block.outputs.ctypes.data, block.n_padded)
    _step(4, *arguments)
    cycles = 16
    while True:
        started = time.process_time()
        _step(cycles, *arguments)
        spent = time.process_time() - started
        if spent > SECONDS:
            return cycles / spent
        cycles *= 2


MAIN = """
#include "Vtop.h"
#include "verilated.h"
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
int main(int, char** argv) {{
    VerilatedContext context;
    std::vector<Vtop*> all;
    for (int k = 0; k < atoi(argv[1]); ++k) all.push_back(new Vtop(&context, ("top" + std::to_string(k)).c_str()));
    long cycles = 16;
    for (;;) {{
        std::clock_t started = std::clock();
        for (long cycle = 0; cycle < cycles; ++cycle)
            for (Vtop* top : all) {{
                const bool busy = cycle & 1;
                {drive}
                top->clk = 0; top->eval();
                top->clk = 1; top->eval();
            }}
        const double spent = double(std::clock() - started) / CLOCKS_PER_SEC;
        if (spent > {seconds}) {{ std::printf("%f\\n", cycles / spent); std::fflush(stdout); std::_Exit(0); }}
        cycles *= 2;
    }}
}}
"""


def verilator_speed(network: Network, kind: str, instances: int) -> float:
    """Cycles per second of Verilator on the Verilog of one kind of component, by processor time."""
    component = network.kinds[kind].build()
    text = rtlil.convert(component, name="top", emit_src=False)
    drive = ""
    for path, member, value in component.signature.flatten(component):
        width = len(Value.cast(value))
        if member.flow is In and width:
            port = "___05F".join(path)  # Verilator's spelling of two underscores
            drive += f"top->{port} = busy ? {(1 << width) - 1:#x}ULL : 0;\n"
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        at = Path(folder)
        (at / "top.il").write_text(text)
        (at / "main.cpp").write_text(MAIN.format(drive=drive, seconds=SECONDS))

        def run(*command: str) -> str:
            return subprocess.run(command, cwd=at, check=True, capture_output=True, text=True).stdout

        run(*find_tool("yosys"), "-q", "-p", "read_rtlil top.il; hierarchy -top top; write_verilog -noattr top.v")
        run(*find_tool("verilator-cli"), "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
            "-Wno-fatal", "--Mdir", "made", "--top-module", "top", "top.v")
        include = next(Path(sysconfig.get_path("purelib")).glob("verilator/include"))
        sources = [*(at / "made").glob("*.cpp"), include / "verilated.cpp", include / "verilated_threads.cpp"]
        run("g++", "-O3", "-march=native", *(f"-D{name}" for name in DEFINES), "-Imade", f"-I{include}",
            f"-I{include / 'vltstd'}", "main.cpp", *map(str, sources), "-o", "bench", "-lpthread")
        return float(run("./bench", str(instances)))


def network_speed(mesh: str, rate: float, cycles: int) -> float:
    """Cycles per second of a whole network, by processor time, at so many payload flits per node and cycle."""
    network = Network(topology(mesh), SCHEMES["individual"], Configuration())
    random = np.random.default_rng(1)
    created = np.sort(random.integers(0, cycles, max(1, round(rate * network.nodes * cycles / LENGTH))))
    sources = random.integers(0, network.nodes, len(created))
    ends = (sources + random.integers(1, network.nodes, len(created))) % network.nodes
    worms = network.scheme.batch(network.topology, sources, np.arange(len(created) + 1), ends)
    engine = BulkEngine(network, lay_out(network, created, np.full(len(created), LENGTH), worms))
    engine.run(cycles // 10, beyond=True)
    started = time.process_time()
    engine.run(cycles - cycles // 10, beyond=True)
    spent = time.process_time() - started
    check_receipts(engine.host)
    return (cycles - cycles // 10) / spent


def block_bytes(kernel: Kernel, instances: int = 4096) -> float:
    """Bytes of state, inputs and outputs of an instance."""
    block = kernel.allocate(instances)
    return sum(array.nbytes for array in (block.state, block.inputs, block.outputs)) / instances


def load_speed(mesh: str, seeds: int, cycles: int, workers: int) -> float:
    """Cycles per second of all seeds of a load experiment together, by the clock: multicasts to 10 nodes, dual-path."""
    traffic = Traffic(0.008, length=LENGTH, destinations_mean=10)
    started = time.perf_counter()
    load(topology(mesh), SCHEMES["dual-path"], traffic, configuration=Configuration(consumption=2), cycles=cycles,
         seeds=range(seeds), workers=workers)
    return cycles * seeds / (time.perf_counter() - started)


def plan_speed(scheme: str) -> float:
    """Multicasts per second that a scheme turns into worms, by processor time: 8x8, 10 destinations, one batch."""
    mesh = topology("mesh:8x8")
    random = np.random.default_rng(1)
    nodes = np.argsort(random.random((PLANS, mesh.nodes), np.float32), axis=1)[:, :11].astype(np.int32)
    messages = nodes[:, 0], np.arange(PLANS + 1) * 10, nodes[:, 1:].ravel()
    best = np.inf
    for _ in range(4):  # the first one may compile
        started = time.process_time()
        SCHEMES[scheme].batch(mesh, *messages)
        best = min(best, time.process_time() - started)
    return PLANS / best


def main() -> None:
    """Print the tables."""
    console = Console(width=150)
    configuration = Configuration()
    network = Network(topology("mesh:8x8"), SCHEMES["dual-path"], configuration)
    compiled_kernels = kernels(network)
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor())
    console.print(f"{model}; vectors of {compiled_kernels['router'].vector_width} bytes; one core; "
                  f"{configuration.vcs} VCs x {configuration.buffer} flits, {configuration.flit_width} bits, "
                  f"{configuration.consumption} consumption channels, dual-path")
    table = Table("component", "operations", "state (bytes)", *(f"{size}: cycles/s" for size in SIZES),
                  "8x8 by Verilator: cycles/s", "ratio")
    for kind, kernel in compiled_kernels.items():
        speeds = {size: kernel_speed(kernel, count) * (count // (1024 if "32" in size else 64))
                  for size, count in SIZES.items()}
        verilator = verilator_speed(network, kind, SIZES["8x8, 1 lane"])
        table.add_row(kind, str(kernel.operations), f"{kernel.state_bytes:.0f}",
                      *(f"{speed:,.0f}" for speed in speeds.values()), f"{verilator:,.0f}",
                      f"{speeds['8x8, 1 lane'] / verilator:.1f}")
    console.print(table)
    table = Table("network", *(f"{rate} flits/node/cycle: cycles/s" for rate in RATES))
    for mesh, cycles in MESHES.items():
        table.add_row(mesh, *(f"{network_speed(mesh, rate, cycles):,.0f}" for rate in RATES))
    console.print(table)
    table = Table("load experiment", "one core: cycles/s together", "two cores", "ratio")
    load_speed("mesh:8x8", 2, 1000, 2)  # the first one may compile
    for mesh, seeds, cycles in LOADS:
        one, two = (load_speed(mesh, seeds, cycles, workers) for workers in (1, 2))
        table.add_row(f"{mesh}, seeds: {seeds}", f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}")
    console.print(table)
    size = sum(block_bytes(kernel) for kernel in compiled_kernels.values())
    console.print(f"memory: {size:.0f} bytes for a router, its interface and their words on links, each lane")
    individual = plan_speed("individual")
    table = Table("scheme", "8x8, 10 destinations: plans/s", "of individual")
    for scheme in SCHEMES:
        speed = plan_speed(scheme)
        table.add_row(scheme, f"{speed:,.0f}", f"{speed / individual:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
