"""Names for the wires of a mapped netlist: those of the design's signals that have the same value, whatever happens.

Mapping to look-up tables leaves registers their names and loses all others, as it looks for new ways to the same
result. Where it kept a signal's value after all, a wire shows the same values as the signal for random contents of all
registers. So both netlists, as mapped and as they were just before, are evaluated for some thousand such contents.
"""

import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .cells import Bit, Function, functions

__all__ = ["Names"]

#: Contents of the registers that are tried, each in a bit of an integer.
TRIED = 8192
ALL = (1 << TRIED) - 1

#: A signal that differs from a constant in fewer of them could be taken for another.
LEAST = 4

Netlist = Mapping[str, Any]


class Names:
    """Names of the wires of a mapped netlist.

    Parameters
    ----------
    source : str
        The design as Amaranth gives it, in RTLIL: it tells which of several names for the same is a register's, and
        which are those of inputs, that have another name where they come from.
    gates, mapped : mapping
        The design flattened, in Yosys's JSON, before look-up tables are formed and at the end.
    """

    def __init__(self, source: str, gates: Netlist, mapped: Netlist):
        contents = random.Random(0)
        values = _evaluate(gates, {}, contents)
        named = dict(_named_bits(gates))
        self._signals: dict[int, str] = {}
        by_name = {}
        registers = _declared(source, r"\s*connect \\Q \\(\S+)")
        inputs = _declared(source, r"\s*wire .* input .*\\(\S+)")

        def rank(name: str) -> tuple[object, ...]:
            whole = name.partition("[")[0]
            return (whole not in gates["netnames"], whole in inputs, whole not in registers, "$" in name,
                    -name.count("."), len(name), name)

        for name, bit in sorted(named.items(), key=lambda entry: rank(entry[0])):
            by_name[name] = value = values[bit]
            if LEAST <= value.bit_count() <= TRIED - LEAST:
                self._signals.setdefault(value, name)
        self._wires = dict(_named_bits(mapped))
        # a wire that has become constant on its way says nothing of the constant
        known: dict[Bit, int] = {
            bit: by_name[name] for name, bit in self._wires.items() if name in by_name and isinstance(bit, int)
        }
        self._values = _evaluate(mapped, known, contents)
        self._cells = mapped["cells"]
        self._register_of = {cell["connections"][data][0]: cell["connections"]["Q"][0]
                             for cell in self._cells.values() if "Q" in cell["connections"]
                             for data in ("D", "DI", "M") if cell["connections"].get(data)}

    def of_wire(self, wire: str) -> str | None:
        """Name of the signal on a wire, ``~`` before it if the wire is its inverse; None if it has none."""
        return self._of_bit(self._wires.get(wire))

    def of_register(self, cell: str) -> str | None:
        """Name of the register in a cell of nextpnr's, which may have packed a look-up table with it."""
        found = self._cells.get(cell) or self._cells.get(re.sub("_(DFF)?LC$", "", cell))
        if found is None:
            return None
        outputs = found["connections"]
        if "Q" in outputs:
            return self._of_bit(outputs["Q"][0])
        return self._of_bit(self._register_of.get(outputs["O"][0])) if "O" in outputs else None

    def _of_bit(self, bit: Bit | None) -> str | None:
        if bit is None or bit not in self._values:
            return None
        value = self._values[bit]
        if value in self._signals:
            return self._signals[value]
        inverse = self._signals.get(value ^ ALL)
        return inverse and f"~{inverse}"


def _declared(source: str, form: str) -> set[str]:
    """Hierarchical names that stand in lines of this form, of wires in the modules of a design in RTLIL."""
    found, module = set(), ""
    for line in source.splitlines():
        if line.startswith("module "):
            module = "".join(f"{part}." for part in line.split(".")[1:])
        elif match := re.match(form, line):
            found.add(module + match[1])
    return found


def _named_bits(netlist: Netlist) -> Iterator[tuple[str, Bit]]:
    """The bits of all wires, and of all outputs of cells, whose names are not made up, by name."""
    for name, wire in netlist["netnames"].items():
        yield from _bits(name, wire["bits"], wire.get("offset", 0))
    for name, cell in netlist["cells"].items():
        for port, bits in cell["connections"].items():
            if cell.get("port_directions", {}).get(port) == "output":
                yield from _bits(f"{name}.{port}", bits, 0)


def _bits(name: str, bits: list[Bit], first: int) -> Iterator[tuple[str, Bit]]:
    if name.startswith("$"):
        return
    if len(bits) == 1:
        yield name, bits[0]
    else:
        yield from ((f"{name}[{index}]", bit) for index, bit in enumerate(bits, first))


def _evaluate(netlist: Netlist, known: Mapping[Bit, int], contents: random.Random) -> dict[Bit, int]:
    """Values of all bits; what is neither known nor made by logic is random."""
    values: dict[Bit, int] = {"0": 0, "1": ALL, "x": 0, "z": 0, **known}
    made = {bit: (function, inputs) for cell in netlist["cells"].values() for bit, function, inputs in functions(cell)}
    nothing: tuple[Function | None, list[Bit]] = (None, [])
    for bit in [bit for wire in netlist["netnames"].values() for bit in wire["bits"]]:
        pending = [bit]
        while pending:
            top = pending[-1]
            function, inputs = made.get(top, nothing)
            missing = [] if top in values else [one for one in inputs if one not in values]
            if missing:
                pending += missing
                continue
            if top not in values:
                values[top] = (contents.getrandbits(TRIED) if function is None
                               else function(ALL, *(values[one] for one in inputs)))
            pending.pop()
    return values
