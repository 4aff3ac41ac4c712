"""Imports of a run and of a load whose kernels are on disk."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys

from wormcast.algorithms import find_scheme, topology
from wormcast.sim import Configuration, Message, Traffic, load, run

network = topology({network!r})
scheme = find_scheme({scheme!r}, network)
configuration = Configuration(**{options!r})
run(network, scheme, [Message(0, 0, (1, 2), 20)], configuration)
load(network, scheme, Traffic(rate=0.01, length=8, **{traffic!r}), configuration=configuration, cycles=400, warmup=100,
     seeds=[0], workers=1)
print(*(name for name in ("amaranth", "matplotlib") if name in sys.modules))
"""


@pytest.mark.parametrize(("network", "scheme", "options", "traffic"), [
    ("mesh:3x3", "dual-path", {}, {"destinations_mean": 2}),
    ("min:b=2,stages=2", "atbm", {"consumption": 1}, {"destinations_mean": 2}),
    ("ring:5", "individual", {"vcs": 2}, {"multicast_fraction": 0.0}),
])
def test_neither_amaranth_nor_matplotlib(network, scheme, options, traffic):
    program = PROGRAM.format(network=network, scheme=scheme, options=options, traffic=traffic)
    told = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
            for _ in range(2)]
    assert told[1] == ""
