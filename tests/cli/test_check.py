"""The command check: exit codes, JSON, pictures and sentences."""

import html
import json
import re
from collections import Counter

import pytest
from cases import slow
from command import wormcast

import wormcast as wc
from wormcast.sim import Configuration

CONTRACT = {"free", "verdict", "cycle", "classes_required", "classes_minimal", "dans", "lemma1", "corollary2"}

CARELESS = '''
from wormcast.algorithms.routing import Adaptive

class Careless(Adaptive):
    name = "careless"
    enters_empty = False
'''

MINE = '''
from wormcast.algorithms import E_CUBE, ConsumptionClasses, PlainScheme

class Mine(PlainScheme):
    name = "mine"
    relation = E_CUBE

    def classes_on(self, topology):
        return ConsumptionClasses()

    def visits(self, topology, source, destinations):
        return [[node] for node in destinations]
'''

CIRCLE = '''
import numpy as np
from wormcast.algorithms import Relation

class Circle(Relation):
    """Round a mesh of two by two, always the same way."""
    name = "circle"

    def table(self, topology):
        table = np.full((4, 4), 4, np.int8)
        for node, port in enumerate((0, 2, 3, 1)):  # east, south, north, west
            table[node, [other for other in range(4) if other != node]] = port
        return table
'''


def as_json(*arguments):
    code, out, err = wormcast("check", *arguments, "--json")
    assert err == ""
    return code, json.loads(out)


def test_json_has_what_the_contract_says():
    code, found = as_json("mesh:8x8", "dual-path")
    assert code == 0
    assert CONTRACT | {"version", "configuration", "seed"} <= set(found)
    assert {key: found[key] for key in CONTRACT} == {
        "free": True, "verdict": "free", "cycle": None, "classes_required": 2, "classes_minimal": 2,
        "dans": "up/down:next",
        "lemma1": 4, "corollary2": 4,
    }
    assert found["configuration"]["consumption"] == 2
    assert found["configuration"]["classes"] == ["up/down:next"]
    assert found["configuration"]["relation"] == "hamiltonian"


def test_figure_4_has_its_cycle():
    code, found = as_json("mesh:1x4", "dual-path", "--consumption", 1)
    assert (code, found["free"]) == (3, False)
    assert found["cycle"] == ["link:1>2:*", "cons:2:0", "link:2>1:*", "cons:1:0"]
    assert [worm["resource"] for worm in found["worms"]] == found["cycle"]
    assert found["worms"][0] == {
        "resource": "link:1>2:*", "scheme": "dual-path", "source": 0, "destinations": [2, 3]
    }
    code, out, err = wormcast("check", "mesh:1x4", "dual-path", "--consumption", 1)
    assert (code, err) == (3, "")
    assert all(resource in out for resource in ("link:0.1>0.2:*", "cons:0.2:0", "link:0.2>0.1:*", "cons:0.1:0"))


def test_the_smallest_map_can_be_given_back():
    _, found = as_json("mesh:4x4", "dual-path")
    assert as_json("mesh:4x4", "dual-path", "--classes", found["dans"])[0] == 0
    assert as_json("mesh:4x4", "dual-path", "--classes", "up,down:next")[0] == 3


def test_no_classes_are_called_so():
    """And four channels that any worm takes are not those of Lemma 1."""
    code, out, _ = wormcast("check", "mesh:4x4", "dual-path", "--classes", "", "--consumption", 4)
    first, *_, suffice, _ = out.splitlines()
    assert (code, first) == (
        3, "dual-path on mesh:4x4, 4 consumption channels a node, no consumption classes: a cycle of 4 resources")
    assert suffice == ("without classes: 4 consumption channels suffice by Lemma 1 and Corollary 2, if each serves one "
                       "link only ([Boppana98]; with one virtual channel a link)")
    assert wormcast("check", "mesh:3x3", "individual")[1].splitlines() == [
        "individual on mesh:3x3, 1 consumption channel a node, no consumption classes: free of deadlock",
        "consumption classes: none needed",
        ("virtual channels: the result for 2 is valid for any number, because a worm takes any free channel of a "
         "link")]
    assert "\nwithout classes: 3 consumption channels suffice by Lemma 1, 2 by Corollary 2, if " in wormcast(
        "check", "mesh:4x4", "column-path")[1]


