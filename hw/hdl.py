"""Amaranth's language, imported when a name of it is first used.

Decoders use it like this, as hosts ask them for straps and tables of a network whose kernels are compiled already.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amaranth.hdl import Array, C, Cat, Module, Mux, Signal, Value, ValueLike
else:
    def __getattr__(name: str) -> Any:
        import amaranth.hdl

        value = getattr(amaranth.hdl, name)
        globals()[name] = value
        return value

__all__ = ["Array", "C", "Cat", "Module", "Mux", "Signal", "Value", "ValueLike"]
