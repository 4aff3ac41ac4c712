"""The node's side of the network: what a host hands its worms to, and gets its payload from.

``injection`` packetises and sends, ``consumption`` receives, ``network_interface`` puts as many of both side by side
as the router has ports for them.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .consumption import HOST_DEPTH, Consumption
    from .injection import Injection
    from .network_interface import NetworkInterface
else:
    __getattr__ = lazily(__name__, {
        "consumption": ("HOST_DEPTH", "Consumption"),
        "injection": ("Injection",),
        "network_interface": ("NetworkInterface",),
    })

__all__ = ["HOST_DEPTH", "Consumption", "Injection", "NetworkInterface"]
