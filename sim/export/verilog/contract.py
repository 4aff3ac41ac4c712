"""Contract of the ports of routers and interfaces: rules of their links, cycles of credits, and detected errors.

docs/ports.md and the port table of each export are made from these declarations. Tests in
``tests/sim/export/verilog/test_contract.py`` compare each declaration with simulations of the hardware.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from amaranth.lib import wiring

from wormcast.algorithms.headers import AddressList, BitString, MixedHeader, MultiDrop
from wormcast.algorithms.phrases import count
from wormcast.algorithms.routing import ALONG_LABELS
from wormcast.hw.deep import DeepSwitch
from wormcast.hw.faults import Cause
from wormcast.hw.interface import NetworkInterface
from wormcast.hw.interface.smart import ForwardingInterface
from wormcast.hw.router import Blueprint
from wormcast.hw.streams import AxisInterface, StreamInterface
from wormcast.hw.switch import Switch
from wormcast.hw.tree import TreeSwitch

from .links import links
from .ports import ports
from .streams import stream_tables

__all__ = ["CREDIT_FAULT_CYCLES", "ENABLE_RULES", "FAULT_CYCLES", "VIOLATIONS", "Violation", "contract_tables",
           "credit_cycles", "errors_of_hosts", "family", "incoming", "rules", "violation_table"]


@dataclass(frozen=True)
class Violation:
    """An error of the component at the other end of a link.

    Parameters
    ----------
    error : str
        What is wrong on the link.
    at : str
        The links at which this error counts: ``input``, ``output``, or the name of a link without its number.
    cause : Cause or None
        Value of ``fault.cause`` that reports the error; None: the error is not detected.
    effect : str
        What happens after the error.
    """

    error: str
    at: str
    cause: Cause | None
    effect: str


CUT = "The worm in front leaves with a last flit that has both marks"

ADDRESS = "an address that is another node's"
NUMBER = "a virtual channel number that does not exist"
ROOM = "a flit without a credit, while the buffer has room"

#: Errors at a port of any switch: flits and credits.
OF_SWITCHES = (
    Violation("a flit on a virtual channel whose buffer is full", "input", Cause.OVERFLOW,
              "The flit is dropped. No credit comes back for this flit."),
    Violation(ROOM, "input", None,
              "The flit is stored as any other, and its credit comes back: a credit too many for the sender."),
    Violation(NUMBER, "input", None,
              "Undefined: the flits may be reported as another error, and may damage a worm of another channel."),
    Violation("the tail of a worm is lost, and no worm follows", "input", None,
              "The worm holds its channels until another worm comes on the same virtual channel."),
    Violation("wrong payload data", "input", None, "The data are delivered."),
    Violation(ADDRESS, "input", None, "The worm goes to that node."),
    Violation("a credit, while the output has all credits and no flit on the link", "output", Cause.CREDIT,
              "The virtual channel sends nothing more until reset. A consumption channel that is reserved in the "
              "same cycle still sends one flit. Other virtual channels go on."),
    Violation("a credit too many, while other credits are out", "output", None,
              "The output may send a flit too many; its receiver drops the flit and reports OVERFLOW."),
    Violation("a credit is lost or withheld", "output", None,
              "The virtual channel has a place less; without credits it waits for ever."),
)

#: Errors that a component detects, by its `family`.
VIOLATIONS: dict[str, tuple[Violation, ...]] = {
    "path router": (
        Violation("payload where a worm must begin", "input", Cause.NO_HEADER,
                  "Each such flit is dropped. The virtual channel still waits for a header flit."),
        Violation("payload while the header has announced more header flits", "input", Cause.LIST_CUT,
                  "The worm goes on to the destinations that have arrived, with all its payload."),
        Violation("a header flit after the last header flit", "input", Cause.LIST_TOO_LONG,
                  "The worm leaves as its header and a flit with both marks. The rest of the worm is dropped, up to "
                  "its tail."),
        Violation("a header flit before the tail of the worm in front", "input", Cause.NO_TAIL,
                  f"{CUT}. The worm that begins with the header flit is not affected."),
        Violation("an address that is no node's", "input", Cause.NO_SUCH_DESTINATION,
                  "Nothing is sent to this address, nor to the destinations after it. If the first address is no "
                  "node's, the whole worm is dropped. Destinations before the address get the payload."),
        Violation("a destination to which no legal hop leads from here", "input", Cause.WRONG_ORDER,
                  "As for an address that is no node's. The sender's own address, and the node's own address a second "
                  "time, count as such a destination. A router with a table in static inputs detects only a hop back."),
        *OF_SWITCHES,
    ),
    "tree router": (
        Violation("payload where a worm must begin", "input", Cause.NO_HEADER, "The flits are dropped, up to a tail."),
        Violation("payload while header flits are missing", "input", Cause.LIST_CUT,
                  "The worm goes to the destinations whose bits have arrived, with all its payload."),
        Violation("a header flit after the last header flit", "input", Cause.LIST_TOO_LONG,
                  "Each copy leaves as its header and a flit with both marks. The rest of the worm is dropped, up to "
                  "its tail."),
        Violation("a header flit before the tail of the worm in front", "input", Cause.NO_TAIL,
                  "Each copy of the worm in front leaves with a last flit that has both marks. The worm that begins "
                  "with the header flit is not affected."),
        Violation("a bit string without a bit for any output", "input", Cause.NO_SUCH_DESTINATION,
                  "The worm is dropped."),
        Violation("a bit of a node that is not behind this switch", "input", None,
                  "A copy leaves by the output that the node's digit selects."),
        *(one for one in OF_SWITCHES if one.error != ADDRESS),
    ),
    "deep router": (
        Violation("payload where a worm must begin", "input", Cause.NO_HEADER, "The flits are dropped, up to a tail."),
        Violation("payload while header flits are missing", "input", Cause.LIST_CUT, "The worm is dropped."),
        Violation("a header flit after the last header flit", "input", Cause.LIST_TOO_LONG,
                  "The worm ends in this flit, with both marks. The rest of the worm is dropped, up to its tail."),
        Violation("a header flit before the tail of the worm in front", "input", Cause.NO_TAIL,
                  "The worm in front ends in this flit, with both marks. The rest of the new worm is lost, up to its "
                  "tail."),
        Violation("a header that leads to no output", "input", Cause.NO_SUCH_DESTINATION, "The worm is dropped."),
        *(one for one in OF_SWITCHES if one.error not in (ADDRESS, NUMBER, ROOM)),
    ),
    "interface": (
        Violation("a flit of the host, while the queue is full", "host_in", Cause.OVERFLOW,
                  "The flit is dropped. No credit comes back for this flit."),
        Violation("a header flit of the host before the tail of its worm in front", "host_in", Cause.NO_TAIL,
                  f"{CUT}. The worm that begins with the header flit is not affected."),
        Violation("payload of the host where a worm must begin", "host_in", None,
                  "The flits are sent to the router, which reports NO_HEADER."),
        Violation("wrong addresses in a header of the host", "host_in", None,
                  "The flits are sent to the router, which reports the error."),
        Violation("a flit of the router on a channel whose buffer is full", "network_in", Cause.OVERFLOW,
                  "The flit is dropped. No credit comes back for this flit."),
        Violation("a worm of the router without tail, or payload without header", "network_in", None,
                  "All flits but header flits go to the host."),
        Violation("a credit of the router, while the interface has all credits and no flit on the link", "network_out",
                  Cause.CREDIT, "The virtual channel sends nothing more until reset. Other virtual channels go on."),
        Violation("a credit of the host, while the interface has all credits and no flit on the link", "host_out",
                  Cause.CREDIT, "The channel sends nothing more until reset. Other channels go on."),
    ),
}

#: Cycles from a wrong flit on the link to ``fault``, by `family`. For interfaces: from a flit that finds no room.
#: An interface reports a missing tail when the next worm's header is its next flit.
FAULT_CYCLES = {"path router": 2, "tree router": 2, "deep router": 3, "interface": 1}

#: Cycles from a wrong credit on the link to ``fault``.
CREDIT_FAULT_CYCLES = 2

#: Rules of the clock enable, for a component or a network that has one.
ENABLE_RULES = (
    "Cycles are counted by the rising edges of `clk` with `enable` 1. At a rising edge with `enable` 0, no input but "
    "`rst` has an effect, and all registers keep their values: a flit or a credit on a link stays there, and counts "
    "once. `rst` resets for any value of `enable`. Both ends of a link need the same `enable`: connect one signal to "
    "all routers of a network, and to their hosts. A neighbour without this clock enable must hold a flit or a credit "
    "up to the next rising edge with `enable` 1, and read `valid` and `credit` as 0 while `enable` is 0. Token lines "
    "and streams have no neighbours without clock enable: both ends need the same `enable`.")

#: Classes of components with a contract, each with its family. The first class that fits counts.
FAMILIES: tuple[tuple[type, str], ...] = (
    (DeepSwitch, "deep router"), (TreeSwitch, "tree router"), (Switch, "path router"), (NetworkInterface, "interface"))


def family(component: wiring.Component) -> str | None:
    """Return the kind of contract of a component, a key of `VIOLATIONS`; None for parts of routers and interfaces."""
    return next((name for kind, name in FAMILIES if isinstance(component, kind)), None)


def incoming(component: wiring.Component) -> set[str]:
    """Return the names of the links by which flits come to a component."""
    return {port.bundle for port in ports(component) if port.path[-1] == "valid" and port.inward}


def credit_cycles(component: wiring.Component, link: str) -> int:
    """Return the least number of cycles that the component needs for a credit.

    At an incoming link: from a flit, or from the last flit of a chunk, to its credit. At an outgoing link: from a
    credit to the flit that uses it. All resources are free.
    """
    inward = link in incoming(component)
    if isinstance(component, NetworkInterface):
        return 2
    assert isinstance(component, Switch)
    if isinstance(component, DeepSwitch):
        header, first = component.decoder.header, 1
        if isinstance(header, BitString):
            first = header.flits()
        elif isinstance(header, MixedHeader) and header.drops is None:
            first = header.unicast_flits
        return 3 + first if inward else 2
    return 2 if inward or component.delays == "paper" else 3


def rules(blueprint: Blueprint, component: wiring.Component) -> Iterator[tuple[str, str]]:
    """Yield the rules of a component's links: subject and rule."""
    kind = family(component)
    yield "reset", ("In the cycle after `rst`, all outputs of links and `fault` are 0. After `rst`, buffers are empty, "
                    "and each outgoing link has all its credits. Reset both ends of a link together.")
    yield "idle link", ("While `valid` is 0, `vc` and `flit` have no meaning. Tie `valid` and `credit` of unused links "
                        "to 0.")
    yield "order of marks", ("On a virtual channel a worm is its header flits (`head`), its payload flits (no mark), "
                             "and its last payload flit (`tail`). The next worm begins after the tail. Worms on "
                             "different virtual channels may alternate flit by flit. A flit with both marks ends a "
                             "damaged worm; its data have no meaning.")
    yield "header", _header_rule(blueprint)
    yield "destinations", _order_rule(blueprint)
    yield "credits", ("A receiver may return a credit in the cycle in which the flit that used it is on the link, or "
                      "later. A sender may use the credit in the next cycle, or later.")
    yield "what leaves", _leaving_rule(kind, absorbs=bool(blueprint.configuration.slots),
                                       strips=blueprint.configuration.ejected_header == "strip")


