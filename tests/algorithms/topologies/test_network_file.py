"""Networks written as TOML and read back, and files that are none."""


import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refused_at import without_place

from wormcast.algorithms import WormcastError, file_digest, to_toml, topology, user_file

EVERY_KIND = ["mesh:1x2", "mesh:3x4", "mesh:2x3x2", "mesh:2x2x2x2", "torus:2x3", "torus:3x3x2", "ring:2", "ring:7",
              "min:b=2,stages=3", "min:b=2,stages=2,kind=omega", "min:b=3,stages=2,kind=cube",
              "min:b=4,stages=2,kind=butterfly", "irregular:", "irregular:switches=5,nodes=7,connectivity=1",
              "irregular:switches=9,nodes=4"]

SQUARE = "switches = 4\nnodes = [0, 0, 1, 2, 3]\nlinks = [[0, 1], [1, 2], [2, 3], [3, 0]]\n"


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "net.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return topology(str(path))
    return read


def same(one, other):
    assert one.describe() == other.describe()
    assert one.root == other.root
    arrays = ["links", "injections", "consumptions", "coordinates", "labels"]
    pairs = [(getattr(one, name), getattr(other, name)) for name in arrays]
    pairs += [(getattr(one.places, name), getattr(other.places, name)) for name in ("switches", "nodes", "sinks")]
    for array, again in pairs:
        assert (array is None) == (again is None)
        assert array is None or (np.array_equal(array, again) and array.dtype == again.dtype)


@pytest.mark.parametrize("name", EVERY_KIND)
def test_every_kind_is_read_back_as_it_was_written(name, read):
    same(read(to_toml(topology(name))), topology(name))


def test_a_network_of_few_lines(read, tmp_path):
    square = read(SQUARE)
    assert square.ports == (("p0", "p1", "n0", "n1"), ("p0", "p1", "n0"), ("p0", "p1", "n0"), ("p0", "p1", "n0"))
    assert square.links.tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 2, 0], [2, 0, 1, 1],
                                     [2, 1, 3, 0], [3, 0, 2, 1], [3, 1, 0, 1], [0, 1, 3, 1]]
    assert square.injections.tolist() == square.consumptions.tolist() == [[0, 2], [0, 3], [1, 2], [2, 2], [3, 2]]
    assert (square.kind, square.shape, square.root) == ("own", (5,), 0)
    assert square.switch_names == ("s0", "s1", "s2", "s3")
    assert square.name == square.origin == str(tmp_path / "net.toml")
    assert square.node("4") == 4
    same(read(to_toml(square)), square)


def test_links_one_way_by_name_and_number_and_nodes_that_consume_elsewhere(read):
    loop = read("""
        name = "loop"
        kind = "loop"
        switches = ["left", "right"]
        ports = ["a", "b", "c"]
        nodes = ["left", ["right", "c"]]
        consumptions = [["right", 2], ["left", "c"]]
        links = [["left", "a", 1, "b"], ["right", "a", "left", 1], [0, 1, 1, 0], [1, 1, 0, 0]]
        root = "right"
        places = [[0, 0], [2.5, 0]]
    """)
    assert loop.links.tolist() == [[0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 0, 0]]
    assert loop.injections.tolist() == [[0, 2], [1, 2]]
    assert loop.consumptions.tolist() == [[1, 2], [0, 2]]
    assert (loop.name, loop.kind, loop.root, loop.switch_names) == ("loop", "loop", 1, ("left", "right"))
    assert loop.places.switches.tolist() == [[0, 0], [2.5, 0]]
    assert loop.places.sinks is not None
    same(read(to_toml(loop)), loop)


def test_shape_gives_coordinates_and_one_node_a_switch_names_it(read):
    grid = read("""
        switches = 4
        nodes = [0, 1, 2, 3]
        links = [[0, 1], [0, 2], [1, 3], [2, 3], [0, 1]]
        shape = [2, 2]
        labels = [0, 1, 3, 2]
        places = [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
    """)
    assert grid.direct
    assert grid.switch_names == ("0", "1", "2", "3")
    assert grid.node("1.0") == 2
    assert grid.node("@3") == 2
    assert np.array_equal(grid.places.nodes, grid.places.switches)
    same(read(to_toml(grid)), grid)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_connected_network_is_read_back(tmp_path_factory, data):
    switches = data.draw(st.integers(2, 6))
    tree = [[data.draw(st.integers(0, switch - 1)), switch] for switch in range(1, switches)]
    more = data.draw(st.lists(st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1))
                              .filter(lambda pair: pair[0] != pair[1]).map(list), max_size=6))
    nodes = data.draw(st.lists(st.integers(0, switches - 1), min_size=2, max_size=9))
    path = tmp_path_factory.mktemp("any") / "net.toml"
    path.write_text(f"switches = {switches}\nnodes = {nodes}\nlinks = {tree + more}\n")
    network = topology(str(path))
    assert len(network.links) == 2 * len(tree + more)
    assert network.injections[:, 0].tolist() == nodes
    path.write_text(to_toml(network))
    same(topology(str(path)), network)


