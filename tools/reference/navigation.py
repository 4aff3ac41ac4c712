"""The site's navigation, from ``docs/navigation.toml``."""

import tomllib
from pathlib import Path

from .markdown import listing

__all__ = ["navigation"]


def navigation(file: Path) -> str:
    """The navigation as its first page has it: each table's key is a part's title, its value the part's pages.

    A page that is not among them, or is not there, makes the site fail.
    """
    return "\n".join(listing(title, pages) for title, pages in tomllib.loads(file.read_text()).items())
