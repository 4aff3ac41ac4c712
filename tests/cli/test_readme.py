"""The README's commands and its example of a deadlock, run as they stand there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
# synthesis has its own test, the demo too
COMMANDS = [command for command in re.findall(r"^\| `wormcast ([^`]+)`", README, re.M)
            if command.split()[0] not in ("synth", "demo")]


def run(*arguments, cwd):
    return subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_readme_run(command, tmp_path):
    (tmp_path / "sweep.toml").write_text(re.search(r"```toml\n(.*?)```", README, re.S)[1])
    done = run("-m", "wormcast", *shlex.split(command), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_deadlock_of_the_readme_is_what_the_command_prints(tmp_path):
    shown = re.search(r"^\$ wormcast (run .*)\n\.\.\.\n((?:.+\n)+?)```", README, re.M)
    assert run("-m", "wormcast", "demo", "--out", "out", cwd=tmp_path).returncode == 0
    done = run("-m", "wormcast", *shlex.split(shown[1]), cwd=tmp_path)
    assert done.returncode == 3
    assert done.stdout.endswith(shown[2])


def test_python_of_the_readme_runs(tmp_path):
    code = re.search(r"```python\n(.*?)```", README, re.S)[1]
    done = run("-c", code, cwd=tmp_path)
    assert done.returncode == 0
    assert int(done.stdout) > 0


def test_own_relation_of_the_readme_is_checked_and_run(tmp_path):
    code = re.search(r"```python\n(import numpy.*?)```", README, re.S)[1]
    name = re.search(r"--relation (\S+\.py)", README)[1]
    (tmp_path / name).write_text(code)
    done = run("-m", "wormcast", "check", "mesh:8x8", "individual", "--relation", name, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    options = ["--source", "0.0", "--destinations", "3.1,2.2", "--length", "4", "--relation", name]
    done = run("-m", "wormcast", "run", "mesh:4x4", "individual", *options, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
