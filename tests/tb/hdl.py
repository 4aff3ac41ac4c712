"""Verilog of components and networks, as ``wormcast verilog`` writes it, and of a synthesised component."""

import tempfile
from pathlib import Path

from wormcast.hw.router import Blueprint
from wormcast.sim.common.external import find_tool, run_tool, scratch_folder
from wormcast.sim.export.verilog import component_verilog, export

#: LUTs, flip-flops and LUT memories of ECP5, then Yosys's own models of these cells in their place.
SYNTHESISE = """
    read_verilog {name}.v; synth_ecp5 -nobram -nodsp -top {name}; write_verilog -noattr cells.v; design -reset;
    read_verilog -defer -nooverwrite +/ecp5/cells_sim.v; read_verilog cells.v; hierarchy -check -top {name};
    proc; flatten; opt_clean -purge; write_verilog -noattr netlist.v
"""


def write(component, name, at):
    """Write the Verilog of a component to a folder; its file."""
    file = at / f"{name}.v"
    file.write_text(component_verilog(component, name)[0])
    return file


def netlist(component, name, at):
    """Write the netlist of a component synthesised for ECP5 to a folder; its file."""
    # Yosys has a /tmp of its own
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        source = write(component, name, Path(folder))
        script = SYNTHESISE.format(name=name).replace("\n", " ")
        run_tool([*find_tool("yosys", "synth"), "-q", "-p", script], who="netlist", folder=source.parent)
        text = source.with_name("netlist.v").read_text()
    file = at / f"{name}.v"
    file.write_text(text)
    return file


def network(network, name, at):
    """Write the Verilog of a network to a folder: its file, and the modules of which there are many."""
    blueprint = Blueprint(network.topology, network.scheme, network.configuration)
    file = at / f"{name}.v"
    file.write_text(export(blueprint, "network", module=name, command="").verilog)
    return file, [f"{name}_{kind}" for kind in network.kinds]
