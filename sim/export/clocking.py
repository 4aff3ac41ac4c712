"""Reset and clock enable of exported hardware."""

from collections.abc import Callable

from amaranth.hdl import ClockDomain, EnableInserter, Fragment
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import flag_text
from wormcast.hw.bundles import by_name

__all__ = ["ENABLE", "RESETS", "ClockEnabled", "clock_domain", "is_clocked", "require_clock", "require_reset"]

#: Kinds of reset.
RESETS = ("sync", "async")

#: Name of the clock enable.
ENABLE = "enable"


class ClockEnabled(wiring.Component):
    """A component with an input `ENABLE`: while it is 0, flip-flops and memories keep their values, except at a reset.

    All other ports are the component's.
    """

    def __init__(self, component: wiring.Component):
        self._component = component
        super().__init__({ENABLE: In(1), **component.signature.members})
        vars(self).update(by_name(component))

    def elaborate(self, platform):
        return EnableInserter(by_name(self)[ENABLE])(self._component)


def clock_domain(reset: str) -> Callable[[str], ClockDomain]:
    """Return a function that makes the clock domain with a name. ``reset``: one of `RESETS`."""
    return lambda name: ClockDomain(name, async_reset=reset == "async")


def is_clocked(component: wiring.Component) -> bool:
    """Return whether a component has flip-flops, and therefore a clock."""
    return bool(Fragment.get(component, None).prepare().fragment.domains)


def require_reset(reset: str) -> None:
    """Refuse a kind of reset that is not in `RESETS`."""
    if reset not in RESETS:
        raise WormcastError(f"reset: {reset!r} is not valid. Allowed: {', '.join(RESETS)}.")


def require_clock(what: str, *, reset: str, clock_enable: bool, clocked: bool) -> None:
    """Refuse options of the registers for a component without registers."""
    if not clocked and reset != "sync":
        raise WormcastError(f"reset: {reset} is not valid: {what} has no registers. Allowed: sync.")
    if not clocked and clock_enable:
        raise WormcastError(f"{flag_text('clock_enable')} is not valid: {what} has no registers. Allowed: with "
                            "components that have registers, for example router.")
