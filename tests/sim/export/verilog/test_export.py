"""Contents of an exported file. Each export writes the same file."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from amaranth.hdl import Fragment
from amaranth.lib import memory, wiring
from cases import slow

from wormcast.algorithms import WormcastError
from wormcast.algorithms.headers import AddressList, BitString, MultiDrop, Unicast
from wormcast.hw import Switch
from wormcast.hw.deep import DeepSwitch
from wormcast.hw.interface import AbsorbingInterface, NetworkInterface
from wormcast.hw.interface.smart import ForwardingInterface
from wormcast.hw.streams import AxisInterface, StreamInterface
from wormcast.hw.tree import TreeSwitch
from wormcast.sim.build.components import COMPONENTS, build_component, find_component
from wormcast.sim.build.host_port import HostPort
from wormcast.sim.build.network import HOST, Network
from wormcast.sim.build.stream_network import StreamNetwork
from wormcast.sim.export.verilog import NETWORK, component_tables, export, ports
from wormcast.sim.export.verilog.docstrings import member_meaning, promises, summary
from wormcast.sim.export.verilog.document import _flit, document_network, meaning
from wormcast.sim.export.verilog.links import channel_classes, links
from wormcast.sim.export.verilog.network import outside, table_words, top
from wormcast.sim.export.verilog.streams import HOST_ERRORS

from .cases import ANY, blueprint, having, names_in, on_any


@pytest.fixture(scope="module")
def split():
    """All components of a router with as many ports as there can be, and those that there are with other options."""
    built = blueprint(readers="independent", consumption_links="separate")
    return {name: build_component(having(name) if find_component(name).options else built, name) for name in COMPONENTS}


def parts(component):
    """Classes of all components inside one, but for Amaranth's own."""
    fragments = [Fragment.get(component, None)]
    for fragment in fragments:
        fragments += [inner for inner, _, _ in fragment.subfragments]
    found = {type(origin) for fragment in fragments for origin in fragment.origins or ()}
    return {kind for kind in found if issubclass(kind, wiring.Component) and kind is not memory.Memory}


def test_every_part_of_router_and_interface_has_a_name(split):
    whole = [split["router"], split["interface"], build_component(blueprint(absorb="2"), "interface"),
             build_component(having("tree-input"), "router")]
    # the last two are of other variants than those of `split`
    assert set().union(*map(parts, whole)) <= {type(component) for component in (*split.values(), *whole[2:])}


def test_a_part_is_the_one_that_the_port_has():
    built = blueprint(buffer=3)
    assert build_component(built, "replication-buffer").depth == 3
    east, local = build_component(built, "input-unit"), build_component(built, "input-unit", "local")
    assert east.ejection is not None
    assert local.ejection is None
    assert len(build_component(built, "output-unit", "local").classes) == len(built.router().consumption_masks())


@pytest.mark.parametrize(("name", "port", "sentence"), [
    ("input-unit", "up", "port: 'up' is not valid. Allowed: east, west, south, north, local"),
    ("router", "east", "port: 'east' is not valid: router does not belong to a port"),
    ("switch", None, "what: 'switch' is not valid. Allowed: router, input-unit, "),
    ("token-station", None,
     "token-station is not a part of hardware with --topology mesh:3x3 and --scheme dual-path. Needed, for example: "),
])
def test_a_part_that_is_not_there_is_refused(name, port, sentence):
    with pytest.raises(WormcastError, match=re.escape(sentence)):
        build_component(blueprint(), name, port)


def test_slots_are_those_of_the_interface():
    built = build_component(blueprint(absorb="3", slot=9, consumption=2, flit_width=8), "retransmission")
    assert (built.slots, built.flits, built.channels, built.width) == (3, 9, 2, 8)
    for absorb in ("off", "host"):
        with pytest.raises(WormcastError, match="^retransmission is not a part of hardware with --absorb "
                                                fr"{absorb}\. Needed, for example: --absorb 1"):
            build_component(blueprint(absorb=absorb), "retransmission")


