"""Sweeps of components: what is read, built, tabled and drawn; no tool runs."""

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.common.figure_file import save_figure
from wormcast.sim.export.synthesis import Synthesis, build, costs_figure, points, read_sweep, require_drawable, row
from wormcast.sim.export.synthesis.flow import _period
from wormcast.sim.export.synthesis.paths import CriticalPath, PathSignal


def synthesised(lut4, mhz=()):
    path = CriticalPath((PathSignal("a", 1.0), PathSignal("b", 2.5))) if mhz else None
    return Synthesis("ecp5", {"LUT4": lut4, "FF": 2 * lut4, "DPR16X4": 1, "CCU2C": 0}, 9 if mhz else None,
                     99 if mhz else None, mhz, path)


def test_options_are_read_as_they_are_typed_or_as_they_are_called():
    sweep = read_sweep(["flit-width=16,32", "buffer=2", "relations=e-cube;e-cube,hamiltonian"], {"vcs": 1})
    assert sweep.swept == {"flit_width": [16, 32], "buffer": [2], "relations": ["e-cube", "e-cube,hamiltonian"]}
    assert sweep.fixed == {"vcs": 1}


@pytest.mark.parametrize(("text", "sentence"), [
    ("vcs", "sweep: 'vcs' is not valid. Allowed: OPTION=VALUE,VALUE, for example vcs=1,2."),
    ("vcs=", "sweep: 'vcs=' is not valid. Allowed: OPTION=VALUE,VALUE, for example vcs=1,2."),
    ("vc=1,2", "sweep: 'vc' is not an option of synth that can be swept. Nearest: vcs."),
    ("vcs=1,two", "vcs: 'two' is not valid. Allowed: a whole number."),
    ("vcs=1,-2", "vcs: '-2' is not valid. Allowed: a whole number."),
    ("vcs=1," + "2" * 5000, f"vcs: '{'2' * 5000}' is not valid. Allowed: a whole number."),
    ("vcs=1,2,1", "vcs: 1 occurs twice in the list. Allowed: each value once."),
    ("buffer=1,2", "sweep: 'buffer=1,2' is not valid: buffer is given twice. Allowed: each option once."),
    ("t_hs=1,2", "sweep: 't_hs' is not an option of synth that can be swept. Nearest: t_ns."),
])
def test_what_is_refused_of_a_sweep(text, sentence):
    with pytest.raises(WormcastError) as refused:
        read_sweep([text], {"buffer": 2})
    assert str(refused.value) == sentence


def test_points_are_all_combinations_the_last_option_fastest():
    sweep = read_sweep(["vcs=1,2", "scheme=individual,dual-path"], {"topology": "mesh:2x2"})
    found = points("router", None, sweep)
    assert [point.name for point in found] == [
        "vcs 1, scheme individual", "vcs 1, scheme dual-path", "vcs 2, scheme individual", "vcs 2, scheme dual-path"]
    assert [len(point.component().outputs) for point in found] == [5] * 4
    assert [point.resolved["classes"] for point in found[:2]] == [":next", "up/down:next"]


def test_dimensions_of_the_mesh_are_ports():
    found = points("router", None, read_sweep(["topology=mesh:1x8,mesh:8x8,mesh:4x4x4"], {"scheme": "individual"}))
    assert [len(point.component().outputs) for point in found] == [3, 5, 7]


def test_a_point_that_cannot_be_built_is_named():
    with pytest.raises(WormcastError, match=r"^vcs: 17 is not valid. Allowed: 1 to 16. Point: vcs 17\.$"):
        points("router", None, read_sweep(["vcs=1,17"], {}))


def test_buffers_are_built_of_what_the_target_has():
    assert build("router", None, {}).resolved["storage"] == "lutram"
    assert build("router", None, {"target": "ice40"}).resolved["storage"] == "registers"
    with pytest.raises(WormcastError, match=r"^storage: 'lutram' is not valid with target ice40 \(HX8K\)\."):
        build("router", None, {"target": "ice40", "storage": "lutram"})


def test_without_multicast_a_router_has_neither_classes_nor_lists():
    """The same router, for what multicast costs."""
    alone = build("router", None, {"scheme": "individual", "relation": "hamiltonian"}).component().decoder
    assert (alone.relations, alone.multicast, len(alone.consumption)) == (("hamiltonian",), False, 0)


def test_rows_have_the_swept_options_first_and_empty_cells_of_other_targets():
    sweep = read_sweep(["target=ecp5,ice40"], {"vcs": 1})
    point, other = points("router", None, sweep)
    cells = row(sweep, point, synthesised(10, (80.0, 90.0, 100.0)))
    assert next(iter(cells)) == "target"
    assert (cells["lut4"], cells["ram40_4k"], cells["lc"], cells["trellis_comb"]) == (10, None, None, 9)
    assert [cells[name] for name in ("median_mhz", "least_mhz", "most_mhz", "fits")] == [90.0, 80.0, 100.0, True]
    assert [cells[name] for name in ("critical_start", "critical_end", "critical_ns")] == ["a", "b", 3.5]
    assert cells["vcs"] == 1
    bare = row(sweep, other, Synthesis("ice40", {"LUT4": 1, "FF": 1, "RAM40_4K": 0, "CARRY": 0}))
    assert list(bare) == list(cells)
    assert (bare["median_mhz"], bare["fits"], bare["critical_start"]) == (None, None, None)


