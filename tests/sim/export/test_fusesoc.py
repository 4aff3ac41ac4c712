"""Generator of FuseSoC: from parameters to a command, and to a core with its Verilog."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from wormcast.sim.export import fusesoc
from wormcast.sim.export.fusesoc import generate

GENERATOR = Path(fusesoc.__path__[0], "generate.py")


def run(folder, **parameters):
    """Run the generator as FuseSoC does."""
    given = folder / "noc_input.yml"
    given.write_text(yaml.safe_dump({"gapi": "1.0", "files_root": str(folder), "vlnv": "me:soc:noc-noc:1.0.0",
                                     "parameters": parameters}))
    return subprocess.run([sys.executable, GENERATOR, given], cwd=folder, capture_output=True, text=True, check=False)


def test_parameters_are_options():
    assert generate.command({"what": "network", "topology": "mesh:3x3", "flit_width": 16, "t-ns": 0}, "a.v") == [
        "verilog", "network", "--output", "a.v", "--topology", "mesh:3x3", "--flit-width", "16", "--t-ns", "0"]
    assert generate.command({"doc": True, "what": "router", "json": False}, "a.v") == [
        "verilog", "router", "--output", "a.v", "--doc"]


@pytest.mark.parametrize(("parameters", "sentence"), [
    ({}, "parameters: what is missing. Needed: network, router, interface, or a part of them."),
    ({"topology": "mesh:2x2"}, "parameters: what is missing."),
    ({"what": "router", "output": "a.v"}, "parameters: output is not valid: the generator chooses the file names."),
    ({"what": "router", "tables": "a.json"}, "parameters: tables is not valid: the generator chooses the file names."),
    ({"what": "router", "vcs": 99}, "vcs"),
    ({"what": "router", "virtual_channels": 2}, "--virtual-channels"),
])
def test_parameters_that_are_not_valid(parameters, sentence, tmp_path):
    done = run(tmp_path, **parameters)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["noc_input.yml"]


def test_a_core_with_its_verilog(tmp_path):
    done = run(tmp_path, what="decoder", topology="mesh:2x2", module="my_decoder")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "wormcast.core").read_text()
    assert text.startswith("CAPI=2:\n")
    core = yaml.safe_load(text.partition("\n")[2])
    assert (core["name"], core["targets"]["default"]["filesets"]) == ("me:soc:noc-noc:1.0.0", ["rtl"])
    assert core["filesets"]["rtl"] == {"files": ["wormcast.v"], "file_type": "verilogSource"}
    assert "module my_decoder(" in (tmp_path / "wormcast.v").read_text()