def test_file_is_the_same_in_another_place_and_with_another_hash(tmp_path):
    """Names are stable: no order of a set, no path and no line of a source goes into the file."""
    texts = []
    for seed in ("1", "2"):
        at = tmp_path / seed
        at.mkdir()
        subprocess.run([sys.executable, "-m", "wormcast", "verilog", "network", "--topology", "mesh:1x2", "--vcs", "1",
                        "-o", "n.v", "--doc"], cwd=at, check=True, env=os.environ | {"PYTHONHASHSEED": seed},
                       capture_output=True)
        texts.append(((at / "n.v").read_bytes(), (at / "n.v.md").read_bytes()))
    assert texts[0] == texts[1]
    text = texts[0][0].decode()
    assert not re.search(r"\.(py|cc)\b|\$auto|/", re.sub("//.*", "", text))


def test_head_says_what_it_is_and_how_it_was_made():
    made = export(blueprint(vcs=1), "output-unit", port="local", module="exit_unit", named="small", command="this one")
    head, _, rest = made.verilog.partition("\nmodule ")
    assert rest.startswith("exit_unit(clk, rst, sends_0_vc_active, ")
    for line in ("exit_unit: Output port: owner and credits of each virtual channel, and the register that",
                 "  this one", "topology           mesh:3x3", "port               local", "vcs                1",
                 "scheme             dual-path: [Boppana98], section 2.1 (order of sending: ours)",
                 "configuration      small: least area: ", "Clock: clk, rising edge.",
                 "Latency: a send is on the link ",
                 "After reset: all virtual channels free, with all their credits."):
        assert f"// {line}" in head, line


@pytest.mark.parametrize("name", ["3d", "a-b", "", "größe"])
def test_a_module_needs_a_name_of_verilog(name):
    with pytest.raises(WormcastError, match=f"module: '{name}' is not valid. Allowed: letters"):
        export(blueprint(), "decoder", module=name, command="")


@pytest.mark.parametrize("word", ["wire", "module", "bit"])
@pytest.mark.parametrize("what", ["decoder", NETWORK])
def test_a_word_of_verilog_is_no_name(what, word):
    with pytest.raises(WormcastError, match=f"module: '{word}' is not valid: it is a keyword of Verilog"):
        export(blueprint("mesh:1x2"), what, module=word, command="")


@pytest.mark.parametrize("what", COMPONENTS)
def test_every_port_is_explained(split, what):
    told = {port.name: meaning(split[what], port) for port in ports(split[what])}
    assert [name for name, said in told.items() if not said.endswith(".")] == []
    assert [name for name, said in told.items() if re.search(r"\{\w*\}|  |[^.)] Ports:", said)] == []


def with_credits(component):
    """Names of the bundles of a component that have credits."""
    return {port.bundle for port in ports(component) if port.path[1:] and port.path[-1] == "credit"}


@pytest.mark.parametrize("what", COMPONENTS)
def test_every_link_has_its_credits(split, what):
    assert set(links(split[what])) == with_credits(split[what])


def test_a_smart_interface_has_a_link_for_its_table():
    built = build_component(having("forwarding"), "interface")
    assert set(links(built)) == with_credits(built) >= {"table_in"}
    assert all(meaning(built, port).endswith(".") for port in ports(built))


def tables(built, what, port=None):
    """The document of a component without its summary, which needs no Verilog."""
    return component_tables(built, build_component(built, what, port), clocked=True)


def headed(document):
    """Return the text under each heading of a document, without tables."""
    return dict(re.findall(r"^## (.*)\n\n([^|\n].*)$", document, re.MULTILINE))


def test_links_are_told_with_the_buffers_at_their_ends():
    built = blueprint(buffer=3, queue=5, consumption=1)
    interface = headed(tables(built, "interface"))
    assert interface["Link `host_in_0`"].endswith(" 5 flits of buffer here: its sender starts with 5 credits.")
    assert interface["Link `network_out_0`"] == (
        "To the router, for each injection port. The receiver must have 3 flits of buffer per virtual channel: "
        "this side starts with 3 credits for each.")
    assert interface["Link `network_in_0`"].endswith(" 3 flits of buffer here: its sender starts with 3 credits.")
    assert interface["Link `host_out_0`"].endswith(
        " The receiver must have 4 flits of buffer: this side starts with 4 credits.")
    unit = headed(tables(blueprint(buffer=1), "output-unit", "local"))
    assert unit["Link `links_0`"] == ("The receiver must have 1 flit of buffer per consumption channel: this side "
                                      "starts with 1 credit for each.")


