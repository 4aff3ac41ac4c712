"""The software above the network interfaces: posts worms, notes receipts. One program for every engine.

``message`` and ``layout`` lay out a run's messages as arrays, ``postings`` those that interfaces forward. ``program``
is the compiled program over them, with ``queues`` of what waits, ``payload``, what flits say, and ``rows`` of
interfaces' tables; ``places`` names its numbers, ``counting`` what is counted beside. ``receipts`` says what was wrong
with one, ``packets`` finds the packet that a flit belongs to, and where interfaces send it on, ``releases`` lists who
waits for a receipt, ``window`` drops old messages and adds new ones, ``sound`` refuses what is no program, ``idle``
jumps over cycles in which nothing happens.
"""

from .constants import FREED, NOW, SAMPLES, SKIPPED, SWITCHES, UNDELIVERED, UNDER_WAY
from .counting import count_sample, sampled, widen
from .flit_owner import Packet, brought_by, children_at, packet_at_interface, packet_of
from .idle import NEVER, next_event, watch
from .message import Message, make_host
from .moving_program import MovingHost
from .program import gather, host_step, needed, run_cycles
from .program_check import require_program
from .program_layout import Host, lay_out
from .receipts import check_receipts

__all__ = ["FREED", "NEVER", "NOW", "SAMPLES", "SKIPPED", "SWITCHES", "UNDELIVERED", "UNDER_WAY", "Host", "Message",
           "MovingHost", "Packet", "brought_by", "check_receipts", "children_at", "count_sample", "gather", "host_step",
           "lay_out", "make_host", "needed", "next_event", "packet_at_interface", "packet_of", "require_program",
           "run_cycles", "sampled", "watch", "widen"]
