"""Figures 3 to 10 of [Sivaram98], as far as plans tell them: their verdicts."""

import json

import pytest
from command import wormcast

NOT_HELD = {"001-fig6": ["001-05c"], "001-fig10": ["001-06l", "001-06l", "001-06l"]}


@pytest.mark.parametrize("number", [3, 5, 6, 7, 8, 9, 10])
def test_verdicts(number, tmp_path):
    """Only the paper's too general claims are not held."""
    name = f"001-fig{number}"
    code, out, err = wormcast("figure", name, "--out", tmp_path, "--json")
    assert (code, err) == (0, "")
    verdicts = json.loads(out)["verdicts"]
    assert {one["verdict"] for one in verdicts} <= {"held", "not held"}
    assert [one["claim"] for one in verdicts if one["verdict"] == "not held"] == NOT_HELD.get(name, [])
    assert all(one["why"] for one in verdicts if one["verdict"] == "not held")
