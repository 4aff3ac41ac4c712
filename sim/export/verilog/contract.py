"""Contract of the ports of routers and interfaces: rules of their links, cycles of credits, and detected errors.

docs/ports.md and the port table of each export are made from these declarations. Tests in
``tests/sim/export/verilog/test_contract.py`` compare each declaration with simulations of the hardware.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

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

__all__ = ["ENABLE_RULES", "REPORTED", "VIOLATIONS", "WORDS", "Violation", "contract_tables", "credit_cycles",
           "errors_of_hosts", "family", "incoming", "rules", "violation_table"]


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
    cycles : int
        Cycles from the wrong flit or credit on the link to ``fault``.
    """

    error: str
    at: str
    cause: Cause | None
    effect: str
    cycles: int = 2

    @property
    def report(self) -> str:
        """Text: the cause in ``fault``, and when ``fault`` has it."""
        return "not detected" if self.cause is None else f"{self.cause.value} {self.cause.name}, {self.cycles}"


#: The fault output, and its column in the tables of errors.
REPORTED = ("`fault` is 0 until the first error that is detected, then keeps the cause, the port and the virtual "
            "channel of this error until reset. The table has the value of `fault.cause`, and the number of cycles "
            "from the wrong flit or credit on the link to `fault`.")

#: Words of the tables of errors.
WORDS = (
    "An *input* is a link into a router, with its buffer; an *output* is a link out of a router, with the credits that "
    "the router counts for it. The *worm in front* is the worm that came before on the same link and the same virtual "
    "channel. A *stop* is a destination of a worm, the *last stop* its last destination. A *legal hop* is a hop that "
    "the routing relation allows. *Both marks* are the head mark and the tail mark of one flit. Flits that are "
    "*dropped* leave by no link; their credits come back, except after OVERFLOW.")

AS_IF_NOT_SENT = ("The flit is dropped, and no credit comes back for it. Of its worm, the component stores the other "
                  "flits as if this flit had not been sent.")
STOPPED = ("After the credit, the virtual channel sends at most one more flit, or two if a credit is for a chunk, then "
           "nothing until reset. Other virtual channels go on.")
CUT = "The worm in front is cut off: it ends with a flit that has both marks"
NEXT_UNHURT = "The worm that begins with the header flit is not affected."
DROPPED_TO_TAIL = "All flits up to the next tail mark are dropped."

ADDRESS = "an address that is another node's"
NUMBER = "a virtual channel number that does not exist"
ROOM = "a flit without a credit, while the buffer has room"
STRAY = "payload, or a flit with both marks, where a worm must begin"
TOO_LONG = "a header flit after the last header flit"
UNENDED = "a header flit before the tail of the worm in front"


def _of_credits(into: str, out: str, *, overflow: int) -> tuple[Violation, ...]:
    """Return the errors of flits without credits at links into a component, and of credits at links out of it.

    Parameters
    ----------
    overflow : int
        Cycles from a flit without room to ``fault``.
    """
    return (
        Violation("a flit while the buffer of its virtual channel is full", into, Cause.OVERFLOW, AS_IF_NOT_SENT,
                  overflow),
        Violation(ROOM, into, None,
                  "The flit is stored as any other, and its credit comes back: a credit too many for the sender."),
        Violation("a credit, while the sender has all credits and no flit is on the link", out, Cause.CREDIT, STOPPED),
        Violation("a credit too many, while the receiver owes other credits", out, None,
                  "The sender may send a flit too many. If the flit finds no room, the receiver drops it and reports "
                  "OVERFLOW."),
        Violation("a credit is lost or withheld", out, None,
                  "The virtual channel has a credit less until reset. With no credit left, it sends nothing."),
    )


#: Errors at a port of any switch: flits and credits.
OF_SWITCHES = (
    *_of_credits("input", "output", overflow=2),
    Violation(NUMBER, "input", None,
              "Undefined: the router may report the flits as another error, and may damage a worm of another channel."),
    Violation("the tail of a worm is lost, and no worm follows", "input", None,
              "The worm holds its channels until another worm comes on the same virtual channel."),
    Violation("wrong payload data", "input", None, "The wrong data are delivered."),
    Violation(ADDRESS, "input", None, "The worm goes to that node."),
)

