"""Files of state: what is read is what was written, or is refused in a sentence."""

import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from wormcast import __version__
from wormcast.algorithms import WormcastError
from wormcast.sim.waves.record import checkpoint

ARRAYS = {
    "0.engine.router.a_input.level": np.arange(200, dtype=np.uint8).reshape(1, 200),
    "0.host.worms": np.array([(1, -2), (3, 4)], np.dtype([("ready", np.int64), ("source", np.int64)])),
    "wide": np.array([[2**64 - 1], [5]], np.uint64),
    "empty": np.zeros((0, 3)),
}
CONTENT = {"cycle": 12, "numbers": [{"now": 2**40, "rate": 0.1, "none": None}], "name": "mesh:8x8"}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kept"
    checkpoint.write(path, CONTENT, ARRAYS)
    return path


def test_what_is_written_is_read(file):
    content, arrays = checkpoint.read(file)
    assert content == CONTENT
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert np.array_equal(arrays[name], array)


def test_numpy_reads_the_arrays(file):
    with np.load(file, allow_pickle=False) as loaded:
        assert np.array_equal(loaded["wide"], ARRAYS["wide"])


def test_every_truncation_is_refused(file):
    whole = file.read_bytes()
    for length in [*range(0, len(whole), 97), len(whole) - 1]:
        file.write_bytes(whole[:length])
        with pytest.raises(WormcastError, match=r"is damaged|is not a checkpoint"):
            checkpoint.read(file)


def test_no_changed_byte_goes_unnoticed(file):
    """Refused, or, where it is in what a zip has twice or nobody reads, the same contents."""
    whole = file.read_bytes()
    refused = 0
    for at in range(0, len(whole), 3):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 0x41]) + whole[at + 1:])
        try:
            content, arrays = checkpoint.read(file)
        except WormcastError as error:
            refused += "\n" not in str(error)
        else:
            assert content == CONTENT
            assert all(np.array_equal(arrays[name], array) for name, array in ARRAYS.items())
    assert refused > len(whole) // 3 / 2


def rewritten(file, change):
    """The same file with another manifest."""
    with zipfile.ZipFile(file) as old:
        members = {name: old.read(name) for name in old.namelist()}
    whole = json.loads(members["manifest.json"])
    change(whole)
    with zipfile.ZipFile(file, "w") as new:
        for name, member in members.items():
            new.writestr(name, json.dumps(whole) if name == "manifest.json" else member)


def test_another_version_is_refused(file):
    rewritten(file, lambda whole: whole.update(version="0.0.1"))
    with pytest.raises(WormcastError, match=rf"was written by wormcast 0\.0\.1, this is {__version__}"):
        checkpoint.read(file)


def test_another_format_is_refused(file):
    rewritten(file, lambda whole: whole.update(format="wormcast recipe"))
    with pytest.raises(WormcastError, match=r"is a wormcast recipe\. Needed: a wormcast ch"):
        checkpoint.read(file)


def test_the_same_bytes_in_another_shape_are_refused(file, monkeypatch):
    name = next(name for name, array in ARRAYS.items() if array.ndim == 1 and len(array) > 1)
    monkeypatch.setitem(ARRAYS, name, ARRAYS[name].reshape(-1, 1))
    digest = json.loads(zipfile.ZipFile(file).read("manifest.json"))["sha256"]
    checkpoint.write(file, CONTENT, ARRAYS)
    rewritten(file, lambda whole: whole.update(sha256=digest))
    with pytest.raises(WormcastError, match=r"is damaged .the checksum of its contents is wrong"):
        checkpoint.read(file)


def test_changed_options_are_refused(file):
    rewritten(file, lambda whole: whole["content"].update(cycle=13))
    with pytest.raises(WormcastError, match=r"is damaged .the checksum of its contents is wrong"):
        checkpoint.read(file)


