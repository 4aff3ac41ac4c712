"""Ctrl-C at a moment at which a library makes something else of it."""

import os
import signal
import sys
import time

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.cli import app


@pytest.fixture
def heard():
    """Python's own way to hear SIGINT, which a shell's background has not."""
    before, hook = signal.signal(signal.SIGINT, signal.default_int_handler), sys.unraisablehook
    yield
    signal.signal(signal.SIGINT, before)
    sys.unraisablehook = hook


@pytest.mark.parametrize(
    "made_of_it",
    [
        RuntimeError("no compiled object yet"),
        WormcastError("a file is damaged"),
        OSError(5, "Input/output error"),
        SystemExit(1),
    ],
    ids=lambda one: type(one).__name__,
)
def test_it_is_an_interruption_whatever_a_library_makes_of_it(made_of_it, heard, monkeypatch, capsys):
    def command(**_):
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise made_of_it from None

    monkeypatch.setattr(app, "app", command)
    with pytest.raises(SystemExit) as end:
        app.main()
    assert (end.value.code, capsys.readouterr().err) == (130, "wormcast: interrupted\n")


def test_it_is_an_interruption_in_a_destructor_too(heard, monkeypatch, capsys):
    class Library:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)

    def command(**_):
        Library()
        time.sleep(20)

    monkeypatch.setattr(app, "app", command)
    with pytest.raises(SystemExit) as end:
        app.main()
    assert (end.value.code, capsys.readouterr().err) == (130, "wormcast: interrupted\n")


def test_an_error_without_it_is_an_error(heard, monkeypatch):
    def command(**_):
        raise RuntimeError("as before")

    monkeypatch.setattr(app, "app", command)
    with pytest.raises(RuntimeError, match="as before"):
        app.main()
