"""Waveform of a tree worm: the example of docs/waveforms.md, cycle by cycle."""

import pytest
import waves
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, run
from wormcast.sim.experiments.message_file import MessageFile, messages_in
from wormcast.sim.waves.record import beside

INSIDE, WORMS, ROUTERS = "bench.top.network.router_s", "bench.top.worms.", "bench.top.routers.router_s"
NETWORK = topology("min:b=2,stages=3")


def shown(path, scheme="atbm", **options):
    messages = messages_in(MessageFile("examples/tree.jsonl", "messages", 100, 100), NETWORK)
    hardware = Configuration(vcs=1, consumption=1, flit_width=9, **options)
    assert run(NETWORK, SCHEMES[scheme], messages, hardware, vcd=path).outcome == "delivered"
    return waves.read(path)


def changes(wave, cycles=58):
    """Cycles in which a value is another than before, and what it is then; numbers as such."""
    found, before = [], None
    for cycle in range(cycles):
        value = wave.at(cycle * waves.PERIOD)
        value = value.removeprefix("s") if value.startswith("s") else int(value, 2)
        if value != before:
            found.append((cycle, value))
        before = value
    return found


def test_token_split_branches_chunks_and_reports(tmp_path):
    found = shown(tmp_path / "w.vcd")
    assert changes(found[f"{INSIDE}0.token.in_use"]) == [(0, 0), (9, 1), (45, 0)]
    # held from the cycle behind the one in which it came; before, and behind, it comes every fourth cycle
    assert [cycle for cycle, here in changes(found[f"{INSIDE}0.token.here"]) if here] == [0, 4, 8, 48, 52, 56]
    for link in ("link_s0_to_s4", "link_s0_to_s6"):  # copied at once
        assert changes(found[f"{WORMS}{link}.vc_0.holder"])[1] == (10, "worm_1")
    assert changes(found[f"{WORMS}link_s4_to_s9.vc_0.holder"]) == [
        (0, ""), (9, "worm_0"), (35, ""), (36, "worm_1"), (54, "")]
    assert changes(found[f"{ROUTERS}4.p0_in.vc_0.state"]) == [
        (0, "IDLE"), (12, "WANTS_TOKEN"), (13, "BRANCHES"), (36, "MOVES"), (53, "IDLE")]
    # the copy to s8 alone takes the first four flits, then one after the other as the other branch goes on
    counts = [changes(found[f"{INSIDE}4.p0_input.buffer.vc0_pending{k}"]) for k in range(4)]
    assert [one[:3] for one in counts] == [[(0, 0), (max(12, 11 + k), 2), (14 + k, 1)] for k in range(4)]
    assert [one[3] for one in counts] == [(36, 0), (37, 0), (38, 0), (39, 0)]
    assert [cycle for cycle, here in changes(found[f"{INSIDE}0.p1_out__arrived"]) if here] == [21]
    assert [cycle for cycle, here in changes(found[f"{INSIDE}0.p0_out__arrived"]) if here] == [43]
    assert changes(found[f"{ROUTERS}4.p0_in.vc_0.goes_to"]) == [(0, ""), (12, "p0+p1"), (53, "")]


@pytest.mark.parametrize(("scheme", "tokens"), [
    ("atbm", "on"), slow("atbm", "off"), slow("tree-synchronous", "on"), slow("tree-serial", "on")])
def test_layouts_name_what_is_there_behind_each_copy(scheme, tokens, tmp_path):
    found = shown(tmp_path / "w.vcd", scheme, tokens=tokens)
    gtkwave, surfer = (file.read_text() for file in beside(tmp_path / "w.vcd")[:2])
    added = [line.split()[1] for line in surfer.splitlines() if line.startswith("variable_add")]
    assert set(added) <= found.keys()
    named = [line.split("} ")[1].partition("[")[0] for line in gtkwave.splitlines() if line.startswith("+{")]
    assert named == added
    for switch in (0, 4, 6):
        copies = gtkwave.index(f"+{{s{switch} copies}}")
        assert copies > gtkwave.index("-worm 1: 0 to 1 3 5 6")
        assert (f"router_s{switch}.token.here" in gtkwave) == (tokens == "on")
        assert (f"router_s{switch}.p1_out__arrived" in gtkwave) == (tokens == "on")
        assert (f"router_s{switch}.p0_input.buffer.vc0_pending0[1:0]" in gtkwave) == (scheme != "tree-synchronous")
    assert "s8 copies" not in gtkwave  # one branch is none
