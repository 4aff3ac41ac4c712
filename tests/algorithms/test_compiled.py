"""Kernels on disk: found again, and compiled again when anything has changed that is compiled into them."""

import importlib
import os
import subprocess
import sys
import time

import pytest

from wormcast.algorithms.compiled import sources

BELOW = """
from wormcast.algorithms.compiled import {kind}

STEP = {step}

@{kind}
def _own(x):
    return x + STEP

@{kind}
def more(x):
    return _own(x)
"""
ABOVE = """
from below import FACTOR, more
from wormcast.algorithms.compiled import compiled

@compiled
def _less(x):
    return FACTOR * x - more(x)

@compiled
def result(x):
    return _less(x)
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Writes two modules, of which one's kernels call the other's, and gives the kernel as a new process has it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python knows a file again by its size and second

    def load(step, factor, kind):
        (tmp_path / "below.py").write_text(f"FACTOR = {factor}\n" + BELOW.format(step=step, kind=kind))
        (tmp_path / "above.py").write_text(ABOVE)
        for name in ("below", "above"):
            sys.modules.pop(name, None)
        return importlib.import_module("above").result

    yield load
    for name in ("below", "above"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("kind", ["compiled", "borrowing", "inlined"])
def test_a_kernel_has_what_is_compiled_into_it_as_that_is_now(load, kind):
    for step, factor in [(1, 2), (3, 2), (3, 5)]:
        kernel = load(step, factor, kind)
        assert kernel(10) == factor * 10 - 10 - step
        assert not kernel.stats.cache_hits
        again = load(step, factor, kind)
        assert again(10) == factor * 10 - 10 - step
        assert again.stats.cache_hits


def test_a_number_of_another_file_counts_though_none_of_its_functions_does(tmp_path, monkeypatch):
    """The file is not looked at: its other numbers change nothing."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    found = []
    for first, second in [(1, 1), (1, 2), (2, 2)]:
        (tmp_path / "figures.py").write_text(f"FIRST, SECOND = {first}, {second}\n")
        (tmp_path / "reads.py").write_text("from figures import FIRST\n\ndef reads():\n    return FIRST\n")
        for name in ("figures", "reads"):
            sys.modules.pop(name, None)
        found.append(sources(importlib.import_module("reads").reads))
    assert found[0] == found[1] != found[2]


#: Where all of them are ready, a file is made for which they wait.
ONE_OF_SEVERAL = """
import sys, time
from pathlib import Path
from above import result
while not Path("go").exists():
    time.sleep(0.001)
assert result(10) == 9
print(sum(result.stats.cache_misses.values()))
"""


def test_of_several_processes_one_compiles(load, tmp_path):
    load(1, 2, "compiled")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", ONE_OF_SEVERAL], cwd=tmp_path, env=environment, text=True,
                                stdout=subprocess.PIPE) for _ in range(3)]
    time.sleep(2)
    (tmp_path / "go").touch()
    assert sorted(one.communicate()[0].strip() for one in running) == ["0", "0", "1"]
    assert not list(tmp_path.rglob("*.lock"))
