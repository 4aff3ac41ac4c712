"""Waveforms: recording (``record``) and reading (``view``)."""
