"""Pictures of sweeps: panels, lines and refusals."""

from pathlib import Path

import pytest
from cases import slow
from matplotlib.colors import to_rgb

from wormcast.algorithms import WormcastError
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.common.frame import COLOURS, beside
from wormcast.sim.common.picture_style import PictureOptions, drawn_with
from wormcast.sim.experiments.sweep import curves_figure, points, read, require_drawable

SMALL = 'topology = "mesh:4x4"\ndestinations_mean = 4\n'


@pytest.fixture
def sweep_of(tmp_path):
    def write(text):
        file = tmp_path / "small.toml"
        file.write_text(SMALL + text)
        return read(file)
    return write


def result(latency, saturated=False, deadlock=False, half=5.0, effective=0.1, precise=True):
    if deadlock:
        return {"latency": {"mean": None, "half_width": None}, "effective": None, "delivered_per_node": None,
                "delivered_per_node_half_width": None, "saturated": None, "precise": None, "deadlock": {"at": 1}}
    return {"latency": {"mean": latency, "half_width": half}, "effective": effective, "delivered_per_node": 0.1,
            "delivered_per_node_half_width": 0.01, "saturated": saturated, "precise": precise, "deadlock": None}


def lines_of(axes, points):
    """The lines of so many points, without markers, intervals and the diagonal."""
    return [line for line in axes.lines if line.get_linestyle() not in ("None", "", ":")
            and len(line.get_xdata()) == points and line.get_zorder() == 2]


def drawn(sweep, results, tmp_path):
    """Draw, and give the two axes and the legend's words, which are all inside of the picture."""
    figure = curves_figure(sweep, points(sweep), results)
    figure.draw_without_rendering()
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
    return *figure.axes, [text.get_text() for legend in figure.legends for text in legend.get_texts()
                           if text.get_text() != " "]


def test_lines_are_the_other_combinations_over_the_load(sweep_of, tmp_path):
    """Families are told apart by hue and marker, their members by dashes, and each has a column of the legend."""
    sweep = sweep_of('rate = [0.02, 0.01]\nvcs = [1, 2, 4]\nscheme = ["dual-path", "u-mesh"]\n')
    loads = [0.078] * 6 + [0.041] * 6
    latency, delivered, words = drawn(sweep, [result(100.0 + 20 * k, effective=load) for k, load in enumerate(loads)],
                                      tmp_path)
    families = [[f"{scheme}, vcs {vcs}" for vcs in (1, 2, 4)] for scheme in ("dual-path", "u-mesh\N{DAGGER}")]
    assert words == [*families[0], *families[1], "\N{DAGGER} reconstructed scheme"]
    lines = lines_of(latency, 2)
    assert [list(line.get_xdata()) for line in lines] == [[0.041, 0.078]] * 6
    assert [list(line.get_ydata()) for line in lines] == [[220.0 + 20 * k, 100.0 + 20 * k] for k in (0, 2, 4, 1, 3, 5)]
    looks = [(line.get_color(), str(line._dash_pattern)) for line in lines]
    assert len({hue for hue, _ in looks}) == 2
    assert len({dashes for _, dashes in looks}) == 3
    assert len(set(looks)) == 6
    assert [line.get_color() for line in lines_of(delivered, 2)] == [hue for hue, _ in looks]
    assert delivered.lines[0].get_linestyle() == ":"
    markers = {(line.get_color(), line.get_marker()) for line in latency.lines if line.get_marker() in ("v", "<")
               and len(line.get_xdata())}
    assert len({marker for _, marker in markers}) == len(markers) == 2
    for axes in (latency, delivered):
        assert axes.get_xlabel().replace("\n", " ") == "effective load (flits/node/cycle)"