def test_table_of_a_router_says_where_its_links_lead():
    document = tables(blueprint(), "router")
    router = headed(document)
    assert router["Link `east_in`"].startswith("From the switch or the node at the port. 4 flits ")
    assert router["Link `local_in`"].startswith("From the node. 4 flits ")
    assert router["Link `local_out`"].startswith("To the node, all consumption channels. The receiver ")
    assert "| `local_out_vc` | out | 1 | The consumption channel that the flit belongs to. " in document
    assert "| `east_out_vc` | out | 1 | The virtual channel that the flit belongs to. " in document
    assert "| `strap_coordinate_0` | in | 2 | The own coordinate in dimension 0 (row). |" in document
    assert "| `strap_coordinate_1` | in | 2 | The own coordinate in dimension 1 (column). |" in document
    assert "a channel that serves the direction of its next hop" in router["Consumption channels"]
    assert document.endswith("| 0 | up |\n| 1 | down |\n")


def test_names_of_separate_links(split):
    router = split["router"]
    assert member_meaning(type(router), "local_1_out") == "To the node, only consumption channel 1."
    every = blueprint(ports="all").router()
    assert member_meaning(type(every), "local_east_in") == "From the node, only for worms that leave by east."


@pytest.mark.parametrize("consumption", [1, 2, 3, 4, 6])
def test_channels_serve_the_classes_that_routers_let_into_them(consumption):
    built = blueprint(scheme="e-mcast", consumption=consumption)
    router = built.router()
    classes, masks = router.decoder.consumption, router.consumption_masks()
    every = {direction for network in classes.networks for direction in network}
    for channel, served in enumerate(channel_classes(classes, consumption)):
        open_to = {direction for k, network in enumerate(classes.networks) for direction in network
                   if masks[k] >> channel & 1}
        assert (every if served == "any" else set(served.split(", "))) == open_to


@pytest.mark.parametrize("header", [
    AddressList((4, 4), 12), AddressList((8, 8), 32), AddressList((1, 4), 32), AddressList((8, 8), 32, 2),
    AddressList((3, 3), 5), Unicast((4, 4), 4), Unicast((8, 8), 32),
    AddressList((4, 3, 4), 32, signed=(0, 2)), Unicast((4,), 3, signed=(0,)),
    BitString((16,), 8), BitString((16,), 32),
    *(MultiDrop(((0, 1), (4, 3)), 5, 4, width) for width in (1, 2, 4, 5, 8, 12)),
])
def test_fields_of_a_header_are_all_bits_once(header):
    fields = list(header.fields())
    assert [bit for low, high, _ in fields for bit in range(low, high + 1)] == list(range(header.flit_width))
    assert not any("0 bits" in said for _, _, said in fields)


@pytest.mark.parametrize(("scheme", "says"), [
    ("tree", "| 0 | 1: the worm is on its way down, and never goes up again; hosts send 0 |"),
    ("mixed", "| 0 | form of the header: 0 unicast, 1 bit string |\n| 5:1 | unicast: id of the destination |\n| 7:6 |"),
    ("mixed", "| 7:6 | unicast: unused, 0 |\n| 1 | bit string: 1: the worm is on its way down"),
    ("mixed:few=ssr-g", "| 1:0 | form of the header: 0 unicast, 1 bit string, 2 multi-drop |"),
    ("mixed:few=ssr-g", "| 4:2 | multi-drop: id of the next switch with destinations |"),
    ("path-lg", "| 2:0 | id of the next switch with destinations |\n| 3 | 1 in the worm's last pair |\n| 7:4 | a bit"),
])
def test_headers_of_worms_that_deep_switches_copy_are_told(scheme, says):
    assert says in "".join(_flit(blueprint("irregular:seed=1", scheme, configuration="sivaram_32")))