def _header_rule(blueprint: Blueprint) -> str:
    """Return the rule of the marks and the length of headers."""
    header = blueprint.header
    if isinstance(header, BitString):
        flits = header.flits()
        return (f"Exactly {flits} header flit{'s' * (flits > 1)}: a bit string. The bits of the header are in *Data of "
                "a header flit*.")
    if isinstance(header, MultiDrop):
        return ("A pair of switch and ports for each switch on the way; each pair begins in a new header flit. "
                "The bits of the header are in *Data of a header flit*.")
    if isinstance(header, MixedHeader):
        pairs = "" if header.drops is None else (" A multi-drop worm has a pair of switch and ports for each switch on "
                                                 "the way; each pair begins in a new header flit.")
        return (f"The form, in the lowest bits of the first header flit, determines the header. A unicast has "
                f"{count(header.unicast_flits, 'header flit')}, a bit string {header.string.flits()}.{pairs} The bits "
                "are in *Data of a header flit*.")
    if not header.multicast:
        return "Exactly 1 header flit, with one address. The bits of the header are in *Data of a header flit*."
    return ("As many header flits as the addresses need. A bit in the data marks the last header flit. The bits are in "
            "*Data of a header flit*.")


def _order_rule(blueprint: Blueprint) -> str:
    """Return the rule of the order of destinations in a header."""
    header = blueprint.header
    if isinstance(header, BitString):
        return "Any set: a bit string has no order."
    if isinstance(header, MixedHeader):
        return "One, not the sender, or any set" + ("." if header.drops is None else (
            "; switches of a multi-drop worm in the order in which it visits them."))
    if isinstance(header, MultiDrop):
        return "Switches in the order in which the worm visits them; the relation must lead from each to the next."
    if not (isinstance(header, AddressList) and header.multicast):
        return "One, not the sender."
    hops = f"From each destination, `{'` or `'.join(blueprint.decoded)}` must lead to the next one by legal hops."
    by_labels = [relation.name for relation in ALONG_LABELS if relation.name in blueprint.decoded]
    labels = (f" Under `{'` and `'.join(by_labels)}`, the labels of the destinations all rise or all fall, from the "
              "sender's label on." if by_labels else "")
    return (f"In the order of the visits. {hops}{labels} The sender is not among the destinations, and each node is "
            "there at most once.")


