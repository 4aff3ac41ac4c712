"""Waveform of deep switches: rows, their counters, and readers, in the example of docs/waveforms.md."""

import pytest
import waves

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, run
from wormcast.sim.experiments.message_file import MessageFile, messages_in
from wormcast.sim.waves.record import beside

from .test_trees import changes

INSIDE, WORMS, ROUTERS = "bench.top.network.router_s0.", "bench.top.worms.", "bench.top.routers.router_s0."
NETWORK = topology("examples/networks/star.toml")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    file = tmp_path_factory.mktemp("deep") / "w.vcd"
    messages = messages_in(MessageFile("examples/deep.jsonl", "messages", 100, 100), NETWORK)
    hardware = Configuration(vcs=1, consumption=1, buffer_kind="deep", buffer=32, chunk=8)
    assert run(NETWORK, SCHEMES["tree"], messages, hardware, vcd=file).outcome == "delivered"
    return waves.read(file), *(layout.read_text() for layout in beside(file)[:2])


def test_a_row_from_its_first_flit_to_its_counters_zero(found):
    def seen(name):
        return changes(found[0][name], 81)

    # a flit a cycle from cycle 9 on, in rows of eight; row 0 is closed in cycle 17 and fetched in cycle 51
    rows = seen(f"{ROUTERS}n0_in.vc_0.rows")
    assert rows[:9] == [(0, ""), *((8 + k, f"0+{k}") for k in range(1, 8)), (16, "0+")]
    assert rows[9:12] == [(17, "0+,1+1"), (18, "0:1,1+2"), (19, "0:1,1+3")]
    assert rows[-5:] == [(29, "0:1,1:1,2+"), (31, "0:1,1:1,2:1"), (52, "1:1,2:1"), (55, "2:1"), (63, "")]
    closed = [cycle for cycle, high in seen(f"{INSIDE}n0_input.store.close") if high]
    fetched = [cycle for cycle, high in seen(f"{INSIDE}n0_input.store.fetch") if high]
    assert (closed, fetched) == ([17, 25, 30], [51, 54, 62])
    assert [cycle for cycle, high in seen(f"{INSIDE}n0_in__credit") if high] == [one + 1 for one in fetched]
    assert [cycle for cycle, high in seen(f"{INSIDE}p0_reader.granted") if high] == [8, 50]

    follows = seen(f"{ROUTERS}p1_out.vc_0.reads")
    assert follows == [(0, ""), *((9 + k, f"n0:{k // 8}.{k % 8},follows") for k in range(1, 21)), (30, "")]
    sends = seen(f"{ROUTERS}p0_out.vc_0.reads")
    at = sends.index((51, "n0:0.0"))
    assert sends[at + 1:] == [*((54 + k, f"n0:{k // 8}.{k % 8}") for k in range(1, 21)), (75, "")]
    fetches = [(cycle, text) for cycle, text in seen(f"{ROUTERS}p0_out.vc_0.fetches") if text]
    assert fetches == [(51, "n0:0"), (54, "n0:1"), (62, "n0:2")]
    assert changes(found[0][f"{WORMS}link_s0_to_s1.vc_0.holder"], 81)[-2:] == [(55, "worm_1"), (76, "")]


def test_what_is_stored_has_as_many_bits_as_the_buffer_needs(found):
    stored = found[0][f"{ROUTERS}n0_in.vc_0.stored"]
    assert stored.size == 6
    assert max(int(value, 2) for value in stored.values) == 24


def test_layouts_name_rows_and_readers_behind_each_copy(found):
    signals, gtkwave, surfer = found
    added = [line.split()[1] for line in surfer.splitlines() if line.startswith("variable_add")]
    assert set(added) <= signals.keys()
    assert [line.split("} ")[1].partition("[")[0] for line in gtkwave.splitlines() if line.startswith("+{")] == added
    for name in "n0_in.vc_0.state", "n0_in.vc_0.rows", "p0_out.vc_0.fetches", "p0_out.vc_0.reads", "p1_out.vc_0.reads":
        assert f"{ROUTERS}{name}" in added
    assert "{s1 copies}" not in gtkwave  # one branch is none
