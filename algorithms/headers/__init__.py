"""Header formats, one file each."""

from .address_list import AddressList, Unicast
from .base import Header
from .bit_string import BitString

__all__ = ["AddressList", "BitString", "Header", "Unicast"]
