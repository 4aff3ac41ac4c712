"""Logic functions of a netlist's cells on integers: bit i of each integer belongs to evaluation i of many."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = ["Bit", "Function", "functions"]

#: A bit of a wire, by its number in Yosys's JSON; or a constant: "0", "1", "x".
Bit = int | str
#: Function of a cell's output: it returns an integer whose bit i is the output's value in evaluation i.
#: Arguments: an integer with all bits of the evaluations set, then an integer for each input.
Function = Callable[..., int]

#: Yosys's gates: inputs, and function of output Y.
GATES: dict[str, tuple[str, Function]] = {
    "$_BUF_": ("A", lambda ones, a: a),
    "$_NOT_": ("A", lambda ones, a: a ^ ones),
    "$_AND_": ("AB", lambda ones, a, b: a & b),
    "$_NAND_": ("AB", lambda ones, a, b: a & b ^ ones),
    "$_OR_": ("AB", lambda ones, a, b: a | b),
    "$_NOR_": ("AB", lambda ones, a, b: (a | b) ^ ones),
    "$_XOR_": ("AB", lambda ones, a, b: a ^ b),
    "$_XNOR_": ("AB", lambda ones, a, b: a ^ b ^ ones),
    "$_ANDNOT_": ("AB", lambda ones, a, b: a & (b ^ ones)),
    "$_ORNOT_": ("AB", lambda ones, a, b: a | (b ^ ones)),
    "$_MUX_": ("ABS", lambda ones, a, b, s: a ^ ((a ^ b) & s)),
    "$_NMUX_": ("ABS", lambda ones, a, b, s: a ^ ((a ^ b) & s) ^ ones),
}

#: Look-up tables: inputs, least significant first; output; name of the parameter with the table.
TABLES = {
    "LUT4": (("A", "B", "C", "D"), "Z", "INIT"),
    "SB_LUT4": (("I0", "I1", "I2", "I3"), "O", "LUT_INIT"),
}

#: Multiplexers between the outputs of look-up tables: input selected by 0, input selected by 1, select input.
MULTIPLEXERS = {"PFUMX": ("BLUT", "ALUT", "C0"), "L6MUX21": ("D0", "D1", "SD")}


def functions(cell: Mapping[str, Any]) -> Iterator[tuple[Bit, Function, list[Bit]]]:
    """Yield each output bit of a cell with its function and its input bits.

    Nothing is yielded for registers and unknown cells.
    """
    kind, pins, parameters = cell["type"], cell["connections"], cell["parameters"]

    def bits(names: tuple[str, ...] | str) -> list[Bit]:
        return [pins[name][0] if pins.get(name) else "0" for name in names]

    if kind in GATES:
        names, function = GATES[kind]
        yield pins["Y"][0], function, bits(names)
    elif kind in TABLES:
        inputs, output, table = TABLES[kind]
        yield pins[output][0], _table(parameters[table]), bits(inputs)
    elif kind == "$lut":
        yield pins["Y"][0], _table(parameters["LUT"]), list(pins["A"])
    elif kind in MULTIPLEXERS:
        yield pins["Z"][0], GATES["$_MUX_"][1], bits(MULTIPLEXERS[kind])
    elif kind == "SB_CARRY":
        yield pins["CO"][0], _majority, bits(("I0", "I1", "CI"))
    elif kind == "$__ICE40_CARRY_WRAPPER":
        top = "CI" if int(parameters["I3_IS_CI"], 2) else "I3"
        yield pins["CO"][0], _majority, bits(("A", "B", "CI"))
        yield pins["O"][0], _table(parameters["LUT"]), bits(("I0", "A", "B", top))
    elif kind == "CCU2C":
        yield from _carry_of_two(pins, parameters, bits)


def _carry_of_two(pins: Mapping[str, list[Bit]], parameters: Mapping[str, str],
                  bits: Callable[[tuple[str, ...]], list[Bit]]) -> Iterator[tuple[Bit, Function, list[Bit]]]:
    """Yield the outputs of ECP5's carry cell: two look-up tables of four inputs, each with a sum and a carry out."""
    tables = [_table(parameters[f"INIT{half}"]) for half in range(2)]
    halves = [_table(parameters[f"INIT{half}"][-4:]) for half in range(2)]
    cut = [parameters[f"INJECT1_{half}"] == "YES" for half in range(2)]
    inputs = bits(("A0", "B0", "C0", "D0", "A1", "B1", "C1", "D1", "CIN"))

    def both(ones: int, *values: int) -> tuple[int, int, int]:
        carry, sums = values[8], []
        for half in range(2):
            own = values[4 * half:4 * half + 4]
            four, two = tables[half](ones, *own), halves[half](ones, *own[:2])
            sums.append(four ^ (0 if cut[half] else carry))
            carry = (~four & (0 if cut[half] else two) & ones) | (four & carry)
        return sums[0], sums[1], carry

    for index, name in enumerate(("S0", "S1", "COUT")):
        if pins.get(name):
            yield pins[name][0], lambda ones, *values, index=index: both(ones, *values)[index], inputs


def _majority(ones: int, a: int, b: int, c: int) -> int:
    return (a & b) | (c & (a | b))


def _table(text: str) -> Function:
    """Return the function of a look-up table. ``text`` has the entries of the table, the last entry first.

    Don't-care entries count as 0.
    """
    entries = [digit == "1" for digit in reversed(text)]

    def look_up(ones: int, *inputs: int) -> int:
        values = [ones if entry else 0 for entry in entries]
        for one in inputs:
            values = [low ^ ((low ^ high) & one) for low, high in zip(values[::2], values[1::2], strict=True)]
        return values[0]

    return look_up