def test_table_has_every_port_and_every_bit_of_a_flit():
    built = blueprint("mesh:4x4", flit_width=12)
    made = export(built, "interface", command="")
    rows = dict(re.findall(r"^\| `(\w+)` \| (?:in|out) \| (\d+) \|", made.document, re.MULTILINE))
    expected = {port.name: str(port.width) for port in ports(built.interface())}
    assert rows == expected | {"clk": "1", "rst": "1"}
    assert "| 0 | `head` |" in made.document
    assert "| 13:2 | `data` | 12 bits" in made.document
    assert ("| 3:0 | address of the next destination, from its highest bit down: 2 bits of coordinate 0 (row), "
            "2 bits of coordinate 1 (column)") in made.document
    assert "| 7:4 | addresses of the destinations after it, in visiting order, in 1 field;" in made.document
    assert "| 10:8 | unused, 0 |" in made.document
    assert "| 11 | 1 in the worm's last header flit |" in made.document


def test_table_has_the_signs_of_ties():
    text = export(on_any("torus:2x4", ties="signed", flit_width=12), "router", command="").document
    signs = "1 bit for ties in dimension 0 (row) (1 down), 1 bit for ties in dimension 1 (column) (1 down)"
    assert (f"| 4:0 | address of the next destination, from its highest bit down: {signs}, "
            "1 bit of coordinate 0 (row), 2 bits of coord") in text
    assert "| ties | signed |" in text


def test_network_joins_what_the_topology_joins():
    """Each port of each instance stands behind one wire, and that joins what `Network.joins` says; the rest is tied."""
    built = blueprint("mesh:2x2")
    network = Network(built.topology, built.scheme, built.configuration)
    text = top(network, "net")
    pins = {}
    for kind, called, listed in re.findall(r"^  net_(\w+) (\w+) \(\n(.*?)\n  \);", text, re.MULTILINE | re.DOTALL):
        pins |= {(kind, called, pin): wire for pin, wire in re.findall(r"\.(\w+)\((.*?)\)", listed)}
    for kind, component in network.components.items():
        for called in network.kinds[kind].instances:
            assert {pin for at, name, pin in pins if (at, name) == (kind, called)} \
                == {port.name for port in ports(component)} | {"clk", "rst"}
    joined = {}
    for join in network.joins:
        if HOST in (join.from_kind, join.to_kind):
            continue
        for start, end in zip(join.from_instances, join.to_instances, strict=True):
            near, far = network.kinds[join.from_kind].instances[start], network.kinds[join.to_kind].instances[end]
            for member in ("valid", "vc", "flit", "credit"):
                wire = pins[join.from_kind, near, f"{join.from_port}_{member}"]
                assert wire == pins[join.to_kind, far, f"{join.to_port}_{member}"]
                joined[wire] = joined.get(wire, 0) + 1
    assert set(joined.values()) == {1}
    assert pins["router", "router_1_0", "strap_coordinate_0"] == "1'h1"
    assert pins["router", "router_1_0", "strap_coordinate_1"] == "1'h0"
    assert pins["router", "router_0_0", "north_in_valid"] == "1'h0"
    names = [entry.name for entry in outside(network)]
    assert len(set(names)) == len(names)
    assert {name for name in names if name.startswith("node_1_0_")} == {
        *(f"node_1_0_host_{way}_0_{member}" for way in ("in", "out") for member in ("valid", "flit", "credit")),
        "node_1_0_host_out_0_vc", "node_1_0_interface_fault", "node_1_0_router_fault",
    }


@pytest.mark.parametrize("case", ANY)
def test_a_network_of_any_kind_joins_each_wire_once(case):
    """Two ends each, and none to itself; and ports of the network have names of their own."""
    built = case()
    network = Network(built.topology, built.scheme, built.configuration)
    text = top(network, "net")
    wires = Counter(wire for listed in re.findall(r"^  net_\w+ \w+ \(\n(.*?)\n  \);", text, re.MULTILINE | re.DOTALL)
                    for wire in re.findall(r"\.\w+\((\w+)\)", listed))
    names = [entry.name for entry in outside(network)]
    assert len(set(names)) == len(names)
    unused = set(re.findall(r"\w+", text.partition("wire unused")[2]))
    alone = {wire for wire, ends in wires.items() if ends == 1}
    assert alone <= {*names, *unused}
    assert {ends for wire, ends in wires.items() if wire not in ("clk", "rst")} <= {1, 2}
    assert sum(f"net_{kind} " in text for kind in network.kinds) == len(network.kinds)


