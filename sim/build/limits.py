"""Defaults and limits of runs, loads, hunts and random plans."""

__all__ = ["CYCLES", "ENGINES", "HUNT_CYCLES", "HUNT_LENGTHS", "MOST_CYCLES", "PRECISION", "SAMPLES", "SEEDS"]

ENGINES = ("bulk", "amaranth")

#: Largest cycle and length of a message of a run, in flits.
MOST_CYCLES = 2**40

#: Cycles of a load experiment and number of its seeds, by default.
CYCLES, SEEDS = 100_000, 4

#: Half the latency's interval over its mean, at which the mean counts as precise.
PRECISION = 0.05

#: Cycles of all networks of a hunt together, and payload flits of its messages, by default.
HUNT_CYCLES, HUNT_LENGTHS = 100_000_000, (1, 256)

#: Samples that random plans are divided into: intervals are of their means.
SAMPLES = 8
