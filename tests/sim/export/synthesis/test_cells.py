"""Functions of netlist cells, against arithmetic and against the cells' names."""

import itertools

import pytest

from wormcast.sim.export.synthesis.cells import functions


def cell(kind, parameters=None, **pins):
    return {"type": kind, "parameters": parameters or {}, "connections": {name: [bit] for name, bit in pins.items()}}


def table_of(one, output, inputs):
    """The output for all values of the inputs, counted in binary, the first input the lowest."""
    [(function, bits)] = [(function, bits) for bit, function, bits in functions(one) if bit == output]
    found = []
    for number in range(1 << len(inputs)):
        values = dict(zip(inputs, ((number >> at) & 1 for at in range(len(inputs))), strict=True)) | {"0": 0, "1": 1}
        found.append(function(1, *(values[bit] for bit in bits)))
    return found


@pytest.mark.parametrize(("kind", "expected"), [
    ("$_AND_", [0, 0, 0, 1]), ("$_NAND_", [1, 1, 1, 0]), ("$_OR_", [0, 1, 1, 1]), ("$_NOR_", [1, 0, 0, 0]),
    ("$_XOR_", [0, 1, 1, 0]), ("$_XNOR_", [1, 0, 0, 1]), ("$_ANDNOT_", [0, 1, 0, 0]), ("$_ORNOT_", [1, 1, 0, 1]),
])
def test_gates_of_two_inputs(kind, expected):
    assert table_of(cell(kind, A=1, B=2, Y=9), 9, [1, 2]) == expected


def test_a_multiplexer_takes_b_when_it_is_selected():
    expected = [(b if s else a) for s, b, a in itertools.product((0, 1), repeat=3)]
    assert table_of(cell("$_MUX_", A=1, B=2, S=3, Y=9), 9, [1, 2, 3]) == expected
    assert table_of(cell("PFUMX", BLUT=1, ALUT=2, C0=3, Z=9), 9, [1, 2, 3]) == expected
    assert table_of(cell("L6MUX21", D0=1, D1=2, SD=3, Z=9), 9, [1, 2, 3]) == expected


def test_a_table_is_written_with_its_last_entry_first():
    text = "0110100110010111"
    expected = [int(digit) for digit in reversed(text)]
    assert table_of(cell("LUT4", {"INIT": text}, A=1, B=2, C=3, D=4, Z=9), 9, [1, 2, 3, 4]) == expected
    assert table_of(cell("SB_LUT4", {"LUT_INIT": text}, I0=1, I1=2, I2=3, I3=4, O=9), 9, [1, 2, 3, 4]) == expected


def test_all_bits_of_the_values_are_computed_at_once():
    [(_, function, _)] = functions(cell("$_NOT_", A=1, Y=9))
    assert function(0b1111, 0b0101) == 0b1010


@pytest.mark.parametrize("numbers", list(itertools.product(range(4), range(4), range(2))))
def test_carries_of_ecp5_add(numbers):
    """Set up as Yosys sets them up for an adder: the table is a ^ b, and its lower part a."""
    a, b, carry = numbers
    adder = cell("CCU2C", {"INIT0": f"{0x96aa:016b}", "INIT1": f"{0x96aa:016b}", "INJECT1_0": "NO", "INJECT1_1": "NO"},
                 CIN=1, A0=2, B0=3, C0="0", D0="1", A1=4, B1=5, C1="0", D1="1", S0=20, S1=21, COUT=22)
    values = {"0": 0, "1": 1, 1: carry, 2: a & 1, 3: b & 1, 4: a >> 1, 5: b >> 1}
    found = {bit: function(1, *(values[one] for one in bits)) for bit, function, bits in functions(adder)}
    assert found[20] + 2 * found[21] + 4 * found[22] == a + b + carry


def test_carries_of_ice40_are_majorities():
    majority = [int(a + b + c > 1) for c, b, a in itertools.product((0, 1), repeat=3)]
    assert table_of(cell("SB_CARRY", I0=1, I1=2, CI=3, CO=9), 9, [1, 2, 3]) == majority
    wrapper = cell("$__ICE40_CARRY_WRAPPER", {"LUT": f"{0x6996:016b}", "I3_IS_CI": f"{1:032b}"},
                   A=1, B=2, CI=3, I0="0", I3="0", CO=9, O=10)
    assert table_of(wrapper, 9, [1, 2, 3]) == majority
    assert table_of(wrapper, 10, [1, 2, 3]) == [a ^ b ^ c for c, b, a in itertools.product((0, 1), repeat=3)]


def test_registers_and_memories_compute_nothing():
    assert list(functions(cell("TRELLIS_FF", CLK=1, DI=2, Q=3))) == []
    assert list(functions(cell("TRELLIS_DPR16X4", DO=3))) == []
