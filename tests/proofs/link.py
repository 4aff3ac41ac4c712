# amaranth: UnusedElaboratable=no
"""A link: output unit, wires and input unit, with any sender and any switch round them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring

from wormcast.algorithms.headers import AddressList
from wormcast.hw import PortSpec
from wormcast.hw.bundles import by_name
from wormcast.hw.decoders import MeshDecoder
from wormcast.hw.input_unit import InputUnit
from wormcast.hw.output_unit import OutputUnit

from .harness import Harness, Inside, Property, entry, implies
from .mutants import Mutant
from .receiver import Receiver
from .sender import Sender

__all__ = ["LinkHarness"]

#: Three nodes in a row, and two addresses to a header flit.
HEADER = AddressList(shape=(3,), flit_width=5)


class Crossbar:
    """Allowed behaviour of a crossbar towards an output unit.

    By the unit's docstring, a header takes an offered channel, flits follow on the channel while there are credits, and
    the tail releases the channel.

    Members
    -------
    owned : Signal
        Virtual channels that a worm has taken and whose tail is not yet sent.
    may : Signal
        Virtual channels for which the unit promised a credit in the cycle before.
    """

    def __init__(self, m, harness, unit):
        vcs, offer, [send] = unit.port.vcs, unit.offer, unit.sends
        self.owned = Signal(vcs, name="owned")
        self.may = Signal(vcs, name="may_send")
        harness.leave_free(send.vc_active, send.send, send.vc, send.tail, send.flit, unit.vc_allocate)
        offered = Cat(offer.free[k] & (pick == send.vc) for k, pick in enumerate(offer.vc_candidate)).any()
        harness.assume(m, send.vc < vcs)
        harness.assume(m, implies(unit.vc_allocate, send.vc_active & offered))
        harness.assume(m, implies(send.send, send.vc_active))
        owned, may = entry(self.owned, send.vc), entry(self.may, send.vc)
        harness.assume(m, implies(send.vc_active & ~unit.vc_allocate, send.send & owned))
        harness.assume(m, implies(send.send & ~unit.vc_allocate, may))
        # a channel is reserved by a header, which is no tail
        harness.assume(m, implies(send.vc_active & ~send.send, ~send.tail))
        if not unit.extra_stage:
            harness.assume(m, send.tail == send.flit.tail)
        for v in range(vcs):
            here = send.vc_active & (send.vc == v)
            m.d.sync += [
                self.owned[v].eq(Mux(here, ~send.tail, self.owned[v])),
                self.may[v].eq(Mux(here & send.send, offer.ready_after[v], offer.ready[v])),
            ]


class LinkHarness(Harness):
    """An output unit, a link, and the input unit of a router in a row of nodes.

    The sender keeps to the signals of the output unit. Flits are arbitrary, and need not form worms. The allocator and
    the router's outputs answer arbitrarily, except that only complete requests win.

    Parameters
    ----------
    vcs, depth : int
    readers, delays : str
        As of `Switch`.
    classes : int
        Classes of worms that share the output unit's virtual channels: class k may take all but channel k.
    """

    component = "OutputUnit, link, InputUnit"
    properties = (
        Property("conserved", "In each cycle and for each virtual channel, four numbers add up to the buffer's depth: "
                              "the sender's credits, the flits on their way, the flits in the receiver's buffer, and "
                              "the credits on their way.",
                 Mutant("output_unit.OutputUnit._credits", "Mux(returned == sent,", "Mux(returned & sent,")),
        Property("room", "No flit arrives at a full buffer. No credit arrives for a flit that was not sent.",
                 Mutant("output_unit.OutputUnit._credits", "after < depth - 1", "after < depth")),
        Property("readers", "The readers of the buffer keep to the rules that the proof of the buffer assumes.",
                 Mutant("input_unit._Reader._answer", "eq(self.source.has[v])", "eq(1)")),
        Property("offered", "A virtual channel is offered to headers only while no worm owns it and it has a credit.",
                 Mutant("output_unit.OutputUnit._offer_vcs", "others | (here & ~self.vc_allocate)", "others | here")),
    )

    def __init__(self, *, vcs: int, depth: int, readers: str = "coupled", delays: str = "paper", classes: int = 1):
        super().__init__()
        self.vcs, self.depth, self.fast = vcs, depth, delays == "fast"
        every = (1 << vcs) - 1
        masks = [every] if classes == 1 else [every & ~(1 << k) for k in range(classes)]
        width = HEADER.flit_width
        self.sender = OutputUnit(PortSpec("west", vcs=vcs, depth=depth), width=width, classes=masks,
                                 extra_stage=self.fast)
        decoder = MeshDecoder(HEADER, relations=("e-cube",))
        outputs = tuple(PortSpec(name, vcs=2) for name in decoder.outputs)
        self.receiver = InputUnit(0, PortSpec(decoder.inputs[0], vcs=vcs, depth=depth), outputs=outputs, width=width,
                                  decoder=decoder, readers=readers)

    def elaborate(self, platform):
        m = Module()
        sender, receiver = self.sender, self.receiver
        inside_sender, inside = Inside(sender), Inside(receiver)
        m.submodules.sender, m.submodules.receiver = inside_sender.fragment, inside.fragment
        [link] = sender.links
        wiring.connect(m, link, receiver.link)
        crossbar = Crossbar(m, self, sender)
        self._surroundings(m)

        for v in range(self.vcs):
            end, channel = Sender(inside_sender, v), Receiver(m, inside, v)
            on_link = link.valid & (link.vc == v)
            # in the register behind the crossbar, and on the link: the count follows one cycle behind
            under_way = end.sent + on_link if self.fast else on_link
            self.claim(m, "conserved", end.credits - end.sent + under_way + channel.stored + link.credit[v]
                       == self.depth)
            self.claim(m, "conserved", end.sent <= end.credits)
            self.claim(m, "room", ~(channel.arrives & (channel.stored == self.depth)))
            self.claim(m, "room", ~sender.credit_error[v])
            for rule in channel.rules():
                self.claim(m, "readers", rule)
            for k in range(len(sender.classes)):
                self.claim(m, "offered", implies(end.offered(k), ~crossbar.owned[v] & (end.credits > end.sent)))
            if self.inductive:
                channel.invariants(m, self)
                end.invariants(m, self)
                self.invariant(m, crossbar.owned[v] == end.busy)
                self.invariant(m, implies(crossbar.may[v], end.another))
                self.invariant(m, ~end.stopped)
        return m

    def _surroundings(self, m):
        """Leave the input unit's environment free, except for what an allocator promises."""
        unit = self.receiver
        self.leave_free(*by_name(unit.strap).values())
        for reader in unit.readers:
            self.leave_free(reader.request.granted)
            self.assume(m, implies(reader.request.granted, reader.request.complete))
        for offer in unit.offer.values():
            self.leave_free(offer.free, offer.vc_free_next, offer.vc_still_free, offer.ready, offer.ready_after,
                            *offer.vc_candidate)