def _leaving_rule(kind: str | None, *, absorbs: bool, strips: bool) -> str:
    """Return the rule of the flits that leave by the links of a component. ``strips``: links to nodes have no header.
    """
    if kind == "interface":
        return "`host_out` has the payload alone, without header flits. `network_out` has the worms of the host."
    if kind == "path router":
        node = ("`local_out` has the payload alone." if strips else
                "`local_out` has at a stop on the way what is left of the header, then the payload; at the last stop, "
                "and for unicasts, the payload alone.")
        return ("A link to a router has the header without the destinations that were reached, then the payload. "
                + node + (" A worm that the interface sends on leaves by `local_out` alone." if absorbs else ""))
    left = "with the bits of the nodes behind its output" if kind == "tree router" else "that are left"
    at_nodes = ("Links to nodes have the payload alone." if strips else
                "Copies on links to nodes have these header flits, too.")
    return f"Each copy has the header flits {left}, then the payload. {at_nodes}"


def violation_table(kind: str, at: Iterable[str] = ()) -> str:
    """Return the table of errors, in Markdown: what is detected, and what follows.

    Parameters
    ----------
    at : iterable of str, optional
        Only errors at these links, as in `Violation`, or names of an interface's links. Default: all errors.
    """
    there = {re.sub(r"_\d+$", "", name) for name in at}
    return "| error | at | `fault.cause` | what follows |\n|---|---|---|---|\n" + "".join(
        f"| {one.error} | {one.at} | {f'{one.cause.value} {one.cause.name}' if one.cause else 'not detected'} | "
        f"{one.effect} |\n" for one in VIOLATIONS[kind] if not there or one.at in there)


