"""Synthesis of a component for an FPGA: area from Yosys, clock from nextpnr.

Yosys and nextpnr are available as Python packages.
"""

import json
import re
import statistics
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.lib import wiring

from wormcast.algorithms.errors import WormcastError

from ...common.external import find_tool, run_tool, scratch_folder
from ..clocking import clock_domain
from .harness import Harness
from .names import Names
from .paths import CriticalPath, critical_path
from .targets import SEEDS, TARGETS, Target, find_target

__all__ = ["Synthesis", "run_yosys", "synthesise"]

#: nextpnr's messages for a design that is too large for the device, or nearly so.
NO_ROOM = re.compile(r"no BELs remaining|at utilisation limit|Unable to find a placement", re.IGNORECASE)

#: Option that ends Yosys's synthesis before the mapping to look-up tables.
GATES = "-run begin:map_luts"

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Synthesis:
    """Cost of a component on an FPGA.

    Attributes
    ----------
    target : str
    area : mapping of str to int
        Cells of the bare component before packing, by the names of `Target.cells`: look-up tables, flip-flops,
        memories and carries. ``LUT4`` excludes the look-up tables inside carry cells and LUT memories.
    packed : int or None
        Logic cells after packing (`Target.logic_cell`), including carries, LUT memories and the harness. None: not
        placed.
    available : int or None
        Logic cells of the device.
    mhz : tuple of float
        Clock of each seed's placement; empty if the component was not placed, or the device is too small.
    critical : CriticalPath or None
        Longest path in the placement with the median clock; None without a clock.
    """

    target: str
    area: Mapping[str, int]
    packed: int | None = None
    available: int | None = None
    mhz: tuple[float, ...] = ()
    critical: CriticalPath | None = None

    @property
    def median_mhz(self) -> float | None:
        """Median clock over the seeds; of two middle clocks, the lower one. None without placements."""
        return statistics.median_low(self.mhz) if self.mhz else None

    @property
    def fits(self) -> bool | None:
        """Flag: the component and its harness fit into the device. None: not placed."""
        return None if self.packed is None else bool(self.mhz)

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain data for JSON, with the target's cell names in small letters."""
        target = TARGETS[self.target]
        return {
            "target": self.target,
            "device": target.device,
            **{name.lower(): number for name, number in self.area.items()},
            target.logic_cell.lower(): self.packed,
            "available": self.available,
            "fits": self.fits,
            "mhz": list(self.mhz),
            "median_mhz": self.median_mhz,
            "critical": None if self.critical is None else self.critical.to_dict(),
        }


def synthesise(component: wiring.Component, *, target: str = "ecp5", storage: str = "lutram",
               seeds: Sequence[int] = SEEDS, area_delay: int | None = None, reset: str = "sync",
               progress: Progress = lambda step: None, workers: int = 1) -> Synthesis:
    """Synthesise ``component``, and place and route it once per seed.

    The area is the area of the component without the harness. To measure the clock frequency, the component is wrapped
    in a `Harness`. If the device is too small, the result has an area and no clock.

    Parameters
    ----------
    storage : "lutram" or "registers"
        Storage that the component was built with. With "registers", Yosys does not map memories to LUT memory.
    seeds : sequence of int
        Seeds of placements. Without seeds, only the area is measured, which is about ten times faster.
    area_delay : int or None
        Yosys's ``abc9.D``, a clock period in ps: Yosys reduces area as long as delays stay within it. Periods from 5000
        to 8000 ps give a router a smaller area and a lower clock than 4250 ps. None: Yosys's default.
    reset : "sync" or "async"
        Reset of all flip-flops.
    progress : callable
        Called with the name of each step before it starts.
    workers : int
        Number of concurrent placements.

    Raises
    ------
    ToolMissing
        A tool is neither beside the running Python nor on the path.
    WormcastError
        The target is unknown or lacks this storage, or a tool failed. If a tool failed, the message contains the
        end of the tool's output.
    """
    kind = find_target(target)
    kind.require(storage)
    yosys, nextpnr = find_tool("yosys", "synth"), find_tool(kind.nextpnr, "synth") if seeds else []
    with tempfile.TemporaryDirectory(dir=scratch_folder(), ignore_cleanup_errors=True) as folder:
        at = Path(folder)

        def mapped(part: wiring.Component, name: str, after: str, **options: str) -> None:
            commands = kind.synthesis(name, storage=storage, area_delay=area_delay, **options)
            run_yosys(yosys, part, name, f"{commands}; {after}", at, progress, reset)

        progress("area: synthesis of the bare component")
        mapped(component, "bare", "tee -q -o stat.json stat -json")
        area = kind.count(json.loads((at / "stat.json").read_text())["design"]["num_cells_by_type"])
        if not seeds:
            return Synthesis(target, area)

        progress("clock: synthesis with harness")
        mapped(Harness(component), "harness", "write_json harness.json")
        pool = ThreadPoolExecutor(workers)
        try:
            found = list(pool.map(lambda seed: _place([*nextpnr, *kind.options], seed, at, progress), seeds))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        reports = [report for report in found if report is not None]
        if len(reports) < len(found):
            return Synthesis(target, area, *_utilisation(kind, (at / f"log_{seeds[found.index(None)]}").read_text()))
        mhz = [next(iter(report["fmax"].values()))["achieved"] for report in reports]
        median = reports[mhz.index(statistics.median_low(mhz))]

        progress("clock: names of the critical path")
        mapped(Harness(component), "harness", "select harness; write_json -selected gates.json", options=GATES)
        gates, netlist = (json.loads((at / f"{stage}.json").read_text())["modules"]["harness"]
                          for stage in ("gates", "harness"))
        names = Names((at / "harness.il").read_text(), gates, netlist)
    packed = median["utilization"][kind.bel]
    return Synthesis(target, area, packed["used"], packed["available"], tuple(mhz), critical_path(median, names))


def run_yosys(yosys: list[str], component: wiring.Component, name: str, commands: str, folder: Path,
              progress: Progress, reset: str) -> None:
    """Read ``component`` into Yosys as module ``name``, and run ``commands`` in ``folder``."""
    (folder / f"{name}.il").write_text(
        rtlil.convert(component, name=name, emit_src=False, missing_domain=clock_domain(reset)))
    run_tool([*yosys, "-q", "-p", f"read_rtlil {name}.il; {commands}"], who="synthesise", folder=folder,
             progress=progress)


def _place(command: list[str], seed: int, folder: Path, progress: Progress) -> dict[str, Any] | None:
    """Place and route ``harness.json``; return nextpnr's report, or None if the device is too small.

    nextpnr's log is written to the file ``log_SEED`` in ``folder``.
    """
    progress(f"clock: place and route, seed {seed}")
    report = folder / f"report_{seed}.json"
    try:
        run_tool([*command, "-q", "--log", f"log_{seed}", "--timing-allow-fail", "--freq", "100", "--seed", str(seed),
                  "--json", "harness.json", "--report", report.name], who="synthesise", folder=folder,
                 progress=progress)
    except WormcastError as error:
        if NO_ROOM.search(str(error)):
            return None
        raise
    return json.loads(report.read_text())


def _utilisation(target: Target, log: str) -> tuple[int, int]:
    """Return, from nextpnr's log, how many logic cells the design uses, and how many the device has."""
    found = re.search(rf"{target.bel}:\s*(\d+)/\s*(\d+)", log)
    assert found is not None  # nextpnr counts cells before placing them
    return int(found[1]), int(found[2])
