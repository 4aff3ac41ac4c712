"""Line breaks of texts in pictures."""

import pytest

from wormcast.sim.common.frame import POINTS, legend_columns, text_width, wrapped


def test_words_are_broken_where_there_is_no_more_room():
    lines = wrapped(["one two three four five", "six"], 0.5)
    assert " ".join(lines) == "one two three four five six"
    assert lines[-1] == "six"
    assert max(map(text_width, lines)) <= 0.5 * POINTS
    assert text_width(f"{lines[0]} {lines[1].split()[0]}") > 0.5 * POINTS


def test_a_word_longer_than_a_line_is_broken_too():
    lines = wrapped(["a" * 50], 0.5)
    assert "".join(lines) == "a" * 50
    assert max(map(text_width, lines)) <= 0.5 * POINTS


@pytest.mark.parametrize("width", [0.1, 3.4, 7.0])
def test_a_legend_has_a_column_at_least(width):
    assert legend_columns(["short", "rather long"], width) >= 1