def contract_tables(blueprint: Blueprint, component: wiring.Component, prefix: str = "") -> Iterator[str]:
    """Yield the sections of a component's contract, in Markdown; nothing for parts of routers and interfaces.

    Parameters
    ----------
    prefix : str
        Beginning of the names of the component's links. With a prefix, only links to hosts are listed, as in a network.
    """
    yield from stream_tables(component)
    arriving, listed = incoming(component), links(component)
    streams = isinstance(component, StreamInterface | AxisInterface)
    if streams and prefix:
        return
    component = getattr(component, "interface", component)
    kind = family(component)
    if kind is None:
        return
    yield "\n## Rules of the links\n\n| | rule |\n|---|---|\n"
    yield from (f"| {subject} | {rule} |\n" for subject, rule in rules(blueprint, component)
                if not streams or subject != "what leaves")
    yield ("\n## Cycles of credits\n\nThe least number of cycles, with free resources: at an incoming link from a flit "
           "to its credit, at an outgoing link from a credit to the flit that uses it.\n\n"
           "| link | cycles | |\n|---|---:|---|\n")
    for name, link in listed.items():
        if not prefix or name.startswith("host_"):
            flit = "last flit of the chunk" if link.chunk > 1 else "flit"
            ends = f"{flit} to its credit" if name in arriving else "credit to the flit"
            yield f"| `{prefix}{name}` | {credit_cycles(component, name)} | {ends} |\n"
    yield (f"\n## Errors\n\n`fault` stores the first detected error until reset: a wrong flit {FAULT_CYCLES[kind]} "
           f"{'cycle' if FAULT_CYCLES[kind] == 1 else 'cycles'} after it was on the link, a wrong credit "
           f"{CREDIT_FAULT_CYCLES} cycles after. Errors of a neighbour that this {kind} detects, and others:\n\n")
    yield violation_table(kind, listed if kind == "interface" else ())
    if isinstance(component, ForwardingInterface):
        yield "\nA smart interface detects further errors (docs/hosts.md).\n"


def errors_of_hosts(router: wiring.Component) -> str:
    """Return the section of a network's document on errors of hosts that routers detect, in Markdown."""
    kind = family(router)
    assert kind is not None
    return ("\n## Errors at routers\n\nInterfaces do not check headers. A router stores the first error of the worms "
            f"that reach it; the name of the port ends in `fault`:\n\n{violation_table(kind, ['input'])}")