def irregular():
    """A network of two kinds of routers, with tables."""
    return on_any("irregular:switches=3,ports=5,nodes=5,connectivity=0.8,seed=4", flit_width=12)


STREAMS_PAGE = (Path(__file__).parents[4] / "docs" / "streams.md").read_text()


@pytest.mark.parametrize(("host", "scheme"), [("axis", "dual-path"), ("stream", "e-mcast")])
def test_document_of_streams_has_their_rules_and_errors(host, scheme):
    built, port = blueprint("mesh:2x2", scheme), HostPort(host=host)
    part = build_component(built, "interface", host_port=port)
    network = StreamNetwork(built.topology, built.scheme, built.configuration, host_port=port)
    alone = component_tables(built, part, clocked=True)
    whole = document_network(built, network, "net", command="", facts=[], reset="sync")
    listed = HOST_ERRORS if scheme == "e-mcast" else HOST_ERRORS[:2]  # a mask has no table
    fields = dict(part.signature.members["send_fault"].shape)
    for text, stream in ((alone, {"axis": "s_axis", "stream": "send"}[host]), (whole, "node_NODE_")):
        assert f"\n## Stream `{stream}" in text
        assert ":py:" not in text
        assert "host_out" not in re.sub(r".*\(inside\).*", "", text)
        for error in listed:
            row = f"| {fields[error.field].offset} `{error.field}` | {error.error} | {error.effect} |\n"
            assert row in text
            assert row in STREAMS_PAGE
        assert ("bad_set` |" in text) == (scheme == "e-mcast")
    assert "## Rules of the links" in alone
    assert "| `network_in_0` | 2 |" in alone
    assert "host_in |" not in alone
    assert "## Rules of the links" not in whole


def test_hosts_write_the_child_tables_of_smart_interfaces():
    built = blueprint("mesh:1x2", "binomial", ni="fpfs", packet=4)
    names = {entry.name for entry in outside(Network(built.topology, built.scheme, built.configuration))}
    assert {f"node_0_1_table_in_{member}" for member in ("valid", "flit", "credit")} <= names


def test_faults_are_routers_own_where_nodes_are_not():
    built = irregular()
    network = Network(built.topology, built.scheme, built.configuration)
    names = {entry.name for entry in outside(network)}
    assert {"tables_in", "node_4_host_in_0_valid", "node_4_interface_fault", "router_s2_fault"} <= names
    assert not any("router_fault" in name for name in names)
    text = top(network, "net")
    # the bus goes from router to router in the order of the words
    first, second = (network.kinds[kind].instances[instance] for kind, instance in network.chain[:2])
    assert f".tables_in({first}_tables_out)" in text
    assert (first, second) == ("router_s0", "router_s1")


def test_words_of_the_tables_are_their_entries():
    built = irregular()
    network = Network(built.topology, built.scheme, built.configuration)
    words, layout = table_words(network), built.tables.layout
    entries = list(network.table_writes())
    assert words[len(entries):] == [0] * 3
    for word, entry in zip(words, entries, strict=False):
        assert {name: word >> field.offset & (1 << field.width) - 1 for name, field in layout} == entry
    assert table_words(Network(*(getattr(blueprint(), name) for name in ("topology", "scheme", "configuration")))) == []


def test_a_component_is_of_the_kind_that_is_named():
    built = irregular()
    by_kind = {kind: {port.name for port in ports(build_component(built, "router", kind=kind))}
               for kind in built.named_kinds}
    assert list(by_kind) == ["router_0", "router_1"]
    assert by_kind["router_0"] != by_kind["router_1"]
    assert {port.name for port in ports(build_component(built, "router"))} == by_kind["router_0"]
    for name, kind, sentence in (
        ("router", "router_7", "kind: 'router_7' is not valid: irregular:.* has other kinds. Allowed: router_0, "),
        ("interface", "router_1", "kind: 'router_1' is not valid: interface is not a part of a router. Allowed: with "),
    ):
        with pytest.raises(WormcastError, match=sentence):
            build_component(built, name, kind=kind)
    made = export(built, "decoder", kind="router_1", command="")
    assert re.search(r"^// kind +router_1, of \d routers?: s\d.*; other kinds: router_0$", made.verilog, re.MULTILINE)


