"""Waveforms of the bulk engine, every signal of some instances over some cycles; and state kept in files.

``recorder`` writes what an engine does from now on, ``changes`` finds what is new in a cycle, ``instances`` finds
instances by their names, ``window`` records some cycles of a program by running it from its start, ``around`` says
which cycles and instances show how a deadlock came about. ``arrays`` has the state of objects as arrays by name,
``checkpoint`` writes and reads such arrays.
"""

from .around import around
from .instances import find_instances
from .recorder import record
from .window import record_window, require_size

__all__ = ["around", "find_instances", "record", "record_window", "require_size"]
