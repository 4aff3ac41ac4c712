"""Switch that replicates worms to any outputs that their bit strings select, with token lines and reports."""

from typing import Any

from amaranth.hdl import C, Cat, Signal, Value
from amaranth.lib.wiring import In, Out, connect, flipped

from ..link import flit_layout
from ..switch import Switch
from ..token_station import TokenSignature, TokenStation
from .input_unit import TreeInput
from .switch_spec import TreeSwitchSpec

__all__ = ["TreeSwitch"]


class TreeSwitch(TreeSwitchSpec, Switch):
    """Wormhole switch that replicates a worm to all outputs that its bit string selects ([Varavithya]).

    ::

        {port}_in ─▶ TreeInput ─ flit ─▶ crossbar, with an output's part of the bit string ─▶ OutputUnit ─▶ {port}_out
                       ▲ │ needs_token
                granted│ ▼
        token_in ─▶ TokenStation ─▶ token_out              Allocator and offers as in `Switch`

    With ``reports``, links from and to other switches report arrivals (see `LinkSignature`). Replication may need a
    token; the switch then has a `TokenStation`.

    *Latency*, with free resources, from link to link: header 3 cycles from its last flit, data 2; with ``fast`` delays
    1 more. A header that needs the token takes 1 cycle more, if the token is at this switch. *Throughput*: a flit per
    output and cycle. An output that only one branch uses sends min(1, depth / 4) flits per cycle, with ``fast`` min(1,
    depth / 5). *Deadlock*: with tokens, worms that are replicated do not wait for each other in a circle within a
    group. *Errors on the wire*: as in `Switch`. *Reset*: all buffers are empty, and the outputs have all their credits.

    Parameters
    ----------
    decoder : TreeDecoder
    replication : "asynchronous", "synchronous" or "serial"
        Replication in a `TreeInput`.
    reports : bool
        Links to and from other switches have reports.
    tokens : bool
        The switch is in a group with a token. Tokens need reports.
    **parameters
        Parameters of `Switch`, except ``readers``.

    Members
    -------
    strap_first : In(1)
        With tokens: this switch holds the token of its group after reset. Set ``strap_first`` at exactly one switch of
        each group.
    token_in, token_out : In(TokenSignature), Out(TokenSignature)
        With tokens: links of the group's ring, from the switch before this one and to the next one. A pulse on
        ``token_out`` passes the token to the next switch.
    """

    def _members(self) -> dict[str, Any]:
        tokens = {"token_in": In(TokenSignature()), "token_out": Out(TokenSignature()), "strap_first": In(1)}
        return super()._members() | (tokens if self.has_tokens else {})

    def _input_unit(self, i: int) -> TreeInput:
        return TreeInput(i, self.inputs[i], outputs=self.outputs, decoder=self.string_decoder,
                         replication=self.replication, storage=self.storage, separate=self.separate,
                         reports=self.has_reports, tokens=self.has_tokens, consumed=self.enough(i))

    def _join(self, m, inputs) -> None:
        """Connect the reports and the token station."""
        for unit in inputs:
            m.d.comb += [arrived.eq(self.out_links[o][0].arrived) for o, arrived in unit.arrived_by.items()]
        if not self.has_tokens:
            return
        m.submodules.token = station = TokenStation(sum(unit.spec.vcs for unit in inputs))
        m.d.comb += [
            station.strap_first.eq(self.strap_first),
            station.requests.eq(Cat(unit.needs_token for unit in inputs)),
            station.releases.eq(Cat(unit.ends_token for unit in inputs)),
            Cat(unit.token_granted for unit in inputs).eq(station.granted),
        ]
        connect(m, station.token_in, flipped(self.token_in))
        connect(m, station.token_out, flipped(self.token_out))

    def _crossbar_input(self, reader) -> Value:
        """Return the bits that a reader gives to the crossbar: its flit, and the code of a header flit."""
        return Cat(reader.flit, reader.place)

    def _gated(self, m, o: int, name: str, select: Value, given: Value) -> Value:
        """Return the selected flit for an output, with the branch's reachability string applied to header bits.

        Mask and selection are one AND, so that the crossbar is no larger than one without masks.
        """
        size = flit_layout(self.width).size
        passed: list[Value] = [given[0] & select, given[1] & select, *[C(0)] * self.width]
        for bits, [table] in self.string_decoder.carried(o):
            kept = Signal(name=f"select_{name}_{bits[0]}")
            chosen = self.string_decoder.chosen(table, self.straps, given[size:])
            m.d.comb += kept.eq(select & ((~given[0] | given[1]) | chosen))
            for bit in bits:
                passed[2 + bit] = given[2 + bit] & kept
        return Cat(passed)
