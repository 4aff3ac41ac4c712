"""Tables of documents are what their commands print."""

import re
import shlex
import threading
from pathlib import Path

import pytest

from tools.tables import PRINTED, ROUTER, print_anew, require_area
from wormcast.algorithms import WormcastError
from wormcast.sim.cli.app import app
from wormcast.sim.common.requirements import ToolMissing
from wormcast.sim.export.synthesis import flow

DOCUMENT = Path(__file__).parents[2] / "docs/synthesis.md"

TEXT = """
    wormcast --version

<!-- printed -->
of old
<!-- end -->
between

    wormcast list schemes --json

<!-- printed -->
<!-- end -->
"""


def test_what_is_printed_is_put_in_place(tmp_path):
    document = tmp_path / "a.md"
    document.write_text(TEXT)
    assert print_anew(document, "version") == 1
    assert re.fullmatch(r"\n\d+\.\d+\.\d+\S*( \(commit \w+\))?\n\n", PRINTED.search(document.read_text())[2])
    assert print_anew(document) == 2
    again = document.read_text()
    assert '"dual-path"' in PRINTED.findall(again)[1][1]
    assert "of old" not in again
    assert "\n\n<!-- end -->\nbetween\n\n    wormcast list" in again


@pytest.mark.slow  # files are written whole: test_whole_file
def test_a_document_stays_as_it_was_if_a_command_fails(tmp_path):
    document = tmp_path / "a.md"
    document.write_text(TEXT.replace("list schemes", "list nothing"))
    before = document.read_text()
    with pytest.raises(WormcastError, match=r"^tables: wormcast list nothing --json ended with 2$"):
        print_anew(document)
    assert document.read_text() == before


def test_the_router_s_area_is_bounded():
    """The document's area is within the bound; a larger or missing one is an error. Other commands have no bound."""
    [printed] = [printed for command, printed in PRINTED.findall(DOCUMENT.read_text())
                 if command.startswith(f"{ROUTER} --seeds")]
    require_area(f"{ROUTER} --seeds 3", printed)
    for spoilt in (re.sub(r"\| LUT4 \| \d+", "| LUT4 | 2501", printed), printed.replace("| FF |", "| no FF |")):
        with pytest.raises(WormcastError, match=r"^tables: wormcast synth router .*: the number of "
                                                r"(LUT4 cells is 2501|FF cells is missing)"):
            require_area(f"{ROUTER} --seeds 3", spoilt)
        require_area("synth interface", spoilt)


@pytest.mark.parametrize("command", [found[0] for found in PRINTED.findall(DOCUMENT.read_text())])
def test_commands_of_the_document_are_accepted(command, monkeypatch, tmp_path):
    """Up to where a tool would run."""
    def missing(name, extra):
        raise ToolMissing(name, extra)

    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)

    monkeypatch.setattr(flow, "find_tool", missing)
    with pytest.raises(ToolMissing):
        app(shlex.split(command), standalone_mode=False)
    # other points may be under way: without the patch, they would go on to run the tools
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join()
