"""Checkers of an export's links: modules with assertions in SystemVerilog, and the lines that bind them.

Checkers have immediate assertions in clocked blocks, which simulators and Yosys accept. Each assertion is in a block of
its own name, by which simulators report it. Checkers of one kind are one module with parameters.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from string import Template
from typing import NamedTuple

from amaranth.lib import wiring

from wormcast.algorithms.headers import AddressList
from wormcast.algorithms.routing import ALONG_LABELS
from wormcast.hw.link import LinkSignature
from wormcast.hw.router import Blueprint

from ..clocking import ENABLE
from .links import HEADERS, ComponentLink, links
from .ports import ComponentPort, ports

__all__ = ["CHECKS", "KNOWN", "RANGE", "Check", "Checker", "bind_lines", "checkers_of", "formal_module", "modules"]

FLITS, CREDITS = "ASSUME_FLITS", "ASSUME_CREDITS"
"""Parameters that turn assertions into assumptions: assertions on ``valid``, ``vc`` and ``flit``, which the sender
drives, and assertions on ``credit`` and ``arrived``, which the receiver drives."""


class Check(NamedTuple):
    """An assertion of a checker.

    Parameters
    ----------
    kind : str
        Kind of the checker: ``link``, ``header`` or ``report``.
    name : str
        Name of the assertion's block.
    side : str
        `FLITS` or `CREDITS`: the side of the link that the assertion is on.
    expression : str
        SystemVerilog.
    sentence : str
        Meaning of the assertion, for a comment.
    """

    kind: str
    name: str
    side: str
    expression: str
    sentence: str


#: Assertions on each channel of a link.
CHECKS = (
    Check("link", "flit_has_credit", FLITS, "!spends || held != 0",
          "A flit, or the first flit of a chunk, spends a credit that was returned in an earlier cycle."),
    Check("link", "begins_with_header", FLITS, "!sent || head || part != IDLE || HEADERS < NEEDED || HEADERS >= ANY",
          "A worm begins with a header flit."),
    Check("link", "has_no_header", FLITS, "!sent || !head || HEADERS != NONE",
          "On a link without headers no flit has the head mark."),
    Check("link", "ends_with_tail", FLITS,
          "!sent || !head || (tail && HEADERS != POSTS) || part != PAYLOAD || HEADERS >= ANY",
          "No header flit comes before the tail of the worm in front: worms of a channel do not interleave."),
    Check("link", "is_not_cut_off", FLITS, "!sent || !(head && tail) || posts || HEADERS >= ANY",
          "No worm was cut off by an error: no flit has both marks."),
    Check("link", "credit_was_spent", CREDITS, "!credit[v] || spends || held != FULL",
          "A credit is returned for a flit, or chunk, that is on the link in this cycle or was sent earlier."),
    Check("header", "list_is_complete", FLITS, "!sent || header || part != LIST",
          "Payload follows only the last header flit."),
    Check("header", "list_has_ended", FLITS, "!sent || !header || part != START",
          "No header flit follows the last header flit."),
    Check("header", "destination_exists", FLITS, "!sent || !header || all_exist",
          "Each address in a header is the address of a node."),
    Check("header", "labels_are_ordered", FLITS, "!sent || !header || !all_exist || !ORDER || up || down",
          "The labels of a worm's destinations all rise or all fall, beginning at the router's own label."),
    Check("report", "report_was_owed", CREDITS, "!arrived[v] || owed",
          "An arrival is reported once, for a worm whose header has the report bit."),
    Check("report", "channel_is_reported", FLITS, "!sent || under_way || !owed",
          "The next worm of a channel begins after the report of the worm in front."),
)

#: Assertions on a link as a whole. Assertions in `KNOWN` can fail only in simulators with the values X and Z.
RANGE = Check("link", "channel_exists", FLITS, "!valid || {1'b0, vc} < LIMIT", "The virtual channel exists.")
KNOWN = (
    Check("link", "valid_is_known", FLITS, "!$isunknown(valid)", "After reset valid is 0 or 1."),
    Check("link", "flit_is_known", FLITS, "valid !== 1'b1 || !$isunknown({vc, flit})",
          "No bit of a flit and of its virtual channel is X or Z."),
    Check("link", "credit_is_known", CREDITS, "!$isunknown(credit)", "After reset credit is 0 or 1."),
)

COMMON = """
  input wire clk,
  input wire rst,
  input wire valid,
  input wire [(VCS > 1 ? $clog2(VCS) : 1) - 1:0] vc,
  input wire [WIDTH + 1:0] flit"""

#: Edges at which registers change, by the kind of reset. Linters reject a reset of both kinds.
EDGES = {"sync": "posedge clk", "async": "posedge clk or posedge rst"}

#: Parts that all checkers have: the assertions hold from the first reset on, in cycles without reset.
ACTIVE = """
  localparam integer VC_BITS = VCS > 1 ? $$clog2(VCS) : 1;
  reg active;  // 1 from the first reset on
  initial active = 1'b0;
  always @($edges) if (rst) active <= 1'b1;
  wire checking = active && !rst;
