"""``verilator --lint-only -Wall`` has nothing to say about what is exported."""

import re
import subprocess

import pytest
from cases import some

from wormcast.sim.build.components import COMPONENTS
from wormcast.sim.common.external import find_tool
from wormcast.sim.export.verilog import NETWORK, export

from .cases import ANY, TREES, WIDE, blueprint, having, names_in

#: Warnings that stay, and why.
WAIVED = {
    "DECLFILENAME": "one file holds all modules of a component, Verilator wants a file for each; said once a file",
}


def warnings(built, what, folder):
    """Warnings by their kind, each with its line, of the Verilog and the checkers that are bound to it."""
    made = export(built, what, command="none")
    texts = {f"{made.module}.v": made.verilog, "checks.sv": made.checks, "bind.sv": made.bind}
    given = [name for name, text in texts.items() if text]
    for name in given:
        assert "lint_off" not in texts[name]
        (folder / name).write_text(texts[name])
    tool = find_tool("verilator-cli", "cocotb")
    done = subprocess.run([*tool, "--lint-only", "-Wall", "--assert", "--top-module", made.module, *given], cwd=folder,
                          capture_output=True, text=True, check=False)
    return [(found[1], line) for line in done.stderr.splitlines()
            if not line.startswith("%Error: Exiting") and (found := re.match(r"%(?:Warning-)?(\w+)", line))]


def unexpected(found):
    return [line for kind, line in found if kind not in WAIVED]


# the networks below hold the others, but for retransmission, which is below, too
@pytest.mark.parametrize("what", some([name for name in COMPONENTS if name != "router"], "decoder", "interface"))
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
