"""What docs/verilog.md says is so."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from wormcast.algorithms.headers import AddressList
from wormcast.sim.verilog import ports

from .cases import blueprint
from .test_lint import WAIVED

TEXT = (Path(__file__).parents[2] / "docs" / "verilog.md").read_text()
COMMANDS = re.findall(r"^    wormcast (verilog .*)$", TEXT, re.MULTILINE)


def test_instance_has_ports_of_the_router():
    [snippet] = re.findall(r"```verilog\n(.*?)```", TEXT, re.DOTALL)
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


@pytest.mark.slow
def test_commands_work(tmp_path):
    assert len(COMMANDS) == 6
    for command in COMMANDS:
        done = subprocess.run([sys.executable, "-m", "wormcast", *shlex.split(command)], cwd=tmp_path, check=True,
                              capture_output=True, text=True)
        assert done.stdout
    assert {path.name for path in tmp_path.iterdir()} \
        == {"router.v", "router.v.md", "interface.v", "network.v", "network.v.md", "local.v"}
