# amaranth: UnusedElaboratable=no
"""The recipe of docs/cocotb.md works as written."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from wormcast.algorithms import SCHEMES, topology
from wormcast.hw.router import Blueprint
from wormcast.sim import hardware

from . import hdl

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "cocotb.md").read_text()
[RECIPE] = re.findall(r"^```python\n(from cocotb_tools.*?)```", TEXT, re.MULTILINE | re.DOTALL)
[SEARCHED] = re.findall(r"^```\n(export PATH.*?)```", TEXT, re.MULTILINE | re.DOTALL)


def follow(design, at):
    """Do it in a folder, for a design and its bench that lie there; what each test of the bench said."""
    (at / "recipe.py").write_text(RECIPE.replace("pipe", design))
    script = at / "recipe.sh"
    script.write_text(f"set -e\n{SEARCHED}python recipe.py\n")
    paths = [str(ROOT / "src"), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    # under pytest cocotb would do other things
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(["bash", script], cwd=at, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    [results] = at.rglob("results.xml")
    return {case.get("name"): [part.tag for part in case if part.tag != "properties"]
            for case in ElementTree.parse(results).iter("testcase")}


@pytest.mark.slow
def test_recipe_on_the_pipe(tmp_path):
    for name in ("pipe.v", "tb_pipe.py"):
        shutil.copy(ROOT / "tb" / name, tmp_path)
    said = follow("pipe", tmp_path)
    assert len(said) == 4
    assert not any(said.values()), said


@pytest.mark.slow
def test_recipe_on_an_exported_router(tmp_path):
    mesh, scheme = topology("mesh:2x2"), SCHEMES["dual-path"]
    configuration = hardware(mesh, scheme, {"vcs": 1, "flit_width": 8, "buffer": 2})
    hdl.write(Blueprint(mesh, scheme, configuration).router(), "router", tmp_path)
    shutil.copy(Path(__file__).with_name("tb_router.py"), tmp_path)
    assert follow("router", tmp_path) == {"a_worm_is_copied": []}
