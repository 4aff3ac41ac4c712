"""Waveform of smart interfaces: texts, one of several lanes, and the example of docs/waveforms.md."""

import numpy as np
import pytest
import waves

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.run import plan_messages, run
from wormcast.sim.host import lay_out
from wormcast.sim.waves.record import RecordingFacts, find_instances, record

from ...bench import send
from .test_trees import changes


def test_children_of_a_later_lane_have_the_names_of_nodes(tmp_path):
    mesh, scheme = topology("mesh:1x4"), SCHEMES["k-binomial"]
    smart = Configuration(ni="fpfs", packet=16, t_hs=20, t_hr=20, ratio="4")
    network = Network(mesh, scheme, smart, lanes=2)
    message = send(0, 1, 2, 3, length=32)
    engine = BulkEngine(network, lay_out(network, np.array([0]), np.array([32]), plan_messages(mesh, scheme, [message]),
                                         lane=1))
    record(engine, tmp_path / "w.vcd", 240, find_instances(network, "2", lane=1),
           RecordingFacts(np.zeros(3, int), lane=1), first=0)
    copies = waves.read(tmp_path / "w.vcd")["bench.top.interfaces.interface_lane1_0_2.copies"]
    said = [text.removeprefix("s").replace("\\x20", " ") for text in dict.fromkeys(copies.values)]
    assert [text for text in said if text] == [
        f"{does} 0.{packet} worm_2.{packet} to 0.3" for packet in range(2) for does in ("waits", "sends")]


def intervals(found, cycles):
    """Return a function of a signal's name: the intervals in which the signal is 1, last cycles included."""
    def high(name):
        ends = [cycle for cycle, _ in changes(found[name], cycles)[1:]]
        return list(zip(ends[::2], [end - 1 for end in ends[1::2]], strict=True))
    return high


@pytest.mark.slow  # most of it the compiler's
def test_packets_in_a_receive_queue(tmp_path):
    """Two are stored; the third one waits in the network until the first one's place is free."""
    options = {"ni": "fpfs", "packet": 16, "consumption": 1, "t_hs": 100, "t_hr": 100, "t_ns": 5, "t_nr": 40,
               "receive_queue": 2}
    result = run(topology("mesh:1x4"), SCHEMES["k-binomial"], [send(0, 1, 2, 3, length=48)], Configuration(**options),
                 vcd=tmp_path / "w.vcd")
    assert result.outcome == "delivered"
    found = waves.read(tmp_path / "w.vcd")
    node = "bench.top.network.interface_0_1."
    high = intervals(found, 320)
    queue, words = f"{node}consumption_0.queue.", "bench.top.interfaces.interface_0_1."

    def seen(name):
        return changes(found[name], 320)

    def said(name):
        return [(cycle, text.replace("\\x20", " ")) for cycle, text in seen(f"{words}{name}")]

    assert high(f"{node}network_in_0__valid") == [(135, 150), (159, 174), (183, 186), (211, 222)]
    assert high(f"{queue}write") == [(136, 151), (160, 175), (208, 223)]
    assert seen(f"{queue}room") == [(0, 1), (175, 0), (207, 1), (223, 0), (248, 1)]
    assert seen(f"{queue}vc0_used") == [(0, 0), (137, 1), (161, 2), (208, 1), (209, 2), (249, 1), (290, 0)]
    assert high(f"{queue}waiting") == [(152, 273)]
    assert [end for end, _ in high(f"{node}consumption_0.processor.done")] == [191, 232, 273]
    assert high(f"{queue}pop") == high(f"{node}consumption_0.consumed") == [(192, 207), (233, 248), (274, 289)]
    assert high(f"{node}host_out_0__valid") == [(193, 208), (234, 249), (275, 290)]
    assert [spent for spent in seen("bench.top.worms.consumption_0_1.vc_0.spent") if spent[1] == 4] == [(187, 4)]
    assert high(f"{node}network_in_0__credit")[2] == (209, 224)
    assert said("receives") == [(0, ""), *((at, text) for begin in (152, 193, 234)
                                           for at, text in ((begin, "waits t_nr"), (begin + 40, "")))]
    assert (193, "0.0 worm_0.0+") in said("holds")
    assert said("copies")[1:3] == [(209, "waits 0.0 worm_1.0 to 0.2"), (215, "sends 0.0 worm_1.0 to 0.2")]
    assert high(f"{node}forwarding.has")[0][0] == 209
    assert high(f"{node}network_out_0__valid")[0][0] == 150 + 16 + 4 + 40 + 5


@pytest.mark.slow  # most of it the compiler's
def test_grants_of_the_bus(tmp_path):
    """Links take turns while both request grants; a link that has no more flits keeps two."""
    options = {"vcs": 2, "consumption": 1, "dma": "1/2", "dma_engine": "interface"}
    run(topology("mesh:1x2"), SCHEMES["individual"], [send(0, 1, length=12), send(1, 0, length=12, at=4)],
        Configuration(**options), vcd=tmp_path / "w.vcd")
    found = waves.read(tmp_path / "w.vcd")
    node = "bench.top.network.interface_0_0."
    high = intervals(found, 54)

    def at(name):
        wave = found[f"{node}dma_0.{name}"]
        return [int(wave.at(cycle * waves.PERIOD), 2) for cycle in range(54)]

    assert [high(f"{node}{name}")[0][0] for name in ("host_in_0__valid", "network_out_0__valid", "network_in_0__valid",
                                                     "host_out_0__valid")] == [1, 3, 14, 16]
    crosses, granted = at("crosses"), at("granted")
    assert [cycle for cycle in range(54) if crosses[cycle] & 2] == [2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 22, 26, 30]
    assert [cycle for cycle in range(54) if crosses[cycle] & 1] == [15, 16, 20, 24, 28, 32, 36, 40, 42, 44, 46, 48]
    assert [granted[cycle] for cycle in (3, 4, 5, 17, 19, 33, 35, 37, 39)] == [2, 0, 2, 2, 1, 2, 1, 2, 1]
    assert at("early")[16:19] == [2, 2, 3]
    assert [at("may_cross")[cycle] for cycle in (4, 5, 17)] == [3, 1, 0]
    assert [at("parts")[cycle] for cycle in (0, 3, 4, 5, 52, 53)] == [2, 2, 1, 2, 1, 2]
    assert at("link1_grants")[37:39] == [1, 2]
    assert [at(f"link{k}_grants")[53] for k in range(2)] == [2, 2]
