"""What all tests share."""

import gc

# Elaborations make objects by the million and little garbage: looking for it as often as usual is a fifth of the time.
gc.set_threshold(2_000_000, 10, 10)
