"""Benchmarks of ``make bench``: all speeds in one run, as ratios, with the processor's name in each table.

Times on one core are processor time. Times on two cores and of load experiments are wall-clock time.
"""
