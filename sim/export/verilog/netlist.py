"""Amaranth's RTLIL, made ready to become Verilog that linters have nothing to say about."""

import re
from collections.abc import Iterable

from amaranth.back import rtlil
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from .ports import ports

__all__ = ["is_clocked", "netlist"]

#: Attributes that say something about the hardware; the others are names of tools and of numbers.
KEPT = ("init", "ram_style")

#: Operators whose operands Verilog wants equally wide, and those where the result counts too.
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
SUMS = ("add", "sub")

CELL = re.compile(r"^  cell \$(\w+) (\S+)\n.*?^  end$", re.MULTILINE | re.DOTALL)


def netlist(component: wiring.Component, name: str) -> str:
    """RTLIL of a component, its modules called ``name``, and ``name`` with their path behind it.

    The same component gives the same text, wherever and whenever.
    """
    pins = {port.name: (port.value, PortDirection.Input if port.inward else PortDirection.Output)
            for port in ports(component)}
    text = rtlil.convert(component, name=name, ports=pins, emit_src=False)
    text = re.sub(rf"^ *attribute \\(?!(?:{'|'.join(KEPT)}) ).*\n", "", text, flags=re.MULTILINE)
    text = _numbered(text, ["clk", "rst", *pins])
    text = _plain_names(text, re.findall(r"^module \\(\S+)$", text, re.MULTILINE))
    return CELL.sub(_as_wide, text)


def is_clocked(component: wiring.Component) -> bool:
    """Whether a component has flip-flops, and so a port ``clk``."""
    return re.search(r"^  wire width 1 input \d+ \\clk$", netlist(component, "top"), re.MULTILINE) is not None


def _numbered(text: str, names: list[str]) -> str:
    """Number ports from 1, those of the first module in this order, others as they are.

    Amaranth numbers them from 0, and Yosys puts the port of number 0 at the end of its module's list.
    """
    first, sep, others = text.partition("\nend\n")
    places = {name: place for place, name in enumerate(names, start=1)}

    def number(port: re.Match) -> str:
        return f"{port[1]}{places.get(port[3], int(port[2]) + 1)} \\{port[3]}"

    pattern = re.compile(r"^(  wire width \d+ (?:input|output) )(\d+) +\\(\S+)$", re.MULTILINE)
    return pattern.sub(number, first) + sep + re.sub(pattern, lambda p: f"{p[1]}{int(p[2]) + 1} \\{p[3]}", others)


def _plain_names(text: str, modules: Iterable[str]) -> str:
    """Call modules by names that need no escape."""
    for module in modules:
        if "." in module:
            plain = module.replace(".", "_")
            text = re.sub(rf"^((?:module|  cell) \\){re.escape(module)}(?=\s)", rf"\g<1>{plain}", text,
                          flags=re.MULTILINE)
    return text


def _as_wide(found: re.Match) -> str:
    """Make operands and result of a cell as wide as Verilog wants them: Amaranth gives each the bits that it needs."""
    cell, kind, name = found[0], found[1], found[2]
    widths = {side: int(bits) for side, bits in re.findall(r"parameter \\([ABY])_WIDTH (\d+)", cell)}
    if "_SIGNED 1" in cell:
        if kind in ("eq", "ne"):  # of two equally wide operands signs make no difference
            return _repeated(cell, widths).replace("_SIGNED 1", "_SIGNED 0")
        return _repeated(cell, widths) if kind in COMPARISONS else cell
    if kind in COMPARISONS:
        return _extended(cell, widths, max(widths["A"], widths["B"]))
    if kind in SUMS:
        return _extended(cell, widths, max(widths.values()))
    if kind == "shift" and widths["Y"] < widths["A"]:
        return _whole(cell, widths, f"$whole{name}")
    return cell


def _extended(cell: str, widths: dict[str, int], width: int) -> str:
    """Put zeros before operands that are narrower."""
    for side in "AB":
        zeros = width - widths[side]
        if zeros:
            padded = rf"\g<1>{{ {zeros}'{'0' * zeros} \2 }}"
            cell = re.sub(rf"(connect \\{side} )(.*)$", padded, cell, flags=re.MULTILINE)
            cell = cell.replace(f"\\{side}_WIDTH {widths[side]}\n", f"\\{side}_WIDTH {width}\n")
    return cell


def _repeated(cell: str, widths: dict[str, int]) -> str:
    """Repeat the top bit of a signed operand that is narrower; a bit that is repeated Amaranth writes as one."""
    width = max(widths["A"], widths["B"])
    for side in "AB":
        more = width - widths[side]
        if more:
            [operand] = re.findall(rf"connect \\{side} (.*)$", cell, re.MULTILINE)
            top = operand if widths[side] == 1 else f"{operand} [{widths[side] - 1}]"
            wide = f"{{ {f'{top} ' * more}{operand} }}"
            cell = cell.replace(f"connect \\{side} {operand}\n", f"connect \\{side} {wide}\n")
            cell = cell.replace(f"\\{side}_WIDTH {widths[side]}\n", f"\\{side}_WIDTH {width}\n")
    return cell


def _whole(cell: str, widths: dict[str, int], name: str) -> str:
    """Give a shift a result as wide as what it shifts, and take its lowest bits."""
    [result] = re.findall(r"connect \\Y (.*)$", cell, re.MULTILINE)
    cell = cell.replace(f"\\Y_WIDTH {widths['Y']}\n", f"\\Y_WIDTH {widths['A']}\n")
    cell = cell.replace(f"connect \\Y {result}\n", f"connect \\Y {name}\n")
    return f"  wire width {widths['A']} {name}\n{cell}\n  connect {result} {name} [{widths['Y'] - 1}:0]"
