"""Preparation of Amaranth's RTLIL for translation to Verilog without linter warnings."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import amaranth
from amaranth.back import rtlil
from amaranth.hdl import Fragment
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

import wormcast

from ..clocking import ClockEnabled, clock_domain
from .memories import take_out_memories
from .merge import ModuleGroup, merge
from .modules import NetlistModule, read_modules
from .ports import domains, ports
from .verilog_names import name_instances, name_signals

__all__ = ["netlist"]

#: Attributes that affect the hardware. The others are removed.
KEPT = ("init", "ram_style")

#: Operators whose operands must have equal widths for linters, and operators whose result must have this width, too.
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
SUMS = ("add", "sub")

CELL = re.compile(r"^  cell \$(\w+) (\S+)\n.*?^  end$", re.MULTILINE | re.DOTALL)


def netlist(components: Mapping[str, wiring.Component], prefix: str, *, reset: str = "sync", clock_enable: bool = False,
            src: bool = False) -> list[ModuleGroup]:
    """Return the modules of components in RTLIL.

    The top modules are named as in ``components``, the names of other modules begin with ``prefix``. Equal components
    produce equal texts, on any machine.

    Parameters
    ----------
    reset : "sync" or "async"
        Reset of all flip-flops.
    clock_enable : bool
        Add an input `ENABLE` to each component: while it is 0, flip-flops and memories keep their values, except at a
        reset.
    src : bool
        Keep the attributes ``src``: file and line of each signal and operator, relative to the packages' folder.
    """
    modules: list[NetlistModule] = []
    for name, component in components.items():
        modules += _modules(component, name, reset, clock_enable=clock_enable, src=src)
    name_instances(modules)
    inner = {module.type: module for module in modules}
    for module in reversed(modules):
        if not module.ports:
            name_signals(module, inner, inner.get(".".join(module.path[:-1])))
    return merge(modules, prefix)


def _modules(component: wiring.Component, name: str, reset: str, *, clock_enable: bool,
             src: bool) -> Iterator[NetlistModule]:
    """Yield the modules of a component, each before the modules inside it."""
    if clock_enable:
        component = ClockEnabled(component)
    pins = {port.name: (port.value, PortDirection.Input if port.inward else PortDirection.Output)
            for port in ports(component)}
    design = Fragment.get(component, None).prepare(
        ports=[(pin, *what) for pin, what in pins.items()], hierarchy=(name,), missing_domain=clock_domain(reset))
    text, _ = rtlil.convert_fragment(design, name=name, emit_src=src)
    kept = (*KEPT, "src") if src else KEPT
    text = re.sub(rf"^ *attribute \\(?!(?:{'|'.join(kept)}) ).*\n", "", text, flags=re.MULTILINE)
    # operators state their signs: linters report comparisons of a signed signal with an unsigned one
    text = re.sub(r"^(  wire width \d+) signed ", r"\1 ", text, flags=re.MULTILINE)
    if src:
        text = re.sub(r'^( *attribute \\src )"(.*):(\d+)"$', _relative, text, flags=re.MULTILINE)
        text = re.sub(r'^ *attribute \\src "wormcast/sim/.*\n', "", text, flags=re.MULTILINE)  # clk and rst
    text = CELL.sub(_as_wide, _numbered(text, [
        *(f"{domain}{name}" for domain in domains(component) for name in ("clk", "rst")), *pins]))
    made = {tuple(info.name): origin for fragment, info in design.fragments.items()
            for origin in fragment.origins or () if isinstance(origin, wiring.Component)}
    for module in read_modules(text, made.get):
        memories = list(take_out_memories(module))
        yield module
        yield from memories


def _relative(source: re.Match[str]) -> str:
    """Return a ``src`` attribute with the path below the folder of packages, or else only the file's name."""
    file = Path(source[2])
    for package in (wormcast, amaranth):
        folder = Path(package.__path__[0])
        if file.is_relative_to(folder):
            return f'{source[1]}"{package.__name__}/{file.relative_to(folder).as_posix()}:{source[3]}"'
    return f'{source[1]}"{file.name}:{source[3]}"'


def _numbered(text: str, names: list[str]) -> str:
    """Number each module's ports from 1, in the first module in the order of ``names``, else in their present order.

    Amaranth numbers ports from 0, and Yosys puts port 0 at the end of a module's list.
    """
    first, sep, others = text.partition("\nend\n")
    places = {name: place for place, name in enumerate(names, start=1)}

    def number(port: re.Match) -> str:
        return f"{port[1]}{places.get(port[3], int(port[2]) + 1)} \\{port[3]}"

    pattern = re.compile(r"^(  wire width \d+ (?:input|output) )(\d+) +\\(\S+)$", re.MULTILINE)
    return pattern.sub(number, first) + sep + re.sub(pattern, lambda p: f"{p[1]}{int(p[2]) + 1} \\{p[3]}", others)


def _as_wide(found: re.Match) -> str:
    """Widen operands and result of a cell to the widths that Verilog linters expect. Amaranth uses minimal widths."""
    cell, kind, name = found[0], found[1], found[2]
    widths = {side: int(bits) for side, bits in re.findall(r"parameter \\([ABY])_WIDTH (\d+)", cell)}
    if "_SIGNED 1" in cell:
        if kind in ("eq", "ne"):  # whether operands of equal width are equal does not depend on their signs
            return _repeated(cell, widths).replace("_SIGNED 1", "_SIGNED 0")
        return _repeated(cell, widths) if kind in COMPARISONS else cell
    if kind in COMPARISONS:
        return _extended(cell, widths, max(widths["A"], widths["B"]))
    if kind in SUMS:
        return _extended(cell, widths, max(widths.values()))
    if kind == "shl" and widths["A"] < widths["Y"]:
        return _extended(cell, widths, widths["Y"], sides="A")
    if kind == "shift" and widths["Y"] < widths["A"]:
        return _whole(cell, widths, f"$whole{name}")
    return cell


def _extended(cell: str, widths: dict[str, int], width: int, *, sides: str = "AB") -> str:
    """Extend operands that are narrower than ``width`` with zeros."""
    for side in sides:
        zeros = width - widths[side]
        if zeros:
            padded = rf"\g<1>{{ {zeros}'{'0' * zeros} \2 }}"
            cell = re.sub(rf"(connect \\{side} )(.*)$", padded, cell, flags=re.MULTILINE)
            cell = cell.replace(f"\\{side}_WIDTH {widths[side]}\n", f"\\{side}_WIDTH {width}\n")
    return cell


def _repeated(cell: str, widths: dict[str, int]) -> str:
    """Sign-extend the narrower operand by repeating its top bit."""
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
    """Widen the result of a shift to the width of its operand, and connect its lowest bits to the former result."""
    [result] = re.findall(r"connect \\Y (.*)$", cell, re.MULTILINE)
    cell = cell.replace(f"\\Y_WIDTH {widths['Y']}\n", f"\\Y_WIDTH {widths['A']}\n")
    cell = cell.replace(f"connect \\Y {result}\n", f"connect \\Y {name}\n")
    return f"  wire width {widths['A']} {name}\n{cell}\n  connect {result} {name} [{widths['Y'] - 1}:0]"