#: Errors of the router and the host at any interface.
OF_INTERFACES = (
    *_of_credits("host_in", "network_out", overflow=1),
    Violation("wrong addresses in a header of the host", "host_in", None,
              "The flits are sent to the router, which reports the error."),
    Violation("with packets, a header of the host that is longer than any header of the scheme", "host_in", None,
              "The first packet has the header of the host, the packets after it a wrong one."),
    Violation("the tail of a worm of the host is lost, and no worm follows", "host_in", None,
              "The worm holds its virtual channel of `network_out` until the host sends another worm."),
    *_of_credits("network_in", "host_out", overflow=1),
    Violation("a worm of the router without tail, or payload without header", "network_in", None,
              "All flits but header flits go to the host."),
)

HOST_STRAY = "payload of the host where a worm must begin"
HOST_STRAY_EFFECT = ("The flits are sent to the router, which drops them and reports NO_HEADER. With packets, each "
                     "packet after the first has the header of an earlier worm, and may arrive somewhere.")

#: Errors of the router and the host at any smart interface.
OF_SMART_INTERFACES = (
    Violation("a header flit of the host before the tail of its worm in front", "host_in", Cause.NO_TAIL,
              f"{CUT}. {NEXT_UNHURT}"),
    Violation("the first flit of a posting before the tail of the worm of the host in front", "host_in", Cause.NO_TAIL,
              f"{CUT}. The posting is not affected."),
    Violation("a header flit of the host, or the first flit of a posting, before the tail of the posting in front",
              "host_in", Cause.NO_TAIL,
              "The unfinished packet of the posting in front ends with this flit, which is sent without its head mark "
              "as the packet's last payload flit. Between two packets, a header flit ends no packet. The worm or "
              "posting that begins with this flit is not affected."),
    Violation(HOST_STRAY, "host_in", None, HOST_STRAY_EFFECT),
    *OF_INTERFACES,
    Violation("without receive queue, a packet to be forwarded with more payload flits than a packet may have",
              "network_in", Cause.LIST_TOO_LONG,
              "The host gets all flits of the packet. The children get a packet of the greatest length, without the "
              "flits after it."),
)

NO_ROW = "a row of the child table that does not exist"
LONG_ROW = "more header flits for a row than a row has room for"
REWRITTEN = "The row is written. The stored packets are sent by its new contents."
CHILDLESS = "The row has no children: packets of it are not forwarded."

