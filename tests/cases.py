"""Marks of test cases that only ``make test-all`` runs."""

import pytest

__all__ = ["slow", "some"]


def slow(*values, id=None):
    """A case that is run where there is time."""
    return pytest.param(*values, marks=pytest.mark.slow, id=id)


def some(cases, *quick):
    """Cases, of which those in ``quick`` are run at every test; of one value each."""
    assert all(case in cases for case in quick)
    return [case if case in quick else slow(case) for case in cases]
