"""Header decoders, one file per header format; the formats themselves are in ``wormcast.algorithms.headers``."""

from .base import Decoder, Request
from .mesh import MeshDecoder

__all__ = ["Decoder", "MeshDecoder", "Request"]
