"""Streams at hosts: components between a host with AXI4-Stream, or valid and ready, and a network interface.

``beats`` has the layouts of the streams. ``sender`` turns messages into worms, with headers from ``set_table`` or
``mask_headers``. ``receiver`` turns worms into messages. ``stream_interface`` joins sender and receiver to a network
interface, and ``axis`` gives the streams the names of AXI4-Stream.
"""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .axis import AxisInterface, AxisSignature
    from .mask_headers import AddressHeaders, BitStringHeaders
    from .receiver import StreamReceiver
    from .sender import StreamSender
    from .set_table import SetTable
    from .stream_interface import StreamInterface
else:
    __getattr__ = lazily(__name__, {
        "axis": ("AxisInterface", "AxisSignature"),
        "mask_headers": ("AddressHeaders", "BitStringHeaders"),
        "receiver": ("StreamReceiver",),
        "sender": ("StreamSender",),
        "set_table": ("SetTable",),
        "stream_interface": ("StreamInterface",),
    })

__all__ = ["AddressHeaders", "AxisInterface", "AxisSignature", "BitStringHeaders", "SetTable", "StreamInterface",
           "StreamReceiver", "StreamSender"]