def test_a_sweep_with_costs_has_a_panel_of_energy(sweep_of, tmp_path):
    costs = Path(__file__).parents[4] / "examples" / "energy" / "noxim_32bit.toml"
    sweep = sweep_of(f'rate = [0.01, 0.02]\nscheme = "dual-path"\nenergy = "{costs}"\n')
    results = [result(100.0, effective=load) | {"energy": {"per_flit": {"mean": mean, "half_width": 0.5}}}
               for load, mean in ((0.1, 7.0), (0.2, 8.0))]
    _, _, energy, _ = drawn(sweep, results, tmp_path)
    [line] = lines_of(energy, 2)
    assert list(line.get_ydata()) == [7.0, 8.0]
    assert energy.get_ylim() == pytest.approx((0, 9.35))
    assert energy.get_ylabel() == "energy (pJ per received flit)"
    assert [axes.get_xlabel() for axes in energy.figure.axes] == ["effective load (flits/node/cycle)"] * 3  # one line
    rows = beside(energy.figure).rows
    assert [(row["energy_per_flit"], row["energy_per_flit_half_width"]) for row in rows] == [(7.0, 0.5), (8.0, 0.5)]
    assert beside(energy.figure).caption[1].startswith("costs of events: ")
    with drawn_with(PictureOptions(panel="energy")):
        require_drawable(sweep, tmp_path / "picture.svg")
    with drawn_with(PictureOptions(panel="energy")), pytest.raises(WormcastError, match="panel: 'energy' is not valid"):
        require_drawable(sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n'), tmp_path / "picture.svg")


def test_a_sweep_with_replies_has_a_panel_of_round_trips(sweep_of, tmp_path):
    """Saturated points have no round trip, as they have no latency. The data have the intervals."""
    sweep = sweep_of('rate = [0.01, 0.02, 0.03]\nscheme = "dual-path"\nreply = 4\n')
    trips = [{"mean": 150.0, "half_width": 9.0}, {"mean": 200.0, "half_width": 8.0}, {"mean": 9e3, "half_width": 7.0}]
    results = [result(100.0, effective=load, saturated=load == 0.3) | {"round_trip_latency": trip}
               for load, trip in zip((0.1, 0.2, 0.3), trips, strict=True)]
    _, _, trip, _ = drawn(sweep, results, tmp_path)
    assert [list(line.get_ydata()) for line in lines_of(trip, 2)] == [[150.0, 200.0]]
    assert trip.get_ylim() == (0, 250)
    [arrow] = [line for line in trip.lines if "arrow" in str(line.get_marker())]
    assert list(arrow.get_xdata()) == [0.3]
    rows = beside(trip.figure).rows
    assert [(row["round_trip_latency"], row["round_trip_latency_half_width"]) for row in rows] == [
        (one["mean"], one["half_width"]) for one in trips]
    with drawn_with(PictureOptions(panel="round-trip")), pytest.raises(WormcastError, match="panel: 'round-trip'"):
        require_drawable(sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n'), tmp_path / "picture.svg")


COSTS = Path(__file__).parents[4] / "examples" / "energy" / "noxim_32bit.toml"


LOOKS = [("screen", None), ("slides", None),
         *(("paper", width) for width in ("ieee", "ieee-two", "acm", "acm-two", "120"))]
#: Cases for every test run: one number of panels for each look, many panels for narrow looks, which have little room.
CROWDED = {("screen", None, 2), ("slides", None, 4), ("paper", "ieee", 4), ("paper", "ieee-two", 1),
           ("paper", "acm", 3), ("paper", "acm-two", 2), ("paper", "120", 3)}


@pytest.mark.parametrize(("look", "width", "panels"), [
    case if (case := (*look, panels)) in CROWDED else slow(*case) for look in LOOKS for panels in (1, 2, 3, 4)])
def test_names_of_axes_are_inside_and_no_longer_than_the_axes(sweep_of, look, width, panels):
    more = "".join(['reply = 4\n' * (panels == 4), f'energy = "{COSTS}"\n' * (panels >= 3)])
    sweep = sweep_of(f'rate = [0.02, 0.01]\nscheme = ["dual-path", "u-mesh"]\n{more}')
    trip = {"round_trip_latency": {"mean": 300.0, "half_width": 1.0},
            "energy": {"per_flit": {"mean": 7.0, "half_width": 0.5}}}
    results = [one | trip for one in [result(100.0)] * 2 + [result(200.0, saturated=True)] * 2]
    with drawn_with(PictureOptions(style=look, width=width, panel="delivered" if panels == 1 else None)):
        figure = curves_figure(sweep, points(sweep), results)
        figure.draw_without_rendering()
    assert len(figure.axes) == panels
    for axes in figure.axes:
        box = axes.get_window_extent()
        up, across = axes.yaxis.label.get_window_extent(), axes.xaxis.label.get_window_extent()
        assert box.y0 <= up.y0 < up.y1 <= box.y1
        assert across.width <= box.width * 1.1
        assert 0 <= across.x0 < across.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= across.y0
        assert up.x0 >= 0


def test_a_scheme_of_a_file_has_its_own_name_or_the_users(sweep_of, tmp_path):
    """The user's label is for the name that the legend shows, or for the file's name."""
    file = Path(__file__).parents[4] / "examples" / "short_paths.py"
    sweep = sweep_of(f'rate = [0.01, 0.02]\nscheme = ["dual-path", "{file}"]\n')
    results = [result(100.0)] * 4
    assert drawn(sweep, results, tmp_path)[2] == ["dual-path", "short-paths"]
    for name in ("short-paths", str(file)):
        with drawn_with(PictureOptions.of({"label": {name: "SP"}})) as style:
            assert drawn(sweep, results, tmp_path)[2] == ["dual-path", "SP"]
            style.require_used()


def test_the_label_of_a_scheme_renames_all_entries_of_its_curves(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02]\nvcs = [1, 2]\nscheme = ["dual-path", "multipath"]\n')
    with drawn_with(PictureOptions.of({"label": {"dual-path": "DP"}})) as style:
        assert drawn(sweep, [result(100.0)] * 8, tmp_path)[2][:4] == [
            "DP, vcs 1", "DP, vcs 2", "multipath, vcs 1", "multipath, vcs 2"]
        style.require_used()


def test_a_legend_of_families_fits_beside_its_signs(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.02, 0.01]\nvcs = [1, 2, 4]\n'
                     'scheme = ["individual", "dual-path", "multipath", "column-path", "e-mcast", "u-mesh"]\n')
    results = [result(100.0, saturated=k % 5 == 0, precise=k % 7 > 0) for k in range(36)]
    words = drawn(sweep, results, tmp_path)[2]
    assert words[:6] == [f"{scheme}, vcs {vcs}" for scheme in ("individual", "dual-path") for vcs in (1, 2, 4)]


def test_a_network_that_delivers_all_lies_on_the_diagonal(sweep_of, tmp_path):
    """The load is what was created in the run, which in a short one is not quite what was asked for."""
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n')
    _, delivered, _ = drawn(sweep, [result(100.0, effective=0.1) for _ in range(2)], tmp_path)
    [line] = lines_of(delivered, 2)
    assert list(line.get_xdata()) == list(line.get_ydata()) == [0.1, 0.1]


def test_a_saturated_point_is_above_the_frame_and_has_no_line(sweep_of, tmp_path):
    """It has no steady latency: neither its interval nor a line to it may be read as one."""
    sweep = sweep_of('rate = [0.01, 0.02, 0.03]\nscheme = "dual-path"\n')
    latency, _, words = drawn(sweep, [result(100.0, effective=0.1), result(200.0, effective=0.2),
                                      result(5000.0, saturated=True, half=4900.0, effective=0.3)],
                              tmp_path)
    assert latency.get_ylim() == (0, 250)
    [arrow] = [line for line in latency.lines if "arrow" in str(line.get_marker())]
    assert list(arrow.get_xdata()) == [0.3]
    assert arrow.get_transform().transform((0.3, 1.0))[1] > latency.get_window_extent().y1
    assert [list(line.get_xdata()) for line in lines_of(latency, 2)] == [[0.1, 0.2]]
    assert 5000.0 not in [value for line in latency.lines for value in line.get_ydata()]
    assert words == ["dual-path", "saturated"]
    bars = [line for line in latency.lines if line.get_zorder() == 2.5 and line.get_marker() == "None"]
    assert [list(line.get_xdata()) for line in bars] == [[0.1, 0.1], [0.2, 0.2]]


def test_a_curve_that_is_alone_has_the_name_of_its_scheme(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = "u-mesh"\n')
    results = [result(100.0), result(120.0, effective=0.2)]
    assert drawn(sweep, results, tmp_path)[2] == ["u-mesh\N{DAGGER}", "\N{DAGGER} reconstructed scheme"]
    with drawn_with(PictureOptions.of({"label": {"u-mesh": "UM"}})) as style:
        assert drawn(sweep, results, tmp_path)[2][0] == "UM"
        style.require_used()
        described = beside(curves_figure(sweep, points(sweep), results))
    assert "length of a multicast: 20 payload flits; " in described.caption[0]
    assert "; relation: e-cube; " in described.caption[0]
    assert "; delays: paper; seeds: 24 to 27" in described.caption[0]
    assert not described.caption[0].endswith(" cycles")  # the name says so
    assert described.caption[1] == "flits: payload flits times destinations"
    sweep = sweep_of('rate = 0.012\nvcs = [1, 2]\nscheme = "u-mesh"\n')
    described = beside(curves_figure(sweep, points(sweep), results))
    assert "rate: 0.012 payload flits created per node and cycle" in described.caption[0]
    assert [row["scheme"] for row in described.rows] == ["u-mesh", "u-mesh"]


def test_schemes_look_as_in_figures_of_papers(sweep_of, tmp_path):
    """Whichever others are in the sweep, and in whichever order."""
    looks = []
    for schemes in ('"dual-path", "multipath"', '"u-mesh", "individual", "multipath", "dual-path"'):
        sweep = sweep_of(f'rate = [0.01, 0.02]\nscheme = [{schemes}]\n')
        figure = curves_figure(sweep, points(sweep), [result(100.0)] * 2 * (schemes.count(",") + 1))
        looks.append({entry.get_label(): (entry.get_color(), entry.get_marker())
                      for legend in figure.legends for entry in legend.get_lines()})
    assert all(looks[0][name] == looks[1][name] for name in ("dual-path", "multipath"))
    assert looks[0]["dual-path"] == (to_rgb(COLOURS[4]), "v")


@pytest.mark.parametrize(("width", "alike"), [("88", True), ("180", False)])
def test_panels_below_one_another_have_the_same_loads(sweep_of, width, alike):
    """Beside one another, that of latencies ends at the last point that it shows."""
    sweep = sweep_of('rate = [0.01, 0.02, 0.03]\nscheme = "dual-path"\n')
    results = [result(100.0, effective=load, saturated=load > 0.1) for load in (0.1, 0.2, 0.8)]
    with drawn_with(PictureOptions(style="paper", width=width)):
        latency, delivered = curves_figure(sweep, points(sweep), results).axes
    assert (latency.get_xlim() == delivered.get_xlim()) is alike


def test_a_chosen_panel_is_drawn_alone(sweep_of):
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n')
    for panel, name in ("latency", "mean latency"), ("delivered", "delivered"):
        with drawn_with(PictureOptions.of({"panel": panel})):
            [axes] = curves_figure(sweep, points(sweep), [result(100.0), result(120.0)]).axes
        assert axes.get_ylabel().replace("\n", " ").startswith(name)


def test_slides_have_thicker_lines_and_larger_letters(sweep_of):
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = ["dual-path", "multipath"]\n')
    found = {}
    for name in "screen", "slides":
        with drawn_with(PictureOptions.of({"style": name})):
            figure = curves_figure(sweep, points(sweep), [result(100.0 + 9 * k) for k in range(4)])
        [legend] = figure.legends
        found[name] = {
            "legend": {line.get_linewidth() for line in legend.get_lines() if line.get_linestyle() != "None"},
            "letters": legend.get_texts()[0].get_fontsize(), "caption": figure._suptitle is not None}
    assert found == {"screen": {"legend": {1.0}, "letters": 7, "caption": True},
                     "slides": {"legend": {1.6}, "letters": 10, "caption": False}}


def test_an_imprecise_mean_has_a_half_open_marker(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n')
    latency, delivered, words = drawn(sweep, [result(100.0), result(120.0, effective=0.2, precise=False)],
                                      tmp_path)
    assert [list(line.get_xdata()) for line in latency.lines if line.get_fillstyle() == "left"] == [[0.2]]
    assert not [line for line in delivered.lines if line.get_fillstyle() == "left"]
    assert words == ["dual-path", "imprecise mean"]


def test_scale_is_that_of_points_that_are_not_saturated(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02, 0.03, 0.04]\nscheme = "dual-path"\n')
    latency, delivered, words = drawn(sweep, [
        result(100.0, effective=0.04), result(200.0, effective=0.08), result(5000.0, saturated=True, effective=0.12),
        result(0, deadlock=True)], tmp_path)
    assert latency.get_yscale() == "linear"
    assert latency.get_ylim() == (0, 250)
    assert latency.get_xlim()[1] < 0.16 < delivered.get_xlim()[1]
    assert words == ["dual-path", "saturated", "deadlock"]
    hollow = [line for line in latency.lines if line.get_markerfacecolor() == "white" and line.get_marker() == "v"]
    assert [list(line.get_ydata()) for line in hollow] == [[1], [1]]
    crosses = [line for line in (*latency.lines, *delivered.lines) if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[0.16]] * 2
    wide = drawn(sweep, [result(100.0, half=1e9), *(result(2000.0) for _ in range(3))], tmp_path)[0]
    assert wide.get_yscale() == "log"
    assert wide.get_ylim()[0] < 100
    assert wide.get_ylim()[1] == 3000


def test_another_number_is_an_axis_with_its_unit(sweep_of, tmp_path):
    sweep = sweep_of('scheme = ["dual-path", "multipath"]\nlength = [16, 8]\nuntil_interval = [true, false]\n'
                     'rate = 0.01\n')
    latency, _, words = drawn(sweep, [result(float(k), half=None) for k in range(1, 9)], tmp_path)
    assert latency.get_xlabel() == "length of a multicast (payload flits)"
    assert words == [f"{scheme}, until_interval {until}" for scheme in ("dual-path", "multipath")
                     for until in ("true", "false")]


def test_nothing_measured_is_drawn_too(sweep_of, tmp_path):
    dead = 2 * [result(0, deadlock=True)]
    drawn(sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n'), dead, tmp_path)
    drawn(sweep_of('rate = [0]\nscheme = "dual-path"\n'), [result(None, half=None)], tmp_path)


def test_same_results_are_the_same_file(sweep_of, tmp_path):
    sweep = sweep_of('rate = [0.01, 0.02]\nscheme = "dual-path"\n')
    for form in ("svg", "png"):
        for name in ("one", "two"):
            save_figure(curves_figure(sweep, points(sweep), [result(100.0), result(110.0)]), tmp_path / name, form)
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(("text", "file", "sentence"), [
    ("rate = 0.1", "a.png", "plot: no option with numbers is swept. Needed: a list of numbers, for example of rate."),
    ("rate = [0.1]", "a.gif", "plot: a.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."),
    (f"rate = [0.1, 0.2]\nseed = {list(range(41))}", "a.png",
     ("plot: a.png is not valid: the picture would have 41 curves, one for each combination of the values of seed. "
      "Allowed: at most 40 curves.")),
], ids=["nothing", "ending", "lines"])
def test_what_cannot_be_drawn_is_refused(text, file, sentence, sweep_of, tmp_path):
    with pytest.raises(WormcastError) as refused:
        require_drawable(sweep_of(f'scheme = "dual-path"\n{text}\n'), Path(file))
    assert str(refused.value) == sentence
