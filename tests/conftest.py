"""What all tests share."""

import gc

# Elaborations make objects by the million and little garbage: to look for it as often as usual takes a fifth of the time.
gc.set_threshold(2_000_000, 10, 10)