def test_with_an_ejection_port_for_each_link_one_channel_of_each_suffices():
    code, found = as_json("mesh:3x3x3", "dual-path", "--consumption", 1)
    assert (code, found["configuration"]["ejection"]) == (3, "one")
    code, found = as_json("mesh:3x3x3", "dual-path", "--consumption", 1, "--ejection", "all")
    assert (code, found["configuration"]["ejection"], found["lemma1"]) == (0, "all", 1)
    code, out, _ = wormcast("check", "mesh:1x4", "dual-path", "--consumption", 1, "--ejection", "all")
    assert (code, out.splitlines()[:3]) == (0, [
        "dual-path on mesh:1x4, 1 consumption channel an ejection port, classes up/down:next: free of deadlock",
        "consumption classes: none needed. The scheme has 2",
        ("without classes: 1 consumption channel at each ejection port suffices, because the port serves one link "
         "([Boppana98], Lemma 1)")])


def test_options_that_are_not_given_are_those_of_a_run():
    _, found = as_json("mesh:4x4", "dual-path")
    run = Configuration().to_dict()
    for option in ("vcs", "consumption", "ejection", "vc_classes"):
        assert found["configuration"][option] == run[option]


def test_a_number_that_is_not_known_is_told_from_one_that_there_is_not():
    assert "consumption classes: 11 suffice (5+/" in (told := wormcast("check", "mesh:2x2x2x2x2x2", "e-mcast")[1])
    assert "0+,0-:last); fewer may suffice. The scheme has 12\n" in told
    told = wormcast("check", "mesh:4x4", "e-mcast")[1]
    assert ": 3 suffice (1+,0+/1-/0-:last), fewer do not. The scheme has 4\n" in told
    told = wormcast("check", "mesh:4x4", "dual-path", "--with", "individual")[1]
    assert ": no number suffices. The scheme has 2\n" in told


def test_mixes():
    code, found = as_json("mesh:8x8", "dual-path", "--with", "individual")
    assert (code, found["classes_minimal"]) == (3, None)
    assert {worm["scheme"] for worm in found["worms"]} == {"dual-path", "individual"}
    assert as_json("mesh:8x8", "dual-path", "--with", "individual=hamiltonian")[0] == 0
    code, out, _ = wormcast("check", "mesh:4x4", "dual-path", "--with", "individual=hamiltonian")
    assert code == 0
    assert "free of deadlock" in out


def test_a_relation_in_a_file(tmp_path):
    file = tmp_path / "circle.py"
    file.write_text(CIRCLE)
    code, found = as_json("mesh:2x2", "individual", "--relation", file)
    assert code == 3
    assert found["cycle"] == ["link:0>1:*", "link:1>3:*", "link:3>2:*", "link:2>0:*"]
    assert found["configuration"]["relation"] == str(file)


def test_on_a_network_of_ones_own_the_relation_is_named(tmp_path):
    file = tmp_path / "triangle.toml"
    file.write_text('switches = 3\nnodes = [0, 1, 2]\nlinks = [[0, 1], [1, 2], [2, 0]]\n')
    for option in ([], ["--relation", "up-down"]):
        code, out, _ = wormcast("check", file, "individual", *option)
        assert (code, out.partition(" on ")[0]) == (0, "individual by up-down")
    assert wormcast("check", "mesh:2x2", "individual")[1].startswith("individual on mesh:2x2,")


def test_tori_need_their_classes():
    code, found = as_json("torus:4x4", "individual")
    assert (code, found["verdict"], found["configuration"]["relation"]) == (0, "free", "e-cube")
    code, found = as_json("torus:4x4", "individual", "--vc-classes", "none")
    assert (code, found["cycle"]) == (3, [f"link:{k}>{(k + 1) % 4}:*" for k in range(4)])
    assert {worm["scheme"] for worm in found["worms"]} == {"individual by e-cube without classes"}
    code, out, _ = wormcast("check", "torus:4x4", "individual", "--vcs", 4)
    assert "the result for 4 is valid for any multiple of 2, because a worm takes any free channel of its class" in out


def test_ties_by_signs_are_told_with_what_holds_for_any_signs():
    """Four nodes around a ring need no classes if no tie goes over the edge; other signs would close the circle."""
    code, found = as_json("torus:4x4", "individual", "--ties", "signed")
    assert (code, found["verdict"], found["assumes"]) == (0, "free", None)
    assert (found["configuration"]["relation"], found["configuration"]["ties"]) == ("e-cube", "signed")
    code, found = as_json("torus:4x4", "individual", "--ties", "signed", "--vc-classes", "none")
    assert (code, found["verdict"]) == (0, "free")
    assert found["assumes"] == "hosts choose the default signs of ties, which lead away from the ring's edge"
    code, found = as_json("ring:6", "individual", "--ties", "signed", "--vc-classes", "none")
    assert (code, found["verdict"], found["assumes"]) == (3, "deadlock", None)
    assert {worm["scheme"] for worm in found["worms"]} == {"individual by e-cube with signed ties without classes"}
    plain = as_json("mesh:4x4", "individual")[1]
    signed = as_json("mesh:4x4", "individual", "--ties", "signed")[1]
    assert signed == plain | {"configuration": plain["configuration"] | {"ties": "signed"}}


