"""The software above the network interfaces: posts worms, notes receipts. One program for every engine.

``message`` and ``layout`` lay out a run's messages as arrays, ``program`` is the compiled program over them,
``receipts`` says what was wrong with one, ``packets`` finds the packet that a flit belongs to, ``window`` drops old
messages and adds new ones, ``waits`` lets messages wait for receipts of others, ``sound`` refuses what is no program.
"""

from .layout import Host, lay_out
from .message import Message, make_host
from .packets import Packet, packet_at_interface, packet_of
from .program import NOW, SAMPLES, UNDELIVERED, UNDER_WAY, count_waits, gather, host_step, run_cycles, sampled, widen
from .receipts import check_receipts
from .sound import require_program
from .waits import wait_for
from .window import append, drop, finished

__all__ = ["NOW", "SAMPLES", "UNDELIVERED", "UNDER_WAY", "Host", "Message", "Packet", "append", "check_receipts",
           "count_waits", "drop", "finished", "gather", "host_step", "lay_out", "make_host", "packet_at_interface",
           "packet_of", "require_program", "run_cycles", "sampled", "wait_for", "widen"]
