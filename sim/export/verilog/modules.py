"""Modules of a netlist in RTLIL, as blocks of text: wires, memories, cells, processes and connections."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from amaranth.lib import wiring

__all__ = ["NetlistModule", "Wire", "read_modules", "renamed"]

WIRE = re.compile(r"^  wire width (\d+) (?:(input|output) \d+ +)?(\S+)$", re.MULTILINE)
CELL = re.compile(r"^  cell (\S+) (\S+)$", re.MULTILINE)
PIN = re.compile(r"^    connect \\(\S+) (.*)$", re.MULTILINE)
ALIAS = re.compile(r"^connect \\(\S+) (.*)$")
TOKEN = re.compile(r"\\(\S+)")

Names = Mapping[str, str]


@dataclass(frozen=True)
class Wire:
    """Declaration of a wire with a name.

    Parameters
    ----------
    name : str
        Without the backslash.
    width : int
    port : "input", "output" or None
    """

    name: str
    width: int
    port: str | None


@dataclass
class NetlistModule:
    """A module of a netlist.

    Parameters
    ----------
    path : tuple of str
        Name of the top module, then the names of the instances down to this module.
    blocks : list of str
        Declarations and statements in their order, each with its attributes.
    component : wiring.Component, optional
        The component that this module was elaborated from.
    comment : str
        Description of a module without a component.
    kind_name : str
        Name of the class of a module without a component.
    attributes : str
        Attributes of the module.
    ports : dict
        New names of the ports by their names in Amaranth's netlist.
    """

    path: tuple[str, ...]
    blocks: list[str]
    component: wiring.Component | None = None
    comment: str = ""
    kind_name: str = ""
    attributes: str = ""
    ports: dict[str, str] = field(default_factory=dict)

    @property
    def type(self) -> str:
        """Name of the module as the type of an instance, in Amaranth's netlist."""
        return ".".join(self.path)

    @property
    def kind(self) -> str:
        """Name of the module's class: ``input_unit`` for `InputUnit`; the instance's name without a class."""
        if self.component is None:
            return self.kind_name or re.sub(r"\W|_\d+$", "", self.path[-1])
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(self.component).__name__).lower()

    @property
    def wires(self) -> list[Wire]:
        """The wires with names, in their order."""
        return [Wire(found[3][1:], int(found[1]), found[2]) for block in self.blocks
                if (found := WIRE.search(block)) and found[3].startswith("\\")]

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """The connections outside of cells: name of the wire, and the bits that drive it."""
        return [(found[1], found[2]) for block in self.blocks if (found := ALIAS.match(block))]

    def instances(self) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
        """Yield type, name, and pins with their bits, of each instance of another module."""
        for block in self.blocks:
            found = CELL.search(block)
            if found and found[1].startswith("\\"):
                yield found[1][1:], found[2][1:], PIN.findall(block)

    def rename(self, wires: Names, pins: Callable[[str], Names]) -> None:
        """Rename wires, and pins of instances. ``pins`` returns the new names of the ports of a type of instance."""
        self.blocks = [renamed(block, wires, pins) for block in self.blocks]

    def text(self, name: str, types: Names) -> str:
        """Return the module in RTLIL, as module ``name``, with new names of the types of instances."""
        body = "\n".join(self.blocks)
        body = re.sub(r"^  cell \\(\S+) ", lambda cell: f"  cell \\{types[cell[1]]} ", body, flags=re.MULTILINE)
        return f"{self.attributes}module \\{name}\n{body}\nend\n"


def renamed(block: str, wires: Names, pins: Callable[[str], Names]) -> str:
    """Rename the wires of a block, and the pins if the block is an instance."""

    def bits(text: str) -> str:
        return TOKEN.sub(lambda token: "\\" + wires.get(token[1], token[1]), text)

    lines, ports = [], None
    for line in block.split("\n"):
        word = line.split(maxsplit=1)[0] if line.strip() else ""
        if word in ("attribute", "parameter", "memory"):
            lines.append(line)
        elif word == "cell":
            kind, name = line.split()[1:]
            ports = pins(kind[1:]) if kind.startswith("\\") else {}
            lines.append(f"  cell {kind} {name}")
        elif word == "connect" and ports is not None:
            found = PIN.match(line)
            assert found
            lines.append(f"    connect \\{ports.get(found[1], found[1])} {bits(found[2])}")
        else:
            lines.append(bits(line))
    return "\n".join(lines)


def read_modules(text: str, component: Callable[[tuple[str, ...]], wiring.Component | None]) -> Iterator[NetlistModule]:
    """Yield the modules of Amaranth's RTLIL, each before the modules inside it."""
    found = re.findall(r"^((?:attribute [^\n]*\n)*)module \\(\S+)\n(.*?)^end$", text, re.MULTILINE | re.DOTALL)
    for attributes, name, body in found:
        path = tuple(name.split("."))
        yield NetlistModule(path, list(_blocks(body.splitlines())), component(path), attributes=attributes)


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """Split the body of a module into declarations and statements, each with the attributes before it."""
    block: list[str] = []
    for line in lines:
        if not line.strip():
            continue
        block.append(line)
        word = line.split(maxsplit=1)[0]
        begins = any(kept.startswith(("  cell ", "  process ")) for kept in block)
        if line == "  end" or (word in ("wire", "memory", "connect") and not begins):
            yield "\n".join(block)
            block = []
