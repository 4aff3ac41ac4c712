"""Hooks of all tests."""

import gc

import pytest

# Elaborations make objects by the million and little garbage: looking for it as often as usual is a fifth of the time.
gc.set_threshold(2_000_000, 10, 10)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    """Keep the collector from walking, again and again, through what files of tests leave in caches."""
    if gc.get_count()[0] > 1_000_000 and (nextitem is None or nextitem.path != item.path):
        gc.collect()
        gc.freeze()
