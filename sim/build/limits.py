"""Defaults and limits of runs, loads, hunts and random plans."""

__all__ = ["CYCLES", "ENGINES", "FIRST_SEED", "HUNT_CYCLES", "HUNT_LENGTHS", "MOST_CYCLES", "PRECISION", "SAMPLES",
           "SEEDS"]

ENGINES = ("bulk", "amaranth")

#: Largest cycle and length of a message of a run, in flits.
MOST_CYCLES = 2**40

#: Cycles of a load experiment and number of its seeds, by default.
CYCLES, SEEDS = 100_000, 4

#: The first of these seeds. Experiments with the same seed share their random numbers, so seeds that create too few
#: messages by chance do so in many networks and at many rates: 0 to 3 fall short of the rate by 1.4 standard errors on
#: average, by 2.6 % at rate 0.004 on mesh:8x8. Of 0 to 3, 4 to 7, ... these are the first four that miss it by a tenth
#: of a standard error at most, on average over experiments of one length, and by less than one in root mean square.
FIRST_SEED = 24

#: Half the latency's interval over its mean, at which the mean counts as precise.
PRECISION = 0.05

#: Cycles of all networks of a hunt together, and payload flits of its messages, by default.
HUNT_CYCLES, HUNT_LENGTHS = 100_000_000, (1, 256)

#: Samples that random plans are divided into: intervals are of their means.
SAMPLES = 8
