"""Header decoders, one file per header format; the formats themselves are in ``wormcast.algorithms.headers``."""

from .base import Arrival, Decoded, Decoder, Request
from .mesh import MeshDecoder
from .table import TableDecoder

__all__ = ["Arrival", "Decoded", "Decoder", "MeshDecoder", "Request", "TableDecoder"]
