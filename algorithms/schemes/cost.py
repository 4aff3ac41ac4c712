"""Cost of a broadcast without contention."""

from dataclasses import dataclass

__all__ = ["Cost"]


@dataclass(frozen=True)
class Cost:
    """Latency of a broadcast without contention: start_ups t_s + hops t_hop + receipts (c + t_r).

    t_s is the time that a node takes to start a send. t_r is the time from the last flit of a message to its receipt,
    and t_hop the time of a hop of a header. c is the latency of a single unicast without t_s, t_r and its hops. The
    formula of [Hou] has L t_c in place of c.

    Parameters
    ----------
    start_ups, hops, receipts : int
    """

    start_ups: int
    hops: int
    receipts: int

    def latency(self, *, t_s: int, t_r: int, t_hop: int, c: int) -> int:
        """Return the cycles from the beginning of the source's first t_s to the last receipt."""
        return self.start_ups * t_s + self.hops * t_hop + self.receipts * (c + t_r)
