"""Hosts' software above the network interfaces: it posts worms and notes receipts. All engines use the same program.

Modules:

- ``message``, ``program_layout``: messages of a run, as arrays
- ``ni_messages``: messages that interfaces forward
- ``control_layout``: control packets that request rows of child tables, as arrays
- ``program``: compiled program of all hosts
- ``queues``, ``constants``, ``link_data``: parts that the program's modules share
- ``payload``: data of payload flits
- ``child_table``: admission of messages to child tables, and writing of rows
- ``row_requests``: requests for rows by control packets
- ``requests``: limit of the outstanding requests of a node
- ``idle``: jumps over cycles without events
- ``counting``, ``event_counting``: counters of flits and waits; of events that cost energy
- ``receipts``: checks of deliveries
- ``flit_owner``: packet that a flit belongs to, and worms that forward the packet
- ``dependents``: worms that wait for a receipt
- ``moving_program``: program that drops old messages and adds new ones
- ``program_check``: check of a program from a file
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
