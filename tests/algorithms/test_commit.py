"""The git commit of an installation, read from git's files, or from the file that a wheel has."""

import subprocess

import pytest

from wormcast.algorithms.commit import STAMP, commit_of

HASH = "0123456789abcdef0123456789abcdef01234567"


def package(root):
    """Folder of a package in a checkout."""
    folder = root / "src" / "wormcast"
    folder.mkdir(parents=True)
    return folder


def git(root, *words):
    options = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *options, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def test_it_is_what_git_says(tmp_path):
    root = tmp_path / "checkout"
    folder = package(root)
    git(root, "init")
    assert commit_of(folder) is None  # nothing is committed yet
    git(root, "commit", "--allow-empty", "-m", "x")
    first = git(root, "rev-parse", "HEAD").strip()
    assert commit_of(folder) == first
    git(root, "pack-refs", "--all")
    assert commit_of(folder) == first
    git(root, "worktree", "add", str(tmp_path / "tree"), "-b", "other")
    other = package(tmp_path / "tree")
    assert commit_of(other) == first
    git(root, "commit", "--allow-empty", "-m", "y")
    assert commit_of(folder) == git(root, "rev-parse", "HEAD").strip() != first
    assert commit_of(other) == first
    git(root, "checkout", "--detach", first)
    assert commit_of(folder) == first


@pytest.mark.parametrize(("text", "found"), [(f"{HASH}\n", HASH), ("none\n", None), ("", None), ("é", None)])
def test_the_file_of_a_wheel_has_it(text, found, tmp_path):
    folder = package(tmp_path)
    (folder / STAMP).write_text(text, encoding="utf-8")
    assert commit_of(folder) == found


def test_it_is_unknown_elsewhere(tmp_path):
    assert commit_of(package(tmp_path)) is None
