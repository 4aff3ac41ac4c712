"""Experiments: runs of given messages, loads of random traffic or traces, sweeps over options, hunts, figures."""
