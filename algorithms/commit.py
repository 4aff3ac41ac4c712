"""The git commit of this installation.

``setup.py`` loads this file by its path, before wormcast is installed. Import no other module of wormcast here.
"""

import re
from pathlib import Path

__all__ = ["STAMP", "commit_of"]

#: File in the package's folder that a wheel or sdist has: the commit from which it was built.
STAMP = "commit.txt"

HASH = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")


def commit_of(package: Path) -> str | None:
    """Return the commit of a package's folder: from its file `STAMP`, or from git in a checkout; None if it is unknown.

    In a checkout, the commit is the one that is checked out: changes that are not committed do not count. git's files
    are read directly, as a run of git would take about a millisecond.
    """
    stamp, git = package / STAMP, package.parents[1] / ".git"
    try:
        found = stamp.read_text("ascii") if stamp.is_file() else _head(git)
    except (OSError, ValueError):
        return None
    return found.strip() if HASH.fullmatch(found.strip()) else None


def _head(git: Path) -> str:
    """Return the hash of the commit that is checked out."""
    if git.is_file():  # a working tree of `git worktree`: "gitdir: FOLDER"
        git = git.parent / git.read_text("utf-8").partition(":")[2].strip()
    head = (git / "HEAD").read_text("utf-8")
    if not head.startswith("ref:"):
        return head
    branch, shared = head.partition(":")[2].strip(), git / "commondir"
    folders = [git, git / shared.read_text("utf-8").strip()] if shared.is_file() else [git]
    for folder in folders:
        if (folder / branch).is_file():
            return (folder / branch).read_text("utf-8")
    packed = (folders[-1] / "packed-refs").read_text("utf-8")
    return next((line.split()[0] for line in packed.splitlines() if line.endswith(f" {branch}")), "")
