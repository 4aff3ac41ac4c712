"""FPGA families: commands for synthesis and placement, and names of cells."""

from collections.abc import Mapping
from dataclasses import dataclass

from wormcast.algorithms.errors import WormcastError

__all__ = ["SEEDS", "TARGETS", "Target", "find_target"]

#: Default seeds of placements. A component's clock is the median over its placements.
SEEDS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Target:
    """An FPGA family.

    Parameters
    ----------
    device : str
        The largest device that nextpnr supports, so that results depend little on the device's utilisation.
    yosys : str
        Synthesis command.
    storages : mapping of str to str
        Kinds of storage for buffers, each with the option of the synthesis command that selects it. The default comes
        first.
    cells : mapping of str to str
        Names of cells counted before packing, and the prefixes of their types: LUT4 and FF first, then memories and
        carries.
    blocks : mapping of str to str
        Names of block memories, and the prefixes of their types. Block memories are counted only if the design uses
        them.
    nextpnr : str
        Name of the nextpnr tool for this family.
    options : tuple of str
        nextpnr's options for the device.
    logic_cell : str
        Name of the cells counted after packing.
    bel : str
        nextpnr's name of the cells of ``logic_cell``.
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
        """Refuse a storage that the target lacks."""
        if storage not in self.storages:
            allowed = ", ".join(self.storages)
            name = next(name for name, one in TARGETS.items() if one is self)
            raise WormcastError(f"storage: {storage!r} is not valid with target {name} ({self.device}). Allowed: "
                                f"{allowed}.")

    def synthesis(self, top: str, *, storage: str, area_delay: int | None, options: str = "") -> str:
        """Return Yosys's commands that synthesise module ``top`` to cells of the target."""
        setting = "" if area_delay is None else f"scratchpad -set abc9.D {area_delay}; "
        return f"{setting}{self.yosys} {self.storages[storage]} {options} -top {top}"

    def count(self, cells: Mapping[str, int]) -> dict[str, int]:
        """Count cells by type, under the names of the attributes ``cells`` and ``blocks``."""
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
    # The device has no LUT memory, and block memory has synchronous reads only: memories that are marked for LUTs, such
    # as queues, become flip-flops.
    "ice40": Target(
        device="HX8K",
        yosys='setattr -set ram_style "registers" a:ram_style=distributed; synth_ice40 -abc9 -device hx',
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
    """Return the target with this name."""
    if name not in TARGETS:
        raise WormcastError(f"target: {name!r} is not valid. Allowed: {', '.join(TARGETS)}.")
    return TARGETS[name]
