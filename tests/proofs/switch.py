# amaranth: UnusedElaboratable=no
"""A whole switch: the worm on each virtual channel."""

from dataclasses import dataclass

from amaranth.hdl import C, Module, Mux, Signal, Value

from wormcast.algorithms.consumption import ConsumptionClasses
from wormcast.algorithms.headers import AddressList
from wormcast.hw import PortSpec, Switch
from wormcast.hw.decoders import MeshDecoder

from .harness import Harness, Inside, Property, entry, implies, total
from .mutants import Mutant
from .receiver import Receiver
from .sender import Sender

__all__ = ["SwitchHarness"]


class SwitchHarness(Harness):
    """The router of a node in a row of nodes, with four ports: two to neighbours, injection and ejection.

    Flits are arbitrary, and need not form worms, but no flit arrives at a full buffer. Credits are arbitrary. Each flit
    has a tag, in bits that no address uses: the number of the input virtual channel by which the flit arrived. Flits of
    one input virtual channel have the same tag.

    Parameters
    ----------
    vcs, depth : int
        Of all inputs and outputs.
    addresses : int
        Most addresses in a header flit.
    readers, delays : str
        As of `Switch`.
    classes : str
        Consumption classes.
    """

    component = "Switch"
    properties = (
        Property("owner", "At most one worm owns a virtual channel of an output, or a consumption channel.",
                 Mutant("output_unit.OutputUnit._channel", "Mux(active, ~tail, busy)", "active & ~tail")),
        Property("whole", "From a worm's first flit to its tail, all flits on a virtual channel of an output came in "
                          "by the same virtual channel of the same input.",
                 Mutant("output_unit.OutputUnit._offer_vcs", "others | (here & ~self.vc_allocate)", "others | here")),
        Property("credits", "A flit is sent only if there is a credit for it, as long as no credit arrives for a flit "
                            "that was not sent.",
                 Mutant("input_unit._Reader._request", "bit_at(offer.ready_after", "bit_at(offer.ready")),
        Property("begins", "The first flit of a worm on a link to another router is a header flit.",
                 Mutant("input_unit._Reader._present", "row.head | self.closing |", "self.closing |")),
    )

    def __init__(self, *, vcs: int, depth: int, addresses: int = 1, readers: str = "coupled", delays: str = "paper",
                 classes: str = ""):
        super().__init__()
        self.vcs, self.depth, self.fast = vcs, depth, delays == "fast"
        # three inputs' virtual channels; an address is a bit longer, so that no further one fits into what is left
        self.tag_bits = (3 * vcs - 1).bit_length()
        self.tag_at = (self.tag_bits + 1) * addresses
        self.width = self.tag_at + self.tag_bits + 1
        header = AddressList(shape=(2**self.tag_bits + 1,), flit_width=self.width)
        decoder = MeshDecoder(header, relations=("e-cube",),
                              consumption=ConsumptionClasses.parse(classes) if classes else ConsumptionClasses())
        self.switch = Switch(inputs=[PortSpec(name, vcs=vcs, depth=depth) for name in decoder.inputs],
                             outputs=[PortSpec(name, vcs=vcs, depth=depth) for name in decoder.outputs],
                             decoder=decoder, width=self.width, readers=readers, delays=delays)

    def tag(self, flit_data):
        """The number that a flit carries."""
        return flit_data[self.tag_at:self.tag_at + self.tag_bits]

    def elaborate(self, platform):
        m = Module()
        dut = self.switch
        inside = Inside(dut)
        m.submodules.switch = inside.fragment
        self.leave_free(*dut.straps.values())
        worms = []
        for i, port in enumerate(dut.inputs):
            link = dut.in_links[i]
            self.leave_free(link.valid, link.vc, link.flit)
            self.assume(m, link.vc < self.vcs)
            self.assume(m, self.tag(link.flit.data) == i * self.vcs + link.vc)
            unit = inside.parts[f"{port.name}_input"]
            worms += [Worm(m, unit, v, i * self.vcs + v) for v in range(self.vcs)]
        for worm in worms:
            self.assume(m, implies(worm.receiver.arrives, worm.receiver.stored < self.depth))
            if self.inductive:
                self.worm_invariants(m, worm)
        for o, port in enumerate(dut.outputs):
            [link] = dut.out_links[o]
            self.leave_free(link.credit)
            to_node = o == dut.decoder.ejection
            for w in range(self.vcs):
                owners = [worm.owns(o, w) for worm in worms]
                self.claim(m, "owner", total(owners) <= 1)
                end = Sender(inside.parts[f"{port.name}_output"], w)
                name = f"{port.name}_vc{w}"
                seen = Seen(Signal(name=f"{name}_open"), Signal(self.tag_bits, name=f"{name}_tag"))
                shown = Shown(link.valid & (link.vc == w), link.flit, self.tag(link.flit.data))
                self.claim(m, "whole", seen.whole(shown))
                self.claim(m, "credits", implies(end.sent & ~end.stopped, end.credits))
                if not to_node:
                    self.claim(m, "begins", seen.begins(shown))
                m.d.sync += [seen.open.eq(seen.after(shown).open), seen.tag.eq(seen.after(shown).tag)]
                if self.inductive:
                    self.channel_invariants(m, end, seen.after(shown), owners, worms, to_node)
            if to_node and self.inductive:
                self.ejection_invariants(m, inside.parts[f"{port.name}_output"].component, worms)
        return m

    def worm_invariants(self, m, worm):
        """Assert the invariants of an input's registers."""
        receiver = worm.receiver
        receiver.invariants(m, self)
        self.invariant(m, total(receiver.worm("links")) <= 1)
        self.invariant(m, receiver.worm("link_vc") < self.vcs)
        for i, row in enumerate(receiver.places()):
            self.invariant(m, implies(receiver.stored > i, self.tag(row.data) == worm.number))
        if receiver.unit.ejection is not None:
            owns = receiver.worm("here") & ~receiver.worm("wants_consumption")
            self.invariant(m, implies(owns, receiver.worm("consumption_vc") < self.vcs))

    def channel_invariants(self, m, end, seen, owners, worms, to_node):
        """Assert the invariants of an output's registers, and that the last flits seen are of the channel's owner."""
        end.invariants(m, self)
        self.invariant(m, end.busy == total(owners))
        for worm, owns in zip(worms, owners, strict=True):
            self.invariant(m, implies(worm.receiver.worm("readers__0__eligible") & owns, end.another))
        if self.fast:
            # behind the crossbar, and not yet on the link
            flit = end.unit.sends[0].flit
            staged = Shown(end.sent, flit, self.tag(flit.data))
            self.invariant(m, implies(end.sent, end.inside["sent_tail"] == flit.tail))
            self.invariant(m, seen.whole(staged))
            if not to_node:
                self.invariant(m, seen.begins(staged))
            seen = seen.after(staged)
        for worm, owns in zip(worms, owners, strict=True):
            self.invariant(m, implies(seen.open & owns, seen.tag == worm.number))
        # a consumption channel is reserved before a flit goes there
        self.invariant(m, implies(seen.open, total(owners)) if to_node else seen.open == total(owners))

    def ejection_invariants(self, m, unit, worms):
        """Assert that a requested class has a free consumption channel, unless one was reserved in the cycle before."""
        for worm in worms:
            if worm.receiver.unit.ejection is not None:
                asks = worm.receiver.worm("readers__0__eligible") & worm.receiver.worm("wants_consumption")
                offered = entry(unit.offer.free, worm.receiver.worm("consumption_class"))
                self.invariant(m, implies(asks & unit.offer.vc_still_free, offered))


