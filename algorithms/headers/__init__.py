"""Header formats, one file each."""

from .address_list import AddressList, Unicast
from .base import Header
from .bit_string import BitString
from .mixed_header import MixedHeader, format_sizes
from .multi_drop import MultiDrop

__all__ = ["AddressList", "BitString", "Header", "MixedHeader", "MultiDrop", "Unicast", "format_sizes"]