"""

LINK = """
// Credits, marks and virtual channels of a link. A flit has the head mark in bit 0, the tail mark in bit 1, then data.
module ${name}_link_checks #(
  parameter integer VCS = 1,  // virtual channels, or consumption channels
  parameter integer WIDTH = $width,  // bits of data in a flit
  parameter integer CREDITS = 1,  // credits of the sender after reset, for each channel
  parameter integer CHUNK = 1,  // flits for a credit
  // header flits of worms. 0: none; 1: some or none; 2: some; 3: some, or one flit with both marks (a posting);
  // 4: marks are not checked; 5: the same, and a flit whose credit does not come in the next cycle uses no credit
  parameter integer HEADERS = 2,
  parameter [0:0] ASSUME_FLITS = 1'b0,  // 1: what the sender drives is assumed
  parameter [0:0] ASSUME_CREDITS = 1'b0  // 1: what the receiver drives is assumed
) ($common,
  input wire [VCS - 1:0] credit
);
  localparam integer NONE = 0, NEEDED = 2, POSTS = 3, ANY = 4, REQUESTS = 5;
  localparam [1:0] IDLE = 2'd0, HEADER = 2'd1, PAYLOAD = 2'd2;
  localparam integer COUNT_BITS = $$clog2(CREDITS + 1);
  localparam [COUNT_BITS - 1:0] FULL = CREDITS[COUNT_BITS - 1:0];
  localparam integer PLACE_BITS = $$clog2(CHUNK + 1);
$active  localparam [VC_BITS:0] LIMIT = VCS[VC_BITS:0];
  wire head = flit[0], tail = flit[1];
  always @(posedge clk) if (checking) begin
