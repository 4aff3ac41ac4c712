"""Assembly of the site's pages in one folder, with links adjusted."""

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
from .python_api import api_page
from .refusals import refusal_pages
from .schemes import scheme_pages

__all__ = ["assemble", "pages", "rewritten"]

#: Pages outside of docs/: file in the repository, file on the site.
OTHERS = {"README.md": "readme.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}

LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<path>[^)\s#:]+)(?P<heading>#[^)\s]*)?\)")


def assemble(repository: Path, folder: Path) -> None:
    """Write all pages, and the files that they link to, into a folder. An earlier site is deleted.

    Raises
    ------
    WormcastError
        The folder exists and has no earlier site.
    """
    if folder.exists():
        if not (folder / "reference" / "commands.md").exists():
            raise WormcastError(f"site: {folder} is not valid: it exists and is not an earlier site. Allowed: a new "
                                "name, or the folder of an earlier site.")
        shutil.rmtree(folder)
    places = pages(repository)
    made = command_pages() | api_page() | component_pages() | scheme_pages() | format_pages() | refusal_pages()
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
    """Return the file on the site of each page, by path in the repository."""
    docs = repository / "docs"
    names = [page.relative_to(docs).as_posix() for page in sorted([*docs.glob("*.md"), *docs.glob("verdicts/*.md")])]
    return {**OTHERS, **{f"docs/{name}": name for name in names}}


def rewritten(text: str, page: str, repository: Path, places: Mapping[str, str]) -> tuple[str, set[str]]:
    """Return a page's text with links for the site, and the files of the repository that it links to.

    Links to pages point to the pages of the site, links to other files point to copies of these files on the site.
    Links to folders are replaced by their text.
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
    """Return the path on the site of a file that is not a page."""
    return path.removeprefix("docs/")


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file