#: Errors that a component detects, by its `family`.
VIOLATIONS: dict[str, tuple[Violation, ...]] = {
    "path router": (
        Violation(STRAY, "input", Cause.NO_HEADER,
                  "Each such flit is dropped, until a header flit comes."),
        Violation("payload, or a flit with both marks, while the header has announced more header flits", "input",
                  Cause.LIST_CUT,
                  "The worm goes on to the destinations whose addresses have arrived, with all its payload."),
        Violation(TOO_LONG, "input", Cause.LIST_TOO_LONG,
                  "The worm is cut off: its header leaves, then a flit with both marks. At its last stop only the flit "
                  f"with both marks leaves. {DROPPED_TO_TAIL}"),
        Violation(UNENDED, "input", Cause.NO_TAIL, f"{CUT}. {NEXT_UNHURT}"),
        Violation("an address that no node has", "input", Cause.NO_SUCH_DESTINATION,
                  "The worm ends at the destination before this address, with all its payload. If the address is the "
                  "first one, the whole worm is dropped. No flit goes to this address, nor to the addresses after it."),
        Violation("a destination to which no legal hop leads from here", "input", Cause.WRONG_ORDER,
                  "The worm ends at the destination before this one, with all its payload. If the destination is the "
                  "first one, the whole worm is dropped. The router's own address is such a destination at the link "
                  "from its node, and everywhere if it comes a second time. A router with its routing table in static "
                  "inputs detects only a hop back to the router from which the worm comes."),
        *OF_SWITCHES,
    ),
    "tree router": (
        Violation(STRAY, "input", Cause.NO_HEADER, DROPPED_TO_TAIL),
        Violation("payload, or a flit with both marks, while header flits are missing", "input", Cause.LIST_CUT,
                  "The worm goes to the destinations whose bits have arrived, with all its payload."),
        Violation(TOO_LONG, "input", Cause.LIST_TOO_LONG,
                  "The worm is cut off: of each copy the header leaves, then a flit with both marks. "
                  f"{DROPPED_TO_TAIL}"),
        Violation(UNENDED, "input", Cause.NO_TAIL,
                  "The worm in front is cut off: each of its copies ends with a flit that has both marks. "
                  f"{NEXT_UNHURT}"),
        Violation("a bit string without a bit for any output", "input", Cause.NO_SUCH_DESTINATION,
                  "The whole worm is dropped."),
        Violation("a bit of a node that is not behind this switch", "input", None,
                  "A copy leaves by the output that the digit of the node selects."),
        *(one for one in OF_SWITCHES if one.error != ADDRESS),
    ),
    "deep router": tuple(replace(one, cycles=3) if one.at == "input" else one for one in (
        Violation(STRAY, "input", Cause.NO_HEADER, DROPPED_TO_TAIL),
        Violation("payload, or a flit with both marks, while header flits are missing", "input", Cause.LIST_CUT,
                  "The whole worm is dropped."),
        Violation(TOO_LONG, "input", Cause.LIST_TOO_LONG,
                  "The worm is cut off: it ends with this flit, which leaves with both marks. All flits after it, up "
                  "to the next tail mark, are dropped."),
        Violation(UNENDED, "input", Cause.NO_TAIL,
                  "The worm in front is cut off: it ends with this flit, which leaves with both marks. The rest of the "
                  "worm that begins with this flit is dropped, up to its tail."),
        Violation("a header that leads to no output", "input", Cause.NO_SUCH_DESTINATION, "The whole worm is dropped."),
        *(one for one in OF_SWITCHES if one.error not in (ADDRESS, NUMBER, ROOM)),
    )),
    "interface": (
        Violation("a header flit of the host before the tail of its worm in front", "host_in", Cause.NO_TAIL,
                  f"{CUT}. {NEXT_UNHURT}"),
        Violation(HOST_STRAY, "host_in", None, HOST_STRAY_EFFECT),
        *OF_INTERFACES,
    ),
    "smart interface": (
        *OF_SMART_INTERFACES,
        Violation(NO_ROW, "table_in", Cause.NO_SUCH_DESTINATION, "Nothing is written.", 1),
        Violation(LONG_ROW, "table_in", Cause.LIST_TOO_LONG, CHILDLESS, 1),
        Violation("the first flit for a row, while packets of the row are stored", "table_in", Cause.WRONG_ORDER,
                  REWRITTEN, 1),
    ),
    "smart interface with requests": (
        *OF_SMART_INTERFACES,
        Violation(NO_ROW, "table_in", None, "The row is refused."),
        Violation(LONG_ROW, "table_in", Cause.LIST_TOO_LONG, CHILDLESS, 2),
        Violation("a flit that gives a row back that the host has not been granted", "table_in", None, "No effect."),
        Violation("a flit that gives a row back, then a request for it, while packets of the row are stored",
                  "table_in", Cause.WRONG_ORDER, REWRITTEN, 2),
        Violation("a request for a row that does not exist", "network_in", None, "The row is refused."),
        Violation("a request with more header flits than a row has room for", "network_in", Cause.LIST_TOO_LONG,
                  f"The row is granted. {CHILDLESS}", 3),
        Violation("a request that ends with a flit that has both marks", "network_in", None,
                  "The row is refused, or free again. An answer is sent if a flit of its header has come."),
        Violation("a release with another source or number than the request that was granted the row", "network_in",
                  None, "No effect."),
    ),
}

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
    (DeepSwitch, "deep router"), (TreeSwitch, "tree router"), (Switch, "path router"),
    (ForwardingInterface, "smart interface"), (NetworkInterface, "interface"))

#: Families of smart interfaces.
SMART = ("smart interface", "smart interface with requests")

#: Credit of a link that requests rows.
REQUEST_RULE = (
    "The first flit of a row on `table_in` requests the row. Its credit in the next cycle is the grant. If no credit "
    "comes in that cycle, the row is refused: it is in use, or a control packet arrives. A refused flit has no effect "
    "and uses no credit. After a grant, the host sends the other flits of the row, a flit per cycle: the number of the "
    "message's packets, less one, then the header flits. Each has its credit in the next cycle. A first flit with bit "
    "7 of its data gives a granted row back; it gets no credit and uses none.")


