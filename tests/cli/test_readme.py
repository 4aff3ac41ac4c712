"""The README's commands and its examples, run as they stand there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
# synthesis and Verilog have their own tests, the demo too
COMMANDS = [command for command in re.findall(r"^\| `wormcast ([^`]+)`", README, re.M)
            if command.split()[0] not in ("synth", "verilog", "demo")]


def run(*arguments, cwd):
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_readme_run(command, tmp_path):
    (tmp_path / "sweep.toml").write_text(re.search(r"```toml\n(.*?)```", README, re.S)[1])
    words = shlex.split(command)
    if words[0] == "continue":
        kept = ["load", "mesh:4x4", "dual-path", "--rate", "0.01", "--cycles", "100000", "--seeds", "1",
                "--checkpoint", words[1]]
        assert run("-m", "wormcast", *kept, cwd=tmp_path).returncode == 0
    done = run("-m", "wormcast", *words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_deadlock_of_the_readme_is_what_the_command_prints(tmp_path):
    shown = re.search(r"^\$ wormcast (run .*)\n\.\.\.\n((?:.+\n)+?)```", README, re.M)
    assert run("-m", "wormcast", "demo", "--out", "out", cwd=tmp_path).returncode == 0
    done = run("-m", "wormcast", *shlex.split(shown[1]), cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.endswith(shown[2])


def test_load_experiment_of_the_readme_is_what_the_command_prints(tmp_path):
    """But for the lines that are left out, and the lines of the tables."""
    command, shown = re.search(r"^\$ wormcast (load .*)\n((?:.+\n)+?)```", README, re.M).groups()
    done = run("-m", "wormcast", *shlex.split(command), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    printed = iter(done.stdout.splitlines())
    for line in shown.splitlines():
        assert line == "..." or line in printed


@pytest.mark.parametrize("file", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(file):
    """Links to files of the repository, and to headings in them, as GitHub names these."""
    for path, heading in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", (ROOT / file).read_text()):
        target = (ROOT / file).parent / path if path else ROOT / file
        assert target.exists(), path
        titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M) if heading else []
        assert not heading or heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]


def test_python_of_the_readme_runs(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    done = run("-c", code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    hops, latency, utilisation, saturated = done.stdout.split()
    assert int(hops) > 0
    assert float(latency) > 100
    assert 0 < float(utilisation) < 1
    assert saturated == "False"


def test_own_relation_of_the_readme_is_checked_and_run(tmp_path):
    code = re.search(r"```python\n(import numpy.*?)```", README, re.S)[1]
    name = re.search(r"--relation (\S+\.py)", README)[1]
    (tmp_path / name).write_text(code)
    done = run("-m", "wormcast", "check", "mesh:8x8", "individual", "--relation", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    options = ["--source", "0.0", "--destinations", "3.1,2.2", "--length", "4", "--relation", name]
    done = run("-m", "wormcast", "run", "mesh:4x4", "individual", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
