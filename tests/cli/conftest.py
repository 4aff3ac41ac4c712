"""Fixtures of several tests of the commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


class SmallDisk:
    """A folder that is as if on a small file system of its own, to the commands that are run on it."""

    def __init__(self, path, library):
        self.path = path
        self._environment = {"LD_PRELOAD": str(library), "SMALL_DISK": str(path)}

    def has(self, size):
        """Let the files in it have so many bytes together."""
        self._environment["SMALL_DISK_BYTES"] = str(size)

    def cannot_be_written(self):
        """Let nothing be made or written there."""
        self._environment["SMALL_DISK_READ_ONLY"] = "1"

    @property
    def environment(self):
        """Environment variables that make a command see the small disk."""
        return {**os.environ, **self._environment}

    def wormcast(self, *arguments):
        """Run the command on it; return exit code, stdout and stderr."""
        done = subprocess.run([sys.executable, "-m", "wormcast", *map(str, arguments)], env=self.environment,
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="session")
def small_disk_library(tmp_path_factory):
    """The library that `SmallDisk` puts before the C library."""
    library = tmp_path_factory.mktemp("small_disk") / "small_disk.so"
    source = Path(__file__).with_name("small_disk.cpp")
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture
def disk(tmp_path, small_disk_library):
    path = tmp_path / "disk"
    path.mkdir()
    return SmallDisk(path, small_disk_library)