def family(component: wiring.Component) -> str | None:
    """Return the kind of contract of a component, a key of `VIOLATIONS`; None for parts of routers and interfaces."""
    if isinstance(component, ForwardingInterface) and component.admission is not None:
        return "smart interface with requests"
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
        return 1 if link == "table_in" else 2
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
    yield "reset", ("In the cycle after a cycle with `rst` 1, all outputs of links and `fault` are 0. Buffers are then "
                    "empty, and each outgoing link has all its credits. Flits and credits that are on a link in a "
                    "cycle with `rst` 1 have no effect. Reset both ends of a link together.")
    yield "idle link", ("While `valid` is 0, `vc` and `flit` have no meaning. At a link without a neighbour, tie the "
                        "inputs of the component to 0 (`valid`, `vc` and `flit` of an incoming link; `credit` of an "
                        "outgoing link, and `arrived` if there is one), and leave its outputs open.")
    yield "order of marks", ("A header flit has the head mark, a payload flit no mark, the last payload flit the tail "
                             "mark. On a virtual channel a worm is its header flits, then one payload flit or more; "
                             "links to nodes and hosts may have fewer header flits, or none (*what leaves*). The next "
                             "worm begins after the tail. Worms on different virtual channels may alternate flit by "
                             "flit. A flit with both marks ends a damaged worm; its data have no meaning."
                             + " On `host_in`, where a worm may begin, a flit with both marks begins a posting."
                             * (kind in SMART))
    yield "who makes the marks", _marks_rule(kind, blueprint.configuration.packet)
    yield "header", _header_rule(blueprint)
    yield "destinations", _order_rule(blueprint)
    yield "credits", ("A receiver may return a credit in the cycle in which the flit that used it is on the link, or "
                      "later. A sender may use the credit in the next cycle, or later.")
    if kind == "smart interface with requests":
        yield "credit of a row", REQUEST_RULE
    yield "what leaves", _leaving_rule(kind, absorbs=bool(blueprint.configuration.slots),
                                       strips=blueprint.configuration.ejected_header == "strip",
                                       tags=isinstance(blueprint.header, MixedHeader) and kind == "tree router")


def _marks_rule(kind: str | None, packet: int) -> str:
    """Return the rule of who makes which mark: sender, host or component. ``packet``: payload flits of a packet."""
    if kind in ("interface", *SMART):
        ends = (f" The interface cuts a worm into packets of {packet} payload flits: it sets the tail mark in the last "
                "flit of each packet, and repeats the header flits in front of the next packet.") if packet else ""
        said = ("The host makes the marks of its worms on `host_in`. The interface passes them on to `network_out`, "
                f"and the router's marks to `host_out`.{ends} The interface sets both marks only in the flit that ends "
                "a worm of the host without tail.")
        if kind == "interface":
            return said
        return (f"{said} For a posting the host sends one flit with both marks, whose data have no meaning, then "
                "payload, whose last flit has the tail mark; a posting has no header flits. Of a copy that the "
                "interface sends to a child, the interface makes all marks: the head mark of the header flits, which "
                "come from the child table, and the tail mark of the last payload flit, which is at the latest flit "
                f"{packet} of the payload. The host's marks on `table_in` mark the parts of a row, and leave by no "
                "link.")
    return ("The sender makes the marks of a worm. The router passes the marks on. The router itself sets both marks "
            "only in the flit that ends a worm that the router cuts off.")


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
        return "A bit string addresses any set of nodes, and has no order."
    if isinstance(header, MixedHeader):
        return "A unicast addresses one node, and not the sender. A bit string addresses any set of nodes." + (
            "" if header.drops is None else
            " A multi-drop worm addresses switches in the order in which it visits them.")
    if isinstance(header, MultiDrop):
        return ("The worm addresses switches in the order in which it visits them. The relation must lead from each to "
                "the next.")
    if not (isinstance(header, AddressList) and header.multicast):
        return "A header addresses one node, and not the sender."
    hops = f"From each destination, `{'` or `'.join(blueprint.decoded)}` must lead to the next one by legal hops."
    by_labels = [relation.name for relation in ALONG_LABELS if relation.name in blueprint.decoded]
    labels = (f" Under `{'` and `'.join(by_labels)}`, the labels of the destinations all rise or all fall, from the "
              "sender's label on." if by_labels else "") + " `wormcast plan` prints worms in a legal order."
    return (f"Addresses are in the order of the visits. {hops}{labels} The sender is not among the destinations, and "
            "each node is there at most once.")


