# amaranth: UnusedElaboratable=no
# (a run with stored kernels needs only the component's ports, and never elaborates it)
"""Network interface that absorbs worms and sends them again from retransmission slots."""

from typing import Any

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.typecheck import checked

from ..events import Event
from ..options import MOST_SLOTS
from .network_interface import NetworkInterface

__all__ = ["AbsorbingInterface"]


class AbsorbingInterface(NetworkInterface):
    """Network interface with retransmission slots ([Boppana98], section 3.1: absorb and retransmit).

    Worms with further destinations that arrive on the consumption link are sent again by the injection port, with the
    rest of their header::

        host_out_0 ◀─┬─ Consumption 0 ◀─ network_in_0
                     └─▶ Retransmission: absorb buffers, slots ─▶ Injection 0 ─▶ network_out_0

    *Latency*: as in `NetworkInterface`; from a worm's tail on ``network_in_0`` to its first flit on ``network_out_0``
    absorbing and resending takes at least 4 + t_nr + t_ns cycles. With a receive queue, P payload flits and H header
    flits of the worm it takes at least P + H + 3 + max(t_nr, 1) + t_ns cycles. *Throughput*: as in `NetworkInterface`.
    *Reset*: as in `NetworkInterface`; all slots are free.

    Parameters
    ----------
    slots, slot_flits
        As in `Retransmission`: ``slots`` and ``flits``.
    **parameters
        Parameters of `NetworkInterface`, except ``ports`` and ``links``, which are 1.
    """

    @checked
    def __init__(self, *, slots: int, slot_flits: int = 128, **parameters: Any):
        if not 1 <= slots <= MOST_SLOTS:
            raise WormcastError(f"AbsorbingInterface.slots: {slots} is not valid. Allowed: 1 to {MOST_SLOTS}.")
        self.slots, self.slot_flits = slots, slot_flits
        self._header_flits = parameters.get("header_flits", 1)
        super().__init__(**parameters, ports=1, links=1)

    def _injection_options(self, channels: int) -> dict[str, Any]:
        return {"slots": self.slots, "slot_flits": self.slot_flits, "channels": channels}

    def _consumption_options(self) -> dict[str, Any]:
        return {"slots": self.slots, "header_flits": self._header_flits}

    def events(self) -> list[Event]:
        return [*super().events(), Event("interface_write", ("injection_0.slots.write",)),
                Event("interface_read", ("injection_0.slots.pop",))]

    def _join(self, m) -> None:
        [injection], [consumption] = self.injections, self.consumptions
        m.d.comb += [
            injection.absorbed.eq(consumption.absorbed),
            injection.absorbed_vc.eq(consumption.absorbed_vc),
            injection.absorbed_flit.eq(consumption.absorbed_flit),
            injection.granted.eq(consumption.granted),
            injection.granted_vc.eq(consumption.granted_vc),
            consumption.freed.eq(injection.freed),
        ]
