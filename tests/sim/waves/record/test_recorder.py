"""The bulk engine's waveform is Amaranth's, signal for signal, and recording changes nothing."""

from pathlib import Path

import numpy as np
import pytest
import waves
from vcdvcd import VCDVCD

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.run import plan_messages
from wormcast.sim.host import lay_out
from wormcast.sim.waves.record import RecordingFacts, find_instances, record, record_window
from wormcast.sim.waves.record import cycle_window as window_module

from ...bench import bulk, host_of, network, send

NETWORK = "bench.top.network."
SMALL = ("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "consumption": 2})
WORMS = [send(0, 1, 2, length=6), send(2, 1, 0, length=3), send(1, 0, length=4, at=9)]


def engine_of(case, messages, **stalls):
    mesh, scheme, options = case
    return bulk(mesh, scheme, messages, **stalls, **options)


def everything(engine):
    return find_instances(engine.network, "all")


def state_of(engine):
    """All that an engine holds."""
    return [*(block.state for block in engine.blocks.values()), engine.inputs, engine.outputs, *engine.host]


def about(engine, lane=0):
    """Each worm a message of its own."""
    return RecordingFacts(np.arange(len(engine.host.worms)), lane=lane)


def record_all(case, path, cycles, messages=WORMS, first=0, shown="all", **stalls):
    """Record the cycles from ``first`` on of a fresh engine; return the engine."""
    engine = engine_of(case, messages, **stalls)
    engine.run(first, beyond=True)
    record(engine, path, cycles, find_instances(engine.network, shown), about(engine), first=first)
    return engine


def judged(case, path, cycles, messages, **stalls):
    """The waveform of Amaranth's simulator."""
    mesh, scheme, options = case
    net = network(mesh, scheme, tuple(sorted(options.items())))
    AmaranthEngine(net, host_of(net, messages, **stalls), vcd=path).run(cycles, beyond=True)
    return waves.read(path)


def of_instances(wave, names=None):
    """Names of the signals inside the instances, or some of them; those without bits show nothing."""
    inside = {name for name in wave if name.startswith((f"{NETWORK}router_", f"{NETWORK}interface_"))
              and wave[name].size}
    return {name for name in inside if names is None or name.split(".")[3] in names}


def compare(case, tmp_path, messages, cycles, **stalls):
    theirs = judged(case, tmp_path / "amaranth.vcd", cycles, messages, **stalls)
    record_all(case, tmp_path / "bulk.vcd", cycles, messages, **stalls)
    ours = waves.read(tmp_path / "bulk.vcd")
    names = of_instances(theirs)
    assert names == of_instances(ours)
    assert all(wave.size for wave in ours.values()), "wires without bits"
    assert len(names) > 500
    found = waves.differences(ours, theirs, range(cycles), names)
    assert found == []
    for name in ("clk", "rst"):
        clock = f"bench.top.{name}"
        halves = range(1, 2 * cycles - 1)
        assert [ours[clock].at(half * waves.PERIOD // 2) for half in halves] == [
            theirs[clock].at(half * waves.PERIOD // 2) for half in halves]
    busy = [name for name in names if len(ours[name].times) > 5]
    assert len(busy) > 50, "next to nothing moved: the comparison says little"
    return ours


def test_waveforms_of_a_multicast_are_amaranths(tmp_path):
    """All names, and all values in each cycle; two virtual channels, independent readers, separate links."""
    case = ("mesh:1x3", "dual-path", {"vcs": 2, "buffer": 3, "readers": "independent", "consumption_links": "separate",
                                      "flit_width": 20, "packet": 2, "t_nr": 1})
    compare(case, tmp_path, [send(0, 1, 2, length=5), send(2, 0, 1, length=4, at=2), send(2, 1, length=3)], 45,
            stall=0.2, seed=3)


@pytest.mark.slow  # the engines agree on them: test_engines_agree
def test_waveforms_of_wide_flits_are_amaranths(tmp_path):
    """The same where a signal takes several machine words."""
    case = ("mesh:1x2", "individual", {"vcs": 1, "buffer": 2, "consumption": 1, "flit_width": 130})
    compare(case, tmp_path, [send(0, 1, length=9), send(1, 0, length=5, at=3)], 30)


@pytest.mark.slow
@pytest.mark.parametrize("case", [
    ("mesh:2x3", "dual-path", {}),
    ("mesh:2x2", "multipath", {"vcs": 2, "buffer": 3, "readers": "independent", "ports": "all",
                               "consumption_links": "separate"}),
    ("mesh:2x2", "dual-path", {"vcs": 2, "delays": "fast", "storage": "registers"}),
    ("mesh:2x2x2", "dual-path", {"vcs": 1, "buffer": 2, "flit_width": 16}),
])
def test_waveforms_of_other_routers_are_amaranths(case, tmp_path):
    nodes = topology(case[0]).nodes
    messages = [send(source, *(node for node in range(nodes) if (node + source) % 3 and node != source), length=4)
                for source in range(nodes)]
    compare(case, tmp_path, messages, 60)


def test_a_window_shows_what_the_whole_waveform_shows(tmp_path):
    record_all(SMALL, tmp_path / "whole.vcd", 40)
    record_all(SMALL, tmp_path / "window.vcd", 12, first=17, shown="1,interface_0_2")
    whole, window = waves.read(tmp_path / "whole.vcd"), waves.read(tmp_path / "window.vcd")
    names = of_instances(whole, ("router_0_1", "interface_0_1", "interface_0_2"))
    assert of_instances(window) == names
    assert waves.differences(window, whole, range(17, 29), names | {"bench.top.clk"}) == []
    assert window["bench.top.clk"].times == [half * waves.PERIOD // 2 for half in range(33, 57)]
    assert "\n#28500000\n" in (tmp_path / "window.vcd").read_text()


def test_the_same_cycles_give_the_same_bytes(tmp_path):
    record_all(SMALL, tmp_path / "a.vcd", 25, first=3)
    record_all(SMALL, tmp_path / "b.vcd", 25, first=3)
    assert (tmp_path / "a.vcd").read_bytes() == (tmp_path / "b.vcd").read_bytes()


def test_recording_changes_nothing(tmp_path):
    recorded = record_all(SMALL, tmp_path / "wave.vcd", 20, first=6, stall=0.3)
    plain = engine_of(SMALL, WORMS, stall=0.3)
    plain.run(26, beyond=True)
    for ours, theirs in zip(state_of(recorded), state_of(plain), strict=True):
        assert (ours == theirs).all()
    recorded.run(60, beyond=True)
    plain.run(60, beyond=True)
    assert all((ours == theirs).all() for ours, theirs in zip(state_of(recorded), state_of(plain), strict=True))
    assert plain.host.left.sum() == 0


def test_flits_cross_a_router_in_the_cycles_that_the_host_sees(tmp_path):
    """Read by another library: payload on the last link in the cycles of the result."""
    engine = record_all(SMALL, tmp_path / "wave.vcd", 60)
    wave = VCDVCD(str(tmp_path / "wave.vcd"), store_tvs=True)
    valid, head = (wave[f"{NETWORK}interface_0_2.{name}"] for name in ("host_out_0__valid", "\\host_out_0__flit.head"))
    taken = [cycle for cycle in range(60) if valid[cycle * waves.PERIOD] == "1" and head[cycle * waves.PERIOD] == "0"]
    (delivery,) = np.flatnonzero((engine.host.deliveries["node"] == 2) & (engine.host.deliveries["worm"] == 0))
    assert (taken[0], taken[-1], len(taken)) == (engine.host.head[delivery], engine.host.tail[delivery], 6)


def test_instances_of_a_later_tile_are_recorded(tmp_path):
    """One lane of many shows what the only one shows, wherever it lies in memory."""
    mesh, scheme, options = topology("mesh:1x3"), SCHEMES["dual-path"], Configuration(**SMALL[2])
    many = Network(mesh, scheme, options, lanes=30)
    worms = plan_messages(mesh, scheme, WORMS)
    at, length = (np.array([getattr(one, field) for one in WORMS]) for field in ("at", "length"))
    engine = BulkEngine(many, lay_out(many, at, length, worms, lane=25))
    shown = find_instances(many, "0,1,2,router_lane0_0_0", lane=25)
    record(engine, tmp_path / "many.vcd", 40, shown, about(engine, lane=25), first=0)
    record_all(SMALL, tmp_path / "one.vcd", 40)
    found, one = waves.read(tmp_path / "many.vcd"), waves.read(tmp_path / "one.vcd")
    ours = {name.replace("_lane25", ""): wave for name, wave in found.items() if "_lane0" not in name}
    assert of_instances(ours) == of_instances(one)
    assert waves.differences(ours, one, range(40), of_instances(one)) == []
    assert found[f"{NETWORK}router_lane0_0_0.local_in__valid"].values == ["0"]


@pytest.mark.parametrize(("text", "found"), [
    ("1", [("router", 1), ("interface", 1)]),
    ("0.2, interface_0_0", [("router", 2), ("interface", 2), ("interface", 0)]),
    ("@0,0", [("router", 0), ("interface", 0)]),
    ("all", [("router", 0), ("router", 1), ("router", 2), ("interface", 0), ("interface", 1), ("interface", 2)]),
])
def test_instances_have_the_names_of_the_topology_and_of_the_waveform(text, found):
    assert find_instances(network(SMALL[0], SMALL[1], ()), text) == found


@pytest.mark.parametrize(("text", "sentence"), [
    ("3", ("instances: '3' is not in mesh:1x3. Allowed: an id (up to 2), coordinates (up to 0.2) or a label (up to @2)"
           "; all; router_0_0 to ")),
    ("router_0_3", "instances: 'router_0_3' is not valid: mesh:1x3 has no such instance. Allowed: router_0_0 t"),
    ("hub", "instances: 'hub' is not in mesh:1x3"),
    ("", "instances: '' is not in mesh:1x3"),
])
def test_unknown_instances_are_refused(text, sentence):
    with pytest.raises(WormcastError) as error:
        find_instances(network(SMALL[0], SMALL[1], ()), text)
    assert str(error.value).startswith(sentence)


def test_an_absurd_waveform_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    engine = engine_of(SMALL, WORMS)
    monkeypatch.setattr(window_module, "MOST_VALUES", 10_000_000)
    path = tmp_path / "wave.vcd"
    with pytest.raises(WormcastError, match=r"waveform: \d+ signals in 20000 cycles are not valid: too many values\. "
                                            "Allowed: at most 10"):
        record_window(engine.network, engine.host, path, 0, 20_000, everything(engine), about(engine))
    assert not path.exists()
    record_window(engine.network, engine.host, path, 0, 20, everything(engine), about(engine))
    assert path.exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        record_all(SMALL, Path(tmp_path / "none" / "wave.vcd"), 1)