@pytest.mark.parametrize(("network", "relation"), [
    ("min:b=2,stages=3", "destination-tags"), ("irregular:seed=4", "up-down"), ("ring:9", "e-cube")])
def test_unicasts_are_free_on_every_kind_of_network(network, relation):
    code, found = as_json(network, "individual")
    assert (code, found["configuration"]["relation"]) == (0, relation)


def test_links_are_named_by_their_switches():
    code, found = as_json("irregular:switches=32,nodes=64", "individual", "--relation", "shortest")
    assert (code, found["cycle"][:2]) == (3, ["link:s0>s1#0:*", "link:s1>s15:*"])


def test_a_choice_of_channels(tmp_path):
    code, out, _ = wormcast("check", "mesh:3x3", "individual", "--relation", "adaptive")
    assert (code, out.splitlines()[0]) == (0, (
        "individual by adaptive on mesh:3x3, 1 consumption channel a node, no consumption classes: free of deadlock, "
        "if a header routed by adaptive enters a virtual channel only when its buffer is empty"))
    chosen = ["mesh:3x3", "individual", "--relation", "adaptive", "--vc-classes", "none"]
    code, found = as_json(*chosen)
    assert (code, found["verdict"], len(found["held"])) == (3, "deadlock", 4)
    assert found["held"][0] | {"source": 0} == {
        "holds": ["link:0>3:*"], "waits": ["link:3>4:*"], "scheme": "individual by adaptive without classes",
        "source": 0, "destinations": [4]}
    out = wormcast("check", *chosen)[1]
    assert "4 worms in deadlock. Each worm waits for any one of several channels, and other worms" in out
    assert {"link:0.0>1.0:*", "link:1.0>1.1:*"} <= (named := set(re.findall(r"link:\S+", out)))
    assert all("." in name for name in named)


def test_a_choice_of_channels_between_stops():
    """Figure 4's two worms, on any of two channels; and what suffices by Lemma 1 with both counted."""
    code, out, _ = wormcast("check", "mesh:3x3", "column-path", "--relation", "adaptive")
    assert (code, out.splitlines()[1:3]) == (0, [
        "consumption classes: 2 suffice (0+/0-:next)",
        ("without classes: 5 consumption channels suffice by Lemma 1, if each serves one virtual channel only "
         "([Boppana98], 3.2.1; with one virtual channel of each class)")])
    code, found = as_json("mesh:3x3", "column-path", "--relation", "adaptive", "--consumption", "1")
    assert (code, found["verdict"], len(found["held"]), found["lemma1"]) == (3, "deadlock", 2, 5)
    for worm, other in (found["held"], found["held"][::-1]):
        assert len(worm["destinations"]) == 2
        assert set(worm["waits"]) == {one for one in other["holds"] if one.startswith("cons:")}


def test_a_sample_without_a_cycle_is_no_proof(tmp_path):
    """The sentence, the JSON, the result in Python and the picture say so; the exit code is that of a proof."""
    file, picture = tmp_path / "mine.py", tmp_path / "mine.svg"
    file.write_text(MINE)
    said = "no cycle found in 512 random multicasts and all multicasts to two destinations (a sample; no proof)"
    code, out, _ = wormcast("check", "mesh:3x3", file, "--plot", picture)
    assert (code, out.partition("\n")[0].partition(": ")[2]) == (0, said)
    words = words_of(picture)
    assert "no cycle found" in words
    assert "(a sample; no proof)" in words
    _, found = as_json("mesh:3x3", file)
    assert [found[key] for key in ("free", "verdict", "complete", "sampled")] == [True, "free", False, 512]
    result = wc.check("mesh:3x3", str(file))
    assert said in repr(result)
    assert not result.complete
    _, found = as_json("mesh:3x3", "dual-path")
    assert (found["complete"], found["sampled"]) == (True, None)


def test_what_is_not_decided_has_an_exit_code_of_its_own(tmp_path):
    file = tmp_path / "careless.py"
    file.write_text(CARELESS)
    code, found = as_json("mesh:2x3", "individual", "--relation", f"{file}:Careless")
    assert (code, found["free"], found["verdict"], len(found["cycle"])) == (6, False, "undecided", 4)
    code, out, err = wormcast("check", "mesh:2x3", "individual", "--relation", f"{file}:Careless")
    assert (code, err) == (6, "")
    first, second, *_ = out.splitlines()
    assert "classes: undecided. Worms can wait for each other only if heads are in buffers behind" in first
    assert second == "a cycle of 4 resources, whose worms can choose other channels:"
    picture = tmp_path / "undecided.svg"
    assert wormcast("check", "mesh:2x3", "individual", "--relation", f"{file}:Careless", "--plot", picture)[0] == 6
    assert "undecided: a cycle of 4, whose worms can choose other channels" in words_of(picture)


