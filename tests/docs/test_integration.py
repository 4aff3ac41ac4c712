"""docs/integration.md: the commands of each section run as they are written, in a folder with the examples alone."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "sim" / "export" / "fusesoc"
INTRODUCTION, *SECTIONS = re.split(r"^## ", (ROOT / "docs" / "integration.md").read_text(), flags=re.MULTILINE)


def commands(text):
    """Commands of a text's blocks, without those that install packages."""
    blocks = re.findall(r"^```bash\n(.*?)```$", text, re.MULTILINE | re.DOTALL)
    return "".join(re.sub(r"^pip install .*\n", "", block, flags=re.MULTILINE) for block in blocks)


def follow(script, folder):
    """Run a script with this installation's programs on the path; its exit code, and what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"} | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-e", "-c", script], cwd=folder, env=environment, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow  # Yosys exports and Verilator builds: a section takes up to 100 s of processor time
@pytest.mark.parametrize("section", SECTIONS, ids=lambda text: text.partition("\n")[0])
def test_commands_of_a_section(section, tmp_path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    code, out = follow(commands(INTRODUCTION) + commands(section), tmp_path)
    assert code == 0, out[-3000:]
    shown = [line for block in re.findall(r"^```\n\n```text\n(.*?)```$", section, re.MULTILINE | re.DOTALL)
             for line in block.splitlines()]
    assert [line for line in out.splitlines() if line in shown] == shown
    if section.startswith("FuseSoC"):
        assert out.count("PASSED: every flit arrived once, in order\n") == 2
    if section.startswith("Amaranth"):
        assert "module soc(" in (tmp_path / "soc.v").read_text()


def test_each_section_has_commands():
    assert [section.partition("\n")[0] for section in SECTIONS] == ["FuseSoC", "Amaranth", "Verilator", "cocotb"]
    assert all(commands(section) for section in SECTIONS)


def test_the_amaranth_example_prints_what_the_page_shows(tmp_path):
    code, out = follow(f"python {ROOT / 'examples' / 'amaranth_soc.py'}", tmp_path)
    assert (code, out) == (0, next(section for section in SECTIONS if section.startswith("Amaranth")).split(
        "```\n\n```text\n")[1].partition("```")[0])


def test_excerpts_of_the_amaranth_example_are_in_it():
    [excerpt] = re.findall(r"```text\n(BLUEPRINT.*?)```", "".join(SECTIONS), re.DOTALL)
    lines = [line.strip() for line in (ROOT / "examples" / "amaranth_soc.py").read_text().splitlines()]
    assert [line for line in excerpt.splitlines() if line not in (*lines, "...")] == []


def test_cores_have_the_version_of_the_package():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cores = {file.stem: yaml.safe_load(file.read_text().replace("CAPI=2:", "", 1))
             for file in LIBRARY.glob("*.core")}
    assert {core["name"] for core in cores.values()} == {f"wormcast:noc:{name}:{version}" for name in cores}
