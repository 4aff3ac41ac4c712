"""docs/ports.md and its timing diagrams are what the declarations and a fresh simulation make."""

import json
import re
from pathlib import Path

from tools.port_page import NETWORKS, WITH_PARAMETERS, filled
from tools.timing import Stimulus, TimingScene, draw, records, scenes, stored, wave_json
from wormcast.algorithms import SCHEMES, TOPOLOGIES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "ports.md").read_text()


def test_page_is_what_the_declarations_make():
    assert filled(PAGE) == PAGE, "run `make ports`"


def test_changed_tables_are_made_anew():
    spoilt = PAGE.replace("| router, path worms | 2 | 2 | 3 |", "| router, path worms | 2 | 2 | 2 |").replace(
        "| 8 CREDIT |", "| not detected |")
    assert spoilt != PAGE
    assert filled(spoilt) == PAGE


def test_every_scheme_has_a_row_or_a_reason_on_every_kind_of_network():
    assert set(NETWORKS) == set(TOPOLOGIES.own)
    made, refused = (PAGE.partition(f"<!-- made: {name} -->")[2].partition("<!-- end -->")[0]
                     for name in ("networks", "refused"))
    supported = {(network.partition(":")[0], scheme) for network, schemes in
                 re.findall(r"^\| ([^|]+:[^|]+) \| ([^|]+) \|", made, re.MULTILINE) for scheme in schemes.split(", ")}
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", refused, re.MULTILINE)[1:]  # without the table's head
    impossible = {(kind, scheme) for schemes, kinds in rows for kind in kinds.split(", ")
                  for scheme in schemes.split(", ")}
    assert not supported & impossible
    assert supported | impossible == {(kind, scheme) for kind in NETWORKS
                                       for scheme in (*SCHEMES.own, *WITH_PARAMETERS)}


def test_timing_diagrams_are_those_of_a_fresh_simulation():
    found = records()
    assert {scene.file for scene in scenes()} == {path.name for path in DOCS.glob("timing_*.svg")}
    for scene in scenes():
        fresh = json.loads(json.dumps(wave_json(scene, found[scene.name])))
        assert stored((DOCS / scene.file).read_text()) == fresh, f"{scene.file}: run `make ports`"
        assert f"]({scene.file})" in PAGE


def test_a_diagram_shows_what_was_recorded():
    seen = {"clk": [], "a_valid": [0, 1, 1, 1, 0], "a_vc": [0, 1, 0, 0, 1], "a_credit": [0, 0, 2, 1, 0],
            "a_flit": [7, 0x934D34D3 << 2 | 1, 5 << 2, 6 << 2 | 2, 3], "rst": [0, 0, 0, 0, 1]}
    scene = TimingScene("x", Stimulus(5), ("rst", "a"))
    diagram = wave_json(scene, seen)
    assert diagram["signal"] == [
        {"name": "clk", "wave": "P...."}, {"name": "rst", "wave": "0...1"},
        ["a", {"name": "valid", "wave": "01..0"}, {"name": "vc", "wave": "x===x", "data": ["1", "0", "0"]},
         {"name": "flit", "wave": "x4=5x", "data": ["H 2.3", "5", "6 T"]},
         {"name": "credit", "wave": "0.==0", "data": ["vc 1", "vc 0"]}]]
    svg = draw(diagram)
    assert stored(svg) == diagram
    assert all(f">{text}<" in svg for text in ("H 2.3", "6 T", "vc 1"))
