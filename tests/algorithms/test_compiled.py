"""Compiled functions: kept on disk by what is compiled into them, and the same as plain Python."""

import contextlib
import importlib
import os
import subprocess
import sys
import threading
import time
from random import Random

import numpy as np
import pytest

from wormcast.algorithms import compiled as compiled_module
from wormcast.algorithms import file_lock
from wormcast.algorithms.compiled import LINEAR, compiled, compiled_from, digest, inlined, plain
from wormcast.algorithms.file_lock import alone

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


@pytest.mark.parametrize("kind", ["compiled", "inlined"])
def test_a_function_contains_what_it_calls_as_that_is_now(load, kind):
    for step, factor in [(1, 2), (3, 2), (3, 5)]:
        function = load(step, factor, kind)
        assert function(10) == factor * 10 - 10 - step
        assert not function.dispatcher.stats.cache_hits
        again = load(step, factor, kind)
        assert again(10) == factor * 10 - 10 - step
        assert again.dispatcher.stats.cache_hits


#: A function, the same one with other comments and lines, and others.
SAME = [
    "def one(x):\n    return x + 1\n",
    'def one(x):\n    """Add one."""\n    return x + 1\n',
    '# above\n\ndef one(x):\n    """Add 1."""\n    # inside\n    return (x +\n            1)\n',
]
OTHER = ["def one(x):\n    return x + 2\n", "def one(x):\n    return 1 + x\n", "def one(x, y=1):\n    return x + y\n",
         "def one(x):\n    return sum([y + 1 for y in (x,)])\n", "def one(x):\n    return sum([y + 2 for y in (x,)])\n"]


def digest_of(source):
    names = {}
    exec(compile(source, "file", "exec"), names)
    return digest(names["one"])


def test_comments_docstrings_and_lines_do_not_count():
    assert len({digest_of(source) for source in SAME}) == 1
    assert len({digest_of(source) for source in [SAME[0], *OTHER]}) == 1 + len(OTHER)


def test_a_docstring_compiles_nothing(load, tmp_path):
    load(1, 2, "compiled")(10)
    for name in ("below", "above"):
        file = tmp_path / f"{name}.py"
        text = file.read_text().replace("(x):\n", '(x):\n    """Return a number."""  # of x\n', 1)
        file.write_text("# above all\n" + text)
        sys.modules.pop(name)
    again = importlib.import_module("above").result
    assert again.py_func.__globals__["_less"].__doc__ == "Return a number."
    assert again(10) == 9
    assert again.dispatcher.stats.cache_hits


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
        found.append(digest(importlib.import_module("reads").reads))
    assert found[0] == found[1] != found[2]


#: A process that ends between the index of a cache and the code that it names.
KILLED = """
import os
from numba.core.caching import IndexDataCacheFile
from above import result
IndexDataCacheFile._save_data = lambda self, name, data: os._exit(9)
result(10)
"""


def test_code_of_an_earlier_function_is_never_taken_for_that_of_this_one(load, tmp_path):
    """A process that was killed leaves an index that names code which is not there, or is another function's."""
    assert load(1, 2, "compiled")(10) == 9
    load(1, 5, "compiled")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, env=environment, check=False).returncode == 9
    assert load(1, 5, "compiled")(10) == 39


def test_code_of_earlier_functions_does_not_pile_up(load, tmp_path):
    for factor in (2, 3, 4):
        load(1, factor, "compiled")(10)
    assert len(list(tmp_path.rglob("above.result*.nbc"))) == len(list(tmp_path.rglob("above.result*.nbi"))) == 1


#: A function whose argument is a named tuple.
PAIR = """
from typing import NamedTuple

from wormcast.algorithms.compiled import compiled

class {name}(NamedTuple):
    first: int
    second: int

@compiled
def total(pair):
    return pair.first + pair.second
"""


@pytest.fixture
def load_pair(tmp_path, monkeypatch):
    """Writes a module with a named tuple of a given name, and imports it as a new process does."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load_pair(name):
        (tmp_path / "pairs.py").write_text(PAIR.format(name=name))
        sys.modules.pop("pairs", None)
        module = importlib.import_module("pairs")
        return module, getattr(module, name)(3, 4)

    yield load_pair
    sys.modules.pop("pairs", None)


def test_a_renamed_class_of_arguments_is_compiled_again(load_pair):
    """The cache of the earlier name cannot be read: the index and the code contain the name of the class."""
    for name in ("Pair", "Couple"):
        for hits in (0, 1):
            module, pair = load_pair(name)
            assert module.total(pair) == 7
            assert sum(module.total.dispatcher.stats.cache_hits.values()) == hits


def test_code_that_cannot_be_read_is_compiled_again(load, tmp_path):
    assert load(1, 2, "compiled")(10) == 9
    for ending in ("nbc", "nbi"):
        [file] = tmp_path.rglob(f"above.result*.{ending}")
        file.write_bytes(file.read_bytes()[:-20])
        assert load(1, 2, "compiled")(10) == 9
        again = load(1, 2, "compiled")
        assert again(10) == 9
        assert again.dispatcher.stats.cache_hits


#: A process that waits for a file, written when all processes run, and then calls the function.
ONE_OF_SEVERAL = """
import sys, time
from pathlib import Path
from above import result
while not Path("go").exists():
    time.sleep(0.001)
