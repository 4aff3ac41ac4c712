"""Statements of docs/verilog.md."""

import re
import subprocess
from pathlib import Path

import pytest
from amaranth.sim import Simulator

from wormcast.algorithms.headers import AddressList
from wormcast.sim.common.external import find_tool
from wormcast.sim.export.verilog import export, ports

from .cases import OWN, blueprint
from .test_lint import WAIVED

TEXT = (Path(__file__).parents[4] / "docs" / "verilog.md").read_text()


def test_instance_has_ports_of_the_router():
    _, snippet = re.findall(r"```verilog\n(.*?)```", TEXT, re.DOTALL)
    used = set(re.findall(r"\.(\w+)\(", snippet))
    assert used <= {port.name for port in ports(blueprint("mesh:8x8").router())} | {"clk", "rst"}
    assert {"east_out_flit", "strap_coordinate_1", "fault"} <= used


def test_header_of_the_example():
    mesh = blueprint("mesh:8x8").topology
    [flit] = AddressList((8, 8), 32).encode([mesh.node("2.2"), mesh.node("2.3")])
    assert f"{{32'h{flit >> 16:04X}_{flit & 0xFFFF:04X}, 2'b01}}" in TEXT


@pytest.fixture(scope="module")
def router():
    return blueprint("mesh:8x8").router()


@pytest.mark.parametrize(("case", "nodes"), [("stop at 2.2, then 2.3", ("2.2", "2.3")), ("last stop at 2.2", ("2.2",))])
def test_cycles_at_a_node(router, case, nodes):
    """The table of what leaves at a node, with a sink that returns credits in the flit's own cycle."""
    heading, row = re.search(rf"^\| \|((?: \d+ \|)+)\n(?:\|.*\n)*?\| `local_out`, {case} \|(.*)\|$", TEXT,
                             re.MULTILINE).groups()
    shown = {int(cycle): cell.strip() for cycle, cell in zip(re.findall(r"\d+", heading), row.split("|"), strict=True)
             if cell.strip()}
    topology = blueprint("mesh:8x8").topology
    [header] = AddressList((8, 8), 32).encode([topology.node(node) for node in nodes])
    worm = [{"head": 1, "data": header}, {"data": 0}, {"data": 1}, {"data": 2, "tail": 1}]
    seen = {}

    async def bench(ctx):
        ctx.set(router.strap_coordinate_0, 2)
        ctx.set(router.strap_coordinate_1, 2)
        for cycle in range(1, 20):
            ctx.set(router.west_in.valid, cycle <= len(worm))
            if cycle <= len(worm):
                ctx.set(router.west_in.flit, worm[cycle - 1])
            for link in (router.local_out, router.east_out):
                ctx.set(link.credit, ctx.get(link.valid) << ctx.get(link.vc))
            if ctx.get(router.local_out.valid):
                flit = ctx.get(router.local_out.flit)
                seen[cycle] = f"H `{flit.data:X}`" if flit.head else f"payload {flit.data}{', T' * flit.tail}"
            await ctx.tick()

    simulator = Simulator(router)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == shown


def test_warnings_that_stay_are_those_of_the_list():
    table = TEXT.partition("## Lint")[2].partition("## What is tested")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(WAIVED)


def test_lint_command_ends_with_0(tmp_path):
    [command] = re.findall(r"^    verilator (.*) router\.v$", TEXT, re.MULTILINE)
    file = tmp_path / "router.v"
    file.write_text(export(blueprint(), "output-unit", command="").verilog)
    subprocess.run([*find_tool("verilator-cli", "cocotb"), *command.split(), str(file)], check=True,
                   capture_output=True)


def test_names_in_three_dimensions():
    paragraph = TEXT.partition("In three dimensions")[2].partition("\n\n")[0]
    compared = {port.name for port in ports(blueprint("mesh:2x2x3", "individual").router())}
    table = {port.name for port in ports(blueprint("mesh:2x2x3", relation=OWN).router())}
    assert {"x_plus_in_valid", "z_minus_out_valid", "strap_coordinate_2"} <= compared
    assert {"strap_address", "strap_route", "strap_rises"} <= table - compared
    for name in re.findall(r"`(strap_\w+)`", paragraph):
        assert name in compared | table
    for link in re.findall(r"`([xyz]_\w+)`", paragraph):
        assert f"{link}_valid" in compared & table
