"""Navigation of the site, from ``docs/navigation.toml``."""

import tomllib
from pathlib import Path

from .markdown import listing

__all__ = ["navigation"]


def navigation(file: Path) -> str:
    """Return the navigation for the first page. In the file, each key is the title of a part, each value its pages.

    The build of the site fails if a page is missing in the navigation or does not exist.
    """
    return "\n".join(listing(title, pages) for title, pages in tomllib.loads(file.read_text()).items())
