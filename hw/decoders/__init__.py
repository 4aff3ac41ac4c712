"""Header decoders, one file per header format; the formats themselves are in ``wormcast.algorithms.headers``."""

from .base import Arrival, Decoded, Decoder, Request
from .mesh import MeshDecoder

__all__ = ["Arrival", "Decoded", "Decoder", "MeshDecoder", "Request"]
