"""All pages of the site in one folder, with links that lead somewhere there."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from wormcast.algorithms import WormcastError

from .commands import command_pages
from .components import component_pages
from .formats import format_pages
from .glossary_index import words_page
from .navigation import navigation
from .refusals import refusal_pages
from .schemes import scheme_pages

__all__ = ["assemble", "pages", "rewritten"]

#: Pages beside those of docs/, by their files.
OTHERS = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}

LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)\s#:]+)(?P<heading>#[^)\s]*)?\)")


def assemble(repository: Path, folder: Path) -> None:
    """Write all pages, and the files that they lead to, into a folder.

    Raises
    ------
    WormcastError
        The folder is there, and was not made by this; one that was is emptied first.
    """
    if folder.exists():
        if not (folder / "reference" / "commands.md").exists():
            raise WormcastError(f"site: {folder} is there and no earlier site, it must be that or a new name")
        shutil.rmtree(folder)
    places = pages(repository)
    made = command_pages() | component_pages() | scheme_pages() | format_pages() | refusal_pages()
    files = {f"reference/{name}": text for name, text in made.items()}
    linked: set[str] = set()
    for path, place in places.items():
        files[place], more = rewritten((repository / path).read_text(), path, repository, places)
        linked |= more
    files["words.md"] = words_page({place: files[place] for path, place in places.items() if path.startswith("docs/")})
    files["index.md"] += "\n" + navigation(repository / "docs/navigation.toml")
    for name, text in files.items():
        _made(folder / name).write_text(text)
    for path in linked:
        shutil.copyfile(repository / path, _made(folder / _place(path)))


def pages(repository: Path) -> dict[str, str]:
    """Where on the site each page of the repository is, by its path there."""
    return {**OTHERS, **{f"docs/{page.name}": page.name for page in sorted((repository / "docs").glob("*.md"))}}


def rewritten(text: str, page: str, repository: Path, places: Mapping[str, str]) -> tuple[str, set[str]]:
    """A page's text with its links as they are on the site, and the files of the repository that they lead to.

    A link to a page leads to that page of the site, one to another file to a copy of it; of one to a folder, the text
    stays alone.
    """
    linked = set()

    def led(link: re.Match[str]) -> str:
        target = ((repository / page).parent / link["path"]).resolve()
        if not target.is_relative_to(repository.resolve()) or not target.exists():
            return link[0]
        if target.is_dir():
            return link["text"]
        path = target.relative_to(repository.resolve()).as_posix()
        if path not in places:
            linked.add(path)
        return f"[{link['text']}]({places.get(path) or _place(path)}{link['heading'] or ''})"

    return LINK.sub(led, text), linked


def _place(path: str) -> str:
    """Where on the site a file of the repository is that is no page."""
    return path.removeprefix("docs/")


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
