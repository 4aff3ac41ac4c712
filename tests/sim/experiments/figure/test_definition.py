"""Files of figures: those that come with wormcast, and what is refused."""

import re

import pytest
from refused_at import without_place

from wormcast.algorithms import WormcastError
from wormcast.sim.experiments.figure import catalogue, find_figure
from wormcast.sim.experiments.figure.rounds import Study, curves_of
from wormcast.sim.experiments.figure.single import RunCurve

GOOD = {
    "title": '"small"', "source": '"nowhere"', "options": "{topology = 'mesh:3x3', destinations_mean = 2.0}",
    "series": "{one = {scheme = 'individual'}, two = {scheme = 'dual-path', drawn = false}}",
}


def written(folder, name="small", **entries):
    file = folder / f"{name}.toml"
    file.write_text("\n".join(f"{key} = {value}" for key, value in entries.items()))
    return str(file)


@pytest.mark.parametrize("name", catalogue())
def test_every_figure_of_the_catalogue_can_be_run(name):
    """Each series is made of points that are not refused, under each variation; statements name series there are."""
    figure = find_figure(name)
    assert figure.statements
    assert name.startswith("00")
    for one in figure.statements:
        assert one.claim.startswith(f"{name[:3]}-")
    for curve in curves_of(figure).values():
        if isinstance(curve, RunCurve):
            assert all(curve.point(place).size > 0 for place in range(len(curve.values)))
            continue
        assert curve.options_at(1)["topology"]
        for place in {4} if not curve.figure.values else curve.missing():
            assert curve.point(place).resolved["topology"]


def test_an_inherited_variation_may_name_a_series_that_is_not_copied(tmp_path):
    written(tmp_path, name="base", **GOOD, variations="{v = {series = {one = {vcs = 4}, two = {vcs = 5}}}}")
    figure = find_figure(written(tmp_path, like='"base"', title='"other"', only="['two']"))
    assert figure.variations["v"].series == {"two": {"vcs": 5}}


def test_quick_runs_at_least_one_cycle(tmp_path):
    figure = find_figure(written(tmp_path, **GOOD, cycles="1"))
    assert [curve.options["cycles"] for curve in curves_of(figure, quick=True).values()] == [1, 1]


def test_a_variation_of_ones_own_series_leaves_others_of_that_name_as_they_are(tmp_path):
    """002-fig17 delays multipath's copies, and compares it with the multipath of Figure 9."""
    curves = curves_of(find_figure("002-fig17"))
    assert curves["multipath", "split"].options["copy_delay"] == 50
    assert "copy_delay" not in curves["002-fig9:multipath", "split"].options


def test_a_file_of_ones_own(tmp_path):
    figure = find_figure(written(tmp_path, **GOOD, variations="{v = {text = 'more', vcs = 3, series = "
                                                              "{one = {vcs = 4, scheme = 'u-mesh'}}}}",
                                 statements="[{claim = 'x', text = 'y', holds = \"copies('one') > copies('two')\"}]"))
    assert (figure.name, figure.title) == ("small", "small")
    assert [one.drawn for one in figure.series.values()] == [True, False]
    one, two = (curves_of(figure)[name, "v"].options for name in figure.series)
    assert (one["vcs"], one["scheme"], two["vcs"], two["scheme"]) == (4, "u-mesh", 3, "dual-path")


def test_words_stand_for_texts(tmp_path):
    """In predicates, pictures and later words; what is known later is left."""
    figure = find_figure(written(
        tmp_path, **GOOD, words="{net = '{here}/a.toml', one = 'plan {net} tree'}",
        statements="[{claim = 'x', text = '{one}', holds = \"output('{one} --plot {plot}', 'hops') == 1\"}]",
        pictures="[{name = 'p', command = 'check {net} --plot {plot}'}]"))
    assert figure.commands == {"plan {here}/a.toml tree --plot {plot}"}
    assert [one.command for one in figure.pictures] == ["check {here}/a.toml --plot {plot}"]
    assert figure.statements[0].text == "{one}"


def test_like_another_one(tmp_path):
    written(tmp_path, name="base", **GOOD, step="0.1", statements="[]")
    figure = find_figure(written(tmp_path, like='"base"', title='"other"', options="{vcs = 4}",
                                 only="['two', 'three']", series="{three = {scheme = 'multipath'}}"))
    assert (figure.title, figure.source, figure.step) == ("other", "nowhere", 0.1)
    assert figure.options == {"topology": "mesh:3x3", "destinations_mean": 2.0, "vcs": 4}
    assert list(figure.series) == ["two", "three"]
    words = written(tmp_path, name="words", **GOOD, words="{one = 'plan mesh:2x2 tree', two = '{one} --length 2'}")
    assert words
    both = find_figure(written(tmp_path, like='"words"', title='"other"', words="{one = 'check mesh:2x2 tree'}",
                               statements="[{claim = 'x', text = 'y', holds = \"output('{two}', 'hops') == 1\"}]"))
    assert both.commands == {"check mesh:2x2 tree --length 2"}  # its own word, also in a word of the other figure
    assert find_figure(written(tmp_path, name="paper", like='"002"', title="'x'")).options["topology"] == "mesh:8x8"


