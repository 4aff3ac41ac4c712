"""Inputs of switches that copy a worm to several outputs ([Varavithya]: asynchronous tree-based multicasting)."""

from .input_unit import REPLICATION, TreeInput

__all__ = ["REPLICATION", "TreeInput"]
