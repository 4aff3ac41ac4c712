"""Announcements of work that takes long."""

import contextlib

import pytest

from wormcast.algorithms import announcements
from wormcast.algorithms.announcements import announce, announce_by


@pytest.fixture(autouse=True)
def _restored(monkeypatch):
    monkeypatch.setattr(announcements, "_announcer", announcements._announcer)


def test_an_announcer_is_entered_around_the_work_with_what_it_is_told():
    events = []

    @contextlib.contextmanager
    def noted(what, seconds, once):
        events.append((what, seconds, once))
        yield
        events.append("done")

    announce_by(noted)
    with announce("drawing", 3, once=True):
        events.append("work")
    with announce("checking"):
        pass
    assert events == [("drawing", 3, True), "work", "done", ("checking", None, False), "done"]