@pytest.mark.parametrize(("entries", "sentence"), [
    ({"titel": "'x'"}, "'titel' is not a key of a figure. Allowed: title, source, like"),
    ({"title": "1"}, "title: 1 is not valid. Allowed: text"),
    ({"step": "true"}, "step: true is not valid. Allowed: a number"),
    ({"step": "0"}, "step: 0 is not valid. Allowed: a number above 0"),
    ({"options": "{topology = 'mesh:3x3', rate = 0.1}"},
     "rate: 0.1 is not valid: the x axis of this figure is the load, which sets rate. Needed: no rate, or"),
    ({"options": "{vcs = 'two'}"}, "vcs: 'two' is not valid. Allowed: a whole number"),
    ({"options": "{vsc = 2}"}, "options: 'vsc' is not a key of the options. Nearest: vcs"),
    ({"series": "{one = {}}"}, "series.one: scheme is missing"),
    ({"series": "{one = 1}"}, "series.one: 1 is not valid. Allowed: a table"),
    ({"statements": "[{claim = 'x', text = 'y'}]"}, r"statements\[0\]: holds is missing. Needed:"),
    ({"statements": "[{claim = 'x', text = 'y', holds = '3'}]"}, "holds: '3' is not valid. Allowed: a comparison"),
    ({"variations": "{" + ", ".join(f"v{k} = {{vcs = {k + 1}}}" for k in range(7)) + "}"},
     "variations: .* is not valid. Allowed: 6 or fewer entries"),
    ({"like": "1"}, "like: 1 is not valid. Allowed: the name"),
    ({"words": "{one = 1}"}, "words.one: 1 is not valid. Allowed: text"),
    ({"words": "{here = 'x'}"}, "words.here: 'x' is not valid"),
    ({"words": "{one = '{two}', two = ''}"},
     "words.one: {two} in '{two}' is not valid: .* Allowed: {plot}, {here}"),
    ({"pictures": "[{name = 'p', command = 'plan {one}'}]"},
     r"pictures\[0\].command: {one} in 'plan {one}' is not valid: .* Allowed: {plot}, {h"),
    ({"over": "'scheme'", "values": "['dual-path']"}, "over: 'scheme' is not valid. Allowed: topology, or an option"),
    ({"over": "'lenght'", "values": "[1]"}, "over: 'lenght' is not valid. Nearest: length. Allowed: topology"),
    ({"over": "'length'"}, "values: no value of length is given. Needed: a list of values of length."),
    ({"over": "'receive_queue'", "values": "['never-full']"},
     r"values\[0\]: 'never-full' has no place on the x axis. Allowed with over = \"receive_queue\": numbers"),
    ({"over": "'topology'", "values": "['mesh:3x3', 'x']"}, "topology: 'x' is not valid"),
    ({"statements": "[{claim = 'x', text = 'y', holds = \"formula('one') > 1\"}]"},
     r"holds: formula is not valid: series one has load experiments. Allowed: latency"),
    ({"over": "'length'", "values": "[20, 10]"}, r"values: \[20, 10\] is not valid. Allowed: rising values"),
    ({"over": "'length'", "values": "[20, 'x']"}, r"values\[1\]: 'x' is not valid. Allowed: a whole number"),
    ({"over": "'topology'", "values": "['mesh:3x3', 'mesh:1x9']"}, "Allowed: topologies with rising numbers of nodes"),
    ({"step": "nan"}, "step: nan is not valid. Allowed: finite numbers"),
    ({"most": "inf"}, "most: inf is not valid. Allowed: finite numbers"),
    ({"cycles": "10" * 40}, "cycles: a whole number of more than 64 bits is not valid"),
    ({"options": "{topology = 'mesh:3x3', destinations_mean = -inf}"}, "options.destinations_mean: -inf is not valid"),
    ({"step": "1e-9"}, r"most: 0.9 \(the default\) is not valid with step = 1e-09. Allowed: step to 1000"),
    ({"step": "2.0", "most": "1.0"}, "most: 1.0 is not valid with step = 2.0. Allowed: .*, 2.0 to 2000."),
    ({"options": "{}"}, "series.one: topology is missing. Needed: in .series.one. or in .options."),
    ({"options": "{topology = 'mesh:3x3', vcs = 17}"}, "vcs: 17 is not valid. Allowed: a whole number from 1 to 16"),
    ({"points": "'runs'", "over": "'random'", "values": "[2]", "options": "{topology = 'mesh:3x3'}"},
     "series.one: length is missing"),
    ({"points": "'runs'", "over": "'length'", "values": "[8]", "options": "{topology = 'mesh:3x3', networks = 0}"},
     "networks: 0 is not valid. Allowed: a whole number from 1 to 10000"),
    ({"points": "'runs'", "over": "'length'", "values": "[8]", "options": "{topology = 'mesh:3x3', draws = 20000}"},
     "draws: 20000 is not valid. Allowed: a whole number from 1 to 10000"),
    ({"points": "'runs'", "over": "'random'", "values": "[-1]", "options": "{topology = 'mesh:3x3', length = 8}"},
     r"values\[0\]: -1 is not valid. Allowed: a whole number from 1 to 10000"),
    ({"only": "[['a']]", "like": "'002'"}, r"only\[0\]: \['a'\] is not valid. Allowed: text"),
    ({"only": "['nowhere']", "like": "'002'"}, "only: 'nowhere' is not valid. Allowed:"),
    ({"series": "[]", "like": "'002'"}, r"series: \[\] is not valid. Allowed: a table"),
    ({"like": "'noe'"}, r"like: 'noe' is not valid: it is no figure. .* files beside small.toml"),
    ({"only": "['one']"}, r"only: \['one'\] is not valid without like. Needed: like"),
    ({"like": "'small'"}, "like: 'small' is not valid: the figures are like each other in a circle"),
    ({"title": '"a\\u0007"'}, "title: 'a.*' is not valid. Allowed: text in one line, without control characters"),
    ({"like": "'../small'"}, "like: '../small' is not valid. Allowed: the name of a figure"),
    ({"series": "{one = {scheme = 'dual-path', drawn = 'yes'}}"}, "series.one.drawn: 'yes' is not valid. Allowed:"),
    ({"variations": "{v = {text = 3}}"}, "variations.v.text: 3 is not valid. Allowed: text"),
    ({"scatter": "{across = 'x', up = 'y', points = 0}"}, "scatter.points: 0 is not valid. Allowed: a list"),
    ({"scatter": "{across = 'x', up = 'y', points = []}"}, r"scatter.points: \[\] is not valid. Allowed: 1 or"),
    ({"scatter": "{across = 'x', up = 'y', points = 'all'}"}, "scatter.points: 'all' is not valid. Allowed:"),
    ({"scatter": "{across = 'x', up = 'y', points = [{name = 'a', across = '1 > 2', up = '2'}]}"},
     r"scatter.points\[0\].across: '1 > 2' is not valid: it is a comparison"),
    ({"statements": "[{claim = 'x', text = 'y', holds = '1 > 2', bound = '3'}]"},
     r"bound: '3' is not valid. Allowed: a comparison"),
    ({"scatter": "{across = 1, up = 'y', points = ['a']}"}, "scatter.across: 1 is not valid. Allowed: text"),
    *(({"statements": f"[{{claim = 'x', text = 'y', holds = \"{holds}\"}}]"}, sentence) for holds, sentence in (
        ("latency('one') < 1" + "0" * 400, r"holds: .* is not valid: a number is too large. Allowed: numbers below"),
        ("output('plan \\\"mesh:2x2', 'hops') < 2", "holds: .* is not valid: a quotation mark is not closed"),
        ("output('', 'hops') < 2", "holds: '' is not valid. Allowed: a command of wormcast"),
        ("output('  ', 'exit') == 0", "holds: '  ' is not valid. Allowed: a command of wormcast"))),
    *(({"pictures": f"[{{name = '{name}', command = 'plan mesh:2x2 --plot {{plot}}'}}]"},
       rf"pictures\[0\].name: {name!r} is not valid. Allowed: letters")
      for name in ("../../../escaped", "a/b", "", ".hidden", "two words")),
    ({"pictures": "[{name = 'p', command = 'plan {plot}'}, {name = 'p', command = 'plan {plot}'}]"},
     r"pictures\[1\].name: 'p' is not valid: another picture has this name"),
    ({"pictures": "[{name = 'p', command = 'plan --plot {plo|}'}]"}, "it draws no picture. Needed: {plot} as the name"),
    ({"pictures": "[{name = 'p', command = 'plan \"mesh'}]"},
     r"pictures\[0\].command: 'plan \"mesh' is not valid: a quotation mark is not closed"),
    ({"scatter": "{across = 'x', up = 'y', points = [{name = 'a', across = '1', up = '2'}]}",
      "pictures": "[{name = 'scatter', command = 'plan {plot}'}]"}, "name: 'scatter' is not valid: the scatter plot"),
    ({"over": "'vcs'", "values": "[1, 2]"}, "series.one: rate is missing. Needed: in .series.one. or"),
    ({"over": "'seed'", "values": "[1, 2]", "options": "{topology = 'mesh:3x3', rate = 0.1}"},
     "over: 'seed' is not valid. Allowed: topology, or an option of load whose values are numbers and that figures"),
    ({"variations": "{v = {series = {nope = {vcs = 1}}}}"},
     "variations.v.series: 'nope' is not valid. Allowed: series of the figure: one, two"),
    ({"variations": "{v = {series = {noe = {vcs = 1}}}}"}, "'noe' is not valid. Nearest: one. Allowed: series of the"),
    ({"statements": "[{claim = 'x', text = 'y', holds = \"copies('one') > nan\"}]"},
     r"holds: .* is not valid: nan is neither"),
    ({"values": "[20]"},
     r"values: \[20\] is not valid in a figure over the load, which chooses its own points\. Needed: over"),
])
def test_what_is_refused(tmp_path, entries, sentence):
    file = written(tmp_path, **GOOD | entries)
    with pytest.raises(WormcastError) as refused:
        find_figure(file)
    assert re.search(sentence, without_place(str(refused.value)))


