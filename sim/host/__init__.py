"""Hosts' software above the network interfaces: it posts worms and notes receipts. All engines use the same program.

``message`` and ``program_layout`` lay out a run's messages as arrays, ``ni_messages`` those that interfaces forward,
``control_layout`` the control packets that request rows for them; ``row_requests`` sends these.
``program`` is the compiled program of all hosts; it uses ``queues``, ``payload`` (data of flits), ``child_table``, and
the numbers of ``constants``. ``counting`` counts flits and waits, ``event_counting`` what costs energy. ``receipts``
checks deliveries. ``flit_owner`` finds the packet that a flit belongs to, and the worms that forward it. ``dependents``
lists the worms that wait for a receipt, ``moving_program`` drops old messages and adds new ones, ``program_check``
refuses damaged programs, ``idle`` skips cycles without events, ``requests`` holds requests while too many are
outstanding, ``link_data`` is the data on the links to the interfaces.
"""

from .constants import ADMISSION, FREED, NOW, SAMPLES, SKIPPED, UNDELIVERED, UNDER_WAY
from .counting import count_cycle, count_grants, count_sample, sampled, widen
from .event_counting import count_events
from .flit_owner import Packet, brought_by, children_at, packet_at_interface, packet_of
from .idle import NEVER, next_event, watch
from .link_data import SIZES, link_data
from .message import Message, make_host
from .moving_program import MovingHost
from .program import gather, host_step, needed, run_cycles
from .program_check import require_program
from .program_layout import EXCHANGE, Host, lay_out
from .receipts import check_receipts, first_wrong_receipt

__all__ = ["ADMISSION", "EXCHANGE", "FREED", "NEVER", "NOW", "SAMPLES", "SIZES", "SKIPPED", "UNDELIVERED", "UNDER_WAY",
           "Host", "Message", "MovingHost", "Packet", "brought_by", "check_receipts", "children_at", "count_cycle",
           "count_events", "count_grants", "count_sample", "first_wrong_receipt", "gather", "host_step", "lay_out",
           "link_data", "make_host", "needed", "next_event", "packet_at_interface", "packet_of", "require_program",
           "run_cycles", "sampled", "watch", "widen"]
