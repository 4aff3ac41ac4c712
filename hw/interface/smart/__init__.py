"""What makes a network interface smart: it forwards the packets of a multicast by itself ([Sivaram98], section 4).

``children`` is the table of whom to forward to, ``orders`` says which packet goes to which child next, ``forwarding``
stores packets and sends their copies.
"""

from .children import MOST_PLACES, MOST_ROWS, ROW_BITS, ChildTable
from .forwarding import Forwarding
from .orders import FORWARD_ORDERS, MessageOrder, PacketOrder

__all__ = ["FORWARD_ORDERS", "MOST_PLACES", "MOST_ROWS", "ROW_BITS", "ChildTable", "Forwarding", "MessageOrder",
           "PacketOrder"]