$range
`ifndef FORMAL
$known
`endif
  end
  genvar v;
  generate for (v = 0; v < VCS; v = v + 1) begin : channel
    reg [COUNT_BITS - 1:0] held;  // credits of the sender
    reg [PLACE_BITS - 1:0] place;  // flits of the chunk under way
    reg [1:0] part;  // of the worm under way: the part that the last flit belongs to
    wire sent = valid && {1'b0, vc} == v[VC_BITS:0];
    wire spends = sent && place == 0;
    wire posts = HEADERS == POSTS && part == IDLE && head && tail;
    always @($edges) if (rst) begin
      held <= FULL;
      place <= 0;
      part <= IDLE;
    end else begin
      held <= (HEADERS == REQUESTS ? FULL : held + {{COUNT_BITS - 1{1'b0}}, credit[v]})
        - {{COUNT_BITS - 1{1'b0}}, spends};
      if (sent) begin
        place <= tail || place == CHUNK[PLACE_BITS - 1:0] - 1'b1 ? 0 : place + 1'b1;
        part <= tail && !posts ? IDLE : head && !tail ? HEADER : PAYLOAD;
      end
    end
    always @(posedge clk) if (checking) begin
$checks
    end
  end endgenerate
endmodule
"""

HEADER = """
// Header flits of worms: lists of addresses, $slots in a flit, $address_bits bits each.
module ${name}_header_checks #(
  parameter integer VCS = 1,  // virtual channels, or consumption channels
  parameter integer WIDTH = $width,  // bits of data in a flit
  parameter [0:0] ORDER = 1'b0,  // 1: the order of destinations is checked
  parameter [0:0] PLACED = 1'b0,  // 1: own is an address, at which the order begins
  parameter [0:0] PASSED = 1'b0,  // 1: the first destination is not the node with address own
  parameter [0:0] ASSUME_FLITS = 1'b0  // 1: what the sender drives is assumed
) ($common,
  input wire [$address_bits - 1:0] own  // address of the router
);
  localparam [1:0] FIRST = 2'd0, LIST = 2'd1, START = 2'd2, PAYLOAD = 2'd3;
  localparam integer SLOTS = $slots, ADDRESS_BITS = $address_bits, FIELD_BITS = $field_bits, LABEL_BITS = $label_bits;
$active
  // the label of an address without signs; the bit above the label is 1 if a node has this address
  function [LABEL_BITS:0] label_of(input [FIELD_BITS - 1:0] address);
    case (address)
$labels
      default: label_of = 0;
    endcase
  endfunction
  wire header = flit[0] && !flit[1];  // with both marks a posting begins, or a worm was cut off
  wire tail = flit[1];
  wire last = $last;
  wire [LABEL_BITS:0] here = label_of(own[FIELD_BITS - 1:0]);
  wire [SLOTS - 1:0] exists, rises, falls, repeats;
  wire [LABEL_BITS - 1:0] labels [0:SLOTS - 1];
  genvar s;
  generate for (s = 0; s < SLOTS; s = s + 1) begin : slot
    wire [LABEL_BITS:0] found = label_of(flit[2 + s * ADDRESS_BITS +: FIELD_BITS]);
    assign labels[s] = found[LABEL_BITS - 1:0];
    assign exists[s] = found[LABEL_BITS];
    if (s == 0) begin : begins
      assign {rises[s], falls[s], repeats[s]} = 3'b110;
    end else begin : continues
      // unused slots repeat the last address
      assign rises[s] = labels[s] > labels[s - 1] || repeats[s];
      assign falls[s] = labels[s] < labels[s - 1] || repeats[s];
      assign repeats[s] = &(labels[s] ~^ labels[s - 1]);
    end
  end endgenerate
  wire all_exist = &exists;
  wire padded = ~|(~repeats & (repeats << 1));
  genvar v;
  generate for (v = 0; v < VCS; v = v + 1) begin : channel
    reg [1:0] part;
    reg rising, falling;
    reg [LABEL_BITS - 1:0] previous;
    wire sent = valid && {1'b0, vc} == v[VC_BITS:0];
    wire begins = part == FIRST || part == PAYLOAD;
    wire free = begins && !PLACED;
    wire [LABEL_BITS - 1:0] from = begins ? here[LABEL_BITS - 1:0] : previous;
    wire stays = begins && !PASSED && labels[0] == from;
    wire up = padded && &rises && (begins || rising) && (free || stays || labels[0] > from);
    wire down = padded && &falls && (begins || falling) && (free || stays || labels[0] < from);
    always @($edges) if (rst) begin
      part <= FIRST;
      rising <= 1'b0;
      falling <= 1'b0;
      previous <= 0;
    end else if (sent) begin
      part <= tail && !flit[0] ? FIRST : !header ? PAYLOAD : last ? START : LIST;
      rising <= up;
      falling <= down;
      previous <= labels[SLOTS - 1];
    end
    always @(posedge clk) if (checking) begin
$checks
    end
  end endgenerate
  wire unused = &{1'b0, flit, here, own};
endmodule
"""

REPORT = """
// Reports of arrival: of a worm whose first header flit has the report bit, data bit 0.
module ${name}_report_checks #(
  parameter integer VCS = 1,  // virtual channels
  parameter integer WIDTH = $width,  // bits of data in a flit
  parameter [0:0] ASSUME_FLITS = 1'b0,  // 1: what the sender drives is assumed
  parameter [0:0] ASSUME_CREDITS = 1'b0  // 1: what the receiver drives is assumed
) ($common,
  input wire [VCS - 1:0] arrived
);
$active  genvar v;
  generate for (v = 0; v < VCS; v = v + 1) begin : channel
    reg under_way;  // the first flit of a worm came, its tail did not
    reg owed;  // the worm's arrival is to be reported
    wire sent = valid && {1'b0, vc} == v[VC_BITS:0];
    always @($edges) if (rst) begin
      under_way <= 1'b0;
      owed <= 1'b0;
    end else begin
      if (sent) under_way <= !flit[1];
      if (sent && !under_way) owed <= flit[0] && flit[2];
      else if (arrived[v]) owed <= 1'b0;
    end
    always @(posedge clk) if (checking) begin
$checks
    end
  end endgenerate
  wire unused = &{1'b0, flit};
endmodule
"""

TEXTS = {"link": LINK, "header": HEADER, "report": REPORT}


@dataclass(frozen=True)
class Checker:
    """A checker of one link of a module.

    Parameters
    ----------
    kind : str
        ``link``, ``header`` or ``report``.
    link : str
        Name of the link.
    inward : bool
        The module receives the link's flits.
    parameters : dict of str to int
    pins : dict of str to str
        Ports of the checker besides clock and reset, and the module's ports at them.
    """

    kind: str
    link: str
    inward: bool
    parameters: Mapping[str, int]
    pins: Mapping[str, str]

    def instance(self, name: str, *, formal: bool = False) -> str:
        """Return the instance, for the export of module ``name``.

        Parameters
        ----------
        formal : bool
            What the module receives is assumed.
        """
        given = dict(self.parameters)
        if formal:
            given |= {side: 1 for side in (FLITS if self.inward else CREDITS,)
                      if side == FLITS or any(check.side == side for check in CHECKS if check.kind == self.kind)}
        parameters = ", ".join(f".{parameter}({value})" for parameter, value in given.items())
        pins = ", ".join(f".{pin}({port})" for pin, port in {"clk": "clk", "rst": "rst", **self.pins}.items())
        return f"{name}_{self.kind}_checks #({parameters}) {self.link}_{self.kind}_checks ({pins});\n"


def checkers_of(blueprint: Blueprint, component: wiring.Component, *, clock_enable: bool = False) -> list[Checker]:
    """Return the checkers of all links of a router or an interface.

    Parameters
    ----------
    clock_enable : bool
        As in `netlist`. While `ENABLE` is 0, a checker sees neither flits nor credits.
    """
    found = [checker for name, link in links(component).items()
             for checker in _of_link(blueprint, component, name, link)]
    if not clock_enable:
        return found
    return [replace(checker, pins={
        pin: _enabled(port, checker.parameters["VCS"] if pin in ("credit", "arrived") else 1)
        if pin in ("valid", "credit", "arrived") else port for pin, port in checker.pins.items()}) for checker in found]


def _enabled(port: str, width: int) -> str:
    """Return the expression for a port that is 0 while `ENABLE` is 0."""
    return f"{port} & {ENABLE}" if width == 1 else f"{port} & {{{width}{{{ENABLE}}}}}"


def _of_link(blueprint: Blueprint, component: wiring.Component, name: str, link: ComponentLink) -> Iterator[Checker]:
    signature = component.signature.members[name].signature
    inward = isinstance(signature, wiring.FlippedSignature)
    plain: LinkSignature = signature.flip() if inward else signature
    size = {"VCS": plain.vcs, "WIDTH": plain.width}
    forward = {"valid": f"{name}_valid", "vc": f"{name}_vc" if plain.vcs > 1 else "1'b0", "flit": f"{name}_flit"}
    yield Checker("link", name, inward, {
        **size, "CREDITS": link.depth // link.chunk, "CHUNK": link.chunk, "HEADERS": HEADERS.index(link.headers),
    }, {**forward, "credit": f"{name}_credit"})
    header = blueprint.header
    if isinstance(header, AddressList) and link.headers in ("allowed", "needed", "posts"):
        own = _own_address(component, header)
        # links into a router also carry the flits for the router's own node
        passed = not inward or name.startswith("local")
        yield Checker("header", name, inward, {
            **size, "ORDER": int(_ordered(blueprint)), "PLACED": int(own is not None), "PASSED": int(passed),
        }, {**forward, "own": own or f"{header.address_bits}'d0"})
    if plain.arrived:
        yield Checker("report", name, inward, size, {**forward, "arrived": f"{name}_arrived"})


def _ordered(blueprint: Blueprint) -> bool:
    """Return whether worms visit nodes in the order of rising or falling labels."""
    by_labels = len(blueprint.decoded) == 1 and blueprint.decoded[0] in {relation.name for relation in ALONG_LABELS}
    return by_labels and blueprint.topology.labels is not None


def _own_address(component: wiring.Component, header: AddressList) -> str | None:
    """Return a router's own address as an expression of its straps; None for interfaces, and where no strap has it."""
    straps = [port.name for port in ports(component) if port.name.startswith("strap_")]
    if "strap_address" in straps:
        return "strap_address"
    coordinates = [f"strap_coordinate_{d}" for d, bits in enumerate(header.field_bits) if bits]
    if header.signed or not set(coordinates) <= set(straps):
        return None
    return f"{{{', '.join(coordinates)}}}"


def modules(blueprint: Blueprint, name: str, kinds: Iterable[str], *, reset: str = "sync") -> str:
    """Return the modules of these kinds of checkers, for the export of module ``name`` with this kind of reset."""
    found = dict.fromkeys(kinds)
    return "".join(_module(blueprint, name, kind, EDGES[reset]) for kind in TEXTS if kind in found)


def _module(blueprint: Blueprint, name: str, kind: str, edges: str) -> str:
    values = {"name": name, "width": str(blueprint.configuration.flit_width), "common": COMMON, "edges": edges,
              "active": Template(ACTIVE).substitute(edges=edges),
              "checks": _assertions([check for check in CHECKS if check.kind == kind], 6),
              "range": _assertions([RANGE], 4), "known": _assertions(KNOWN, 4, formal=False)}
    if kind == "header":
        values |= _header_values(blueprint)
    return Template(TEXTS[kind]).substitute(values)


def _assertions(checks: Iterable[Check], indent: int, *, formal: bool = True) -> str:
    """Return assertions; with ``formal``, parameters of the checker can turn the assertions of a side into
    assumptions."""
    pad = " " * indent
    lines = []
    for check in checks:
        asserted = f"begin : {check.name} assert ({check.expression}); end"
        lines.append(f"{pad}// {check.sentence}")
        if formal:
            # without begin and end the else would be the action of the assumption
            lines += [f"{pad}if ({check.side}) begin assume ({check.expression}); end", f"{pad}else {asserted}"]
        else:
            lines.append(f"{pad}{asserted}")
    return "\n".join(lines)


def _header_values(blueprint: Blueprint) -> dict[str, str]:
    header, labels = blueprint.header, blueprint.topology.labels
    assert isinstance(header, AddressList)
    label_bits = max((header.nodes - 1).bit_length(), 1)
    mask = (1 << header.coordinate_bits) - 1
    digits = -(-header.coordinate_bits // 4)
    lines = [f"      {header.coordinate_bits}'h{header.address(node) & mask:0{digits}x}: "
             f"label_of = {{1'b1, {label_bits}'d{node if labels is None else labels[node]}}};"
             for node in range(header.nodes)]
    return {
        "slots": str(header.capacity if header.multicast else 1), "address_bits": str(header.address_bits),
        "field_bits": str(header.coordinate_bits), "label_bits": str(label_bits), "labels": "\n".join(lines),
        "last": f"flit[{2 + header.flit_width - header.selector_bits - 1}]" if header.last_bits else "1'b1",
    }


def bind_lines(name: str, module: str, checkers: Iterable[Checker]) -> str:
    """Return the lines that bind checkers to all instances of a module of the export of ``name``."""
    return "".join(f"bind {module} {checker.instance(name)}" for checker in checkers)


def formal_module(name: str, component_ports: Iterable[ComponentPort], checkers: Iterable[Checker], *,
                  clock_enable: bool = False) -> str:
    """Return the wrapper for formal tools: the component, and checkers that assume that the component receives valid
    flits and credits."""
    listed = list(component_ports)
    shared = ["clk", "rst", *[ENABLE] * clock_enable]
    inputs = [f"  input wire {port}" for port in shared]
    lines, pins = [], [f".{port}({port})" for port in shared]
    for port in listed:
        size = f"[{port.width - 1}:0] " if port.width > 1 else ""
        if port.inward and port.name.startswith("strap_"):
            lines.append(f"  (* anyconst *) wire {size}{port.name};\n")
        elif port.inward:
            inputs.append(f"  input wire {size}{port.name}")
        else:
            lines.append(f"  wire {size}{port.name};\n")
        pins.append(f".{port.name}({port.name})")
    return "".join([
        f"module {name}_formal (\n", ",\n".join(inputs), "\n);\n", *lines,
        "  reg begun;  // the first cycle is over\n  initial begun = 1'b0;\n",
        "  always @(posedge clk) begun <= 1'b1;\n  always @* if (!begun) assume (rst);\n",
        f"  {name} dut (\n    ", ",\n    ".join(pins), "\n  );\n",
        *(f"  {checker.instance(name, formal=True)}" for checker in checkers), "endmodule\n",
    ])
