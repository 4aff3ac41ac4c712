"""Links of the README and of docs/ lead somewhere in the repository."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (
    *ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/verdicts/*.md")))


@pytest.mark.parametrize("file", PAGES)
def test_links_lead_somewhere(file):
    """Links to files of the repository, and to headings in them, as GitHub names these."""
    for path, heading in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", (ROOT / file).read_text()):
        target = (ROOT / file).parent / path if path else ROOT / file
        assert target.exists(), path
        titles = re.findall(r"^#+ (.*)$", target.read_text(), re.M) if heading else []
        assert not heading or heading in [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles]
