"""Synthesis of a component for an FPGA: area from Yosys, clock from nextpnr.

Yosys and nextpnr are available as Python packages.
"""

import json
import re
import statistics
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from amaranth.back import rtlil
from amaranth.lib import wiring

from wormcast.algorithms.errors import WormcastError

from ...common.external import find_tool, run_tool, scratch_folder
from ..clocking import clock_domain
from .harness import Harness
from .names import Names
from .paths import CriticalPath, critical_path
from .targets import SEEDS, TARGETS, Target, find_target

__all__ = ["Synthesis", "run_yosys", "synthesise", "write_rtlil"]

#: nextpnr's messages for a design that is too large for the device, or nearly so.
NO_ROOM = re.compile(r"no BELs remaining|at utilisation limit|Unable to find a placement", re.IGNORECASE)

#: Largest relative change of ``area_delay`` in a run.
SPREAD = 0.1

#: Commands that give all cells and wires new names, from a random seed. Memories must be cells for this.
SCRAMBLED = "proc; flatten; memory_collect; rename -scramble-name -seed {}; "

#: Option that ends Yosys's synthesis before the mapping to look-up tables.
GATES = "-run begin:map_luts"

Progress = Callable[[str], None]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Synthesis:
    """Cost of a component on an FPGA.

    Attributes
    ----------
    target : str
    area : mapping of str to int
        Cells of the bare component before packing, by the names of `Target.cells`: look-up tables, flip-flops,
        memories and carries. ``LUT4`` excludes the look-up tables inside carry cells and LUT memories. With several
        runs, the median of each kind of cell; of two middle numbers, the lower one.
    packed : int or None
        Logic cells after packing (`Target.logic_cell`), including carries, LUT memories and the harness. None: not
        placed.
    available : int or None
        Logic cells of the device.
    mhz : tuple of float
        Clock of each seed's placement; empty if the component was not placed, or the device is too small.
    critical : CriticalPath or None
        Longest path in the placement with the median clock; None without a clock.
    runs : tuple of mapping
        Area of each run, as ``area``; empty with one run.
    """

    target: str
    area: Mapping[str, int]
    packed: int | None = None
    available: int | None = None
    mhz: tuple[float, ...] = ()
    critical: CriticalPath | None = None
    runs: tuple[Mapping[str, int], ...] = ()

    @property
    def median_mhz(self) -> float | None:
        """Median clock over the seeds; of two middle clocks, the lower one. None without placements."""
        return statistics.median_low(self.mhz) if self.mhz else None

    @property
    def ranges(self) -> dict[str, tuple[float, float, float]]:
        """Least, median and greatest number of cells of each kind over the runs, and clock over the seeds ("MHz").

        A kind of cell has no range with one run, and the clock none with one seed.
        """
        found: dict[str, Sequence[float]] = {
            name: [run.get(name, 0) for run in self.runs] for name in self.area if self.runs}
        if len(self.mhz) > 1:
            found["MHz"] = self.mhz
        return {name: (min(each), statistics.median_low(each), max(each)) for name, each in found.items()}

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
            "ranges": {name.lower(): dict(zip(("least", "median", "most"), ends, strict=True))
                       for name, ends in self.ranges.items()},
            "runs": [{name.lower(): number for name, number in run.items()} for run in self.runs],
            "critical": None if self.critical is None else self.critical.to_dict(),
        }


def synthesise(component: wiring.Component, *, target: str = "ecp5", storage: str = "lutram",
               seeds: Sequence[int] = SEEDS, area_delay: int | None = None, reset: str = "sync", runs: int = 1,
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
    runs : int
        Number of syntheses for the area. With 2 or more, each has new names of cells and wires, and ``area_delay``
        times one of as many factors, evenly spaced from 0.9 to 1.1.
    progress : callable
        Called with the name of each step before it starts.
    workers : int
        Number of concurrent placements and runs.

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

        def mapped(name: str, after: str, *, before: str = "", period: int | None = area_delay,
                   options: str = "") -> None:
            commands = kind.synthesis(name, storage=storage, area_delay=period, options=options)
            run_yosys(yosys, name, f"{before}{commands}; {after}", at, progress)

        def mapped_area(run: int) -> dict[str, int]:
            progress("area: synthesis of the bare component" + (f", run {run + 1} of {runs}" if runs > 1 else ""))
            counts = f"bare_{run}.json"
            before, period = ("", area_delay) if runs == 1 else (
                SCRAMBLED.format(run + 1), _period(area_delay, run, runs))
            mapped("bare", f"tee -q -o {counts} stat -json", before=before, period=period)
            return kind.count(json.loads((at / counts).read_text())["design"]["num_cells_by_type"])

        write_rtlil(component, "bare", at, reset)
        areas = _at_once(mapped_area, range(runs), workers)
        area = {name: statistics.median_low([one.get(name, 0) for one in areas])
                for name in dict.fromkeys(name for one in areas for name in one)}
        several = tuple(areas) if runs > 1 else ()
        if not seeds:
            return Synthesis(target, area, runs=several)

        progress("clock: synthesis with harness")
        write_rtlil(Harness(component), "harness", at, reset)
        mapped("harness", "write_json harness.json")
        found = _at_once(lambda seed: _place([*nextpnr, *kind.options], seed, at, progress), seeds, workers)
        reports = [report for report in found if report is not None]
        if len(reports) < len(found):
            return Synthesis(target, area, *_utilisation(kind, (at / f"log_{seeds[found.index(None)]}").read_text()),
                             runs=several)
        mhz = [next(iter(report["fmax"].values()))["achieved"] for report in reports]
        median = reports[mhz.index(statistics.median_low(mhz))]

        progress("clock: names of the critical path")
        mapped("harness", "select harness; write_json -selected gates.json", options=GATES)
        gates, netlist = (json.loads((at / f"{stage}.json").read_text())["modules"]["harness"]
                          for stage in ("gates", "harness"))
        names = Names((at / "harness.il").read_text(), gates, netlist)
    packed = median["utilization"][kind.bel]
    return Synthesis(target, area, packed["used"], packed["available"], tuple(mhz), critical_path(median, names),
                     several)


def _period(area_delay: int | None, run: int, runs: int) -> int | None:
    """Return ``area_delay`` of a run: from 1 - `SPREAD` times in the first run to 1 + `SPREAD` times in the last."""
    return None if area_delay is None else max(1, round(area_delay + area_delay * SPREAD * (2 * run / (runs - 1) - 1)))


def _at_once(function: Callable[[int], Found], numbers: Iterable[int], workers: int) -> list[Found]:
    """Return the function's results for all numbers, of which ``workers`` are computed concurrently."""
    pool = ThreadPoolExecutor(workers)
    try:
        return list(pool.map(function, numbers))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def write_rtlil(component: wiring.Component, name: str, folder: Path, reset: str) -> None:
    """Write ``component`` as module ``name`` into the file ``name.il`` in ``folder``."""
    (folder / f"{name}.il").write_text(
        rtlil.convert(component, name=name, emit_src=False, missing_domain=clock_domain(reset)))


def run_yosys(yosys: list[str], name: str, commands: str, folder: Path, progress: Progress) -> None:
    """Read the file ``name.il`` into Yosys, and run ``commands`` in ``folder``."""
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
