"""Figure 4 of [Boppana98] at any length."""

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.run import run

from .bench import send

DEPTHS = (1, 2, 4, 8, 16)


def figure4(length, *, consumption=1, **options):
    """Nodes 0 to 3 in a row: 0 sends to 1 and 2 while 3 sends to 2 and 1."""
    configuration = Configuration(**{"vcs": 1, "buffer": 4, "consumption": consumption} | options)
    return run(topology("mesh:1x4"), SCHEMES["dual-path"],
               [send(0, 1, 2, length=length), send(3, 2, 1, length=length)], configuration)
