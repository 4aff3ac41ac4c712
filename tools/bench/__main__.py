"""Command line of ``make bench``."""

import argparse
import platform
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import MANY, kernels
from wormcast.sim.lowering import Kernel

from . import start, verilator
from .exported import WAYS, network_speeds, record
from .kernels import ablation, block_bytes, engine_for, kernel_speed, least_time
from .networks import (
    amaranth_ratio,
    backlog_speeds,
    compile_times,
    deep_speed,
    load_speed,
    network_speed,
    plan_speed,
    planned_on,
    table_speed,
    tree_speed,
)

#: Meshes: side and cycles. `RATES`: shares of a network's capacity.
#: The capacity of a mesh is the rate that its bisection bandwidth allows.
MESHES = {4: 200_000, 8: 100_000, 16: 40_000, 32: 10_000, 64: 2_000}
RATES = {"next to nothing": 0.002, "middle": 0.2, "near saturation": 0.4}
#: Networks that are no meshes: approximate capacity in payload flits per node and cycle, and simulated cycles.
NETWORKS = {"min:b=4,stages=4": (1.0, 10_000), "min:b=2,stages=8": (1.0, 5_000), "torus:32x32": (0.25, 4_000),
            "irregular:switches=32,ports=8,nodes=128,connectivity=0.8,seed=1": (0.15, 20_000)}
#: Networks with replicating switches: approximate rate at half of saturation, and number of simulated cycles.
TREES = {"min:b=4,stages=3": (0.006, 50_000), "min:b=2,stages=6": (0.005, 50_000),
         "min:b=4,stages=4": (0.0015, 10_000), "min:b=2,stages=8": (0.001, 10_000)}
#: Networks with deep switches: rate and number of simulated cycles, as in `TREES`.
#: `DEEP_SCHEMES` use, in this order, unicast trees, path worms, tree worms, and packets that interfaces forward.
DEEP = {"irregular:switches=8,ports=8,nodes=32,connectivity=0.8,seed=1": (0.002, 50_000)}
DEEP_SCHEMES = ("binomial", "path-lg", "tree", "k-binomial")
#: Load experiments: mesh, number of seeds, and cycles of each seed.
LOADS = (("mesh:8x8", 1, 100_000), ("mesh:8x8", 8, 50_000), ("mesh:8x8", 64, 20_000), ("mesh:32x32", 1, 6_000),
         ("mesh:32x32", 2, 6_000))
#: Backlogs: for each scheme, a rate below saturation and a rate beyond it; and numbers of simulated cycles.
BACKLOGS = {"individual": (0.2, 0.4), "column-path": (0.03, 0.06), "multipath": (0.02, 0.06)}
BACKLOG_CYCLES = (50_000, 400_000)
ABLATIONS = (("mesh:8x8", 1, 0.008, 20_000), ("mesh:8x8", 8, 0.008, 4_000), ("mesh:8x8", 64, 0.008, 500),
             ("mesh:32x32", 1, 0.004, 2_000), ("mesh:64x64", 1, 0.002, 400))
#: Traffic for Verilator: payload flits that a node creates per cycle. Each message has 3 destinations.
EXPORTED = {"next to nothing": 0.0002, "middle": 0.03}
RECORDED = 2_000


