"""Names for the wires of a mapped netlist, found by comparing the values of wires and of the design's signals.

Mapping to look-up tables keeps the names of registers and loses most others. If a wire of the mapped netlist carries a
signal of the design, both have equal values for any contents of the registers. The netlists before and after mapping
are therefore evaluated for 8192 random contents, and wires and signals with equal values are matched.
"""

import random
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .cells import Bit, Function, functions

__all__ = ["Names"]

#: Number of random register contents. Bit i of a wire's integer is the wire's value for contents i.
TRIED = 8192
ALL = (1 << TRIED) - 1

#: A signal that differs from a constant in fewer contents than this is not matched: a match may be by chance.
LEAST = 4

Netlist = Mapping[str, Any]


class Names:
    """Names of the wires of a mapped netlist.

    Parameters
    ----------
    source : str
        The design in RTLIL from Amaranth. Of several names for one signal, names of registers are preferred, and names
        of module inputs are avoided.
    gates, mapped : mapping
        The flattened design in Yosys's JSON, before the mapping to look-up tables and at the end.
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
        # a wire that mapping made constant is left out, because it no longer has the values of its signal
        known: dict[Bit, int] = {
            bit: by_name[name] for name, bit in self._wires.items() if name in by_name and isinstance(bit, int)
        }
        self._values = _evaluate(mapped, known, contents)
        self._cells = mapped["cells"]
        self._register_of = {cell["connections"][data][0]: cell["connections"]["Q"][0]
                             for cell in self._cells.values() if "Q" in cell["connections"]
                             for data in ("D", "DI", "M") if cell["connections"].get(data)}

    def of_wire(self, wire: str) -> str | None:
        """Return the name of the signal on a wire, with ``~`` if the wire is inverted; None if unknown."""
        return self._of_bit(self._wires.get(wire))

    def of_register(self, cell: str) -> str | None:
        """Return the name of the register in a cell of nextpnr, which may also contain a look-up table."""
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
    """Return the hierarchical names of wires that match the pattern ``form`` in lines of an RTLIL design."""
    found, module = set(), ""
    for line in source.splitlines():
        if line.startswith("module "):
            module = "".join(f"{part}." for part in line.split(".")[1:])
        elif match := re.match(form, line):
            found.add(module + match[1])
    return found


def _named_bits(netlist: Netlist) -> Iterator[tuple[str, Bit]]:
    """Yield name and bit of all wires and cell outputs, except those with generated names."""
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
    """Return the values of all bits of a netlist. Bits that are neither known nor computed by logic are random."""
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
