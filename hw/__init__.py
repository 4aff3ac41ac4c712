"""Synthesisable switches and network interfaces: Amaranth components that meet at registered links.

Find a mechanism by its file: the replication buffer with its pending counters in ``buffer``, header decode and
stripping in ``decoders/``, the worm's life in an input virtual channel in ``input_vc`` and what its port shares in
``input_unit``, the common least-recently-granted order in ``allocator``, owners and credits in ``output_unit``,
virtual consumption channels by class and ``fault`` in ``switch``, which composes them (what can be wrong on the wire:
``faults``), the node's side in ``interface/``.
"""

if __name__ != "wormcast.hw":
    raise ImportError(f"import this package as wormcast.hw, not as {__name__}")

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .link import LinkSignature, flit_layout
    from .port import PortSpec
    from .switch import Switch
else:
    __getattr__ = lazily(__name__, {
        "link": ("LinkSignature", "flit_layout"),
        "port": ("PortSpec",),
        "switch": ("Switch",),
    })

__all__ = ["LinkSignature", "PortSpec", "Switch", "flit_layout"]
