"""Modules of exported Verilog: names, comments, memories, constraints."""

import re

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.build.components import build_component
from wormcast.sim.export.verilog import NETWORK, component_verilog, export, ports
from wormcast.sim.export.verilog.comment import COMMIT
from wormcast.sim.export.verilog.memories import take_out_memories
from wormcast.sim.export.verilog.modules import NetlistModule
from wormcast.sim.export.verilog.netlist import netlist
from wormcast.sim.export.verilog.verilog_names import KEYWORDS, name_signals
from wormcast.sim.lowering.netlist import read_visible

from .cases import blueprint, having


def code(text):
    """Verilog without comments."""
    return re.sub(r"//.*", "", text)


def modules(text):
    """Text of each module by its name."""
    return {found[1]: found[0] for found in re.finditer(r"^module (\w+).*?^endmodule$", text, re.MULTILINE | re.DOTALL)}


@pytest.fixture(scope="module")
def router():
    """Export of a router."""
    return export(blueprint(), "router", module="r", command="this one")


@pytest.fixture(scope="module")
def units():
    """Modules of the same router in RTLIL."""
    return netlist({"r": build_component(blueprint(), "router")}, "r")


@pytest.mark.parametrize("what", ["interface", "retransmission", NETWORK])
def test_no_name_needs_an_escape(what):
    built = having("retransmission") if what == "retransmission" else blueprint("mesh:1x2", absorb="2", packet=4)
    text = code(export(built, what, command="").verilog)
    assert "\\" not in text
    assert "$" not in text
    assert KEYWORDS.isdisjoint(re.findall(r"^  (?:input|output|wire|reg) (?:\[\S+\] )?(\w+);$", text, re.MULTILINE))


def test_equal_modules_are_written_once(router, units):
    found = [name.removeprefix("r_") for name in modules(router.verilog)]
    assert found.count("replication_buffer") == found.count("memory_36x8") == 1
    assert [name for name in found if name.startswith("input_vc")] == ["input_vc", "input_vc_local_input_channel_0"]
    assert [name for name in found if name.startswith("output_unit")] == ["output_unit", "output_unit_local_output"]
    written = {unit.name: [".".join(module.path[1:]) for module in unit.modules] for unit in units}
    assert written["r_output_unit"] == ["east_output", "west_output", "south_output", "north_output"]
    assert len(written["r_input_vc"]) == 8
    # where inputs decode other coordinates, they stay apart
    assert {"r_input_unit", "r_input_unit_west_input", "r_input_unit_local_input"} <= set(written)


def test_head_of_a_module_has_its_docstring_parameters_and_instances(router):
    [head] = re.findall(r"((?://.*\n)+)module r_replication_buffer\(", router.verilog)
    assert head == (
        "// r_replication_buffer: Buffer of an input port: a FIFO per virtual channel.\n"
        "// Parameters: vcs 2, depth 4, width 36, storage lutram\n"
        "// Instances: east_input.buffer, west_input.buffer, south_input.buffer, north_input.buffer, "
        "local_input.buffer\n")


def test_other_signals_keep_their_names_when_an_option_changes():
    """A wider flit and more channels change no name; what comes with an option is added."""
    def names(**options):
        text = code(component_verilog(build_component(blueprint(**options), "output-unit", "local"), "u")[0])
        return {name for name in re.findall(r"(?:wire|reg) (?:\[\S+\] )?(\w+);", text) if not re.match(r"_\d+_$", name)}

    assert names() == names(flit_width=17)
    assert names() < names(consumption=3)


def test_names_in_a_waveform_are_those_in_verilog_but_for_rules(units):
    """The rules are those of docs/verilog.md."""
    _, variables = read_visible(build_component(blueprint(), "router"))
    shown = {}
    for variable in variables:
        shown.setdefault(tuple(variable.scope), set()).add(variable.name.removeprefix("\\"))

    def rule(at, name):
        here = shown[at]
        instance, _, port = name.partition("__")
        plain = {re.sub(r"\W", "_", one.partition("$")[0]) for one in here}
        if name in here:
            return "equal"
        if not at and any(one.replace("__", "_") == name for one in here):
            return "port of the component"
        if any(re.sub(r"\$\d+", "", one).replace(".", "_") == name for one in here):
            return "field"
        if re.sub(r"\$\d+", "", port) in {re.sub(r"\$\d+", "", one) for one in shown.get((*at, instance), ())}:
            return "pin of an instance"
        if re.sub(r"_\d+$", "", name) in plain:
            return "number"
        if "_p" in name and any(re.fullmatch(re.sub(r"_p\d+", r"_\\w+", name), one) for one in plain):
            return "port of the router"
        return name

    found = {}
    for unit in units:
        if unit.modules[0].kind_name:
            continue  # a memory
        for module in unit.modules:
            for wire in unit.modules[0].wires:
                found.setdefault(rule(module.path[1:], wire.name), []).append(wire.name)
    assert set(found) == {"equal", "port of the component", "field", "pin of an instance", "number",
                          "port of the router"}
    assert len(found["equal"]) > sum(map(len, found.values())) / 2


def test_ports_without_a_name_are_called_after_a_signal():
    module = NetlistModule(("top",), [r"  wire width 1 input 1 \port$7$0", r"  wire width 2 \links",
                               r"connect \links { \port$7$0 [0] 1'0 }"])
    name_signals(module, {}, None)
    assert module.ports == {"port$7$0": "links_1"}
    assert module.blocks[-1] == r"connect \links { \links_1 [0] 1'0 }"


