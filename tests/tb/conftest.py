"""Fixtures of the tests of the benches."""

import pytest

from . import simulators


@pytest.fixture(scope="session")
def models(tmp_path_factory):
    """A folder for models, shared by all workers of a session."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if base.name.startswith("popen-") else base) / "models"


def pytest_generate_tests(metafunc):
    """Run whatever needs a simulator on each that is here, and say of the others that they are not."""
    if "simulator" in metafunc.fixturenames:
        found = simulators.found()
        metafunc.parametrize("simulator", [
            pytest.param(name, marks=[] if name in found else pytest.mark.skip(reason=reason))
            for name, reason in simulators.SIMULATORS.items()])
