import inspect
import textwrap

import pytest

from wormcast.sim.engines import bulk as bulk_engine


def pytest_configure(config):
    # a kernel that is found on disk needs its component's ports, and never elaborates it
    config.addinivalue_line("filterwarnings", "ignore::amaranth.hdl.UnusedElaboratable")


@pytest.fixture
def mutate(monkeypatch):
    """A function that changes texts of a component's `elaborate`, each of which occurs once."""
    def change(owner, *changes):
        source = textwrap.dedent(inspect.getsource(owner.elaborate))
        for old, new in changes:
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        names = {}
        exec(compile(source, f"<mutant of {owner.__name__}>", "exec"), inspect.getmodule(owner).__dict__, names)
        monkeypatch.setattr(owner, "elaborate", names["elaborate"])
        sources = bulk_engine._sources()
        monkeypatch.setattr(bulk_engine, "_sources", lambda: f"{sources} {source}")  # kernels of their own

    return change
