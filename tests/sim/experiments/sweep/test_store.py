"""Finished points stay in the store, and damage is reported."""

import sqlite3

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.sweep import ResultStore


@pytest.fixture
def file(tmp_path):
    """A file with many points, so that it has several pages."""
    path = tmp_path / "folder" / "some.sqlite"
    with ResultStore(path) as store:
        for number in range(100):
            store.put(f"point {number}", {"value": number, "long": "x" * 200})
    return path


def test_points_are_there_after_opening_it_again(file):
    with ResultStore(file) as store:
        assert "point 7" in store
        assert "point 700" not in store
        assert store["point 7"]["value"] == 7
        store.put("point 7", {"value": None})
        assert store["point 7"] == {"value": None}


def test_empty_file_is_a_new_one(tmp_path):
    path = tmp_path / "some.sqlite"
    path.touch()
    with ResultStore(path) as store:
        assert "point" not in store


def test_without_a_point_there_is_no_file(tmp_path):
    (tmp_path / "there").mkdir()
    for folder in ("there", "new/newer"):
        with ResultStore(tmp_path / folder / "some.sqlite") as store:
            assert "point" not in store
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]
    with ResultStore(tmp_path / "new" / "some.sqlite") as store:
        (tmp_path / "new" / "other").touch()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["other"]


def test_two_that_begin_at_once_keep_the_points_of_both(tmp_path):
    path = tmp_path / "new" / "some.sqlite"
    with ResultStore(path) as one, ResultStore(path) as other:
        one.put("one", {"value": 1})
        other.put("other", {"value": 2})
        assert one["other"] == {"value": 2}
    with ResultStore(path) as store:
        assert store["one"] == {"value": 1}


@pytest.mark.parametrize("damage", [
    lambda data: b"no database " * 100,
    lambda data: data[:len(data) // 2],
    lambda data: data[:4096] + b"\xff" * 4096 + data[8192:],
    lambda data: data[:16] + b"\xff" * 84 + data[100:],
], ids=["text", "half", "page", "header"])
def test_damaged_file_is_told_and_left_as_it_is(damage, file):
    file.write_bytes(damage(file.read_bytes()))
    before = file.read_bytes()
    with pytest.raises(WormcastError, match=r"some\.sqlite is damaged \(.*\)\. Needed: "):
        ResultStore(file)
    assert file.read_bytes() == before


def test_changed_result_is_told(file):
    file.write_bytes(file.read_bytes().replace(b'{"value": 7,', b'{"value": 8,'))
    with ResultStore(file) as store, pytest.raises(WormcastError, match="is damaged"):
        "point 7" in store  # noqa: B015


def test_other_database_is_refused(tmp_path):
    path = tmp_path / "some.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE notes (text TEXT)")
    other.close()
    with pytest.raises(WormcastError, match="is not a file of finished points"):
        ResultStore(path)


def test_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(WormcastError, match="file/folder cannot be created: Not a directory"):
        ResultStore(tmp_path / "file" / "folder" / "some.sqlite")
    (tmp_path / "some.sqlite").mkdir()
    with pytest.raises(WormcastError, match=r"some\.sqlite cannot be used \(unable to open"):
        ResultStore(tmp_path / "some.sqlite")
