"""A sweep that is run in a second or two: two schemes at three rates."""

__all__ = ["SWEEP"]

SWEEP = """\
topology = "mesh:4x4"
scheme = ["dual-path", "multipath"]
rate = [0.01, 0.02, 0.03]
cycles = 2000
seeds = 2
destinations_mean = 4
"""
