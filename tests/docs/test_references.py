"""Works are cited by keys, and every key is in the list of references."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "docs" / "references.md"
KEY = re.compile(r"\[((?:Amnah|[A-Z][A-Za-z]+\d\d))\](?!\()")


def texts():
    """Pages and sources by their names, the list itself left out."""
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return {name: (ROOT / name).read_text() for name in files
            if Path(name).suffix in (".py", ".md", ".toml", ".ipynb") and ROOT / name not in (LIST, Path(__file__))}


def test_keys_that_are_cited_are_those_listed():
    listed = KEY.findall(LIST.read_text())
    assert listed == sorted(set(listed))
    assert {key for text in texts().values() for key in KEY.findall(text)} == set(listed)


def test_nothing_is_cited_by_a_number_of_ours():
    assert [name for name, text in texts().items() if re.search(r"[Pp]apers? 00\d", text)] == []
