"""CITATION.cff says of the package what the package says of itself."""

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