def words_of(picture):
    """The text of a picture: it is drawn as paths, with the words beside them."""
    return " ".join(re.findall("<!-- (.*?) -->", picture.read_text()))


@pytest.mark.parametrize(("chosen", "condition"), [
    (["mesh:3x3", "individual", "--relation", "adaptive"], "enters a virtual channel only when its buffer is empty"),
    (["torus:4x4", "individual", "--ties", "signed", "--vc-classes", "none"], "hosts choose the default signs of ties"),
])
def test_a_picture_says_what_a_proof_assumes(chosen, condition, tmp_path):
    assert wormcast("check", *chosen, "--plot", tmp_path / "free.svg")[0] == 0
    said = words_of(tmp_path / "free.svg")
    assert "free of deadlock, if" in said
    assert condition in said


@pytest.mark.parametrize(("ending", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_cycle_is_drawn(tmp_path, ending, magic):
    pictures = []
    for name in ("one", "two"):
        file = tmp_path / f"{name}.{ending}"
        code, out, err = wormcast("check", "mesh:8x8", "dual-path", "--consumption", 1, "--plot", file)
        assert (code, err) == (3, "")
        assert str(file) in out.replace("\n", "")
        if ending == "svg":
            said = words_of(file)
            assert "dual-path on mesh:8x8 1 consumption channel a node, classes up/down:next" in said
            assert "a cycle of 4: each is held by a worm that requests the next" in said
            assert "classes up/down:next 2 virtual channels a link" in said
            listed = "1 link:0.1>0.2:*, 2 cons:0.2:0, 3 link:0.2>0.1:*, 4 cons:0.1:0"
            assert listed in html.unescape(said).replace("\xa0", " ")
        pictures.append(file.read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(magic)


@pytest.mark.parametrize("shape", [
    "2x40", *(pytest.param(shape, marks=pytest.mark.slow) for shape in ("40x2", "16x16"))])
def test_a_picture_has_every_row_and_column_and_a_cell_that_holds_its_marks(tmp_path, shape):
    file = tmp_path / "elongated.svg"
    assert wormcast("check", f"mesh:{shape}", "dual-path", "--consumption", 1, "--plot", file)[0] == 3
    text = file.read_text()
    rows, columns = map(int, shape.split("x"))
    # a text with a ground is a path of its own, told by its id
    numbers = Counter(re.findall(r"<!-- (\d+) -->", text) + re.findall(r'id="step-(\d+)"', text))
    assert numbers == Counter(map(str, [*range(rows), *range(columns), *range(1, 5)]))
    width, height = (float(size) for size in re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', text).groups())
    assert min(width / columns, height / rows) > 12


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["mesh:4x4", "individual", "--plot", "x.gif"], "plot: x.gif is not valid. Allowed: names that end in"),
        (["mesh:4x4", "individual", "--plot", "no/x.png"], "no/x.png cannot be written"),
        (["mesh:4x4", "dual-path", "--consumption", "0"], "consumption: 0 is not valid. Allowed: 1 to 16."),
        (["mesh:4x4", "dual-path", "--classes", "sideways"], "'sideways' is not a direction"),
        (["mesh:4x4", "dual-path", "--with", "nothing"], "scheme in --with: 'nothing' is unknown"),
        (["mesh:4x4", "dual-path", "--with", "individual=nothing"], "relation in --with: 'nothing' is unknown"),
        (["mesh:4x4", "dual-path", "--ejection", "each"], "ejection: 'each' is not valid. Allowed: one, all"),
        (["mesh:4x4", "individual", "--vc-classes", "some"], "vc-classes: 'some' is not valid. Allowed: relation"),
        (["mesh:4x4", "individual", "--ties", "minus"], "ties: 'minus' is not valid. Allowed: plus, signed"),
        (["torus:4x4", "individual", "--vcs", "3"],
         "channels on torus:4x4. Allowed: multiples of 2 with shallow buffers, or any number with --vc-classes none"),
        (["torus:4x4", "dual-path"], "scheme dual-path: topology torus:4x4 is not valid. Allowed: networks of kind"),
        (["mesh:4x4", "individual", "--relation", "absent.py"], "absent.py cannot be read: No such file"),
        (["mesh:20x20", "dual-path"], "mesh:20x20 has 400 nodes"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(arguments, sentence, tmp_path):
    code, out, err = wormcast("check", *arguments, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("wormcast: ")
    assert err.count("\n") == 1
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


class TestExplain:
    def test_each_statement_is_a_line_with_its_place(self):
        without = wormcast("check", "mesh:4x4", "column-path")
        code, out, err = wormcast("check", "mesh:4x4", "column-path", "--explain")
        assert (code, err) == (0, "")
        assert out.startswith(without[1])
        lines = out.removeprefix(without[1]).splitlines()
        assert [line.partition(": ")[0] for line in lines] == [f"{name} ([Boppana98], {place})" for name, place in [
            ("Shortest ways", "section 2.1"), ("Trees", "section 2"), ("Theorem 1", "section 3.1"),
            ("Definition 1", "sections 3.2 and 3.2.1"), ("Lemma 1", "section 3.2"),
            ("Corollary 2", "section 3.2"), ("Definition 2", "section 3.2"), ("Lemma 2", "section 3.2"),
            ("Definition 3", "section 3.2"), ("Definition 3, by links", "section 3.2"),
            ("Classes needed", "section 3.2"), ("Corollary 1", "section 3.1"), ("Corollary 3", "section 3.2")]]
        assert lines[-1].endswith("1 channel does not suffice (a cycle of 4). 2 channels suffice. The paper: two "
                                  "channels are necessary and sufficient.")
        assert lines[9].endswith("The paper: 2 DANs, and the set is unique (differs).")

    @pytest.mark.parametrize(("arguments", "code"), [
        (("mesh:1x4", "dual-path", "--consumption", 1), 3), (("mesh:4x4", "dual-path", "--with", "individual"), 3),
        (("torus:4x4", "individual"), 0),
    ])
    def test_exit_codes_stay(self, arguments, code):
        found = wormcast("check", *arguments, "--explain")
        assert (found[0], found[2]) == (code, "")

    def test_json_has_the_same_as_data(self):
        assert as_json("mesh:3x3", "e-mcast")[1]["explanation"] is None
        code, found = as_json("mesh:3x3", "e-mcast", "--explain")
        _, out, _ = wormcast("check", "mesh:3x3", "e-mcast", "--explain")
        assert code == 0
        for one in found["explanation"]:
            assert set(one) == {"statement", "place", "sentence", "holds", "paper", "agrees", "found", "witness",
                                "certificate", "source"}
            assert f"{one['statement']} ([Boppana98], {one['place']}): {one['sentence']}" in out

    @pytest.mark.parametrize("scheme", ["column-path", slow("multipath"), slow("dual-path"), slow("e-mcast")])
    def test_the_two_worms_of_theorem_1_deadlock_in_a_run(self, scheme, tmp_path):
        """On one consumption channel a node; with those of the scheme they arrive."""
        _, found = as_json("mesh:4x4", scheme, "--explain")
        file = tmp_path / "messages.json"
        [theorem] = [one for one in found["explanation"] if one["statement"] == "Theorem 1"]
        file.write_text(json.dumps(theorem["witness"]))
        run = ["run", "mesh:4x4", scheme, "--messages", file]
        code, out, _ = wormcast(*run, "--consumption", 1, "--json", cwd=tmp_path)
        assert code == 3
        assert {wait["worm"] for wait in json.loads(out)["deadlock"]["cycle"]} == {0, 1}
        assert wormcast(*run, cwd=tmp_path)[0] == 0

    def test_the_set_that_is_given_is_chosen_by_its_map(self):
        _, found = as_json("mesh:4x4", "e-mcast", "--classes", "1+,0+/1-/0-:last", "--explain")
        stated = {one["statement"]: one for one in found["explanation"]}
        assert stated["Definition 2"]["found"]["order"] == ["{1-}", "{1+,0+}", "{0-}"]
        assert stated["Definition 2"]["paper"] is None
        assert len(stated["Lemma 2"]["certificate"]["order"]) == 48 + 3 * 16


@pytest.mark.parametrize(("consumption", "exit_code"), [(1, 3), (2, 0)])
def test_replies_leave_the_verdict(consumption, exit_code):
    arguments = "mesh:1x4", "dual-path", "--consumption", consumption
    code, plain = as_json(*arguments)
    with_replies, found = as_json(*arguments, "--replies")
    assert code == with_replies == exit_code
    assert (plain.pop("replies"), found.pop("replies").partition(":")[0]) == (None, "replies add no dependency")
    assert found == plain
    assert "unlimited" in wormcast("check", *arguments, "--replies")[1]
