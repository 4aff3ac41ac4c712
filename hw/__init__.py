"""Synthesisable switches and network interfaces: Amaranth components that meet at registered links.

Find a mechanism by its file: the replication buffer with its pending counters in ``buffer``, header decode in
``decoders/``, the common least-recently-granted order in ``allocator``, virtual consumption channels and
credits in ``output_unit``, the worm's life in an input virtual channel in ``input_unit``, their composition in
``switch``, the node's side in ``network_interface``, and named routers in ``mesh``.
"""

if __name__ != "wormcast.hw":
    raise ImportError(f"import this package as wormcast.hw, not as {__name__}")

from .link import LinkSignature, PortSpec, flit_layout
from .switch import Switch

__all__ = ["LinkSignature", "PortSpec", "Switch", "flit_layout"]