def _leaving_rule(kind: str | None, *, absorbs: bool, strips: bool, tags: bool) -> str:
    """Return the rule of the flits that leave by the links of a component.

    ``strips``: links to nodes have no header. ``tags``: unicasts have routing tags.
    """
    if kind == "interface":
        again = " and of its slots" if absorbs else ""
        return ("`host_out` has only payload, without header flits. `network_out` has the worms of the "
                f"host{again}.")
    if kind in SMART:
        return ("`host_out` has only the payload of arriving packets, without header flits, and no payload of the "
                "host's own postings. `network_out` has the worms of the host, and copies of packets: a copy is the "
                "header flits of a child, from the packet's row of the child table, then the payload of the packet."
                + " Requests and releases of other nodes leave by no link. Answers to requests leave by `network_out`."
                * (kind == "smart interface with requests"))
    if kind == "path router":
        node = ("`local_out` has only payload." if strips else
                "`local_out` has at a stop on the way what is left of the header, then the payload; at the last stop, "
                "and for unicasts, only the payload.")
        return ("A link to a router has the header without the destinations that were reached, then the payload. "
                + node + (" A worm that the interface sends on leaves only by `local_out`." if absorbs else ""))
    left = "with the bits of the nodes behind its output" if kind == "tree router" else "that are left"
    at_nodes = ("Links to nodes have only payload." if strips else
                "Copies on links to nodes have these header flits, too.")
    unicasts = " A unicast leaves with its whole header." if tags else ""
    return f"Each copy has the header flits {left}, then the payload.{unicasts} {at_nodes}"


def violation_table(kind: str, at: Iterable[str] = (), *, without: str | None = None) -> str:
    """Return the table of errors, in Markdown: what is detected, and what follows.

    Parameters
    ----------
    at : iterable of str, optional
        Only errors at these links, as in `Violation`, or names of an interface's links. Default: all errors.
    without : str, optional
        Leave out the errors that components of this kind have, too.
    """
    there = {re.sub(r"_\d+$", "", name) for name in at}
    left_out = VIOLATIONS[without] if without else ()
    return "| error | at | `fault.cause`, cycles | effect |\n|---|---|---|---|\n" + "".join(
        f"| {one.error} | {one.at} | {one.report} | {one.effect} |\n"
        for one in VIOLATIONS[kind] if (not there or one.at in there) and one not in left_out)


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
    outside = [name for name in listed if not prefix or not name.startswith("network_")]
    yield "\n## Rules of the links\n\n| | rule |\n|---|---|\n"
    yield from (f"| {subject} | {rule} |\n" for subject, rule in rules(blueprint, component)
                if not streams or subject not in ("what leaves", "who makes the marks"))
    yield ("\n## Cycles of credits\n\nThe least number of cycles, with free resources: at an incoming link from a flit "
           "to its credit, at an outgoing link from a credit to the flit that uses it.\n\n"
           "| link | cycles | |\n|---|---:|---|\n")
    for name, link in listed.items():
        if name in outside:
            flit = "last flit of the chunk" if link.chunk > 1 else "flit"
            ends = f"{flit} to its credit" if name in arriving else "credit to the flit"
            yield f"| `{prefix}{name}` | {credit_cycles(component, name)} | {ends} |\n"
    outside = [name for name in listed if not prefix or not name.startswith("network_")]
    yield (f"\n## Errors\n\n{REPORTED} The table has errors of a neighbour of this {kind}, detected or not.\n\n"
           f"{WORDS}\n\n")
    yield violation_table(kind, outside if isinstance(component, NetworkInterface) else ())


def errors_of_hosts(router: wiring.Component) -> str:
    """Return the section of a network's document on errors of hosts that routers detect, in Markdown."""
    kind = family(router)
    assert kind is not None
    return ("\n## Errors at routers\n\nInterfaces do not check headers. A router stores the first error of the worms "
            "that reach it, in the port whose name ends in `router_fault`. Cycles count from the link into the "
            f"router:\n\n{violation_table(kind, ['input'])}")
