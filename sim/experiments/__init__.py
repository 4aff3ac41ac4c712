"""Experiments: a run of given messages, loads of random traffic or traces, sweeps over their options."""
