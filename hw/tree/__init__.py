"""Switches that replicate worms to several outputs ([Varavithya]: asynchronous tree-based multicasting)."""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .input_unit import TreeInput
    from .switch import TreeSwitch
else:
    __getattr__ = lazily(__name__, {"input_unit": ("TreeInput",), "switch": ("TreeSwitch",)})

__all__ = ["TreeInput", "TreeSwitch"]
