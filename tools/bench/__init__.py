"""``make bench``: how fast everything is, in one run, as ratios and with the processor beside every figure.

Times of one core are processor time; those of two cores, and of load experiments, are by the clock.
"""