def test_a_memory_is_a_module_that_says_how_it_is_read(router):
    text = router.verilog
    [head] = re.findall(r"((?://.*\n)+)module r_memory_36x8\((.*)\);", text)
    assert head[1] == "clk, write_en, write_addr, write_data, read_addr, read_data"
    assert "Memory of 8 words of 36 bits, read latency 0." in head[0]
    assert "read_port has" not in head[0]
    assert "reg [35:0] words [7:0];" in modules(text)["r_memory_36x8"]
    assert [name for name, body in modules(text).items() if re.search(r"reg .*\w \[", body)] == ["r_memory_36x8"]
    made, _ = component_verilog(build_component(having("retransmission", slot=8), "retransmission"), "t")
    [name] = re.findall(r"^module (t_memory\w+)", made, re.MULTILINE)
    assert name.endswith("_latency1")
    assert "read latency 1." in made
    store, _ = component_verilog(build_component(having("chunk-store"), "chunk-store"), "s")
    assert re.findall(r"^// Instances: bank_0, (.*) bank_7$", store, re.MULTILINE)


def test_a_memory_of_one_word_is_a_register():
    """Yosys warns about memories whose addresses are all constant."""
    built = build_component(having("replication-buffer", scheme="individual", vcs=1, buffer=1), "replication-buffer")
    text, _ = component_verilog(built, "b")
    assert re.search(r"^  reg \[\d+:0\] memory;\n  initial memory = \d+'h0+;$", text, re.MULTILINE)
    assert "memory <= " in text
    assert "memory[" not in text


@pytest.mark.parametrize("change", [
    ("TRANSPARENCY_MASK 1'0", "TRANSPARENCY_MASK 1'1"),
    (r"\write_en [0] }", r"\other [0] }"),
    ("CLK_ENABLE 0\n    parameter \\X 2", "CLK_ENABLE 1\n    parameter \\X 2"),
])
def test_other_memories_are_refused(change):
    read = ("  cell $memrd_v2 ${0}\n    parameter \\MEMID \"\\\\m\"\n    parameter \\TRANSPARENCY_MASK 1'0\n"
            "    parameter \\CLK_ENABLE 0\n    parameter \\X {0}\n    connect \\ADDR \\a [0]\n    connect \\DATA \\d\n"
            "    connect \\EN 1'1\n  end")
    write = ("  cell $memwr_v2 $3\n    parameter \\MEMID \"\\\\m\"\n    connect \\ADDR \\a [0]\n"
             "    connect \\DATA \\d [1:0]\n    connect \\EN { \\write_en [0] \\write_en [0] }\n"
             "    connect \\CLK \\clk [0]\n  end")
    blocks = [r"  memory width 2 size 2 \m", write, read.format(1), read.format(2)]
    [inner] = take_out_memories(NetlistModule(("top",), blocks))
    assert inner.kind == "memory_2x2_2r"
    with pytest.raises(WormcastError, match=r"verilog: memory top\.m is not valid\. Allowed: one write port"):
        list(take_out_memories(NetlistModule(("top",), [block.replace(*change) for block in blocks])))


def test_attributes_name_the_source_without_a_folder_of_this_machine():
    made = export(blueprint(), "output-unit", src=True, command="").verilog
    found = re.findall(r'src = "(.*?)"', made)
    assert {one.partition(":")[0] for one in found} >= {"wormcast/hw/output_unit.py", "wormcast/hw/bundles.py"}
    assert all(re.fullmatch(r"(wormcast/hw|amaranth)/[\w/]+\.py:\d+", part) for one in found for part in one.split("|"))
    bare = re.sub(r" *\(\* src = .*? \*\)\n?", "", made)
    assert bare == export(blueprint(), "output-unit", command="").verilog


def test_only_the_line_of_the_commit_depends_on_the_commit(monkeypatch):
    before = export(blueprint(), "decoder", command="this one").verilog.splitlines()
    monkeypatch.setattr("wormcast.__commit__", "0" * 40)
    other = export(blueprint(), "decoder", command="this one").verilog.splitlines()
    assert [line for line, was in zip(other, before, strict=True) if line != was] \
        == [f"// {COMMIT}{'0' * 40}"]


@pytest.mark.parametrize("reset", ["sync", "async"])
def test_constraints_name_ports_of_the_module(reset):
    made = export(blueprint(), "intake", reset=reset, command="this one")
    named = re.findall(r"get_ports (?:\{(\w+)(?:\[\*\])?\}|(\w+))", made.sdc)
    known = {port.name for port in ports(build_component(blueprint(), "intake"))} | {"clk", "rst"}
    assert {one or other for one, other in named} <= known
    assert "set_false_path -from [get_ports {strap_coordinate_0[*]}]" in made.sdc
    assert ("set_false_path -rise_from [get_ports rst]" in made.sdc) == (reset == "async")
    assert ("posedge rst" in made.verilog) == (reset == "async")
    assert (f"Reset: rst, {reset}hronous" in made.verilog) == (reset in made.verilog)


def test_constraints_are_read_as_tcl():
    """Brackets and braces close, and no other command is used than those of SDC."""
    made = export(blueprint(), "intake", command="a 'b' [c] {d").sdc
    assert [line.split()[0] for line in made.splitlines() if line and not line.startswith("#")] == [
        "set", "create_clock", "set_false_path", "set_false_path"]
    for line in made.splitlines():
        if not line.startswith("#"):
            assert [line.count(sign) for sign in "[{"] == [line.count(sign) for sign in "]}"]


def test_a_reset_is_sync_or_async():
    with pytest.raises(WormcastError, match=r"reset: 'low' is not valid\. Allowed: sync, async\."):
        export(blueprint(), "decoder", reset="low", command="")
