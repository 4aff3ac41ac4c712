"""Names of signals and ports in Verilog: no escapes, and no numbers that change with an unrelated option.

Amaranth numbers equal names of a module by their place among all names of the module, and names ports without a signal
by the number of their net. This module names these signals and ports after the ports and instances that they connect.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count

from .modules import ALIAS, TOKEN, WIRE, NetlistModule

__all__ = ["KEYWORDS", "name_instances", "name_signals", "plain"]

#: Keywords of SystemVerilog [IEEE 1800-2017, Annex B], which include the keywords of Verilog.
KEYWORDS = frozenset("""
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge
else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule
endpackage endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect
export extends extern final first_match for force foreach forever fork forkjoin function generate genvar global highz0
highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input inside
instance int integer interconnect interface intersect join join_any join_none large let liblist library local
localparam logic longint macromodule matches medium modport module nand negedge nettype new nexttime nmos nor
noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive priority program
property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase
randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1
s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled signed small
soft solve specify specparam static string strong strong0 strong1 struct super supply0 supply1 sync_accept_on
sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand
trior trireg type typedef union unique unique0 unsigned until until_with untyped use uwire var vectored virtual void
wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor
""".split())  # noqa: SIM905

#: A part of a list of bits: a signal with its range, or a constant.
PART = re.compile(r"(\\\S+|\$\S+|\d+'\S+)(?: \[(\d+)(?::(\d+))?\])?")


def plain(name: str) -> str:
    """Return a name without the number that Amaranth appends, as a word of Verilog: a keyword has ``_`` at its end."""
    word = re.sub(r"\W", "_", name.partition("$")[0], flags=re.ASCII)
    return f"{word}_" if word in KEYWORDS else word


def name_signals(module: NetlistModule, inner: Mapping[str, NetlistModule], outer: NetlistModule | None) -> None:
    """Rename the signals and ports of a module, and store the new names of ports in ``module.ports``.

    A signal keeps its name if no other signal has the same name. If several signals have the same name, a port among
    them keeps it. The other signals with this name are named ``INSTANCE__PORT`` after the instance that drives them, or
    else after the first one that reads them; without such an instance they are numbered in their order. A port without
    a name is named after the signal that it is a bit of, in this module or outside. A signal without a name gets no
    name.

    Parameters
    ----------
    inner : mapping
        Modules by the types of this module's instances. These modules have their new names already.
    outer : NetlistModule or None
        The module that contains the instance of ``module``. The signals of ``outer`` still have their old names.
    """
    _drop_aliases(module)
    wires = module.wires
    counts = Counter(plain(wire.name) for wire in wires)
    instances = _at_instances(module, inner)
    names: dict[str, str] = {}
    taken = {instance for _, instance, _ in module.instances()}

    def take(old: str, base: str) -> None:
        names[old] = next(name for k in count() if (name := f"{base}_{k}" if k else base) not in taken)
        taken.add(names[old])

    # names that stay come first
    for wire in wires:
        if "$" not in wire.name and (wire.port or counts[plain(wire.name)] == 1):
            take(wire.name, plain(wire.name))
    for wire in wires:
        if wire.port and wire.name not in names:
            take(wire.name, _bit_of(module, f"\\{wire.name} [0]") or _bit_above(module, wire.name, outer)
                 or f"port_{wire.port}")
    for wire in wires:
        if wire.name not in names:
            base = plain(wire.name)
            if base:
                take(wire.name, instances.get(wire.name, base))
            else:
                names[wire.name] = wire.name
    module.ports = {wire.name: names[wire.name] for wire in wires if wire.port}
    module.rename(names, lambda kind: inner[kind].ports)
    module.blocks = [re.sub(r"\\(?=\$)", "", block) for block in module.blocks]


def name_instances(modules: Sequence[NetlistModule]) -> None:
    """Rename the instances of modules. In ``modules``, each module is before the modules inside it.

    Amaranth numbers an instance that is named like a signal; here a number, from 1 on, is appended only if the name is
    taken.
    """
    outer: dict[str, NetlistModule] = {}
    taken: dict[str, set[str]] = {}
    for module in modules:
        former = module.type
        if len(module.path) > 1:
            above = outer[".".join(module.path[:-1])]
            names = taken[above.type]
            base = plain(module.path[-1])
            name = next(name for k in count() if (name := f"{base}_{k}" if k else base) not in names)
            names.add(name)
            instance = re.compile(rf"^  cell \\{re.escape(former)} \S+$", re.MULTILINE)
            module.path = (*above.path, name)
            above.blocks = [instance.sub(lambda _, new=(module.type, name): "  cell \\{} \\{}".format(*new),  # type: ignore
                                         block) for block in above.blocks]
        outer[former] = module
        taken[module.type] = {plain(wire.name) for wire in module.wires}


def _drop_aliases(module: NetlistModule) -> None:
    """Remove numbered signals that only repeat another signal with a name, and that nothing reads."""
    used = Counter(token for block in module.blocks if not WIRE.search(block) for token in TOKEN.findall(block))
    ports = {wire.name for wire in module.wires if wire.port}
    idle = {name for name, bits in module.aliases
            if "$" in name and name not in ports and used[name] == 1 and bits.startswith("\\")}

    def is_idle(block: str) -> bool:
        wire, alias = WIRE.search(block), ALIAS.match(block)
        return (wire is not None and wire[3][1:] in idle) or (alias is not None and alias[1] in idle)

    module.blocks = [block for block in module.blocks if not is_idle(block)]


def _bit_of(module: NetlistModule, bit: str) -> str | None:
    """Return a name for a bit after the signal that has it among several bits; None without such a signal."""
    for name, bits in module.aliases:
        if name.startswith("$") or not bits.startswith("{"):
            continue
        place = 0
        for one, high, low in reversed(PART.findall(bits)):
            if f"{one} [{high}]" == bit and not low:
                return f"{plain(name)}_{place}"
            place += int(high) - int(low) + 1 if low else 1
    return None


def _bit_above(module: NetlistModule, port: str, outer: NetlistModule | None) -> str | None:
    """Return a name for a port, made from the name of a signal outside of the module as by `_bit_of`."""
    pins = [dict(pins) for kind, _, pins in outer.instances() if kind == module.type] if outer else []
    return _bit_of(outer, pins[0][port]) if outer and pins and port in pins[0] else None


def _at_instances(module: NetlistModule, inner: Mapping[str, NetlistModule]) -> dict[str, str]:
    """Return ``INSTANCE__PORT`` for each signal at instances: the instance that drives the signal, or else the first
    instance that reads it."""
    widths = {wire.name: wire.width for wire in module.wires}
    driven: dict[str, str] = {}
    read: dict[str, str] = {}
    for kind, instance, pins in module.instances():
        outputs = {wire.name for wire in inner[kind].wires if wire.port == "output"}
        for pin, bits in pins:
            found = re.fullmatch(r"\\(\S+) \[(?:(\d+):)?0\]", bits)
            if found and int(found[2] or 0) == widths[found[1]] - 1:
                port = inner[kind].ports[pin]
                (driven if port in outputs else read).setdefault(found[1], f"{instance}__{port}")
    return read | driven
