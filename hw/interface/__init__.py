"""Network interfaces, between hosts and routers.

``injection`` splits worms into packets and sends them. ``consumption`` receives. ``network_interface`` has an injection
side per injection port, and a consumption side per consumption link. ``absorbing_interface`` adds retransmission slots;
the package ``smart`` adds forwarding.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .absorbing_interface import AbsorbingInterface
    from .consumption import HOST_DEPTH, Consumption
    from .injection import Injection
    from .network_interface import NetworkInterface
else:
    __getattr__ = lazily(__name__, {
        "absorbing_interface": ("AbsorbingInterface",),
        "consumption": ("HOST_DEPTH", "Consumption"),
        "injection": ("Injection",),
        "network_interface": ("NetworkInterface",),
    })

__all__ = ["HOST_DEPTH", "AbsorbingInterface", "Consumption", "Injection", "NetworkInterface"]
