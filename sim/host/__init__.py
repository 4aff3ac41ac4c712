"""The software above the network interfaces: posts worms, notes receipts. One program for every engine.

``layout`` lays out a run's messages as arrays, ``program`` is the compiled program over them, ``receipts`` says what
was wrong with one, ``packets`` finds the packet that a flit belongs to, ``window`` drops old messages and adds new
ones.
"""

from .layout import Host, Message, lay_out, make_host
from .packets import Packet, packet_at_interface, packet_of
from .program import NOW, UNDELIVERED, gather, host_step, run_cycles
from .receipts import check_receipts
from .window import append, drop, finished

__all__ = ["NOW", "UNDELIVERED", "Host", "Message", "Packet", "append", "check_receipts", "drop", "finished", "gather",
           "host_step", "lay_out", "make_host", "packet_at_interface", "packet_of", "run_cycles"]
