"""Kernels on disk: found again, made anew when anything that matters has changed or is damaged."""

import contextlib
import fcntl
import gc
import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from amaranth.lib.wiring import In, Out

from wormcast.algorithms import announcements, kept_files
from wormcast.sim.lowering import Kernel, LoweringError, cache_folder, is_ours, lower_cached, machine, store

from .agreement import component


def build(m, self):
    m.d.sync += self.o.eq(self.o + self.a)


def same_netlist(m, self):
    """Other lines, the same cells."""
    following = self.o + self.a
    m.d.sync += self.o.eq(following)


def subtract(m, self):
    m.d.sync += self.o.eq(self.o - self.a)


def words(_):
    return {"a": ["a"]}, {"o": ["o"]}


class Factory:
    """Makes the component and counts how often."""

    def __init__(self):
        self.calls = 0
        self.build = build

    def __call__(self):
        self.calls += 1
        return component({"a": In(8), "o": Out(8)}, self.build)()


@pytest.fixture
def factory():
    return Factory()


@pytest.fixture
def compiled(monkeypatch):
    """A list that has an entry for each compilation."""
    found, compile_ir = [], machine.compile_ir
    monkeypatch.setattr(machine, "compile_ir", lambda text: (found.append(text), compile_ir(text))[1])
    return found


@pytest.fixture
def get(factory, tmp_path):
    def get(**changes) -> Kernel:
        return lower_cached(factory, **{"cache_key": "adder:8", "folder": tmp_path, "words": words, **changes})

    return get


def test_lookup_again(factory, get):
    first = get()
    started = time.perf_counter()
    second = get()
    block = second.allocate(3)
    block.input("a")[:3] = [1, 2, 3]
    second.step(block, 2)
    assert time.perf_counter() - started < 0.4
    assert block.output("o")[:3].tolist() == [2, 4, 6]
    assert factory.calls == 1
    assert second == first


@pytest.mark.parametrize("change", [{"name": "other"}, {"vector_width": 16}], ids=lambda change: next(iter(change)))
def test_another_request(get, compiled, change):
    get()
    get(**change)
    assert len(compiled) == 2


def test_the_netlist_is_the_same_under_another_key(factory, get, compiled):
    first = get()
    factory.build = same_netlist
    second = get(cache_key="the same adder")
    assert (factory.calls, len(compiled)) == (2, 1)
    assert second == first
    assert get(cache_key="the same adder") == first
    assert factory.calls == 2


def test_the_netlist_is_another_under_another_key(factory, get, compiled):
    first = get()
    factory.build = subtract
    assert get(cache_key="subtracter").code != first.code
    assert (factory.calls, len(compiled)) == (2, 2)


def test_other_words_are_another_kernel(factory, get, compiled):
    get()
    assert list(get(cache_key="another", words=lambda _: ({"b": ["a"]}, {"o": ["o"]})).inputs) == ["b"]
    assert (factory.calls, len(compiled)) == (2, 2)


def test_a_refusal_is_kept(factory, get, compiled):
    for _ in range(2):
        with pytest.raises(LoweringError, match="Needed: every port in a word"):
            get(words=lambda _: ({"a": ["a"]}, {}))
    assert (factory.calls, len(compiled)) == (1, 0)


def test_the_surroundings_change(factory, get, compiled, monkeypatch):
    get()
    monkeypatch.setattr(store, "_surroundings", lambda: ["another processor"])
    get()
    assert (factory.calls, len(compiled)) == (2, 2)


@pytest.mark.parametrize("damage", [b"", b"x", lambda whole: whole[:-1], lambda whole: whole[:50] + b"?" + whole[51:]])
@pytest.mark.parametrize("what", ["kernel", "netlist"])
def test_damaged(factory, get, compiled, tmp_path, what, damage):
    get()
    (path,) = tmp_path.glob(f"*.{what}")
    path.write_bytes(damage(path.read_bytes()) if callable(damage) else damage)
    get()
    assert (factory.calls, len(compiled)) == (2, 2 if what == "kernel" else 1)
    get()
    assert factory.calls == 2


def test_nothing_else_is_left_in_the_folder(get, tmp_path):
    get()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".kernel", ".netlist"]


def test_who_comes_while_it_is_made_waits_for_it(get, factory):
    """Threads here stand for processes, too: a lock on a file keeps both out."""
    made, called = factory.__class__.__call__, threading.Event()

    def slowly(self):
        called.set()
        time.sleep(0.3)
        return made(self)

    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        patch.setattr(Factory, "__call__", slowly)
        first = pool.submit(get)
        assert called.wait(10)
        second = pool.submit(get)
        assert second.result() == first.result()
    assert factory.calls == 1


def test_a_folder_that_cannot_be_made(factory, get, tmp_path):
    (tmp_path / "file").write_text("")
    get(folder=tmp_path / "file" / "folder")
    assert factory.calls == 1


def test_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("WORMCAST_CACHE", raising=False)
    assert cache_folder() == tmp_path / "wormcast" / "kernels"
    monkeypatch.setenv("WORMCAST_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    assert cache_folder(tmp_path) == tmp_path


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_what_others_can_write_is_not_read(what, mode, factory, get, tmp_path):
    """Reading a file runs what is in it."""
    folder = tmp_path / "kernels"
    get(folder=folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (path,) = folder.glob("*.kernel")
    shared = path if what == "file" else folder
    before = shared.stat().st_mode
    shared.chmod(before | mode)
    get(folder=folder)
    assert factory.calls == 2
    shared.chmod(before)
    get(folder=folder)
    assert factory.calls == 2


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_another_user_has_written_is_not_read(what, factory, get, tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    get(folder=folder)
    monkeypatch.setattr(kept_files, "is_ours", lambda told: stat.S_ISDIR(told.st_mode) == (what == "file"))
    get(folder=folder)
    assert factory.calls == 2


def test_whose_a_file_is(monkeypatch):
    def told(owner, mode):
        return os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))

    monkeypatch.setattr(os, "getuid", lambda: 7)
    assert is_ours(told(7, 0o100644))
    assert is_ours(told(0, 0o100600))
    assert not is_ours(told(8, 0o100600))
    assert not is_ours(told(7, 0o100664))
    assert not is_ours(told(7, 0o040777))


def test_garbage_is_collected_again_afterwards(get, factory, monkeypatch):
    assert gc.isenabled()
    get()
    assert gc.isenabled()
    monkeypatch.setattr(Factory, "__call__", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        get(cache_key="another")
    assert gc.isenabled()


def test_nobody_waits_for_ever_for_one_that_was_stopped(get, tmp_path, monkeypatch):
    monkeypatch.setattr("wormcast.algorithms.file_lock.PATIENCE", 0.2)
    get()
    [path] = tmp_path.glob("*.kernel")
    path.unlink()
    with path.with_suffix(".kernel-lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        get()
    assert path.exists()


def test_it_is_said_when_something_is_compiled(factory, get, monkeypatch):
    said = []

    @contextlib.contextmanager
    def saying(what, seconds, once):
        said.append((what, factory.calls))
        yield
        said.append((what, factory.calls))

    monkeypatch.setattr(announcements, "_announcer", saying)
    get()
    get()
    assert said == [("compiling this hardware", 0), ("compiling this hardware", 1)]
