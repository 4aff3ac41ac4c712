"""CITATION.cff says of the package what the package says of itself."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def test_citation():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (cited["cff-version"], cited["type"]) == ("1.2.0", "software")
    assert (str(cited["version"]), cited["license"]) == (project["version"], project["license"])
    assert cited["authors"] == [{"name": "The wormcast authors"}]
    assert cited["message"]
    for work in [cited, *cited["references"]]:
        assert work["title"]
        assert work["authors"]


def test_the_changelog_has_the_version_with_its_date():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    versions = re.findall(r"^## \[(.*)\](?: - (.*))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    [(version, date), *_] = [(version, date) for version, date in versions if version != "Unreleased"]
    assert (version, date) == (str(cited["version"]), str(cited["date-released"]))


def test_the_contract_lists_the_extras():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [table] = re.findall(r"\| `pip install .*?\n\n", (ROOT / "docs" / "contract.md").read_text(), re.S)
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.M)
    assert {name for row in rows for name in re.findall("`(.*?)`", row)} == extras.keys() - {"docs", "test"}