@pytest.mark.parametrize(("name", "sentence"), [
    ("002-fig99", "figure: '002-fig99' is unknown. Nearest: 002-fig9. Allowed: names of wormcast list figures"),
    ("002", "figure: '002' is unknown"),
    ("nowhere.toml", "figure: nowhere.toml cannot be read: No such file"), ("../x", "is unknown. Allowed: "),
])
def test_names_of_none(name, sentence):
    with pytest.raises(WormcastError, match=sentence):
        find_figure(name)


def test_a_statement_names_no_series(tmp_path):
    figure = find_figure(written(tmp_path, **GOOD,
                                 statements="[{claim = 'x', text = 'y', holds = \"copies('three') > 1\"}]"))
    with pytest.raises(WormcastError, match=r"statements in \S+: series 'three' is not valid: \S+ has no such "
                                            "series. Allowed: one, two; a series of another figure as FIGURE:SERIES"):
        figure.find_series("three")
    with pytest.raises(WormcastError, match=r"series '003-fig7:tp' is not valid: there is no figure "
                                            "'003-fig7'. Nearest: 003-fig7"):
        figure.find_series("003-fig7:tp")


def test_a_refusal_during_evaluation_names_the_statement(tmp_path):
    figure = find_figure(written(tmp_path, **GOOD,
                                 statements="[{claim = 'x', text = 'y', holds = \"output('plan x', 'name') < 1\"}]"))
    with pytest.raises(WormcastError, match=r"^holds in statements\[0\] in \S+: a comparison of 'name' and 1 "):
        Study(figure, quick=True).look(lambda command, path: "name")