class Worm:
    """The worm in front of a virtual channel of an input.

    Members
    -------
    receiver : Receiver
    number : int
        The virtual channel's, in the flits.
    """

    def __init__(self, m, inside, v, number):
        self.receiver = Receiver(m, inside, v)
        self.number = number

    def owns(self, o, w):
        """Return whether the worm owns virtual channel ``w`` of output ``o``."""
        unit, worm = self.receiver.unit, self.receiver.worm
        if o == unit.ejection:
            return worm("here") & ~worm("wants_consumption") & (worm("consumption_vc") == w) & ~self._done(1)
        if o not in unit.network:
            return C(0)
        owns = worm("owns_link") & worm("links")[unit.network.index(o)] & (worm("link_vc") == w)
        return owns & ~self._done(0)

    def _done(self, r):
        """Return whether reader ``r`` of several has finished the worm and released the worm's channel."""
        return self.receiver.worm(f"done_{r}") if self.receiver.readers > 1 else C(0)


@dataclass
class Shown:
    """Flit of a virtual channel on a link: valid, the flit, and its worm's number."""

    comes: Value
    flit: Value
    tag: Value


class Seen:
    """History of one virtual channel: whether a worm is under way, and the number that its last flit carried."""

    def __init__(self, open, tag):
        self.open, self.tag = open, tag

    def whole(self, shown) -> Value:
        """A flit behind another of its worm carries the same number."""
        return implies(shown.comes & self.open, shown.tag == self.tag)

    def begins(self, shown) -> Value:
        """A flit behind no other of its worm is a header flit."""
        return implies(shown.comes & ~self.open, shown.flit.head)

    def after(self, shown) -> "Seen":
        """Return the history after this flit."""
        return Seen(Mux(shown.comes, ~shown.flit.tail, self.open), Mux(shown.comes, shown.tag, self.tag))