assert result(10) == 9
print(sum(result.dispatcher.stats.cache_misses.values()))
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


SORTS = """
import numpy as np
from wormcast.algorithms.compiled import compiled

@compiled
def ordered(numbers):
    numbers.sort()
    return numbers

@compiled
def order(numbers):
    return np.argsort(numbers)
"""


def test_functions_of_several_processes_do_not_mix(tmp_path):
    """Numba's code for `sort` and `argsort` has functions of one name, compiled here by two processes."""
    (tmp_path / "sorts.py").write_text(SORTS)
    numbers = [7, 3, 9, 1, 5, 8, 2, 6, 4, 0, 11, 10, 15, 13, 12, 14, 19, 18, 17, 16]
    calls = {"ordered": sorted(numbers), "order": sorted(range(len(numbers)), key=numbers.__getitem__)}
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))

    def said(*names):
        call = f"import numpy as np, sorts\nfor name in {names}:\n"
        call += f"    print(getattr(sorts, name)(np.array({numbers})).tolist())"
        return subprocess.run([sys.executable, "-c", call], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, check=True).stdout.splitlines()

    for name, result in calls.items():
        assert said(name) == [str(result)]
    assert said(*calls) == [*map(str, calls.values())]


def test_code_for_two_types_that_is_stored_at_the_same_time(load, tmp_path, monkeypatch):
    """Both are kept, each under its own type: without a lock, both threads would write an index with their code alone,
    and the same file of code."""
    from numba.core.caching import IndexDataCacheFile

    functions = {number: load(1, 2, "compiled") for number in (10, 10.5)}
    stored = [(function.dispatcher._cache, signature, code) for number, function in functions.items()
              if function(number) for signature, code in function.dispatcher.overloads.items()]
    for file in tmp_path.rglob("above.result*.nb[ic]"):
        file.unlink()
    both, save_index = threading.Barrier(2, timeout=1), IndexDataCacheFile._save_index

    def save_at_the_same_time(*arguments):
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait()
        save_index(*arguments)

    monkeypatch.setattr(IndexDataCacheFile, "_save_index", save_at_the_same_time)
    threads = [threading.Thread(target=cache.save_overload, args=(signature, code))
               for cache, signature, code in stored]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = load(1, 2, "compiled")
    assert [again(number) for number in functions] == [9, 9.5]
    assert not again.dispatcher.stats.cache_misses
    assert not list(tmp_path.rglob("*.lock"))


@pytest.mark.skipif(file_lock.fcntl is None, reason="no file locks")
def test_a_lock_has_one_holder_also_while_others_open_and_delete_its_file(tmp_path):
    """Threads as processes: each opens the file anew. They come at any time between the deletions of the others."""
    inside, holders, random = [], [], Random(0)

    def hold(pauses):
        for pause in pauses:
            time.sleep(pause)
            with alone(tmp_path / "lock"):
                inside.append(None)
                holders.append(len(inside))
                time.sleep(0.02)
                inside.pop()

    threads = [threading.Thread(target=hold, args=([random.uniform(0, 0.05) for _ in range(6)],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert holders == [1] * 24
    assert not list(tmp_path.iterdir())


@inlined
def _doubled(number):
    return number * np.uint64(2)


@compiled_from(LINEAR)
def _hashed(numbers, factor):
    total = np.uint64(factor)
    for number in numbers:
        total = _doubled(total) + number
    return total, numbers[0] > 0, len(numbers)


@compiled
def _never_plain(numbers):
    return numbers[0]


def test_plain_python_gives_what_compiled_code_gives():
    """Numbers of Python's own types, and sums modulo 2**64."""
    numbers = np.full(3, 1 << 63, np.uint64)
    with plain():
        found = _hashed(numbers, 1 << 62)
    assert found == _hashed.dispatcher(numbers, 1 << 62) == (1 << 63, True, 3)
    assert [type(value) for value in found] == [int, bool, int]


#: Prints whether Numba is loaded, after calls with few and with many elements.
LOADS = """
import sys
import numpy as np
from test_compiled import _hashed, _never_plain
numba = lambda: "numba" in sys.modules
_hashed(np.ones(10, np.uint64), 1)
few = numba()
_hashed(np.ones({elements}, np.uint64), 1)
print(few, numba())
"""


@pytest.mark.parametrize(("elements", "loaded"), [(LINEAR - 1, False), (LINEAR, True)])
def test_numba_is_loaded_for_large_input_alone(elements, loaded):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    told = subprocess.run([sys.executable, "-c", LOADS.format(elements=elements)], env=environment, text=True,
                          capture_output=True, check=True).stdout
    assert told.split() == ["False", str(loaded)]


def test_a_process_runs_plain_python_for_a_while_and_then_compiles(monkeypatch):
    monkeypatch.setattr(compiled_module, "jit_loaded", lambda: False)
    monkeypatch.setattr(compiled_module, "PATIENCE", 0.05)
    monkeypatch.setattr(compiled_module._plain, "spent", 0.0)
    called = []
    function = compiled_from(LINEAR)(lambda numbers: called.append(1) or time.sleep(0) or sum(numbers))
    monkeypatch.setattr(type(function), "dispatcher", property(lambda self: lambda numbers: None))
    numbers = np.ones(10_000)
    while function(numbers) is not None:
        assert len(called) < 10_000
    assert len(called) > 1
    assert compiled_module._plain.spent >= 0.05
