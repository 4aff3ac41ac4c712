"""The software above the network interfaces: posts worms, notes receipts. One program for every engine.

``layout`` lays out a run's messages as arrays, ``program`` is the compiled program over them, ``receipts`` says what
was wrong with one, ``sending`` finds the worm that an interface is sending.
"""

from .layout import Host, Message, lay_out, make_host
from .program import NOW, UNDELIVERED, host_step, run_cycles
from .receipts import check_receipts
from .sending import worm_at_interface

__all__ = ["NOW", "UNDELIVERED", "Host", "Message", "check_receipts", "host_step", "lay_out", "make_host", "run_cycles",
           "worm_at_interface"]