def main() -> None:
    """Print all tables, or those that the options select."""
    parser = argparse.ArgumentParser(description="Benchmarks: cycles per second, and ratios.")
    parser.add_argument("--no-verilator", action="store_true", help="omit Verilator, which takes minutes to build")
    alone = {"start": _start, "networks": _networks, "trees": _trees, "deep": _deep, "backlogs": _backlogs}
    parser.add_argument("--only", choices=alone, help="print one table: waiting times; MINs, tori and irregular "
                        "networks; replicating switches; deep switches; loads beyond saturation")
    parser.add_argument("--network", default="mesh:8x8", help="network for Verilator (mesh:8x8)")
    arguments = parser.parse_args()
    model = next((line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor())
    if arguments.only:
        alone[arguments.only](Console(width=150), model)
        return
    _start(Console(width=150), model)
    configuration = Configuration(consumption=2)
    network = Network(topology("mesh:8x8"), SCHEMES["dual-path"], configuration)
    words = kernels(network)
    bits = kernels(Network(topology("mesh:8x8"), SCHEMES["dual-path"], configuration, -(-MANY // 64)))
    machine = f"{model}, vectors of {words['router'].vector_width} bytes"
    console = Console(width=150)
    console.print(f"{machine}; {configuration.vcs} VCs x {configuration.buffer} flits, "
                  f"{configuration.flit_width} bits, {configuration.consumption} consumption channels, "
                  "dual-path unless stated otherwise")
    _components(console, machine, network, words, bits, with_verilator=not arguments.no_verilator)
    if not arguments.no_verilator:
        _network(console, machine, arguments.network)
    bulk, amaranth = amaranth_ratio("mesh:2x2", 200)
    table = Table("2x2, cycles/s of one core: bulk", "amaranth", "ratio", title=machine)
    table.add_row(f"{bulk:,.0f}", f"{amaranth:,.1f}", f"{bulk / amaranth:,.0f}")
    console.print(table)
    table = Table("network, unicasts", *(f"{name}: cycles/s" for name in RATES), title=f"{machine}; one core")
    for side, cycles in MESHES.items():
        speeds = (network_speed(f"mesh:{side}x{side}", share * 4 / side, cycles) for share in RATES.values())
        table.add_row(f"{side}x{side}", *(f"{speed:,.0f}" for speed in speeds))
    console.print(table)
    _networks(console, machine)
    _trees(console, machine)
    _deep(console, machine)
    _ablations(console, machine)
    table = Table("load experiment", "one core: cycles/s together", "two cores", "ratio", "with a table of messages",
                  "ratio", title=machine)
    load_speed("mesh:8x8", 8, 1000, 2)  # the first runs may compile code, and are not timed
    table_speed("mesh:8x8", 8, 1000)
    for mesh, seeds, cycles in LOADS:
        one, two = (load_speed(mesh, seeds, cycles, workers) for workers in (1, 2))
        plain, tabled = table_speed(mesh, seeds, cycles)
        table.add_row(f"{mesh}, seeds: {seeds}", f"{one:,.0f}", f"{two:,.0f}", f"{two / one:.2f}", f"{tabled:,.0f}",
                      f"{tabled / plain:.2f}")
    console.print(table)
    _backlogs(console, machine)
    for what, router in (("few", words["router"]), ("many", bits["router"])):
        size = block_bytes(router) + block_bytes(words["interface"])
        console.print(f"memory, {what} routers: {size:.0f} bytes for router, interface and their words, each lane")
    table = Table("scheme", "on", "10 destinations: plans/s", "of individual", title=f"{machine}; one core")
    for scheme in SCHEMES:
        if on := planned_on(scheme):
            speed = plan_speed(scheme, on)
            table.add_row(scheme, on, f"{speed:,.0f}", f"{speed / plan_speed('individual', on):.2f}")
    console.print(table)


def _start(console: Console, machine: str) -> None:
    """Print the processor times of commands in this tree and in the earlier revision `start.BEFORE`."""
    with start.extracted(start.BEFORE) as before, TemporaryDirectory() as folder:
        trees = []
        for name, source in (("before", before), ("after", start.ROOT)):
            trees.append(start.Revision(source, Path(folder, name)))
            trees[-1].folder.mkdir()
        # the first run writes Python's bytecode, and is not counted
        unit, bare = (median([trees[1].seconds("-c", code)[0] for _ in range(1 + start.TIMES)][1:])
                      for code in (start.IMPORTS, start.bare_program(16)))
        table = Table("processor time in U", f"{start.BEFORE}", "now", "ratio", "goal", "now (MB)",
                      title=f"{machine}; U = {unit:.2f} s; a bare program of 16 commands: {bare / unit:.2f} U")
        for row in start.ROWS:
            (old, _), (new, size) = (tree.measure(row) for tree in trees)
            table.add_row(row.what, f"{old / unit:.2f}", f"{new / unit:.2f}", f"{old / new:.1f}", row.goal,
                          f"{size:.0f}")
        # the first run fills the caches, and is not counted
        programs = {code: median([trees[1].seconds("-c", code)[0] for _ in range(1 + start.TIMES)][1:])
                    for code in start.FROM_PYTHON if find_spec(code.split(";")[0].split()[1])}
    console.print(table)
    console.print("\n".join(f"{seconds:.2f} s: {code}" for code, seconds in programs.items()))


def _components(console: Console, machine: str, network: Network, words: dict[str, Kernel], bits: dict[str, Kernel], *,
                with_verilator: bool) -> None:
    """Print the simulation speed of components in kernels, and in Verilator."""
    counts = (64, 512, 4096)
    table = Table("component", "operations", "state (bytes)", *(f"{count}: steps/s of each" for count in counts),
                  "64 by Verilator", "ratio", "of 512", "compiled cold (s)", "cached (s)",
                  title=f"{machine}; one core")
    for kind in words:
        slow = verilator.component_speed(network, kind, 64) if with_verilator else None
        for name, kernel in ((kind, words[kind]), (f"{kind}, bit by bit", bits[kind])):
            if name != kind and kernel.vector_width == words[kind].vector_width:
                continue
            speeds = [kernel_speed(kernel, count) for count in counts]
            cold, cached = compile_times(network, kind, kernel.vector_width)
            ratios = [f"{speeds[0] / slow:.1f}", f"{8 * speeds[1] / slow:.1f}"] if slow else ["", ""]
            table.add_row(name, str(kernel.operations), f"{kernel.state_bytes:.0f}",
                          *(f"{speed:,.0f}" for speed in speeds), f"{slow:,.0f}" if slow else "", *ratios,
                          f"{cold:.1f}", f"{cached:.2f}")
    console.print(table)


def _network(console: Console, machine: str, mesh: str) -> None:
    """Print the simulation speed of a network in the engine `bulk`, and in Verilator with recorded words of hosts."""
    recorded = {name: record(engine_for(mesh, "dual-path", rate, 3, 1, RECORDED), RECORDED)
                for name, rate in EXPORTED.items()}
    network = engine_for(mesh, "dual-path", 0.0, 3, 1, 1).network
    ways = {way: network_speeds(network, way, recorded) for way in WAYS}
    built = ", ".join(f"{way} in {seconds:.0f} s" for way, (_, seconds) in ways.items())
    table = Table(f"{mesh}, traffic", "lanes", "bulk with hosts: cycles/s together",
                  *(column for way in WAYS for column in (f"Verilator, {way}", "ratio")), title=f"{machine}; one core "
                  f"each; traffic of one kind, every word of the hosts' links compared; built by the clock: {built}")
    for name, rate in EXPORTED.items():
        for lanes, cycles in ((1, 20_000), (8, 4_000), (64, 500)):
            engine = engine_for(mesh, "dual-path", rate, 3, lanes, 5 * cycles)
            engine.run(cycles, beyond=True)
            speed = lanes * cycles / least_time(partial(engine.run, cycles, beyond=True))
            ratios = (text for speeds, _ in ways.values()
                      for text in (f"{speeds[name]:,.0f}", f"{speed / speeds[name]:.1f}"))
            table.add_row(name, str(lanes), f"{speed:,.0f}", *ratios)
    console.print(table)


def _networks(console: Console, machine: str) -> None:
    """Print the simulation speed of MINs, tori and irregular networks, and the time to compile their kernels."""
    table = Table("network, unicasts", "routers", "their kinds", "compiled cold (s)",
                  *(f"{name}: cycles/s" for name in RATES), title=f"{machine}; one core")
    for name, (most, cycles) in NETWORKS.items():
        network = Network(topology(name), SCHEMES["individual"], Configuration())
        cold = sum(compile_times(network, kind, kernel.vector_width)[0] for kind, kernel in kernels(network).items())
        speeds = (network_speed(name, share * most, cycles) for share in RATES.values())
        table.add_row(name, str(network.topology.switches), str(len(network.routers)), f"{cold:.1f}",
                      *(f"{speed:,.0f}" for speed in speeds))
    console.print(table)


def _trees(console: Console, machine: str) -> None:
    """Print the simulation speed of networks with and without replication in switches, for the same traffic."""
    table = Table("network, multicasts", "lanes", "atbm: cycles/s together", "cmin", "ratio",
                  title=f"{machine}; one core")
    for name, (rate, cycles) in TREES.items():
        for lanes in (1, 8):
            speeds = [tree_speed(name, scheme, rate, cycles // lanes, lanes) for scheme in ("atbm", "cmin")]
            table.add_row(name, str(lanes), *(f"{speed:,.0f}" for speed in speeds), f"{speeds[0] / speeds[1]:.2f}")
    console.print(table)


def _deep(console: Console, machine: str) -> None:
    """Print the simulation speed of schemes on deep switches, and its ratio to that of unicast trees."""
    first, *others = DEEP_SCHEMES
    table = Table("network, multicasts", "lanes", f"{first}: cycles/s together",
                  *(column for scheme in others for column in (scheme, "ratio")), title=f"{machine}; one core")
    for name, (rate, cycles) in DEEP.items():
        for lanes in (1, 8):
            base, *speeds = [deep_speed(name, scheme, rate, cycles // lanes, lanes) for scheme in DEEP_SCHEMES]
            table.add_row(name.split(",")[0] + ",...", str(lanes), f"{base:,.0f}",
                          *(text for speed in speeds for text in (f"{speed:,.0f}", f"{speed / base:.2f}")))
    console.print(table)


def _backlogs(console: Console, machine: str) -> None:
    """Print the simulation speed while a backlog of messages grows at the sources, beyond saturation."""
    table = Table("8x8, 4 seeds: load", "below saturation: cycles/s together",
                  *(column for cycles in BACKLOG_CYCLES for column in (f"beyond, {cycles} cycles", "ratio")),
                  title=f"{machine}; one core")
    for scheme, rates in BACKLOGS.items():
        backlog_speeds(scheme, rates, (4096,))  # the first run may compile code, and is not timed
        below, *beyond = backlog_speeds(scheme, rates, BACKLOG_CYCLES)
        table.add_row(f"{scheme}, {rates[0]} and {rates[1]}", f"{below:,.0f}",
                      *(text for speed in beyond for text in (f"{speed:,.0f}", f"{speed / below:.2f}")))
    console.print(table)


def _ablations(console: Console, machine: str) -> None:
    """Print the processor time of each part of a simulated cycle."""
    table = None
    for mesh, lanes, rate, cycles in ABLATIONS:
        parts = ablation(mesh, lanes, rate, cycles)
        table = table or Table("microseconds of a cycle", *parts, "cycles/s together", title=f"{machine}; one core")
        table.add_row(f"{mesh}, {lanes} lanes", *(f"{part:.2f}" for part in parts.values()),
                      f"{lanes / parts['all'] * 1e6:,.0f}")
    console.print(table)


if __name__ == "__main__":
    main()
