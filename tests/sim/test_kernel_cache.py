"""Kernels survive changes of their sources that leave the netlist as it is, on a copy of the package."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wormcast

#: Makes the kernel and the observer of an interface, and prints how often a netlist is read and code compiled for them.
COUNTING = """
import json
from functools import partial

from wormcast.algorithms import SCHEMES, topology
from wormcast.hw.router import Blueprint
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import ComponentKind
from wormcast.sim.engines.bulk import _lowered, observer
from wormcast.sim.lowering import machine, netlist

counts = dict.fromkeys(["read", "read_visible", "compile_ir"], 0)

def count(module, name):
    function = getattr(module, name)
    def counted(*arguments):
        counts[name] += 1
        return function(*arguments)
    setattr(module, name, counted)

for module, name in (netlist, "read"), (netlist, "read_visible"), (machine, "compile_ir"):
    count(module, name)
blueprint = Blueprint(topology("mesh:1x2"), SCHEMES["individual"], Configuration())
kind = ComponentKind("interface", partial(blueprint.interface, ports=1, links=1), ("one",), {}, {}, "interface")
observer(kind, _lowered(kind, 16))
print(json.dumps([counts["read"] + counts["read_visible"], counts["compile_ir"]]))
"""

FILE = "hw/interface/network_interface.py"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the package whose kernels are made."""
    folder = tmp_path_factory.mktemp("package")
    shutil.copytree(Path(wormcast.__file__).parent, folder / "wormcast", ignore=shutil.ignore_patterns("__pycache__"))
    assert counts(folder) == [2, 2]
    return folder


def counts(folder):
    """Elaborations and compilations in a new process."""
    environment = os.environ | {"PYTHONPATH": str(folder), "WORMCAST_CACHE": str(folder / "cache")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", COUNTING], env=environment, capture_output=True, text=True, check=True,
                          cwd=folder)
    return json.loads(done.stdout)


@pytest.mark.parametrize(("before", "after", "expected"), [
    ('"""Network interface of a node.', '"""An interface.', [0, 0]),
    ("        m = Module()\n", "        m = Module()  # a comment\n\n", [0, 0]),
    ("        m = Module()\n", "        m = Module()\n        m.d.comb += []\n", [2, 0]),
    ('"injection_{p}"] = ', '"post_{p}"] = ', [2, 2]),
    ("injection.no_tail, Cause.NO_TAIL", "injection.no_tail, Cause.OVERFLOW", [2, 2]),
], ids=["docstring", "comment", "a line without effect", "names of registers", "a line that matters"])
def test_a_change_of_the_hardware(package, before, after, expected):
    file = package / "wormcast" / FILE
    text = file.read_text()
    assert text.count(before) == 1
    try:
        file.write_text(text.replace(before, after))
        assert counts(package) == expected
    finally:
        file.write_text(text)


def test_a_change_of_what_the_hardware_does_not_import(package):
    for name in "algorithms/schemes/dual_path.py", "hw/deep/state_text.py", "sim/engines/meter.py":
        file = package / "wormcast" / name
        file.write_text(file.read_text() + "\nEXTRA = 1\n")
    assert counts(package) == [0, 0]


def test_a_change_of_a_decoder_that_only_its_header_names(package):
    file = package / "wormcast" / "hw" / "decoders" / "extra.py"
    for text in "EXTRA = 1\n", "EXTRA = 2\n":
        file.write_text(text)
        assert counts(package) == [2, 0]
    file.unlink()


def test_a_change_of_the_lowering(package):
    file = package / "wormcast" / "sim" / "lowering" / "emit.py"
    file.write_text(file.read_text() + "\nEXTRA = 1\n")
    assert counts(package) == [2, 2]
    file.write_text(file.read_text() + "\n# a comment\n")
    assert counts(package) == [0, 0]
