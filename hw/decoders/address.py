"""Fields of an address: coordinates, signs, and a check for coordinates out of range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wormcast.algorithms.headers import AddressList

from .. import hdl

if TYPE_CHECKING:
    from amaranth.hdl import Value

__all__ = ["beyond", "coordinates", "signs"]


def coordinates(header: AddressList, address: Value) -> dict[int, Value]:
    """Return the coordinates in an address, with their dimensions as keys. The last dimension comes first. A dimension
    of extent 1 has no coordinate.
    """
    fields, at = {}, 0
    for dim, bits in reversed(list(enumerate(header.field_bits))):
        if bits:
            fields[dim] = address[at:at + bits]
        at += bits
    return fields


def signs(header: AddressList, address: Value) -> dict[int, Value]:
    """Return the signs in an address by dimension. A set sign selects the way down where both ways around a ring have
    the same length. The result has no entry for a dimension without a sign."""
    return {dim: address[header.coordinate_bits + k] for k, dim in enumerate(reversed(header.signed))}


def beyond(header: AddressList, fields: Mapping[int, Value]) -> Value | None:
    """Return a bit that is set if no node has these coordinates; None if all values of the fields are valid
    coordinates."""
    found = [field >= header.shape[dim] for dim, field in fields.items() if header.shape[dim].bit_count() > 1]
    return hdl.Cat(found).any() if found else None
