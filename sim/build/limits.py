"""Defaults and limits of runs, loads, hunts and random plans."""

__all__ = ["CYCLES", "ENGINES", "FIRST_SEED", "HUNT_CYCLES", "HUNT_LENGTHS", "MOST_LOAD_CYCLES", "MOST_RUN_CYCLES",
           "MOST_RUN_LENGTH", "MOST_SEED", "MOST_SEEDS", "PRECISION", "SAMPLES", "SEEDS"]

ENGINES = ("bulk", "amaranth")

#: Largest cycle of a run, and largest length of its messages in flits.
MOST_RUN_CYCLES, MOST_RUN_LENGTH = 2**40, 2**30

#: Largest numbers of cycles and of seeds of a load experiment.
MOST_LOAD_CYCLES, MOST_SEEDS = 2**32, 1024

#: Largest seed.
MOST_SEED = 2**62

#: Default cycles and number of seeds of a load experiment.
CYCLES, SEEDS = 100_000, 4

#: Default first seed. Experiments with the same seed share their random numbers. Seeds that create too few messages
#: by chance therefore do so in many networks and at many rates: seeds 0 to 3 fall short of the rate by 1.4 standard
#: errors on average, by 2.6 % at rate 0.004 on mesh:8x8. Of 0 to 3, 4 to 7, ... 24 to 27 are the first four that miss
#: it by at most a tenth of a standard error on average over experiments of one length, and by less than one in root
#: mean square.
FIRST_SEED = 24

#: Largest ratio of half the latency's interval to its mean at which the mean counts as precise.
PRECISION = 0.05

#: Default cycles of all networks of a hunt together, and default payload flits of its messages.
HUNT_CYCLES, HUNT_LENGTHS = 100_000_000, (1, 256)

#: Number of samples that random plans are divided into. Intervals are computed from the samples' means.
SAMPLES = 8
