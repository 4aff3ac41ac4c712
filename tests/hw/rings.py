# amaranth: UnusedElaboratable=no
"""Token stations joined to a ring."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.hw.token_station import TokenStation

__all__ = ["Ring"]


class Ring(wiring.Component):
    """So many stations, each with as many requesters; the first one has the token after reset.

    Members
    -------
    asks, ends, granted, held : In, In, Out, Out
        Of all requesters, station after station.
    lines : Out(stations)
        Whether the token leaves each station now.
    taken : Out(stations)
    """

    def __init__(self, stations, requesters):
        self.stations = [TokenStation(requesters) for _ in range(stations)]
        every = stations * requesters
        super().__init__({"asks": In(every), "ends": In(every), "granted": Out(every), "held": Out(every),
                          "lines": Out(stations), "taken": Out(stations)})

    def elaborate(self, platform):
        m = Module()
        each = self.stations[0].requesters
        for place, station in enumerate(self.stations):
            m.submodules[f"station_{place}"] = station
            mine = slice(place * each, (place + 1) * each)
            m.d.comb += [
                station.token_in.token.eq(self.stations[place - 1].token_out.token),
                station.strap_first.eq(place == 0),
                station.asks.eq(self.asks[mine]),
                station.ends.eq(self.ends[mine]),
                self.held[mine].eq(station.held),
                self.granted[mine].eq(station.granted),
                self.taken[place].eq(station.taken),
            ]
        m.d.comb += self.lines.eq(Cat(station.token_out.token for station in self.stations))
        return m
