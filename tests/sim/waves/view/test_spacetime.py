"""The space-time diagram as a picture: what is in it, and where."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.text import Text
from written_waves import FIGURE_4, comment, links_of, vcd, worm

from wormcast.algorithms import WormcastError
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.common.picture_style import PictureOptions, drawn_with
from wormcast.sim.waves.view import read_waveform, require_drawable, rows_of, spacetime_figure
from wormcast.sim.waves.view.marks import legend_marks

from .made import figure_4, short_worms


def history_of(tmp_path, *told):
    path = tmp_path / "w.vcd"
    path.write_text(vcd(*told))
    return read_waveform(path)


def svg(history, tmp_path, rows=None):
    figure = spacetime_figure([(history, rows_of(history) if rows is None else rows)])
    save_figure(figure, tmp_path / "drawn", "svg")
    return (tmp_path / "drawn").read_text()


def group(text, name):
    """The part of the picture with this name."""
    start = text.index(f'<g id="{name}">')
    depth = 0
    for tag in re.finditer(r"<g\b|</g>", text[start:]):
        depth += 1 if tag.group() == "<g" else -1
        if not depth:
            return text[start:start + tag.end()]
    raise AssertionError(f"{name} does not end")


def boxes(text, name):
    """Left, right, top and bottom of each bar of a group."""
    found = []
    for path in re.findall(r'<path d="([^"]*)"', group(text, name)):
        at = np.array([[float(x), float(y)] for x, y in re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", path)])
        found.append((at[:, 0].min(), at[:, 0].max(), at[:, 1].min(), at[:, 1].max()))
    return np.abs(np.array(found))


def test_bars_are_as_long_as_holds_and_full_where_flits_are(tmp_path):
    history = history_of(tmp_path, *FIGURE_4)
    text = svg(history, tmp_path)
    held, full = boxes(text, "worm-0-held"), boxes(text, "worm-0-flits")
    assert held.shape == full.shape == (4, 4)
    cycle = (held[0, 1] - held[0, 0]) / 28
    assert np.allclose(held[:, 1] - held[:, 0], cycle * np.array([28, 25, 20, 20]), atol=0.01)
    assert np.allclose(full[:, 1] - full[:, 0], cycle * np.array([8, 6, 4, 3]), atol=0.01)
    assert np.allclose(full[:, 0], held[:, 0], atol=0.01)


def test_its_words_are_inside_of_it(tmp_path, monkeypatch):
    """The legend of a deadlock is the longest."""
    history = history_of(tmp_path, *FIGURE_4)
    figure = spacetime_figure([(history, rows_of(history))])
    figure.draw_without_rendering()
    for text in figure.findobj(Text):
        box = text.get_window_extent()
        assert not text.get_text().strip() or 0 <= box.x0 < box.x1 <= figure.bbox.x1, text


def test_a_path_is_a_staircase(tmp_path):
    text = svg(history_of(tmp_path, *FIGURE_4), tmp_path)
    network = boxes(text, "worm-1-held")[:3]
    assert (np.diff(network[:, 0]) > 0).all()
    middles = network[:, 2:].mean(axis=1)
    assert np.allclose(np.diff(np.abs(middles)), np.diff(np.abs(middles))[0], atol=0.01)


def test_blocked_time_is_hatched(tmp_path):
    text = svg(history_of(tmp_path, *FIGURE_4), tmp_path)
    assert "url(#h" in group(text, "worm-0-still")
    assert "url(#h" not in group(text, "worm-0-flits") + group(text, "worm-0-held")
    held, full, still = (boxes(text, f"worm-0-{kind}") for kind in ("held", "flits", "still"))
    lengths = [(kind[:, 1] - kind[:, 0]).sum() for kind in (held, full, still)]
    assert np.isclose(lengths[0], lengths[1] + lengths[2], atol=0.01)
    assert "#0072b2" in group(text, "worm-0-flits")
    assert "#d55e00" in group(text, "worm-1-flits")


@pytest.mark.parametrize(("history", "held"), [(figure_4(), True), (short_worms(), False)])
def test_the_legend_has_only_marks_that_are_drawn(history, held):
    """Short worms have released all channels when their flits have passed."""
    assert ("held, no flit" in [mark.get_label() for mark in legend_marks(history, 5.0)]) is held


@pytest.mark.parametrize(("flits", "hatched"), [("F." * 90 + "T", 0), ("F....." * 30 + "T", 30)])
def test_gaps_of_few_points_between_flits_are_not_hatched(tmp_path, flits, hatched):
    """Hatched gaps as narrow as a flit would look like flits. One cycle has 1.4 points here."""
    said = comment(links_of(2), [worm(0, 0, [1])], 200)
    history = history_of(tmp_path, said, [("link:0>1", 0, 0, 1, flits)])
    [axes] = spacetime_figure([(history, rows_of(history))]).axes
    [still] = [found for found in axes.collections if found.get_gid() == "worm-0-still"]
    assert (len(still.get_paths()), bool(still.get_hatch())) == (hatched, True)
    [sign] = [mark for mark in legend_marks(history, 1.4) if mark.get_label() == "held, no flit"]
    assert bool(sign.get_hatch()) is bool(hatched)


def test_waits_are_drawn_and_told_where_there_is_room(tmp_path):
    said, holds, waits = FIGURE_4
    text = svg(history_of(tmp_path, said, holds, [*waits, ("link:0>1", 0, 0, 12, 13, ["link:1>2:0"])]), tmp_path)
    assert group(text, "waits").count("<path") == 3
    assert re.findall(r'id="(wait-.*)"', text) == ["wait-2-0-13", "wait-3-0-15"]


@pytest.mark.parametrize(("last", "text"), [(100, "waits for token:0:0"), (34, "token:0:0"), (24, "token"), (14, None)])
def test_the_text_of_a_wait_is_as_long_as_its_room(tmp_path, last, text):
    said = comment(links_of(2), [worm(0, 0, [1])], 150, scheme="atbm", replicates=True)
    holds = [("inj:0:0", 0, 0, 1, "FF" + "." * (last - 2) + "F" * (140 - last) + "T")]
    history = history_of(tmp_path, said, holds, [("inj:0:0", 0, 0, 3, last, ["token:0:0"])])
    [axes] = spacetime_figure([(history, rows_of(history))]).axes
    found = [one.get_text() for one in axes.findobj(Text) if (one.get_gid() or "").startswith("wait-")]
    assert found == ([] if text is None else [text])


@pytest.mark.parametrize("told", [True, False])
def test_a_deadlock_has_arrows_and_a_caption(tmp_path, told):
    """From the last link of each worm: where its header waits, or, where no wait is told, as far as it has come."""
    said, holds, waits = FIGURE_4
    history = history_of(tmp_path, said, holds, waits if told else [])
    text = svg(history, tmp_path)
    held = {worm: boxes(text, f"worm-{worm}-held") for worm in (0, 1)}
    for number, other in ((0, 1), (1, 0)):
        turns = np.array([[float(x), float(y)] for x, y in
                          re.findall(r"[ML] ([\d.]+) ([\d.]+)", group(text, f"waits-{number}"))])
        asks, has = held[number][2], held[other][3]  # its last link, the other's consumption channel
        assert np.isclose(turns[0, 0], asks[1], atol=0.01)
        assert asks[2] < turns[0, 1] < asks[3]
        assert has[2] < turns[-1, 1] < has[3]
        assert turns[:, 0].max() > asks[1]
    assert "<!-- worm 0 waits for cons:0.2:0, held by worm 1 -->" in text.replace("\n", " -->\n<!-- ")
    free = svg(dataclasses.replace(history, deadlock=None), tmp_path)
    assert "waits-0" not in free
    assert "deadlock" not in free


def test_deliveries_are_marked_at_the_end_of_their_bars(tmp_path):
    said = comment(links_of(3), [worm(0, 0, [1, 2])], 30)
    history = history_of(tmp_path, said, [("link:0>1", 0, 0, 1, "FFFT"), ("cons:1#0", 0, 0, 4, "FFFT"),
                                          ("link:1>2", 0, 0, 4, "FFFT"), ("cons:2#0", 0, 0, 7, "FFFT")])
    text = svg(history, tmp_path)
    marks = np.array([[float(x), float(y)] for x, y in
                      re.findall(r'<use [^>]*x="([\d.]+)" y="([\d.]+)"', group(text, "deliveries"))])
    ends = boxes(text, "worm-0-held")[2:]
    assert len(marks) == 2
    assert ((marks[:, 0] - ends[:, 1] > 0) & (marks[:, 0] - ends[:, 1] < 5)).all()
    assert ((marks[:, 1] > ends[:, 2]) & (marks[:, 1] < ends[:, 3])).all()


@pytest.mark.parametrize("cycles", [10, 11, 30])
def test_no_mark_of_a_delivery_is_outside_of_the_frame(tmp_path, cycles):
    said = comment(links_of(2), [worm(0, 0, [1])], cycles)
    figure = spacetime_figure([(one := history_of(tmp_path, said, [("cons:1#0", 0, 0, 5, "FFFFT")]), rows_of(one))])
    [axes] = figure.axes
    [marks] = [found for found in axes.collections if found.get_gid() == "deliveries"]
    size, = marks.get_sizes() ** 0.5 * figure.dpi / 72
    [[x, _]] = axes.transData.transform(marks.get_offsets())
    assert x + size / 2 <= axes.get_window_extent().x1 + 0.5
    assert (marks.get_offsets()[0, 0] > 9.5) == (cycles > 10)


def test_a_delivery_is_marked_in_the_bar_where_the_next_worm_follows(tmp_path):
    said = comment(links_of(2), [worm(0, 0, [1]), worm(1, 0, [1])], 60)
    full = "F" * 24 + "T"
    history = history_of(tmp_path, said, [("cons:1#0", 0, 0, 2, full), ("cons:1#0", 0, 1, 27, full)])
    text = svg(history, tmp_path)
    marks = [float(x) for x in re.findall(r'<use [^>]*x="([\d.]+)"', group(text, "deliveries"))]
    first, second = boxes(text, "worm-0-held")[0], boxes(text, "worm-1-held")[0]
    assert first[0] < marks[0] < first[1] < second[0] + 0.01
    assert second[1] < marks[1]


def test_the_same_history_gives_the_same_bytes(tmp_path):
    history = history_of(tmp_path, *FIGURE_4)
    assert svg(history, tmp_path) == svg(history, tmp_path)
    save_figure(spacetime_figure([(history, rows_of(history))]), tmp_path / "png", "png")
    assert (tmp_path / "png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(("worms", "cycles", "inches"), [(1, 200, 3.4), (1, 900, 7.0), (30, 100, 7.0)])
def test_it_is_as_wide_as_one_column_of_a_paper_or_two(tmp_path, worms, cycles, inches):
    said = comment(links_of(60), [worm(number, number, [number + 2]) for number in range(worms)], cycles,
                   topology="mesh:1x60")
    holds = [(link, 0, number, number, "F" * (cycles - 60) + "T") for number in range(worms)
             for link in (f"inj:{number}:0", f"link:{number}>{number + 1}")]
    text = svg(history_of(tmp_path, said, holds), tmp_path)
    width, height = map(float, re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups())
    assert width == pytest.approx(72 * inches)
    assert 0 < height < 72 * 10


@pytest.mark.parametrize(("worms", "wide"), [(1, 6.4), (30, None)])
def test_a_diagram_for_slides_has_their_shape_and_grows_with_its_rows(tmp_path, worms, wide):
    said = comment(links_of(60), [worm(number, number, [number + 2]) for number in range(worms)], 100,
                   topology="mesh:1x60")
    holds = [(f"inj:{number}:0", 0, number, number, "F" * 40 + "T") for number in range(worms)]
    history = history_of(tmp_path, said, holds)
    with drawn_with(PictureOptions(style="slides")):
        figure = spacetime_figure([(history, rows_of(history))])
    width, height = figure.get_size_inches()
    assert height == pytest.approx(width * 9 / 16)
    assert width == pytest.approx(wide) if wide else width > 7
    [axes] = figure.axes
    figure.draw_without_rendering()
    [legend] = figure.legends
    assert legend.get_window_extent().y1 < axes.xaxis.label.get_window_extent().y0
    assert {label.get_fontsize() for label in axes.get_yticklabels()} == {8}


def test_what_cannot_be_drawn_is_refused(tmp_path):
    history = history_of(tmp_path, *FIGURE_4)
    with pytest.raises(WormcastError, match=r"plot: x\.gif is not valid\. Allowed: names that end in \.svg, \.pdf"):
        require_drawable(rows_of(history), Path("x.gif"))
    for rows in ([], rows_of(history) * 101):
        with pytest.raises(WormcastError, match=f"plot: a diagram with {len(rows)} rows of virtual channels is not"):
            require_drawable(rows, Path("x.svg"))


@pytest.mark.parametrize(("hardware", "ends", "titles"), [
    (({"tokens": "off"}, {"tokens": None}), (False, True), ["(a) no tokens: deadlock", "(b) tokens"]),
    (({}, {}), (False, True), ["(a) deadlock", "(b) delivered"]),
    (({}, {}), (True, False), ["(a) delivered", "(b) cycles 0 to 29"])])
def test_diagrams_side_by_side_have_titles_of_what_differs(tmp_path, hardware, ends, titles):
    """A run that delivered, and a run that did not: the first diagram's run has a deadlock if it did not."""
    told = [comment(links_of(4), [worm(0, 0, [1])], 30, scheme="atbm", topology="mesh:1x4", replicates=True),
            [("cons:1#0", 0, 0, 4, "FFFT")]]
    done = history_of(tmp_path, *told)
    stuck = dataclasses.replace(history_of(tmp_path, *FIGURE_4), scheme="atbm", replicates=True)
    drawn = []
    for number, (options, delivers) in enumerate(zip(hardware, ends, strict=True)):
        history = done if delivers else stuck if number == 0 else dataclasses.replace(stuck, deadlock=None)
        drawn.append(dataclasses.replace(history, configuration=history.configuration | options))
    figure = spacetime_figure([(history, rows_of(history)) for history in drawn])
    assert [text.get_text() for text in figure.findobj(Text) if text.get_text().startswith("(")] == titles


