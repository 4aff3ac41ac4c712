"""Synthesisable switches and network interfaces: Amaranth components connected by registered links.

Mechanisms and their files:

- replication buffer with pending counters: ``buffer``
- header decoding and stripping: ``decoders/``
- state machine of an input virtual channel: ``input_vc``; the rest of an input port: ``input_unit``
- allocation in least-recently-granted order: ``allocator``
- owners of virtual channels, and credits: ``output_unit``
- connections between the units, consumption channels by class, register ``fault``: ``switch``
- signals between the units: ``bundles``
- variants of the router: ``variants``; tree worms in ``tree/``, deep buffers in ``deep/``
- errors on the wire: ``faults``
- network interfaces: ``interface/``
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
