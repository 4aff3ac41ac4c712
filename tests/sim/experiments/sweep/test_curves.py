"""What is drawn of a sweep, which lines it has, and what is refused."""

from pathlib import Path

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.sweep import draw, points, read, require_drawable

SMALL = 'topology = "mesh:4x4"\ndestinations_mean = 4\n'


@pytest.fixture
def sweep_of(tmp_path):
    def write(text):
        file = tmp_path / "small.toml"
        file.write_text(SMALL + text)
        return read(file)
    return write


def result(latency, saturated=False, deadlock=False, half=5.0):
    if deadlock:
        return {"latency": {"mean": None, "half_width": None}, "delivered_per_node": None, "saturated": None,
                "deadlock": {"at": 1}}
    return {"latency": {"mean": latency, "half_width": half}, "delivered_per_node": 0.1, "saturated": saturated,
            "deadlock": None}


def drawn(sweep, results, monkeypatch, tmp_path):
    """Draw, and give the two axes and the legend's words."""
    from matplotlib.figure import Figure

    figures = []
    save = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, *at, **form: (figures.append(self), save(self, *at, **form)))
    draw(sweep, points(sweep), results, tmp_path / "picture", "svg")
    [figure] = figures
    return *figure.axes, [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_lines_are_the_other_combinations_over_the_load(sweep_of, monkeypatch, tmp_path):
    sweep = sweep_of('rate = [0.02, 0.01]\nvcs = [1, 2]\nscheme = ["dual-path", "u-mesh"]\n')
    latency, delivered, words = drawn(sweep, [result(100.0 + k) for k in range(8)], monkeypatch, tmp_path)
    assert words == ["vcs 1, dual-path", "vcs 1, u-mesh", "vcs 2, dual-path", "vcs 2, u-mesh", "reconstructed scheme"]
    lines = [line for line in latency.lines if line.get_linestyle() not in ("None", "")
             and len(line.get_xdata()) == 2]
    assert [list(line.get_xdata()) for line in lines] == [[0.04, 0.08]] * 4
    assert [list(line.get_ydata()) for line in lines] == [[104.0 + k, 100.0 + k] for k in range(4)]
    assert [line.get_linestyle() for line in lines] == ["-", "--", "-", "--"]
    assert latency.get_xlabel() == delivered.get_xlabel() == "load: payload flits asked for, per node and cycle"
    assert len({line.get_color() for line in lines}) == 4


def test_scale_is_that_of_points_that_are_not_saturated(sweep_of, monkeypatch, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02, 0.03, 0.04]\nscheme = "dual-path"\n')
    latency, delivered, words = drawn(sweep, [result(100.0), result(200.0), result(5000.0, saturated=True), result(
        0, deadlock=True)], monkeypatch, tmp_path)
    assert latency.get_yscale() == "linear"
    assert latency.get_ylim() == (0, 250)
    assert latency.get_xlim()[1] < 0.16 < delivered.get_xlim()[1]
    assert words == ["all points", "saturated", "deadlock"]
    hollow = [line for line in latency.lines if line.get_markerfacecolor() == "white" and line.get_marker() == "o"]
    assert [list(line.get_ydata()) for line in hollow] == [[5000.0], [1]]
    crosses = [line for line in (*latency.lines, *delivered.lines) if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[0.16]] * 2
    wide = drawn(sweep, [result(100.0, half=1e9), *(result(2000.0) for _ in range(3))], monkeypatch, tmp_path)[0]
    assert wide.get_yscale() == "log"
    assert wide.get_ylim()[0] < 100
    assert wide.get_ylim()[1] == 3000


def test_another_number_is_an_axis_with_its_unit(sweep_of, monkeypatch, tmp_path):
    sweep = sweep_of('scheme = ["dual-path", "multipath"]\nlength = [16, 8]\nuntil_interval = [true, false]\n'
                     'rate = 0.01\n')
    latency, _, words = drawn(sweep, [result(float(k), half=None) for k in range(1, 9)], monkeypatch, tmp_path)
    assert latency.get_xlabel() == "length of a multicast (payload flits)"
    assert words == [f"{scheme}, until_interval {until}" for scheme in ("dual-path", "multipath")
                     for until in ("true", "false")]


def test_nothing_measured_is_drawn_too(sweep_of, monkeypatch, tmp_path):
    dead = 2 * [result(0, deadlock=True)]
    drawn(sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n'), dead, monkeypatch, tmp_path)
    drawn(sweep_of('rate = [0]\nscheme = "dual-path"\n'), [result(None, half=None)], monkeypatch, tmp_path)


def test_same_results_are_the_same_file(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n')
    for form in ("svg", "png"):
        for name in ("one", "two"):
            draw(sweep, points(sweep), [result(100.0), result(110.0)], tmp_path / name, form)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(("text", "file", "sentence"), [
    ("rate = 0.1", "a.png", "plot: no option with numbers is swept, one must be: rate for example"),
    ("rate = [0.1]", "a.pdf", "plot: a.pdf is given, allowed endings are .svg, .png"),
    (f"rate = [0.1, 0.2]\nseed = {list(range(41))}", "a.png", "plot: 41 lines are to be drawn, allowed are up to 40"),
], ids=["nothing", "ending", "lines"])
def test_what_cannot_be_drawn_is_refused(text, file, sentence, sweep_of, tmp_path):
    with pytest.raises(WormcastError) as refused:
        require_drawable(sweep_of(f'scheme = "dual-path"\n{text}\n'), Path(file))
    assert str(refused.value) == sentence
