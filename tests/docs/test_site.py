"""The site: links, navigation, and a strict build that needs no network when it is read."""

import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tools.reference import assemble, navigation, rewritten
from wormcast.algorithms import WormcastError

ROOT = Path(__file__).parents[2]
BROUGHT = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


def build(pages, out):
    """Run Sphinx as `make docs` does."""
    return subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-c", ROOT / "docs",
         "-d", out.with_name("doctrees"), pages, out], capture_output=True, text=True, check=False)


@pytest.fixture
def repository(tmp_path):
    for name in ("README.md", "docs/a.md", "docs/b.svg", "hw/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(("page", "text", "then", "linked"), [
    ("README.md", "see [a](docs/a.md#x)", "see [a](a.md#x)", set()),
    ("README.md", "![drawn [b]](docs/b.svg)", "![drawn [b]](b.svg)", {"docs/b.svg"}),
    ("README.md", "in [`hw/`](hw)", "in `hw/`", set()),
    ("README.md", "[c](hw/c.py)", "[c](hw/c.py)", {"hw/c.py"}),
    ("docs/a.md", "[start](../README.md), ![b](b.svg)", "[start](index.md), ![b](b.svg)", {"docs/b.svg"}),
    ("docs/a.md", "[far](https://example.org/a.md) [here](#x) [gone](d.md) t[0](1)",
     "[far](https://example.org/a.md) [here](#x) [gone](d.md) t[0](1)", set()),
])
def test_links_on_the_site(repository, page, text, then, linked):
    places = {"README.md": "index.md", "docs/a.md": "a.md"}
    assert rewritten(text, page, repository, places) == (then, linked)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "mine.md").write_text("")
    with pytest.raises(WormcastError, match=r"^site: .* is not valid: it exists and is not an earlier site"):
        assemble(ROOT, tmp_path)
    assert (tmp_path / "mine.md").exists()


def test_navigation_names_pages_in_order(tmp_path):
    file = tmp_path / "navigation.toml"
    file.write_text('"Guides" = ["b", "A <a>"]\nMore = ["c"]\n')
    blocks = re.findall(r"```{toctree}\n:hidden:\n:caption: (\w+)\n\n(.*?)\n```", navigation(file), re.DOTALL)
    assert blocks == [("Guides", "b\nA <a>"), ("More", "c")]


def test_all_pages_are_in_the_navigation():
    """`make docs` reports a missing page too, but takes longer."""
    listed = [entry.rpartition("<")[2].rstrip(">")
              for part in tomllib.loads((ROOT / "docs/navigation.toml").read_text()).values() for entry in part]
    assert len(listed) == len(set(listed))
    own = {entry for entry in listed if not entry.startswith("reference/")} - {
        "words", "readme", "changelog", "contributing"}
    docs = ROOT / "docs"
    assert own == {page.relative_to(docs).with_suffix("").as_posix() for page in (
        *docs.glob("*.md"), *docs.glob("verdicts/*.md"))} - {"index"}  # the page that has the navigation


@pytest.mark.parametrize(("listed", "said"), [("a", None), ("", "a.md"), ("a\nb", "'b'")])
def test_a_page_outside_the_navigation_fails(tmp_path, listed, said):
    """And so does one in the navigation that is not there."""
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.md").write_text(f"# Start\n\n```{{toctree}}\n{listed}\n```\n")
    (pages / "a.md").write_text("# A\n")
    done = build(pages, tmp_path / "site")
    assert (done.returncode == 0) is (said is None), done.stderr
    assert said is None or said in done.stderr


class Reader(HTMLParser):
    """Gathers what a page has the browser load."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attributes):
        target = dict(attributes).get(BROUGHT.get(tag, ""))
        if target:
            self.loaded.append(target)


@pytest.mark.slow
def test_the_site(tmp_path):
    pages, site = tmp_path / "pages", tmp_path / "site"
    assemble(ROOT, pages)
    done = build(pages, site)
    assert done.returncode == 0, done.stderr
    built = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.html")}
    assert built >= {page.relative_to(pages).with_suffix("").as_posix() for page in pages.rglob("*.md")}
    for page in site.rglob("*.html"):
        reader = Reader()
        reader.feed(page.read_text())
        assert reader.loaded
        for target in reader.loaded:
            assert not re.match(r"\w+://|//", target), f"{page}: {target}"
            assert (page.parent / re.split(r"[?#]", target)[0]).exists() or target.startswith("data:"), target
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(https?:)?//|@import", style.read_text()), style
