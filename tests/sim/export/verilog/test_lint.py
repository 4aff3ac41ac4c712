"""``verilator --lint-only -Wall`` has nothing to say about what is exported."""

import re
import shutil
import subprocess

import pytest
from cases import some
from pyslang import DiagnosticEngine
from pyslang.ast import Compilation
from pyslang.syntax import SyntaxTree

from wormcast.sim.build.components import COMPONENTS
from wormcast.sim.common.external import find_tool
from wormcast.sim.export.verilog import NETWORK, export

from .cases import ANY, NARROW, TREES, WIDE, blueprint, having, names_in

#: Warnings that stay, and why.
WAIVED = {
    "DECLFILENAME": "one file holds all modules of a component, Verilator wants a file for each; said once a file",
}


def written(built, what, folder, **options):
    """Files of an export: the Verilog, and the checkers and their bind lines, if there are any."""
    made = export(built, what, command="none", **options)
    texts = {f"{made.module}.v": made.verilog, "checks.sv": made.checks, "bind.sv": made.bind}
    given = [folder / name for name, text in texts.items() if text]
    for file in given:
        assert "lint_off" not in texts[file.name]
        file.write_text(texts[file.name])
    return given


def warnings(built, what, folder):
    """Warnings by their kind, each with its line."""
    return verilator_warnings(*written(built, what, folder))


def verilator_warnings(*files):
    """Warnings of Verilator's linter by their kind, each with its line. The first file has the module of its name."""
    tool = find_tool("verilator-cli", "cocotb")
    done = subprocess.run([*tool, "--lint-only", "-Wall", "--assert", "--top-module", files[0].stem, *map(str, files)],
                          capture_output=True, text=True, check=False)
    return [(found[1], line) for line in done.stderr.splitlines()
            if not line.startswith("%Error: Exiting") and (found := re.match(r"%(?:Warning-)?(\w+)", line))]


def unexpected(found):
    return [line for kind, line in found if kind not in WAIVED]


# the networks below hold the others, but for retransmission, which is below, too, and for parts of stream interfaces,
# whose shift of a narrow constant is in address-headers
@pytest.mark.parametrize("what", some([name for name in COMPONENTS if name != "router"],
                                      "decoder", "interface", "address-headers"))
def test_component_is_clean(what, tmp_path):
    assert unexpected(warnings(having(what), what, tmp_path)) == []


@pytest.mark.parametrize("options", [{"slot": 128, "consumption": 2}, {"slot": 3, "consumption": 3}])
def test_retransmission_for_several_channels_is_clean(options, tmp_path):
    assert unexpected(warnings(having("retransmission", **options), "retransmission", tmp_path)) == []


def test_network_is_clean_but_for_what_is_waived(tmp_path):
    """It holds all modules of the router, too."""
    found = warnings(blueprint("mesh:2x2"), NETWORK, tmp_path)
    assert unexpected(found) == []
    assert {kind for kind, _ in found} == set(WAIVED)


def test_checkers_have_the_reset_of_their_component(tmp_path):
    """A linter reports a signal that resets some registers at once, and others with the clock. The clock enable goes to
    all instances, and to checkers of one and of several channels."""
    files = written(blueprint("mesh:1x2", vcs=1, consumption=2, flit_width=8), NETWORK, tmp_path, reset="async",
                    clock_enable=True)
    assert unexpected(verilator_warnings(*files)) == []


@pytest.mark.parametrize("case", [*ANY, *TREES])
def test_networks_of_every_kind_are_clean(case, tmp_path):
    assert unexpected(warnings(case(), NETWORK, tmp_path)) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", WIDE)
def test_other_hardware_is_clean(case, tmp_path):
    built = case()
    whats = [*names_in(built), *([] if built.relations else [NETWORK])]
    found = {what: lines for what in whats if (lines := unexpected(warnings(built, what, tmp_path)))}
    assert found == {}


def yosys_says(file):
    """Warnings of Yosys's reader, and problems that ``check`` finds."""
    script = f"read_verilog {file.name}; hierarchy -check -auto-top; proc; check -assert"
    done = subprocess.run([*find_tool("yosys", "verilog"), "-q", "-p", script], cwd=file.parent, capture_output=True,
                          text=True, check=False)
    return (done.stdout + done.stderr).splitlines() + [f"exit code {done.returncode}"] * bool(done.returncode)


def slang_says(file):
    """Diagnostics of slang."""
    compilation = Compilation()
    compilation.addSyntaxTree(SyntaxTree.fromFile(str(file)))
    found = compilation.getAllDiagnostics()
    engine = DiagnosticEngine(compilation.sourceManager)
    return [engine.formatMessage(one) for one in found]


def icarus_says(file):
    """Warnings of Icarus Verilog, if it is installed."""
    if shutil.which("iverilog") is None:
        return []
    done = subprocess.run(["iverilog", "-g2005", "-Wall", "-Wno-timescale", "-o", file.with_suffix(".vvp"), file],
                          capture_output=True, text=True, check=False)
    return done.stderr.splitlines()


# half a minute each, of which most is Yosys; the tests above run Verilator's linter on some of them
@pytest.mark.slow
@pytest.mark.parametrize("reset", ["sync", "async"])
@pytest.mark.parametrize("case", [*ANY, *TREES, *WIDE, *NARROW])
def test_all_tools_read_all_configurations(case, reset, tmp_path):
    built = case()
    files = written(built, "router" if built.relations else NETWORK, tmp_path, reset=reset)
    file = files[0]
    assert unexpected(verilator_warnings(*files)) == []
    assert (yosys_says(file), slang_says(file), icarus_says(file)) == ([], [], [])


def test_number_of_configurations():
    assert len([*ANY, *TREES, *WIDE, *NARROW]) == 65


def test_tools_say_what_is_wrong(tmp_path):
    """A wire with two drivers, and a signal that is not declared."""
    file = tmp_path / "wrong.v"
    file.write_text("module wrong(input a, output b);\n  assign b = a;\n  assign b = ~a;\n  assign c = missing;\n"
                    "endmodule\n")
    assert yosys_says(file)
    assert slang_says(file)
    assert unexpected(verilator_warnings(file))
