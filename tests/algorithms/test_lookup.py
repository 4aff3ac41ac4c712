"""Relations and schemes that users bring in files: loaded, refused in a sentence, and checked for deadlock."""

import importlib
import re
import sys
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import wormcast
from wormcast.algorithms import (
    E_CUBE,
    HAMILTONIAN,
    SCHEMES,
    Scheme,
    WormcastError,
    file_digest,
    find_scheme,
    load_relation,
    load_scheme,
    topology,
    user_file,
)
from wormcast.algorithms.deadlock.check import check
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.old_names import ATTRIBUTES, EXPORTS
from wormcast.algorithms.routing.base import without_classes

SHORT_PATHS = Path(__file__).parents[2] / "examples" / "short_paths.py"

RELATIONS = '''
import numpy as np
from wormcast.algorithms import E_CUBE, Relation

EAST, WEST, SOUTH, NORTH, LOCAL = range(5)


class Steps(Relation):
    """A table from a function of two nodes, (row, column) each."""

    description = "for tests"

    def table(self, topology):
        table = np.full((topology.nodes, topology.nodes), LOCAL, np.int8)
        at = [tuple(map(int, node)) for node in topology.coordinates]
        for here, (row, column) in enumerate(at):
            for there, (to_row, to_column) in enumerate(at):
                if here != there:
                    along = EAST if to_column > column else WEST
                    across = SOUTH if to_row > row else NORTH
                    table[here, there] = self.choose(row, column, to_row, to_column, along, across)
        return table


class ColumnFirst(Steps):
    name = "column-first"

    def choose(self, row, column, to_row, to_column, along, across):
        return across if row != to_row else along


class WestFirst(Steps):
    """Westward hops first; to the east in the odd rows where there is a way, else as it comes."""

    name = "west-first"

    def choose(self, row, column, to_row, to_column, along, across):
        if along == WEST and column != to_column:
            return WEST
        if row == to_row:
            return along
        return EAST if column < to_column and row % 2 else across


class Chequered(Steps):
    """Every turn somewhere: along the row on white squares, along the column on black ones."""

    name = "chequered"

    def choose(self, row, column, to_row, to_column, along, across):
        if row == to_row or (column != to_column and (row + column) % 2):
            return along
        return across


class Away(Steps):
    """Never reaches node 0 from its right."""

    name = "away"

    def choose(self, row, column, to_row, to_column, along, across):
        if (to_row, to_column) == (0, 0) and (row, column) == (0, 1):
            return EAST
        return along if column != to_column else across


class Late(Relation):
    name = "late"

    def table(self, topology):
        return 1 / 0


class Empty(Relation):
    name = "empty"

    def table(self, topology):
        pass


class Unnamed(Steps):
    pass


class Demanding(Steps):
    def __init__(self, size):
        self.size = size


class Other:
    pass


class Failing(Steps):
    def __init__(self):
        self.size = {}["size"]


mine = ColumnFirst()
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(RELATIONS)
    return path


def test_ours_go_by_name():
    assert load_relation("e-cube") is E_CUBE
    assert load_relation("hamiltonian") is HAMILTONIAN


def test_classes_and_instances_of_a_file(file):
    assert load_relation(f"{file}:WestFirst").name == "west-first"
    assert load_relation(f"{file}:mine").name == "column-first"
    assert load_relation(str(file)).name == "column-first"  # the only instance


def test_a_single_class_needs_no_name(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(textwrap.dedent("""
        from dataclasses import dataclass
        from wormcast.algorithms import E_CUBE, Relation

        @dataclass(frozen=True)
        class One(Relation):
            name: str = "one"

            def table(self, topology):
                return E_CUBE.table(topology)
    """))
    assert load_relation(str(path)).name == "one"
    assert check(topology("mesh:4x4"), SCHEMES["individual"], relation=load_relation(str(path))).free


@pytest.mark.parametrize(
    ("after", "sentence"),
    [
        (":Absent", r"mine.py has no 'Absent'. Allowed: \S+/mine.py:Steps, \S+/mine.py:ColumnFirst, "),
        (":EAST", "mine.py: EAST has type int. Allowed: a subclass of Relation, or an instance."),
        (":Other", "mine.py: class Other is no Relation. Allowed: a subclass of Relation, or an instance."),
        (":Unnamed", "mine.py: class Unnamed has no valid attribute 'name'. Needed: its name on the command line"),
        (":Demanding", r"mine.py: class Demanding cannot be called without arguments \(TypeError: "),
        (":Failing", r"mine.py: class Failing cannot be called without arguments \(KeyError: 'size', mine.py:\d+\)"),
        (":Relation", (r"mine.py: class Relation has no method table\(topology\)\. Needed: this method, as in the "
                       "docstring of Relation.table")),
    ],
)
def test_names_that_are_none(file, after, sentence):
    with pytest.raises(WormcastError, match=sentence):
        load_relation(f"{file}{after}")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 / 0", r"cannot be run \(ZeroDivisionError: division by zero, bad.py:1\)"),
        ("exit(3)", r"cannot be run \(SystemExit: 3, bad.py:1\)"),
        ("class", r"cannot be run \(SyntaxError: "),
        ("x = 3", "bad.py has no relation. Needed: a subclass of Relation"),
        ("from wormcast.algorithms import E_CUBE", "bad.py has no relation. Needed: a subclass of Relation, or an "),
    ],
)
def test_files_that_are_none(tmp_path, text, sentence):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(WormcastError, match=sentence):
        load_relation(str(path))


@pytest.mark.parametrize("others", ["from wormcast.algorithms.routing import E_CUBE_SIGNED, Relation",
                                    "from wormcast.algorithms import *", "from helper import *"])
def test_what_a_file_imports_is_not_its_own(others, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "helper", raising=False)
    (tmp_path / "helper.py").write_text("from wormcast.algorithms import E_CUBE, Relation\n"
                                        "class Theirs(Relation):\n    name = 'theirs'\n    table = E_CUBE.table\n"
                                        "theirs = Theirs()\n")
    path = tmp_path / "one.py"
    path.write_text(f"{others}\nclass Own(Relation):\n    name = 'own'\n"
                    "    def table(self, topology):\n        return topology\n")
    assert load_relation(str(path)).name == "own"
    path.write_text(f"{others}\n")
    with pytest.raises(WormcastError, match=r"has no relation\. Needed: a subclass of Relation, or an instance"):
        load_relation(str(path))


def test_an_instance_of_our_class_is_the_file_s_where_it_is_made(tmp_path):
    path = tmp_path / "one.py"
    path.write_text("from wormcast.algorithms import E_CUBE, SCHEMES\nours = SCHEMES['individual']\n"
                    "mine = ours.routed_by(E_CUBE)\nmine.name = 'mine'\n")
    assert load_scheme(str(path)).name == "mine"


def test_several_that_a_file_defines_are_listed(tmp_path):
    path = Path(mine(tmp_path, "[destinations]"))
    path.write_text(path.read_text() + "\nclass Other(Mine):\n    name = 'other'\n")
    with pytest.raises(WormcastError) as refusal:
        load_scheme(str(path))
    assert str(refusal.value) == f"{path} has more than one scheme. Allowed: {path}:Mine, {path}:Other."


def test_no_file_and_no_name(tmp_path):
    with pytest.raises(WormcastError, match=r"absent.py cannot be read: No such file"):
        load_relation(str(tmp_path / "absent.py"))
    with pytest.raises(WormcastError, match=r"'y-first' is unknown\. Allowed: adaptive, d-mod-k, destination-tags, "):
        load_relation("y-first")


@pytest.mark.parametrize(("name", "free"), [("ColumnFirst", True), ("WestFirst", True), ("Chequered", False)])
def test_unicasts_are_free_where_the_relation_is(file, name, free):
    analysis = check(topology("mesh:4x4"), SCHEMES["individual"], relation=load_relation(f"{file}:{name}"))
    assert analysis.free == free
    assert analysis.classes_minimal == (1 if free else None)
    assert all(step.resource.startswith("link:") for step in analysis.cycle)


@pytest.mark.parametrize("scheme", ["multipath", "multipath-lmn"])
def test_multipath_s_worms_are_known_under_other_relations_too(file, scheme):
    """A stop would never send the rest of such a worm. By e-cube, this rest goes back to where it came from."""
    for relation in (E_CUBE, load_relation(f"{file}:ColumnFirst")):
        with pytest.raises(WormcastError, match=r"comes from (\d+ \S+) to \d+ \S+, stops there, and continues to \1; "):
            check(topology("mesh:3x3"), SCHEMES[scheme], relation=relation)


def test_the_pair_without_a_way_is_named(file):
    relation = load_relation(f"{file}:Away")
    with pytest.raises(WormcastError, match=r"relation away: it does not lead from switch 1 to node 0 in mesh:3x3\."):
        check(topology("mesh:3x3"), SCHEMES["individual"], relation=relation)


def test_a_table_that_cannot_be_had_is_a_sentence(file):
    line = RELATIONS[:RELATIONS.index("1 / 0")].count("\n") + 1
    mesh, late, empty = topology("mesh:3x3"), load_relation(f"{file}:Late"), load_relation(f"{file}:Empty")
    sentence = rf"its table for mesh:3x3 cannot be computed \(ZeroDivisionError: division by zero, mine.py:{line}\)"
    with pytest.raises(WormcastError, match=sentence):
        check(mesh, SCHEMES["individual"], relation=late)
    with pytest.raises(WormcastError, match=sentence):
        SCHEMES["individual"].routed_by(late).check(mesh)
    with pytest.raises(WormcastError, match=sentence):
        late.on(mesh)
    with pytest.raises(WormcastError, match=r"relation empty: its table for mesh:3x3 has type NoneType\. Needed"):
        check(mesh, SCHEMES["individual"], relation=empty)


SCHEME = """
    from wormcast.algorithms import HAMILTONIAN, ConsumptionClasses, PlainScheme

    class Mine(PlainScheme):
        name = "mine"
        relation = HAMILTONIAN

        def classes_on(self, topology):
            return ConsumptionClasses()

        def visits(self, topology, source, destinations):
            return {result}
"""


def mine(folder, result, *changes):
    text = textwrap.dedent(SCHEME).replace("{result}", result)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "scheme" / "mine.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return str(path)


def test_a_scheme_of_a_file_is_planned_as_it_says():
    mesh = topology("mesh:6x6")
    found = plan(mesh, str(SHORT_PATHS), "2.2", ["2.1", "5.0", "5.1", "5.2", "5.3", "5.4", "0.0", "1.5"])
    names = [[mesh.node_name(node) for node in worm.destinations] for worm in found.worms]
    # rows of odd numbers are labelled from right to left
    assert names == [["5.4", "5.3", "5.2", "5.1"], ["5.0"], ["2.1", "1.5", "0.0"]]
    assert [worm.rank for worm in found.worms] == [0, 1, 2]
    assert {worm.source for worm in found.worms} == {mesh.node("2.2")}


def test_a_scheme_of_a_file_with_all_its_stops_is_dual_path():
    """Its worms are divided where dual-path's are, and the arrays are the same."""
    mesh = topology("mesh:5x4")
    short = load_scheme(f"{SHORT_PATHS}:ShortPaths")
    short.stops = mesh.nodes
    sources, offsets = [3, 11, 0], [0, 19, 23, 25]
    destinations = [*(node for node in range(20) if node != 3), 2, 19, 10, 7, 5, 1]
    ours, theirs = (one.batch(mesh, sources, offsets, destinations) for one in (short, SCHEMES["dual-path"]))
    for name in ("message_offsets", "source", "rank", "after", "destination_offsets", "destinations"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()


def test_a_scheme_of_a_file_is_checked_for_deadlock():
    mesh, short = topology("mesh:4x4"), load_scheme(str(SHORT_PATHS))
    assert check(mesh, short).free
    assert not check(mesh, short, consumption=1).free


@pytest.mark.parametrize(("result", "sentence"), [
    ("[destinations[1:]]", r"its worms visit 2 \(0.2\). Needed: each destination once"),
    ("[destinations, [2]]", r"its worms visit 1 \(0.1\), 2 \(0.2\), 2 \(0.2\). Needed: each destination once"),
    ("[[1], [9]]", r"its worms visit nodes \[1, 9\]. Needed: each destination once"),
    ("[]", "its worms visit no node. Needed: each destination once"),
    ("[destinations[::-1]]",
     "labels 2 1 is not valid with relation hamiltonian. Needed: labels in ascending or in descending order from the"),
    ("1 / 0", r"visits must return one list of nodes per worm \(ZeroDivisionError: division by zero, mine.py:12\)"),
    ("[['a']]", "visits must return one list of nodes per worm"),
    ("[[1.0], [2.0]]", "visits must return one list of nodes per worm"),
    ("[1, 2]", "visits must return one list of nodes per worm"),
    ("None", "visits must return one list of nodes per worm"),
])
def test_worms_that_are_none(result, sentence, tmp_path):
    scheme = load_scheme(mine(tmp_path, result))
    with pytest.raises(WormcastError, match=sentence):
        plan(topology("mesh:3x3"), scheme, 0, [1, 2])


def test_a_multicast_is_named_that_cannot_be_divided(tmp_path):
    with pytest.raises(WormcastError, match=r"^scheme mine, a multicast from 0 \(0.0\) to 1 \(0.1\), 2 \(0.2\): "):
        plan(topology("mesh:3x3"), load_scheme(mine(tmp_path, "[]")), 0, [1, 2])


@pytest.mark.parametrize(("change", "sentence"), [
    (('name = "mine"', "pass"), "class Mine has no valid attribute 'name'. Needed: its name on the command line"),
    (('name = "mine"', r'name = "a\nb"'), r"mine.py: class Mine has name 'a\\nb'"),
    (('name = "mine"', r'name = "\x1b[31mred"'), r"mine.py: class Mine has name '\\x1b\[31mred'"),
    (("relation = HAMILTONIAN", "pass"), "class Mine has no attribute 'relation'. Needed: the routing relation of its"),
    (("def visits", "def order"), r"mine.py: class Mine has no method visits\(topology, source, destinations\)"),
    (("source, destinations):", "sources):"),
     r"method visits of class Mine has the parameters topology, sources. Needed: visits\(topology, source, "),
    (('name = "mine"', 'name = "dual-path"'), "mine.py: class Mine has the name 'dual-path' of another scheme. "),
    (("relation = HAMILTONIAN", "relation = 'e-cube'"), "class Mine has relation 'e-cube'. Allowed: an instance"),
])
def test_a_scheme_that_lacks_something(change, sentence, tmp_path):
    with pytest.raises(WormcastError, match=sentence):
        load_scheme(mine(tmp_path, "[destinations]", change))


@pytest.mark.parametrize(("old", "new"), ATTRIBUTES.items())
@pytest.mark.parametrize("definition", [
    "    {} = False", "    @property\n    def {}(self):\n        1 / 0",
    "    def __init__(self):\n        self.{} = False", "mine = Mine()\nmine.{} = False"])
def test_a_scheme_with_an_old_name_is_refused(old, new, definition, tmp_path):
    path = mine(tmp_path, "[destinations]")
    with open(path, "a") as file:
        file.write("\n" + definition.format(old) + "\n")
    with pytest.raises(WormcastError) as refusal:
        load_scheme(path)
    assert str(refusal.value) == f"{path}: class Mine has the old attribute {old}. New name: {new}."
    assert hasattr(Scheme, new)
    assert not hasattr(Scheme, old)


class Old(type(SCHEMES["multipath"])):
    """A scheme whose author does not know the new name of `pairs_are_complete`."""

    name = "old"
    pairs_tell_all = False


@pytest.mark.parametrize("use", [
    lambda mesh, scheme: find_scheme(scheme, mesh), lambda mesh, scheme: plan(mesh, scheme, 0, [1, 2]), check,
    lambda mesh, scheme: check(mesh, SCHEMES["individual"], others=[(scheme, None)]),
    lambda mesh, scheme: wormcast.check("mesh:3x3", scheme)])
def test_an_object_with_an_old_name_is_refused(use):
    with pytest.raises(WormcastError) as refusal:
        use(topology("mesh:3x3"), Old())
    assert str(refusal.value) == ("scheme: class Old has the old attribute pairs_tell_all. New name: "
                                  "pairs_are_complete.")


def test_an_entry_point_with_an_old_name_is_refused(monkeypatch):
    monkeypatch.setitem(SCHEMES._announced, "old", EntryPoint("old", f"{__name__}:Old", "wormcast.schemes"))
    monkeypatch.setattr(SCHEMES, "_loaded", {})
    with pytest.raises(WormcastError, match=r"^scheme: class Old has the old attribute pairs_tell_all\. New name: pa"):
        find_scheme("old", topology("mesh:3x3"))


@pytest.mark.parametrize(("old", "new"), EXPORTS.items())
def test_an_old_export_is_refused(old, new, tmp_path):
    with pytest.raises(ImportError, match=rf"^{old} is renamed: {re.escape(new)}$"):
        getattr(wormcast.algorithms, old)
    path = tmp_path / "mine.py"
    path.write_text(f"from wormcast.algorithms import {old}\n")
    with pytest.raises(WormcastError) as refusal:
        load_scheme(str(path))
    assert str(refusal.value) == (f"scheme: {path} cannot be run (ImportError: {old} is renamed: {new}, mine.py:1)")
    if "." in new:
        module, _, name = new.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))
    else:
        assert hasattr(wormcast.algorithms, new)


def test_schemes_and_relations_go_together(tmp_path, file):
    path = mine(tmp_path, "[[node] for node in destinations]")
    scheme = find_scheme(path, topology("mesh:4x4"), f"{file}:ColumnFirst")
    assert (scheme.name, scheme.relation.name) == ("mine", "column-first")
    assert find_scheme("dual-path", topology("mesh:4x4")) is SCHEMES["dual-path"]
    with pytest.raises(WormcastError, match="multipath-lmn: mesh:2x2x2 has 3 dimensions"):
        find_scheme("multipath-lmn", topology("mesh:2x2x2"))
    with pytest.raises(WormcastError, match=r"'mne' is unknown\. Allowed: names of wormcast list schemes, FILE"):
        find_scheme("mne", topology("mesh:4x4"))


def test_the_file_that_is_named(tmp_path):
    path = mine(tmp_path, "[destinations]")
    assert user_file(f"{path}:Mine") == user_file(path) == path
    assert file_digest(f"{path}:Mine") == file_digest(path)
    before = file_digest(path)
    mine(tmp_path, "[[node] for node in destinations]")
    assert file_digest(path) not in (None, before)
    for name in ("dual-path", "e-cube", "unknown", None):
        assert user_file(name) is file_digest(name) is None
    assert file_digest("absent.py") is None


@pytest.mark.parametrize(("classes", "sentence"), [
    ("1 / 0", r"scheme mine: classes_on fails \(ZeroDivisionError: .*, mine.py:9\)"),
    ("None", "scheme mine: classes_on returns a value of type NoneType. Needed: ConsumptionClasses"),
])
def test_classes_that_are_none(classes, sentence, tmp_path):
    path = mine(tmp_path, "[destinations]", ("ConsumptionClasses()", classes))
    with pytest.raises(WormcastError, match=sentence):
        find_scheme(path, topology("mesh:3x3"))


def test_it_is_said_where_not_all_worms_were_looked_at(tmp_path):
    """Of a scheme that sends other worms to many destinations, what it sends to two shows too little."""
    mesh, scheme = topology("mesh:3x3"), load_scheme(mine(tmp_path, "[[node] for node in destinations]"))
    assert not check(mesh, scheme).complete
    assert check(mesh, load_scheme(str(SHORT_PATHS))).complete
    assert check(mesh, SCHEMES["dual-path"]).complete
    assert not check(mesh, SCHEMES["dual-path"], others=[(scheme, None)]).complete


@pytest.mark.parametrize("method", ["visits", "classes_on", "check", "form", "visit_triples", "routed_by", "__init__"])
@pytest.mark.parametrize("error", ["SystemExit(0)", "RecursionError('deep')"])
def test_no_method_of_a_scheme_ends_the_program(method, error, tmp_path):
    """An end with code 0 would pass for an answer: of check, for a network free of deadlock."""
    path = mine(tmp_path, "[destinations]")
    with open(path, "a") as file:
        file.write(f"\n    def {method}(self, *arguments):\n        raise {error}\n")
    mesh = topology("mesh:3x3")

    def use():
        scheme = find_scheme(path, mesh, "e-cube" if method == "routed_by" else None)
        plan(mesh, scheme, 0, [1]).to_dict()
        check(mesh, scheme)

    with pytest.raises(WormcastError, match=f"(scheme mine|class Mine).*{error.partition('(')[0]}: .*mine.py:15"):
        use()


def test_no_table_of_a_relation_ends_the_program(tmp_path):
    file = tmp_path / "ends.py"
    file.write_text("from wormcast.algorithms import Relation\n\nclass Ends(Relation):\n    name = 'ends'\n\n"
                    "    def table(self, topology):\n        raise SystemExit(0)\n")
    with pytest.raises(WormcastError, match=r"^relation ends: its table .* \(SystemExit: 0, ends.py:7\)$"):
        find_scheme("individual", topology("mesh:3x3"), str(file))


@pytest.mark.parametrize(("turns", "sentence"), [
    ("return {}['x']", r"fails on mesh:3x3 \(KeyError: 'x', ends.py:7\)$"),
    ("raise SystemExit(0)", r"fails on mesh:3x3 \(SystemExit: 0, ends.py:7\)$"),
    ("return None", r"returns a value of type NoneType on mesh:3x3\. Needed: a NumPy array by link and port, bool"),
    ("return super().turns(topology)[:3]", r"returns bool \[3, 5\] on mesh:3x3\. Needed: .* bool \[24, 5\]"),
    ("return 7 * super().turns(topology)", r"returns int64 \[24, 5\] on mesh:3x3\. Needed: .* bool \[24, 5\]"),
])
def test_turns_that_are_none_are_refused(turns, sentence, tmp_path):
    """By each command that asks for turns, also where virtual channels have no classes."""
    file = tmp_path / "ends.py"
    file.write_text("from wormcast.algorithms import E_CUBE, Relation\nclass Ends(Relation):\n    name = 'ends'\n"
                    "    def table(self, topology):\n        return E_CUBE.table(topology)\n"
                    f"    def turns(self, topology):\n        {turns}\n")
    mesh = topology("mesh:3x3")
    sentence = rf"^relation ends: turns\(topology\) of class Ends of ends.py {sentence}"
    scheme = find_scheme("individual", mesh, str(file))
    for use in (plan, check):
        for one in (scheme, scheme.routed_by(without_classes(scheme.relation))):
            with pytest.raises(WormcastError, match=sentence):
                use(mesh, one, *([0, [1]] if use is plan else []))


def test_ctrl_c_in_a_scheme_is_no_refusal(tmp_path):
    scheme = load_scheme(mine(tmp_path, "[destinations]"))
    scheme.visits = raises_ctrl_c
    with pytest.raises(KeyboardInterrupt):
        plan(topology("mesh:3x3"), scheme, 0, [1, 2])


def raises_ctrl_c(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize(("method", "given", "sentence"), [
    ("worms", None, "scheme individual: worms returns a value of type NoneType. Needed: Worms"),
    ("visit_triples", "text", r"scheme individual: visit_triples\(topology\) returns a value of type str"),
    ("classes_on", -1, "scheme individual: classes_on returns a value of type int. Needed: "),
])
def test_what_is_no_answer_is_refused(method, given, sentence):
    scheme = SCHEMES["individual"].routed_by(E_CUBE)
    setattr(scheme, method, lambda *_: given)
    mesh = topology("mesh:3x3")
    with pytest.raises(WormcastError, match=sentence):
        check(mesh, scheme)
    if method != "visit_triples":
        with pytest.raises(WormcastError, match=sentence):
            plan(mesh, scheme, 0, [1, 2])
