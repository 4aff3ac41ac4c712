"""Header decoders, one file for each header format. ``wormcast.algorithms.headers`` defines the formats."""

from .adaptive import AdaptiveDecoder
from .base import Decoder
from .bit_string import BitStringDecoder
from .mesh import MeshDecoder
from .mixed import MixedDecoder
from .multi_drop import MultiDropDecoder
from .path import ArrivingHeader, DecodedHeader, HeaderRequest, PathDecoder
from .reach import ReachDecoder
from .route import RouteDecoder
from .table import TableDecoder
from .tag import TagDecoder, tag_digits
from .torus import TorusDecoder

__all__ = [
    "AdaptiveDecoder",
    "ArrivingHeader",
    "BitStringDecoder",
    "DecodedHeader",
    "Decoder",
    "HeaderRequest",
    "MeshDecoder",
    "MixedDecoder",
    "MultiDropDecoder",
    "PathDecoder",
    "ReachDecoder",
    "RouteDecoder",
    "TableDecoder",
    "TagDecoder",
    "TorusDecoder",
    "tag_digits",
]