# the others have ports of the same components; those of signs are in `test_table_has_the_signs_of_ties`
@pytest.mark.parametrize("case", [case if case.id == "min" else slow(*case.values, id=case.id) for case in ANY])
def test_ports_of_every_kind_of_router_are_explained(case):
    built = case()
    for kind in built.named_kinds:
        for what in names_in(built):
            part = build_component(built, what, kind=None if find_component(what).whole == "interface" else kind)
            told = {port.name: meaning(part, port) for port in ports(part)}
            assert [name for name, said in told.items() if not said.endswith(".")] == [], (kind, what)
            assert set(links(part)) == with_credits(part)
        router = component_tables(built, build_component(built, "router", kind=kind), clocked=True)
        for name in built.routers[kind].consumption_ports:
            assert f"## Link `{name}_out`\n\nTo the node, all consumption channels. The receiver" in router


def test_a_port_for_each_way_in_says_whose_it_is():
    document = headed(tables(on_any("torus:3x3", ejection="all"), "router"))
    assert document["Link `local_east_out`"].startswith(
        "To the node, all consumption channels. For worms from east only. ")


def test_document_of_a_network_says_how_its_tables_are_written():
    built = irregular()
    network = Network(built.topology, built.scheme, built.configuration)
    document = document_network(built, network, "net", command="", facts=[], reset="sync")
    rows = re.findall(r"^\| `([^`]+)` \| (?:in|out) \|", document, re.MULTILINE)
    assert {"tables_in", "node_NODE_host_in_0_flit", "router_SWITCH_fault of router_0",
            "router_SWITCH_fault of router_1"} <= set(rows)
    assert "| `tables_in` | in | " in document
    assert " Writes to " in document or "writes to the tables of this switch" in document
    assert "Put each word on tables_in for a cycle, in order, then reset" in document
    assert "| 2 | `s2` | router_" in document


def test_what_docstrings_say():
    class Thing:
        """Does `something`,
        and does it well. Not always.

        *Latency*, from here to there: two cycles;
        three at times. *Reset*: empty. *Cost*: none.

        Members
        -------
        one, two_{k} : In(1)
            The first,
            and the others.
        three : Out(2)

        Straps
        ------
        four_{d}
            A ``strap`` of dimension {d}.

        Raises
        ------
        five
            No member.
        """

    assert summary(Thing) == "Does something, and does it well."
    assert promises(Thing) == ["After reset: empty.", "Latency, from here to there: two cycles; three at times."]
    assert [member_meaning(Thing, name) for name in ("one", "two_7", "three", "four_2", "five")] \
        == ["The first, and the others.", "The first, and the others.", "", "A strap of dimension 2.", None]


@pytest.mark.parametrize("kind", [Switch, TreeSwitch, DeepSwitch, NetworkInterface, AbsorbingInterface,
                                  ForwardingInterface, StreamInterface, AxisInterface, Network])
def test_texts_of_an_export_name_no_class_of_python(kind):
    text = " ".join([summary(kind), *promises(kind)])
    assert re.findall(r"\b[A-Z][a-z]+[A-Z]\w+|(?:as in|those of|see|in) [A-Z][a-z]\w*|\bCause\b|[`*]{2}|\*[A-Za-z]+\*",
                      text) == []


def test_a_promise_of_another_class_is_written_out():
    def errors(kind):
        [found] = [one for one in promises(kind) if one.startswith("Errors on the wire")]
        return found

    assert errors(DeepSwitch) == (
        f"{errors(Switch)} Two exceptions: a worm that begins before the worm in front has ended is lost, and an error "
        "of a flit is in fault three cycles after the flit was on the link.")
