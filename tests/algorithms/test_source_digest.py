"""Digests of sources: what counts as a change, and which files belong to a file."""

import glob
import json
import os
import re

import pytest

from wormcast.algorithms import source_digest as module
from wormcast.algorithms.source_digest import ROOT, imported_files, package_file, source_digest

#: A router, and the decoders, which headers name.
HARDWARE = [package_file("wormcast.hw.router"), *glob.glob(os.path.join(ROOT, "hw", "decoders", "*.py"))]

TEXT = '''"""A docstring."""

from . import beside


class Thing:
    """Another docstring."""

    size = 3
    """What the size is."""

    def double(self):
        """Return the double size."""
        return self.size * 2  # a comment
'''


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """A table of sources of its own, and files that count as older than this process."""
    monkeypatch.setenv("WORMCAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "BEGAN", 1 << 63)
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside.py").write_text("NUMBER = 1\n")
    file = tmp_path / "thing.py"
    file.write_text(TEXT)
    return file


@pytest.mark.parametrize(("before", "after"), [
    ("A docstring", "One"), ("Another docstring", "One"), ("What the size is", "Size"),
    ("Return the double size", "Double"), ("  # a comment", ""), ("\n\n\n", "\n\n\n\n"),
])
def test_texts_for_readers_do_not_count(file, before, after):
    digest = source_digest([file])
    assert TEXT.count(before) == 1
    file.write_text(TEXT.replace(before, after))
    assert source_digest([file]) == digest


@pytest.mark.parametrize(("before", "after"), [
    ("size = 3", "size = 4"), ("double", "twice"), ("* 2", "* 2.0"), ('"""What the size is."""', "label = 'size'"),
])
def test_code_counts(file, before, after):
    digest = source_digest([file])
    file.write_text(TEXT.replace(before, after))
    assert source_digest([file]) != digest


def test_imported_files_count(file):
    digest = source_digest([file])
    (file.parent / "beside.py").write_text("NUMBER = 2\n")
    assert source_digest([file]) != digest


def test_docstrings_count_where_code_reads_them(file):
    (file.parent / "beside.py").write_text("from inspect import getdoc\nTEXT = getdoc(int)\n")
    digest = source_digest([file])
    file.write_text(TEXT.replace("A docstring", "One"))
    assert source_digest([file]) != digest


def test_files_that_change_places_count(tmp_path):
    files = tmp_path / "one.py", tmp_path / "other.py"
    digests = set()
    for numbers in (1, 2), (2, 1):
        for file, number in zip(files, numbers, strict=True):
            file.write_text(f"NUMBER = {number}\n")
        digests.add(source_digest(files))
    assert len(digests) == 2


def test_a_file_that_was_written_since_this_process_began_has_no_digest_of_its_own(file, monkeypatch):
    monkeypatch.setattr(module, "BEGAN", file.stat().st_mtime_ns - 1)
    assert source_digest([file]) != source_digest([file])


def test_a_file_is_parsed_once(file, table, monkeypatch):
    digest = source_digest([file])
    monkeypatch.setattr(module, "_parse", lambda text: 1 / 0)
    assert source_digest([file]) == digest
    [kept] = table.iterdir()
    kept.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(ZeroDivisionError):
        source_digest([file])


def test_a_full_table_is_begun_anew(file, table, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    for number in range(5):
        file.write_text(f"{TEXT}\nNUMBER = {number}\n")
        source_digest([file])
    [kept] = table.iterdir()
    assert len(json.loads(kept.read_bytes()[32:])["files"]) == 2


def test_names_lead_to_the_modules_that_they_come_from():
    """A scheme's file names `MeshScheme`, which comes from a package with all schemes in it."""
    files = {os.path.relpath(file, ROOT) for file in imported_files(HARDWARE)}
    assert {"hw/switch.py", "hw/decoders/mesh.py", "hw/tree/buffer.py", "hw/deep/chunk_buffer.py",
            "hw/interface/injection.py", "hw/interface/smart/children.py",
            "algorithms/headers/address_list.py"} <= files
    assert not {"algorithms/schemes/__init__.py", "algorithms/schemes/dual_path.py", "algorithms/__init__.py"} & files
    assert not [file for file in files if file.startswith("sim/")]


@pytest.mark.parametrize("results", ["sim.experiments.sweep.point", "sim.experiments.figure.single", "sim.cli.running"])
def test_stored_results_depend_on_all_decoders(results):
    """A header names the module of its decoder by text."""
    files = imported_files([package_file(f"wormcast.{results}")])
    assert {file for file in HARDWARE if os.path.basename(file) not in ("__init__.py", "header_decoder.py")} <= {*files}


def test_no_hardware_reads_docstrings():
    for file in imported_files(HARDWARE):
        with open(file) as opened:
            assert not re.search(r"\.__doc__\b|\bgetdoc\b|\bgetsource\b", opened.read()), file


def test_all_hardware_is_found():
    """All of it but what reads registers of a built network, and what only exports have."""
    files = {os.path.relpath(file, ROOT) for file in imported_files(HARDWARE)}
    there = {os.path.relpath(os.path.join(folder, file), ROOT)
             for folder, _, names in os.walk(os.path.join(ROOT, "hw")) for file in names if file.endswith(".py")}
    assert {os.path.basename(file) for file in there - files} <= {
        "__init__.py", "interface_probe.py", "smart_probe.py", "ring.py", "state_text.py", "header_decoder.py",
        "crossing.py", "axis.py", "beats.py", "mask_headers.py", "receiver.py", "sender.py", "set_table.py",
        "stream_interface.py"}
