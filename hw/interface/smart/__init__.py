"""What makes a network interface smart: it forwards the packets of a multicast by itself ([Sivaram98], section 4).

``children`` is the table of whom to forward to, ``orders`` says which packet goes to which child next, ``forwarding``
stores packets and sends their copies.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .children import ChildTable
    from .forwarding import Forwarding
    from .orders import MessageOrder, PacketOrder
else:
    __getattr__ = lazily(__name__, {
        "children": ("ChildTable",),
        "forwarding": ("Forwarding",),
        "orders": ("MessageOrder", "PacketOrder"),
    })

__all__ = ["ChildTable", "Forwarding", "MessageOrder", "PacketOrder"]