def test_the_file_is_known_and_its_text_told_apart(read, tmp_path):
    read(SQUARE)
    path = str(tmp_path / "net.toml")
    assert user_file(path) == path
    before = file_digest(path)
    read(SQUARE + "# more\n")
    assert file_digest(path) not in (None, before)


def changed(old, new):
    text = SQUARE.replace(old, new)
    assert text != SQUARE
    return text


@pytest.mark.parametrize(("text", "sentence"), [
    ("switches = ", "net.toml is not TOML: Invalid value"),
    (b"\xff\xfe", "net.toml is not TOML: byte 0 is not UTF-8"),
    ("", "net.toml: switches, nodes, links are missing. Needed: switches, nodes, links"),
    (changed("links", "edges"), "'edges' is not a key of a network. Allowed: name, kind, shape, root, switches, ports"),
    (changed("switches = 4", "switches = 0"), "switches: 0 is not valid. Allowed: a whole number from 1 to 4096"),
    (changed("switches = 4", "switches = [0, 1]"), "switches[0]: 0 is not valid. Allowed: text"),
    (changed("switches = 4", "switches = true"), "switches: true is not valid. Allowed: a number up to 4096, or"),
    (changed("switches = 4", "switches = 5"), "switch 4 has no ports, and so no links. Needed: 1 or more"),
    (changed("switches = 4", "switches = 5\nports = 4"), "switch s4 has no links. Needed: 1 or more"),
    (changed("switches = 4", 'switches = ["a", "b", "c", "a"]'),
     "switches: the name 'a' is not valid: it occurs twice. Allowed: distinct names"),
    ('switches = ["a", "a"]\nnodes = ["a", "a"]\nlinks = [["a", "a"]]',
     "switches: the name 'a' is not valid: it occurs twice. Allowed: distinct names"),
    (changed("switches = 4", 'switches = ["a", "b", "c", "d e"]'),
     "name 'd e' of switch 3 is not valid. Allowed: up to 32 letters, digits, _, - and ."),
    (changed("switches = 4", 'switches = ["a", "b", "c", "7"]'),
     "name '7' of switch 3 is not valid. Allowed: names with other characters than digits"),
    (changed("[0, 0, 1, 2, 3]", "[0, 0, 1, 2, 4]"), "nodes[4]: switch 4 is not valid. Allowed: 0 to 3, and their"),
    (changed("[0, 0, 1, 2, 3]", '["s9", 0]'), "nodes[0]: switch 's9' is not valid. Allowed: 0 to 3, and their names"),
    (changed("[0, 0, 1, 2, 3]", "5"), "nodes: 5 is not valid. Allowed: a list, each a switch, or [switch, port]"),
    (changed("[0, 0, 1, 2, 3]", "[0]"), "it has 1 node. Allowed: 2 to 4096"),
    (changed("[0, 0, 1, 2, 3]", "[]"), "it has 0 nodes. Allowed: 2 to 4096"),
    (changed("[0, 0, 1, 2, 3]", "[0, [1, 2, 3]]"), "nodes[1]: [1, 2, 3] is not valid. Allowed: [switch, port]"),
    (changed("[0, 0, 1, 2, 3]", '[0, [1, "x"]]'),
     "nodes[1]: port 'x' of switch s1 is not valid. Allowed: numbers from 0 to 31, as ports is not given"),
    (changed("[0, 0, 1, 2, 3]", str([0] * 31)), "switch 0 has 33 ports. Allowed: 1 to 32"),
    (changed("[0, 1]", "[0, 0]"), "leads from switch s0 to itself. Needed: two different"),
    (changed("[0, 1]", "[0, 1, 2]"), "links[0]: [0, 1, 2] is not valid. Allowed: [switch, switch] or [switch, output,"),
    (changed("[0, 1]", "[0, 40, 1, 0]"), "links[0]: port 40 of switch s0 is not valid. Allowed: numbers from 0 to 31"),
    (changed("[0, 1]", "[0.0, 1]"), "links[0][0]: 0.0 is not valid. Allowed: a number or a name"),
    (changed("[0, 1]", "[0, 1], [0, 3, 1, 3], [0, 3, 2, 3]"),
     "more than one link or node is at output p3 of switch s0: a link and another. Allowed: one"),
    (changed("[0, 1]", "[0, 1], [0, 3, 2, 3], [1, 3, 2, 3]"),
     "more than one link or node is at input p3 of switch s2: a link and another. Allowed: one"),
    (changed("0, 1, 2, 3]\nlinks = [[0, 1]", "[0, 4], [0, 4], 2, 3]\nlinks = [[0, 1]"),
     "more than one link or node is at output p4 of switch s0: node 1 and node 2. Allowed: one"),
    (changed("0, 1, 2, 3]\nlinks = [[0, 1]", "[0, 5], 2, 3]\nlinks = [[0, 5, 1, 5], [0, 1]"),
     "more than one link or node is at output p5 of switch s0: a link and node 1. Allowed: one"),
    (SQUARE + "ports = 3\n",
     "has no free port at switch s0, whose ports are used by links[0], links[3], nodes[0]. Needed: more"),
    (SQUARE + "ports = 1\n", "has no free port at switch s1, whose ports are used by links[0]. Needed: more ports"),
    *((SQUARE + f"ports = {ports}\n", f"ports: {ports} is not valid. Allowed: a whole number from 1 to 32")
      for ports in (33, 100000, 0, -1)),
    (SQUARE + 'ports = [["a"], ["b"]]\n', "ports has 2 lists of names. Needed: 4 lists, one per switch"),
    (SQUARE + 'ports = ["a", "b", "c", "a"]\n', "two ports of switch 0 have the name 'a'. Allowed: distinct names"),
    (SQUARE + 'ports = ["a", "b", "c", "1"]\n', "port name '1' of switch 0 is not valid. Allowed: a letter"),
    (SQUARE + 'ports = ["a", "b", "c", "d"]\nconsumptions = [[0, "e"]]\n',
     "consumptions[0]: port 'e' of switch s0 is not valid. Allowed: a, b, c, d"),
    (SQUARE + "consumptions = [[0, 7]]\n", "consumptions has 1 place. Needed: 5 places, one per node"),
    (SQUARE + "shape = [2, 3]\n", "shape [2, 3] is not valid. Needed: extents whose product is the number of nodes, 5"),
    (SQUARE + "shape = [5.0]\n", "shape[0]: 5.0 is not valid. Allowed: a whole number"),
    (SQUARE + "shape = [0]\n", "shape[0]: 0 is not valid. Allowed: a whole number from 1 to 4096"),
    (SQUARE + "shape = [-2, -2]\n", "shape[0]: -2 is not valid. Allowed: a whole number from 1 to 4096"),
    (SQUARE + "root = -1\n", "root: -1 is not valid. Allowed: a switch, from 0 to the number of switches - 1"),
    (changed("[0, 1]", "[-1, 1]"), "links[0][0]: -1 is not valid. Allowed: a number from 0, or a name"),
    (changed("[0, 0, 1, 2, 3]", "[0, 0, 1, 2, -3]"), "nodes[4]: -3 is not valid. Allowed: a switch, from 0 to"),
    (SQUARE + "labels = [0, 1, 2, 3, -1]\n", "labels[4]: -1 is not valid. Allowed: a whole number from 0"),
    (SQUARE + "[a.b]\n[a.b]\n", "is not TOML: Cannot declare a.b twice"),
    (SQUARE + "a = " + "1" * 5000, "is not TOML: a number has too many digits"),
    (SQUARE + "a = " + "[" * 5000, "is not TOML: it has too many brackets inside one another"),
    (SQUARE + "shape = 5\n", "shape: 5 is not valid. Allowed: a list, each a whole number"),
    (SQUARE + "labels = [0, 1, 2, 3, 3]\n", "labels are not valid. Needed: the numbers from 0 to 4, each once"),
    (SQUARE + "labels = [0, 1]\n", "labels has 2 labels. Needed: 5 labels, one per node"),
    (SQUARE + "root = 4\n", "root: switch 4 is not valid. Allowed: 0 to 3, and their names"),
    (SQUARE + "name = 3\n", "name: 3 is not valid. Allowed: text"),
    (SQUARE + 'name = "a\\nb"\n', r"name 'a\nb' is not valid. Allowed: text on one line"),
    (SQUARE + "places = [[0, 0]]\n", "places has 1 position. Needed: 4 positions, one per switch"),
    (SQUARE + "places = [[0, 0], [0, 0], [0, 0], [0, 0, 0]]\n",
     "places[3]: [0, 0, 0] is not valid. Needed: 2 numbers, as many as the other"),
    (SQUARE + "places = [[0, 0], [0, 0], [0, 0], [0, nan]]\n",
     "places[3][1]: nan is not valid. Allowed: finite numbers of up to 64 bits"),
    (SQUARE + "places = [[0, 0], [0, 0], [0, 0], [0, 1e308]]\n",
     "places[3][1]: 1e+308 is not valid. Allowed: a number from -1000000000 to 1000000000"),
    (SQUARE + "places = 4\n", "places: 4 is not valid. Allowed: a list, each two numbers, or three in all places"),
    (SQUARE + "node_places = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]\n",
     "places are missing, but the file has node_places. Needed: places"),
    (SQUARE + "places = [[0, 0], [0, 1], [1, 0], [1, 1]]\nnode_places = [[0, 0]]\n",
     "node_places has 1 position. Needed: 5 positions, one per node"),
    ("switches = 4\nnodes = [0, 3]\nlinks = [[0, 1], [2, 3]]\n",
     "node 0 cannot reach node 1: no links lead from switch s0 to switch s3"),
    ("switches = 2\nnodes = [0, 1]\nlinks = [[0, 0, 1, 0]]\n",
     "node 1 cannot reach node 0: no links lead from switch 1 to switch 0"),
    ("switches = 2\nnodes = [0, 1]\nlinks = []\n", "it has no links. Needed: 1 or more"),
    ("switches = 1025\nports = 3\nnodes = [0, 0]\nlinks = [[0, 1]]\n",
     "it has 1025 switches. Allowed: up to 1024, or up to 4096 with one node each"),
    (SQUARE + 'kind = "mesh"\n', "kind: 'mesh' is not valid: it is for a built-in network, and this"),
    (SQUARE + 'name = "ring:5"\n', "name: 'ring:5' is not valid: it is for a built-in network"),
    (SQUARE + 'name = "ring:5"\nkind = "ring"\n', "Allowed: a name that does not begin with ring, as"),
    (SQUARE + 'name = "torus:1"\nkind = "mesh"\n', "Allowed: a name that does not begin with mesh or torus, as"),
])
def test_what_is_no_network_is_refused_in_a_sentence(text, sentence, read):
    with pytest.raises(WormcastError) as refused:
        read(text)
    assert sentence in without_place(str(refused.value))
    assert "net.toml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_there_or_is_a_folder(tmp_path):
    with pytest.raises(WormcastError, match=r"topology: .*absent\.toml cannot be read: No such file"):
        topology(str(tmp_path / "absent.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(WormcastError, match=r"folder\.toml cannot be read: Is a directory"):
        topology(str(tmp_path / "folder.toml"))


@pytest.mark.parametrize(("names", "shown"), [
    (["cpu-0", "io.1", "mem"], ["cpu-0", "io.1", "mem"]), (["a", "b.c.d", "-x"], ["a", "b.c.d", "-x"]),
    (["s0", "s1", "s2"], ["s0", "s1", "s2"]),
    (["a", "all", "b"], ["a", "1", "b"]), (["a", "1.2", "b"], ["a", "1", "b"]), (["-", "1.1", "2.2"], ["0", "1", "2"]),
])
def test_nodes_have_the_names_of_their_switches_where_nothing_else_is_called_so(names, shown, read):
    """The printed names are accepted, and so are ids."""
    network = read(f"switches = {names}\nnodes = [0, 1, 2]\nlinks = [[0, 1], [1, 2]]\n")
    assert [network.node_name(node) for node in range(3)] == shown
    assert network.node_set(",".join(shown)) == network.node_set("0,1,2") == [0, 1, 2]
    assert network.destination_set("all", 1) == [0, 2]


def test_nodes_that_share_a_switch_or_have_none_of_their_own_have_ids(read):
    network = read('switches = ["a", "b"]\nnodes = [0, 0, 1]\nlinks = [[0, 1]]\n')
    assert [network.node_name(node) for node in range(3)] == ["0", "1", "2"]
    with pytest.raises(WormcastError, match=r"node: 'a' is not in .*net\.toml\. Allowed: an id \(up to 2\)\.$"):
        network.node("a")
    named = read('switches = ["a", "b"]\nnodes = [0, 1]\nlinks = [[0, 1]]\n')
    with pytest.raises(WormcastError, match=r"node: 'c' is not in .*\. Allowed: an id \(up to 1\) or a name such as a"):
        named.node("c")