def test_other_files_are_refused(tmp_path):
    text, archive, folder = tmp_path / "text", tmp_path / "archive", tmp_path / "folder"
    text.write_text("topology = 'mesh:4x4'\n")
    np.savez(archive.with_suffix(".npz"), a=np.arange(3))
    folder.mkdir()
    for path, sentence in ((text, "is not a checkpoint"), (archive.with_suffix(".npz"), "is not a checkpoint"),
                           (folder, "cannot be read: Is a directory"), (tmp_path / "none", "cannot be read: No such")):
        with pytest.raises(WormcastError, match=sentence):
            checkpoint.read(path)


def with_array(path, header, content):
    """A checkpoint with one array, told as in numpy's header."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("manifest.json", json.dumps(
            {"format": "wormcast checkpoint", "version": __version__, "content": {}, "sha256": ""}))
        with file.open("array.npy", "w") as member:
            np.lib.format.write_array_header_1_0(member, header)
            member.write(content)


def test_nothing_in_a_file_is_run(tmp_path):
    """An array of Python objects is a pickle: it is refused unread."""
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("was run",)

    with_array(tmp_path / "trap", {"descr": "|O", "fortran_order": False, "shape": (1,)}, pickle.dumps([Trap()]))
    with pytest.raises(WormcastError, match="is damaged"):
        checkpoint.read(tmp_path / "trap")


@pytest.mark.parametrize("entries", [1 << 60, 1 << 70])
def test_an_array_that_no_memory_holds_is_refused(tmp_path, entries):
    with_array(tmp_path / "huge", {"descr": "<i8", "fortran_order": False, "shape": (entries,)}, b"few")
    with pytest.raises(WormcastError, match="is damaged"):
        checkpoint.read(tmp_path / "huge")


def bomb(path, name, size, **more):
    """A file one of whose members has so many zeros, in a thousandth of the room."""
    manifest = {"format": "wormcast checkpoint", "version": __version__, "content": {}, "sha256": "", **more}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("manifest.json", json.dumps(manifest))
        with file.open(name, "w", force_zip64=True) as member:
            for _ in range(size >> 20):
                member.write(bytes(1 << 20))


def test_what_would_fill_the_memory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MOST_GROWING", 1 << 22)
    read = checkpoint.CheckpointFile._read
    monkeypatch.setattr(checkpoint.CheckpointFile, "_read", lambda self, name, most: (
        pytest.fail(name) if name == "a.npy" else read(self, name, most)))
    bomb(tmp_path / "bomb", "a.npy", 1 << 25)
    with pytest.raises(WormcastError, match=r"bomb is damaged .the arrays without a fixed size have 33554432 "
                                            r"bytes in total, more than \d+\)\. Needed: "):
        checkpoint.read(tmp_path / "bomb")
    with checkpoint.opened(tmp_path / "bomb") as stored:
        with pytest.raises(ValueError, match=r"a.npy has 33554432 bytes, more than 8292"):
            stored.arrays({"a": 100})
        with pytest.raises(ValueError, match=r"a.npy is not known"):
            stored.arrays({})
        with pytest.raises(ValueError, match=r"b.npy is missing"):
            stored.arrays({"a": None, "b": None})


def test_a_manifest_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MOST_MANIFEST", 1 << 10)
    bomb(tmp_path / "bomb", "a.npy", 0, content={"name": "x" * 2000})
    with pytest.raises(WormcastError, match=r"is damaged .manifest.json has \d+ bytes, more than 1024"):
        checkpoint.read(tmp_path / "bomb")


def test_a_device_has_no_end(tmp_path):
    with pytest.raises(WormcastError, match=r"/dev/zero is not a regular file\. Needed: a file that load --checkpoint"):
        checkpoint.read(Path("/dev/zero"))


def test_a_reason_is_given_though_the_error_has_none(file, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr(np.lib.format, "read_array", fails)
    with pytest.raises(WormcastError, match=r"kept is damaged .MemoryError.\. Needed: "):
        checkpoint.read(file)
