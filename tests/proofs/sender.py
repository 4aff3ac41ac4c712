"""Invariants of an output unit's registers."""

__all__ = ["Sender"]


class Sender:
    """One virtual channel of an output unit with one link.

    Parameters
    ----------
    inside : Inside
        Of an output unit.
    v : int
        The virtual channel.

    Members
    -------
    credits : Value
        Credits held. A send counts one cycle later, while ``sent`` says so.
    sent, busy, stopped : Value
        A flit was sent in the cycle before; a worm owns the virtual channel; it got a credit too many in an earlier
        cycle.
    """

    def __init__(self, inside, v):
        self.unit, self.inside, self.v = inside.component, inside, v
        self.spent, self.depth = inside[f"vc{v}_spent"], self.unit.port.depth
        self.credits = self.depth - self.spent
        self.sent = inside["sent"] & (inside["sent_vc"] == v)
        self.busy = inside[f"vc{v}_now_busy"]
        self.stopped = self.spent == self.depth + 1

    @property
    def another(self):
        """Return whether the unit can send another flit now."""
        return self.stopped | (self.credits > self.sent)

    def offered(self, k):
        """Return whether the unit offers this virtual channel to worms of class k."""
        return self.unit.offer.free[k] & (self.unit.offer.vc_candidate[k] == self.v)

    def invariants(self, m, harness):
        """Assert the invariants in the harness."""
        vcs, inside = self.unit.port.vcs, self.inside
        harness.invariant(m, self.spent <= self.depth + 1)
        harness.invariant(m, inside["sent_vc"] < vcs)
        harness.invariant(m, ~inside["sent"] | inside["active"])
        for k in range(len(self.unit.classes)):
            harness.invariant(m, self.unit.offer.vc_candidate[k] < vcs)
            harness.invariant(m, ~self.offered(k) | (~self.busy & self.another))
