# amaranth: UnusedElaboratable=no
"""Exported components with the checkers that are exported with them."""

import re
from typing import ClassVar

from wormcast.sim.build.components import blueprint_of
from wormcast.sim.export.verilog import export

from .harness import Harness, Property
from .mutants import Mutant

__all__ = ["ExportedInterfaceHarness", "ExportedRouterHarness"]

CREDITS = "flit_has_credit", "credit_was_spent"
MARKS = ("channel_exists", "begins_with_header", "has_no_header", "ends_with_tail", "is_not_cut_off",
         "list_is_complete", "list_has_ended")
ORDER = "destination_exists", "labels_are_ordered"


class ExportedHarness(Harness):
    """Base of these proofs: the module for formal tools of ``wormcast verilog --sva``.

    Attributes
    ----------
    what : str
        ``router`` or ``interface``.
    asserted : dict of str to tuple of str
        Assertions of the checkers, by property.
    """

    what: str
    asserted: ClassVar[dict[str, tuple[str, ...]]]

    def __init__(self, **options):
        super().__init__()
        self.options = options

    def verilog(self):
        made = export(blueprint_of(self.options), self.what, module="proof", command="none")
        checks = made.checks
        if self.only is not None:
            kept = "|".join(self.asserted[self.only])
            checks = re.sub(rf"begin : (?!(?:{kept})\b)(\w+) assert \(.*\); end$", r"begin : \1 end", checks,
                            flags=re.MULTILINE)
        return "\n".join([made.verilog, checks, made.formal])


class ExportedRouterHarness(ExportedHarness):
    """The Verilog of a router with its checkers, in the module for formal tools that is exported with it.

    At each input come worms that the checkers of the input link allow, and at each output credits that the checkers of
    the output link allow. Flits come in any cycles, and may come for ever without a tail. The coordinates are any
    constants. Resets come in any cycles, and in the first one.
    """

    component = "Exported router"
    what = "router"
    asserted: ClassVar = {"credits": CREDITS, "marks": MARKS, "order": ORDER}
    properties = (
        Property("credits", "No output sends a flit without a credit. No input returns a credit for a flit that has "
                            "not come.",
                 Mutant("input_unit._Reader._request", "bit_at(offer.ready_after", "bit_at(offer.ready")),
        Property("marks", "Whole worms follow one another on each virtual channel of each output: header flits, "
                          "payload, tail. Only the last header flit has the mark of the last one. On consumption "
                          "channels a worm may have no header. No worm is cut off.",
                 Mutant("output_unit.OutputUnit._offer_vcs", "others | (here & ~self.vc_allocate)", "others | here")),
        Property("order", "In each header that leaves, all addresses are nodes. The labels of the destinations all "
                          "rise or all fall from the router's own label on, which is not among them.",
                 Mutant("decoders.address_list.AddressListDecoder.decode", "hdl.Cat(*slots[1:], slots[-1], rest)",
                        "hdl.Cat(*slots, rest)")),
    )


class ExportedInterfaceHarness(ExportedHarness):
    """The Verilog of a network interface with its checkers, in the module for formal tools that is exported with it.

    From the host and from the router come worms that the checkers of the links allow, in any cycles, and credits that
    the checkers allow. Resets come in any cycles, and in the first one.
    """

    component = "Exported interface"
    what = "interface"
    asserted: ClassVar = {"credits": CREDITS, "marks": MARKS, "order": ORDER}
    properties = (
        Property("credits", "No flit is sent without a credit, to the router or to the host. No credit is returned for "
                            "a flit that has not come.",
                 Mutant("output_unit.OutputUnit._credits", "after < depth - 1", "after < depth")),
        Property("marks", "Whole worms follow one another on each virtual channel to the router: header flits, "
                          "payload, tail. No header flit is sent to the host. No worm is cut off.",
                 Mutant("interface.consumption.Consumption.elaborate", "drive.send.eq(pop & (~flit.head | flit.tail))",
                        "drive.send.eq(pop)")),
        Property("order", "In each header to the router, all addresses are nodes, and their labels all rise or all "
                          "fall.",
                 Mutant("interface.injection.Injection.elaborate", "flit.eq(front)",
                        "flit.eq(front.as_value() ^ (front.head << 3))")),
    )
