"""Switches with deep input buffers, replication chunk counters and independent readers ([Sivaram98], section 5.1.2)."""

from typing import TYPE_CHECKING

from wormcast.algorithms.lazy import lazily

if TYPE_CHECKING:
    from .switch import DeepSwitch
else:
    __getattr__ = lazily(__name__, {"switch": ("DeepSwitch",)})

__all__ = ["DeepSwitch"]
