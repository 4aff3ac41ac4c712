"""Words of pictures, broken into lines."""

from itertools import pairwise

import pytest

from wormcast.sim.common import frame
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.common.frame import POINTS, text_width, wrapped


@pytest.mark.parametrize("text", ["some words " * 20, "x" * 1000, "a " + "W" * 300 + " b", "i" * 700 + "W" * 50, ""])
def test_each_line_is_as_long_as_fits(text):
    lines = wrapped([text], 2.0)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(text_width(line) <= 2.0 * POINTS for line in lines)
    if " " not in text:
        assert all(text_width(line + after[0]) > 2.0 * POINTS for line, after in pairwise(lines))


def test_a_long_word_is_measured_some_times_for_each_line(monkeypatch):
    asked = []
    monkeypatch.setattr(frame, "text_width", lambda text, size=None: asked.append(text) or 3.0 * len(text))
    lines = wrapped(["x" * 5000], 3.0)
    assert len(lines) == 70
    assert len(asked) < 20 * len(lines)


def test_characters_without_a_glyph_warn_of_nothing(tmp_path, recwarn):
    from matplotlib.figure import Figure

    picture = Figure()
    picture.suptitle("\u4e2d")
    save_figure(picture, tmp_path / "p.svg", "svg")
    assert text_width("\u4e2d") > 0
    assert not [str(one.message) for one in recwarn]