def lines_of(sweep, results):
    """Draw, and give for each of the axes the points of its lines, and the words of the legend."""
    figure = costs_figure(sweep, points("router", None, sweep), results)
    lines = [[list(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines]
             for axes in figure.axes]
    return lines, [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_cells_are_drawn_over_the_option_with_most_numbers():
    sweep = read_sweep(["delays=paper,fast", "vcs=4,1"], {"topology": "mesh:2x2"})
    lines, words = lines_of(sweep, [synthesised(n) for n in (40, 10, 44, 11)])
    assert lines == [[[(1, 10), (4, 40)], [(1, 11), (4, 44)]], [[(1, 20), (4, 80)], [(1, 22), (4, 88)]]]
    assert words == ["paper", "fast"]


def test_clocks_are_drawn_where_they_are_known():
    sweep = read_sweep(["scheme=individual,dual-path"], {"topology": "mesh:2x2"})
    lines, words = lines_of(sweep, [synthesised(1, (50.0,)), synthesised(2)])
    assert lines[2] == [[(0, 50.0)]]
    assert words == []


def test_area_is_drawn_against_the_clock_where_they_are_traded():
    sweep = read_sweep(["area-delay=4000,8000"], {"topology": "mesh:2x2"})
    lines, _ = lines_of(sweep, [synthesised(20, (100.0,)), synthesised(10, (60.0,))])
    assert lines == [[[(100.0, 20), (60.0, 10)]]]


def test_pictures_do_not_differ(tmp_path):
    sweep = read_sweep(["vcs=1,2"], {"topology": "mesh:2x2"})
    for name in "ab":
        figure = costs_figure(sweep, points("router", None, sweep), [synthesised(1), synthesised(2)])
        save_figure(figure, tmp_path / name, "svg")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(("texts", "file", "sentence"), [
    (["vcs=1,2"], "a.gif", "plot: a.gif is not valid. Allowed: names that end in .svg, .pdf, .png, .eps."),
    (["area_delay=4000,5000"], "a.svg",
     "seeds: 0 is not valid: a plot of area_delay needs the clock of a placement. Allowed: 1 or more."),
    (["vcs=1,2,3,4,5,6,7,8,9", "buffer=1,2,3,4,5,6,7", "delays=paper,fast", "flit_width=16,32,64"], "a.svg",
     ("plot: a.svg is not valid: the picture would have 42 curves, one for each combination of the values of buffer, "
      "delays, flit_width. Allowed: at most 40 curves.")),
])
def test_what_cannot_be_drawn_is_refused(texts, file, sentence, tmp_path):
    with pytest.raises(WormcastError) as refused:
        require_drawable(read_sweep(texts, {}), 0, tmp_path.__class__(file))
    assert str(refused.value) == sentence


def test_several_runs_have_ranges_of_cells():
    """A kind of cell that a run does not have is 0 there; the clock's range is that of the seeds."""
    runs = ({"LUT4": 9, "FF": 4}, {"LUT4": 12, "FF": 4, "EBR": 1}, {"LUT4": 10, "FF": 4})
    found = Synthesis("ecp5", {"LUT4": 10, "FF": 4, "EBR": 0}, mhz=(90.0, 80.0), runs=runs)
    assert found.ranges == {"LUT4": (9, 10, 12), "FF": (4, 4, 4), "EBR": (0, 0, 1), "MHz": (80.0, 80.0, 90.0)}
    assert found.to_dict()["ranges"]["lut4"] == {"least": 9, "median": 10, "most": 12}
    assert found.to_dict()["runs"][1] == {"lut4": 12, "ff": 4, "ebr": 1}
    sweep = read_sweep(["vcs=1,2"], {})
    cells = row(sweep, points("router", None, sweep)[0], found)
    assert [cells[name] for name in ("lut4", "least_lut4", "most_lut4", "least_mhz")] == [10, 9, 12, 80.0]
    assert "least_lut4" not in row(sweep, points("router", None, sweep)[0], synthesised(10))


def test_one_run_and_one_seed_have_no_range():
    assert (synthesised(10, (80.0,)).ranges, synthesised(10).to_dict()["ranges"]) == ({}, {})


def test_periods_of_the_runs_are_evenly_spaced():
    assert [_period(4250, run, 5) for run in range(5)] == [3825, 4038, 4250, 4462, 4675]
    assert [_period(4000, run, 2) for run in range(2)] == [3600, 4400]
    assert _period(None, 0, 5) is None
