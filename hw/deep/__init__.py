"""Switches with deep input buffers, chunk counters and independent readers ([Sivaram98], section 5.1.2)."""

from .switch import DeepSwitch

__all__ = ["DeepSwitch"]
