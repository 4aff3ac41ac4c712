"""Waveforms: written (``record``), and read back (``view``)."""
