"""What smart interfaces do, in words, in waveforms of one lane of several."""

import numpy as np
import waves

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.run import plan_messages
from wormcast.sim.host import lay_out
from wormcast.sim.waves.record import About, find_instances, record

from ...bench import send


def test_children_of_a_later_lane_have_the_names_of_nodes(tmp_path):
    mesh, scheme = topology("mesh:1x4"), SCHEMES["k-binomial"]
    smart = Configuration(ni="fpfs", packet=16, t_hs=20, t_hr=20, ratio="4")
    network = Network(mesh, scheme, smart, lanes=2)
    message = send(0, 1, 2, 3, length=32)
    engine = BulkEngine(network, lay_out(network, np.array([0]), np.array([32]), plan_messages(mesh, scheme, [message]),
                                         lane=1))
    record(engine, tmp_path / "w.vcd", 240, find_instances(network, "2", lane=1), About(np.zeros(3, int), lane=1),
           first=0)
    copies = waves.read(tmp_path / "w.vcd")["bench.top.interfaces.interface_lane1_0_2.copies"]
    said = [text.removeprefix("s").replace("\\x20", " ") for text in dict.fromkeys(copies.values)]
    assert [text for text in said if text] == [
        f"{does} 0.{packet} worm_2.{packet} to 0.3" for packet in range(2) for does in ("waits", "sends")]
