"""Benchmarks of ``make bench``: speeds, and ratios of speeds measured in the same run.

The title of each table names the processor. Speeds are per second of processor time on one core, except in the table of
load experiments, where the speeds on one core and on two cores are per second of wall-clock time.
"""
