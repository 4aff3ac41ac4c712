"""Header decoders, one file per header format; the formats themselves are in ``wormcast.algorithms.headers``."""

from .adaptive import AdaptiveDecoder
from .base import Arrival, Decoded, Decoder, Request
from .mesh import MeshDecoder
from .route import RouteDecoder
from .table import TableDecoder
from .tag import TagDecoder, tag_digits
from .torus import TorusDecoder

__all__ = [
    "AdaptiveDecoder",
    "Arrival",
    "Decoded",
    "Decoder",
    "MeshDecoder",
    "Request",
    "RouteDecoder",
    "TableDecoder",
    "TagDecoder",
    "TorusDecoder",
    "tag_digits",
]
