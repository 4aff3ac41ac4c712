"""Hooks of setuptools that write the git commit into wheels and sdists. pyproject.toml has everything else."""

import importlib.util
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent


def write_stamp(package: Path) -> None:
    """Write the commit of these sources, if it is known, into the folder of a built package."""
    sources = ROOT / "src" / "wormcast"
    specification = importlib.util.spec_from_file_location("commit", sources / "algorithms" / "commit.py")
    assert specification is not None
    assert specification.loader is not None
    commit = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(commit)
    found = commit.commit_of(sources)
    if found is not None:
        (package / commit.STAMP).write_text(f"{found}\n", "ascii")


class StampedBuild(build_py):
    """Build of the package for a wheel; an editable installation reads the commit from git."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            write_stamp(Path(self.build_lib, "wormcast"))


class StampedSources(sdist):
    """Source distribution."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        write_stamp(Path(base_dir, "src", "wormcast"))


setup(cmdclass={"build_py": StampedBuild, "sdist": StampedSources})
