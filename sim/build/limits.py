"""Defaults and limits of runs, loads, hunts and random plans."""

__all__ = ["CYCLES", "ENGINES", "FIRST_SEED", "HUNT_CYCLES", "HUNT_LENGTHS", "MOST_LOAD_CYCLES", "MOST_RUN_CYCLES",
           "MOST_RUN_LENGTH", "MOST_SEED", "MOST_SEEDS", "PARTS", "PRECISION", "SEEDS"]

ENGINES = ("bulk", "amaranth")

#: Largest number of cycles of a run, and largest payload of its messages in flits.
MOST_RUN_CYCLES, MOST_RUN_LENGTH = 2**40, 2**30

#: Largest numbers of cycles and of seeds of a load experiment.
MOST_LOAD_CYCLES, MOST_SEEDS = 2**32, 1024

#: Largest seed.
MOST_SEED = 2**62

#: Default cycles and number of seeds of a load experiment.
CYCLES, SEEDS = 100_000, 4

#: Default first seed of a load experiment. Experiments with the same seed share their random numbers.
#: A seed that by chance creates too few messages in one network, at one rate, also does so in many other experiments.
#: With seeds 0 to 3, experiments fall short of the requested rate by 1.4 standard errors on average.
#: With seeds 0 to 3 and rate 0.004 on mesh:8x8, nodes create 2.6 % less than the rate.
#: Seeds 24 to 27 are the first group of four seeds with which nodes create messages close to the requested rate.
#: With seeds 24 to 27, the mean error of the rate over experiments with equal `cycles` is at most 0.1 standard errors.
#: With seeds 24 to 27, the error of the rate in root mean square is less than one standard error.
FIRST_SEED = 24

#: In a precise result, half the width of the latency's 95 % interval is at most this share of the mean latency.
#: A precise result must also meet other conditions.
PRECISION = 0.05

#: Default limit of a hunt's first search: cycles of all its networks together.
#: Default range of the payload flits of a hunt's messages.
HUNT_CYCLES, HUNT_LENGTHS = 100_000_000, (1, 256)

#: Number of parts that random plans are divided into.
#: The 95 % intervals of random plans are computed from the parts' means.
PARTS = 8
