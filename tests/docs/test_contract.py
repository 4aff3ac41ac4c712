"""Pages that state facts of the program: exit codes, spellings of resources, terms of the glossary."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tools.reference.commands import MEANING
from tools.reference.glossary_index import find_words
from wormcast.algorithms.channels import SPELLINGS
from wormcast.sim.cli.app import Exit

DOCS = Path(__file__).parents[2] / "docs"


def test_the_contract_has_all_exit_codes():
    text = (DOCS / "contract.md").read_text()
    codes = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)
    assert codes == [(str(int(code)), MEANING[code]) for code in sorted(Exit)]


def test_the_contract_has_all_spellings_of_resources():
    text = (DOCS / "contract.md").read_text()
    kinds = {spelling.partition(":")[0] for spelling in SPELLINGS.values()}
    assert kinds <= set(re.findall(r"`(\w+):", text))


def test_a_term_is_explained_once():
    names = [word.name for word in find_words("glossary.md", (DOCS / "glossary.md").read_text())]
    words = Counter(re.sub(r" \(.*\)$", "", name) for name in names)
    assert len(words) > 50
    assert [word for word, times in words.items() if times > 1] == []


@pytest.mark.parametrize("page", sorted(page.name for page in DOCS.glob("*.md")))
def test_a_page_says_for_whom_it_is_and_what_its_readers_learn(page):
    begin = (DOCS / page).read_text().partition("\n")[2].partition("\n#")[0]
    assert re.search(r"^For ", begin, re.MULTILINE)
    assert re.search(r"After\sthis\spage\syou\b", begin)


def test_the_readme_is_short():
    assert len((DOCS.parent / "README.md").read_text().split()) <= 900
