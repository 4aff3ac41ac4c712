# amaranth: UnusedElaboratable=no
"""Token stations joined to a ring."""

from amaranth.hdl import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.hw.token_station import TokenStation

__all__ = ["Ring"]


class Ring(wiring.Component):
    """Token stations in a ring, each with the same number of requesters. After reset the first station has the token.

    Members
    -------
    requests, releases, granted, holder : In, In, Out, Out
        Of all requesters, station after station.
    lines : Out(stations)
        Whether the token leaves each station now.
    in_use : Out(stations)
    """

    def __init__(self, stations, requesters):
        self.stations = [TokenStation(requesters) for _ in range(stations)]
        every = stations * requesters
        super().__init__({"requests": In(every), "releases": In(every), "granted": Out(every), "holder": Out(every),
                          "lines": Out(stations), "in_use": Out(stations)})

    def elaborate(self, platform):
        m = Module()
        each = self.stations[0].requesters
        for place, station in enumerate(self.stations):
            m.submodules[f"station_{place}"] = station
            mine = slice(place * each, (place + 1) * each)
            m.d.comb += [
                station.token_in.token.eq(self.stations[place - 1].token_out.token),
                station.strap_first.eq(place == 0),
                station.requests.eq(self.requests[mine]),
                station.releases.eq(self.releases[mine]),
                self.holder[mine].eq(station.holder),
                self.granted[mine].eq(station.granted),
                self.in_use[place].eq(station.in_use),
            ]
        m.d.comb += self.lines.eq(Cat(station.token_out.token for station in self.stations))
        return m
