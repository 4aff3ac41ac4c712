"""The picture of things by two numbers."""

import pytest
from matplotlib.colors import to_hex

from wormcast.sim.experiments.figure import find_figure, scatter_figure

POINTS = {"a now": ("plan a", "run 1"), "b now": ("plan b", "run 2"), "a later": ("plan a", "run 3")}
ANSWERS = {"plan a": 10, "plan b": {"least": 18, "median": 20, "most": 21}, "run 1": 100, "run 2": 60, "run 3": 40}


def told(command, _):
    return ANSWERS[command]


@pytest.fixture
def drawn(tmp_path):
    """The picture's axes, of three points of which two have the first number in common."""
    rows = "".join(f"""
[[scatter.points]]
name = "{name}"
across = "output('{across}', 'hops')"
up = "output('{up}', 'hops')"
""" for name, (across, up) in POINTS.items())
    (tmp_path / "both.toml").write_text(f"""title = "Both"
source = "ours"
[scatter]
across = "area"
up = "cycles"
{rows}
[[statements]]
claim = "1"
text = "b takes more"
holds = "output('plan a', 'hops') < output('plan b', 'hops')"
""")
    figure = find_figure(str(tmp_path / "both.toml"))
    found = [(name, across.ends(told), up.ends(told)) for name, across, up in figure.scatter.points]
    return scatter_figure(figure, found).axes[0]


def test_points_of_one_thing_share_colour_and_shape(drawn):
    marks = {line.get_label(): line for line in drawn.lines if line.get_label() in POINTS}
    assert {name: (line.get_xdata()[0], line.get_ydata()[0]) for name, line in marks.items()} == {
        "a now": (10, 100), "b now": (20, 60), "a later": (10, 40)}
    looks = {name: (to_hex(line.get_color()), line.get_marker()) for name, line in marks.items()}
    assert looks["a now"] == looks["a later"] != looks["b now"]
    assert to_hex(marks["a now"].get_markerfacecolor()) != to_hex(marks["a later"].get_markerfacecolor()) == "#ffffff"


def test_lines_keep_the_product(drawn):
    lines = [line.get_xydata() for line in drawn.lines if len(line.get_xdata()) > 1]
    assert [round(float(line[7].prod())) for line in lines] == [1000, 1200, 400]


def test_a_range_is_an_error_bar(drawn):
    (bar,) = (segment.tolist() for bars in drawn.collections for segment in bars.get_segments()
              if len(set(map(tuple, segment.tolist()))) > 1)
    assert bar == [[18, 60], [21, 60]]
