"""What is said while something takes long."""

import time

import pytest
from command import NOTICE

from wormcast.sim.cli import progress


@pytest.mark.parametrize(("seconds", "said"), [(0, ""), (0.6, NOTICE)])
def test_a_long_compilation_is_said_once(seconds, said, monkeypatch, capsys):
    monkeypatch.setattr(progress, "LATER", 0.1)
    with progress.compiling():
        time.sleep(seconds)
    time.sleep(0.2)
    assert capsys.readouterr().err == said
