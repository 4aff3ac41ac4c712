# amaranth: UnusedElaboratable=no
"""Tokens: a station of a ring that has one, and rings of stations."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from wormcast.hw.token_station import TokenStation

from .harness import Harness, Inside, Property, entry, implies, total
from .mutants import Mutant

__all__ = ["RingHarness", "StationHarness"]


def behind(inside, one, count):
    """Return how many requesters have their turn before this one. Turns begin behind the last granted requester."""
    return entry([Const((one - last - 1) % count, range(count)) for last in range(count)], inside["last"])


class StationHarness(Harness):
    """A token station, with arbitrary requests and releases.

    The rest of the ring has the token while this station does not. A requester requests the token until it is granted.
    The holder of the token does not request it.
    """

    component = "TokenStation"
    properties = (
        Property("conserved", "The station neither loses nor creates a token: in each cycle a token that has arrived "
                              "and not left is held or leaves.",
                 Mutant("token_station.TokenStation.elaborate", "& ~self.requests.any()) | ended",
                        "& ~self.requests.any())")),
        Property("alone", "No token arrives while a requester of this station holds one.",
                 Mutant("token_station.TokenStation.elaborate", "~self.requests.any()", "~self.requests.all()")),
        Property("granted", "The token is granted only in the cycle of its arrival, to at most one requester, and only "
                            "if that one requests it.",
                 Mutant("token_station.TokenStation.elaborate", "Mux(here, chosen, 0)", "chosen")),
        Property("kept", "A requester holds the token from the cycle after the grant until it releases it. "
                         "While a requester holds the token, no other requester holds it.",
                 Mutant("token_station.TokenStation.elaborate", "Mux(ended, 0, self.holder)", "self.holder")),
        Property("turns", "While one of n requesters waits, the station grants the token at most n - 1 times to "
                          "others.",
                 Mutant("token_station.TokenStation.elaborate", "k + 1 + step", "step")),
    )

    def __init__(self, *, requesters: int):
        super().__init__()
        self.station = TokenStation(requesters)

    def elaborate(self, platform):
        m = Module()
        dut, inside = self.station, Inside(self.station)
        m.submodules.station = inside.fragment
        requesters = range(dut.requesters)
        self.leave_free(dut.token_in.token, dut.strap_first, dut.requests, dut.releases)

        begun, elsewhere = Signal(), Signal()
        here = dut.token_in.token | (dut.strap_first & ~begun)
        # after reset the rest of the ring has it, or this station; a ring of one gives it back to itself
        rest = Mux(begun, elsewhere, ~dut.strap_first)
        m.d.sync += [begun.eq(1), elsewhere.eq((rest | dut.token_out.token) & ~dut.token_in.token)]
        self.assume(m, implies(dut.token_in.token, rest | dut.token_out.token))

        count, owner = Signal(2), Signal(dut.requesters)
        m.d.sync += [
            count.eq(count + here - dut.token_out.token),
            owner.eq(dut.granted | (owner & ~dut.releases)),
        ]
        self.claim(m, "conserved", total(dut.holder) + dut.token_out.token == count)
        self.claim(m, "conserved", dut.in_use == dut.holder.any())
        self.claim(m, "alone", implies(here, ~dut.holder.any()))
        self.claim(m, "granted", (dut.granted & ~dut.requests) == 0)
        self.claim(m, "granted", total(dut.granted) == (here & dut.requests.any()))
        self.claim(m, "kept", dut.holder == owner)
        self.invariant(m, Mux(begun, elsewhere + total(dut.holder) + dut.token_out.token == 1,
                              ~dut.holder.any() & ~dut.token_out.token))
        self.invariant(m, inside["started"] == begun)
        self.invariant(m, inside["last"] < dut.requesters)
        for one in requesters:
            asked, lost = Signal(name=f"asked_{one}"), Signal(range(dut.requesters + 1), name=f"lost_{one}")
            m.d.sync += [
                asked.eq(dut.requests[one] & ~dut.granted[one]),
                lost.eq(Mux(dut.requests[one] & ~dut.granted[one], lost + dut.granted.any(), 0)),
            ]
            self.assume(m, implies(asked, dut.requests[one]))
            self.assume(m, implies(dut.holder[one], ~dut.requests[one]))
            self.claim(m, "turns", lost <= dut.requesters - 1)
            self.invariant(m, lost + behind(inside, one, dut.requesters) <= dut.requesters - 1)
        return m


class RingHarness(Harness):
    """A ring of P token stations, each with b*V requesters (b inputs of V virtual channels).

    Requests and releases are arbitrary. A requester requests the token until it is granted.
    """

    component = "TokenStation, ring"
    properties = (
        Property("one", "In each cycle there is exactly one token: a requester holds it, or it is on a token line.",
                 Mutant("token_station.TokenStation.elaborate", "& ~self.requests.any()) | ended", ") | ended")),
        Property("bound", "While a requester waits, the token is granted at most P*b*V - 1 times to others. P*b*V - 1 "
                          "is the number of other requesters of the ring (P stations, b inputs, V virtual channels).",
                 Mutant("token_station.TokenStation.elaborate", "k + 1 + step", "step")),
    )

    def __init__(self, *, stations: int, requesters: int):
        super().__init__()
        self.stations = [TokenStation(requesters) for _ in range(stations)]

    def elaborate(self, platform):
        m = Module()
        count, each = len(self.stations), self.stations[0].requesters
        insides = [Inside(station) for station in self.stations]
        begun = Signal()
        m.d.sync += begun.eq(1)
        for place, (station, inside) in enumerate(zip(self.stations, insides, strict=True)):
            m.submodules[f"station_{place}"] = inside.fragment
            self.leave_free(station.requests, station.releases)
            m.d.comb += [station.token_in.token.eq(self.stations[place - 1].token_out.token),
                         station.strap_first.eq(place == 0)]
            self.invariant(m, inside["started"] == begun)
            self.invariant(m, inside["last"] < each)
        tokens = total(bit for station in self.stations for bit in (*station.holder, station.token_out.token))
        self.claim(m, "one", tokens == begun)
        granted = total(bit for station in self.stations for bit in station.granted)
        others = count * each - 1
        for place, station in enumerate(self.stations):
            # stations that the token comes by before it is here: it is at the first one, held, or on its way
            away = total(Mux(near.holder.any() | near.token_out.token, (place - at - 1) % count, 0)
                         for at, near in enumerate(self.stations)) + Mux(begun, 0, place)
            for one in range(each):
                name = f"{place}_{one}"
                asked, lost = Signal(name=f"asked_{name}"), Signal(range(others + 2), name=f"lost_{name}")
                waits = station.requests[one] & ~station.granted[one]
                m.d.sync += [asked.eq(waits), lost.eq(Mux(waits, lost + granted, 0))]
                self.assume(m, implies(asked, station.requests[one]))
                self.claim(m, "bound", lost <= others)
                before = behind(insides[place], one, each)
                self.invariant(m, lost + away + Cat(before).as_unsigned() * count <= others)
        return m
