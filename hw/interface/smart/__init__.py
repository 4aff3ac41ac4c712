"""Smart network interfaces, which forward the packets of a multicast without the host ([Sivaram98], section 4).

``children`` is the child table. ``row_admission`` grants its rows to requests. ``orders`` schedules the copies to the
children. ``forwarding`` stores packets and sends their copies. ``forwarding_interface`` is a network interface with
child table, orders and packet buffer.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .children import ChildTable
    from .forwarding import Forwarding
    from .forwarding_interface import ForwardingInterface
    from .orders import MessageOrder, PacketOrder
    from .row_admission import RowAdmission
else:
    __getattr__ = lazily(__name__, {
        "children": ("ChildTable",),
        "forwarding": ("Forwarding",),
        "forwarding_interface": ("ForwardingInterface",),
        "orders": ("MessageOrder", "PacketOrder"),
        "row_admission": ("RowAdmission",),
    })

__all__ = ["ChildTable", "Forwarding", "ForwardingInterface", "MessageOrder", "PacketOrder", "RowAdmission"]
