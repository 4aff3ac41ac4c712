"""FPGA families: how a component is synthesised and placed for each, and what its cells are called."""

from collections.abc import Mapping
from dataclasses import dataclass

from wormcast.algorithms.errors import WormcastError

__all__ = ["SEEDS", "TARGETS", "Target", "find_target"]

#: Seeds of the placements, by default; the clock is the median's.
SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Target:
    """An FPGA family.

    Parameters
    ----------
    device : str
        The largest device that nextpnr knows, so that the figures depend as little as possible on how full it is.
    yosys : str
        The command that synthesises.
    storages : mapping of str to str
        What buffers can be built of, and what the command gets for it. The usual one first.
    cells : mapping of str to str
        What is counted before packing, and how the types of such cells begin: LUT4 and FF first, then memories and
        carries by kind.
    blocks : mapping of str to str
        Block memories, likewise; counted where there are some.
    nextpnr : str
    options : tuple of str
        Of nextpnr: the device.
    logic_cell : str
        What is counted after packing.
    bel : str
        What nextpnr calls it.
    """

    device: str
    yosys: str
    storages: Mapping[str, str]
    cells: dict[str, str]
    blocks: dict[str, str]
    nextpnr: str
    options: tuple[str, ...]
    logic_cell: str
    bel: str

    def require(self, storage: str) -> None:
        """Refuse what buffers cannot be built of."""
        if storage not in self.storages:
            allowed = ", ".join(self.storages)
            raise WormcastError(f"storage: {storage!r} is given, allowed on {self.device} is {allowed}")

    def synthesis(self, top: str, *, storage: str, area_delay: int | None, options: str = "") -> str:
        """Commands for Yosys, from the design as it is read to mapped cells."""
        setting = "" if area_delay is None else f"scratchpad -set abc9.D {area_delay}; "
        return f"{setting}{self.yosys} {self.storages[storage]} {options} -top {top}"

    def count(self, cells: Mapping[str, int]) -> dict[str, int]:
        """Count cells by their types, under the names of ``cells``."""
        found = {name: sum(number for cell, number in cells.items() if cell.startswith(prefix))
                 for name, prefix in (self.cells | self.blocks).items()}
        return {name: number for name, number in found.items() if number or name in self.cells}


TARGETS = {
    "ecp5": Target(
        device="LFE5U-85F, speed 6",
        yosys="synth_ecp5 -nobram -nodsp",
        storages={"lutram": "", "registers": "-nolutram"},
        cells={"LUT4": "LUT4", "FF": "TRELLIS_FF", "DPR16X4": "TRELLIS_DPR16X4", "CCU2C": "CCU2C"},
        blocks={"EBR": "DP16KD"},
        nextpnr="nextpnr-ecp5",
        options=("--85k", "--package", "CABGA756", "--speed", "6", "--lpf-allow-unconstrained"),
        logic_cell="TRELLIS_COMB",
        bel="TRELLIS_COMB",
    ),
    # no LUT memory, and block memory is read synchronously alone: buffers are flip-flops
    "ice40": Target(
        device="HX8K",
        yosys="synth_ice40 -abc9 -device hx",
        storages={"registers": ""},
        cells={"LUT4": "SB_LUT4", "FF": "SB_DFF", "RAM40_4K": "SB_RAM40_4K", "CARRY": "SB_CARRY"},
        blocks={},
        nextpnr="nextpnr-ice40",
        options=("--hx8k", "--package", "ct256"),
        logic_cell="LC",
        bel="ICESTORM_LC",
    ),
}


def find_target(name: str) -> Target:
    """Return the target of this name, or refuse it with those that there are."""
    if name not in TARGETS:
        raise WormcastError(f"target: {name!r} is given, allowed are {', '.join(TARGETS)}")
    return TARGETS[name]
