"""Names of ``amaranth.hdl``, which is imported when one of them is first used.

Header decoders import these names from this module. A run whose kernels have been compiled before reads only straps and
tables from the decoders, and does not need Amaranth.
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