def test_a_statement_compares_figures_over_the_same_alone(tmp_path):
    figure = find_figure(written(tmp_path, **GOOD))
    with pytest.raises(WormcastError, match=r"statements in \S+: series '003-fig7a:tp' is not valid: the x axis "
                                            "of 003-fig7a is de"):
        figure.find_series("003-fig7a:tp")
    assert find_figure("003-fig7b").find_series("003-fig7a:tp")[1].name == "tp"


def test_a_rate_is_given_where_the_load_is_no_axis(tmp_path):
    entries = GOOD | {"options": "{topology = 'mesh:3x3', rate = 0.1}", "over": "'length'", "values": "[10, 20]"}
    figure = find_figure(written(tmp_path, **entries))
    assert (figure.over, figure.values, figure.options["rate"]) == ("length", (10, 20), 0.1)


SCATTER = ('{across = "area", up = "cycles", points = [{name = "a", across = "8 * output(\'plan x\', \'hops\')", '
           'up = "output(\'plan y\', \'hops\')"}]}')


def test_a_scatter_asks_its_commands(tmp_path):
    figure = find_figure(written(tmp_path, **GOOD, scatter=SCATTER))
    assert figure.scatter is not None
    assert [name for name, *_ in figure.scatter.points] == ["a"]
    assert figure.commands == {"plan x", "plan y"}


@pytest.mark.parametrize(("scatter", "sentence"), [
    ('{across = "area", points = []}', "scatter: up is missing. Needed: across, up, points"),
    (SCATTER.replace("up = \"output", "down = \"output"), r"scatter.points\[0\]: 'down' is not a key of a point"),
    (SCATTER.replace("8 *", "8 <"), "across: .* is not valid: it is a comparison. Allowed: a formula"),
])
def test_scatters_that_are_refused(scatter, sentence, tmp_path):
    with pytest.raises(WormcastError) as refused:
        find_figure(written(tmp_path, **GOOD, scatter=scatter))
    assert re.search(sentence, without_place(str(refused.value)))
