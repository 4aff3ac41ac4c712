"""What several tests of the commands need."""

import subprocess

import pytest


@pytest.fixture
def disk(tmp_path):
    """A folder on a small file system of its own, and what sets its size and whether it can be written.

    Only who may mount can have one: who may not is told so, beside the name of the test.
    """
    path = tmp_path / "disk"
    path.mkdir()

    def mount(*options):
        return subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", path],
                              capture_output=True, text=True, check=False)

    try:
        tried = mount("size=4m")
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    if tried.returncode:
        pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
    yield path, lambda *options: mount("remount", *options)
    subprocess.run(["umount", path], check=True)
