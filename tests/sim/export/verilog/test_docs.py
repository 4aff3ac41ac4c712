"""What docs/verilog.md says is so."""

import re
import subprocess
from pathlib import Path

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