def test_a_channel_that_only_one_network_has_is_an_empty_line_in_the_other(tmp_path):
    """Lines of all diagrams are at the same heights, but a name stands for a channel of the network."""
    drawn = []
    for vcs in (1, 2):
        told = comment(links_of(4, vcs=vcs), [worm(0, 0, [1])], 20, vc_classes=vcs,
                       configuration={"vcs": vcs, "buffer": 4, "consumption": 1})
        history = history_of(tmp_path, told, [("link:0>1", vcs - 1, 0, 5, "FFFFT"), ("cons:1#0", 0, 0, 8, "FFFFT")])
        drawn.append((history, rows_of(history)))
    figure = spacetime_figure(drawn)
    one, two = ({label.get_text(): float(at)
                 for at, label in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)}
                for part in figure.subfigs for axes in part.axes)
    assert [*one] == ["link:0.0>0.1:0", "cons:0.1:0"]
    assert [*two] == ["link:0.0>0.1:0", "link:0.0>0.1:1", "cons:0.1:0"]
    assert {name: two[name] for name in one} == one
    titles = [text.get_text() for text in figure.findobj(Text) if text.get_text().startswith("(")]
    assert titles == ["(a) 1 VC x 4 flits", "(b) 2 VCs x 4 flits, 2 classes of VCs"]
