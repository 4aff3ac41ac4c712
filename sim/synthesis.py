"""What a component costs on an FPGA: area by Yosys, clock by nextpnr, all tools being Python packages."""

import json
import re
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amaranth.back import rtlil
from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from wormcast.algorithms.errors import WormcastError
from wormcast.hw.buffer import STORAGE

from .tools import find_tool, scratch_folder

__all__ = ["TARGETS", "Harness", "Synthesis", "synthesise"]


@dataclass(frozen=True)
class Target:
    """An FPGA family: how it is synthesised and placed, and what its cells are called."""

    yosys: str
    nextpnr: str
    device: tuple[str, ...]


#: The device is larger than any component, so that the figures do not depend on how full it is.
TARGETS = {
    "ecp5": Target(
        yosys="synth_ecp5 -nobram -nodsp",
        nextpnr="nextpnr-ecp5",
        device=("--85k", "--package", "CABGA756", "--speed", "6"),
    ),
}


@dataclass(frozen=True)
class Synthesis:
    """Cost of a component on an FPGA.

    Attributes
    ----------
    target : str
    lut4, ff, dpr16x4 : int
        Cells of the bare component before packing: look-up tables, flip-flops, 16x4 LUT memories. The tables
        that carries and LUT memories occupy are not among ``lut4``.
    trellis_comb : int or None
        Logic cells after packing, those of carries and LUT memories included, with the harness round the
        component. None where nothing was placed.
    mhz : tuple of float
        Clock, by seed.
    critical : tuple of (str, str) or None
        Where the critical path of the median's seed starts and ends, in signal names.
    """

    target: str
    lut4: int
    ff: int
    dpr16x4: int
    trellis_comb: int | None = None
    mhz: tuple[float, ...] = ()
    critical: tuple[str, str] | None = None

    @property
    def median_mhz(self) -> float | None:
        """Median of the clock over the seeds; with an even number the lower one. None without seeds."""
        return statistics.median_low(self.mhz) if self.mhz else None


class Harness(wiring.Component):
    """A component between registers, so that every path can be timed and a few pins suffice.

    ::

        si ─▶ shift register, a bit per input ─▶ component ─▶ captured ─▶ XOR of 16 each ─▶ XOR ─▶ so

    *Latency* and *reset* are of no interest: the harness is placed, never run.

    Members
    -------
    si : In(1), so : Out(1)
        Ends of the chain that keeps the component from being optimised away.
    """

    GROUP = 16

    def __init__(self, component: wiring.Component):
        self.component = component
        super().__init__({"si": In(1), "so": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.component = self.component
        ports: dict[wiring.Flow, list[Value]] = {In: [], Out: []}
        for _, member, value in self.component.signature.flatten(self.component):
            ports[member.flow].append(Value.cast(value))
        driven, captured = (Cat(ports[flow]) for flow in (In, Out))
        chain = Signal(len(driven), reset_less=True)
        q = Signal(len(captured), reset_less=True)
        groups = [q[at:at + self.GROUP] for at in range(0, len(q), self.GROUP)]
        folded = Signal(len(groups), reset_less=True)
        so = Signal(reset_less=True)
        m.d.sync += [
            chain.eq(Cat(self.si, chain)),
            q.eq(captured),
            folded.eq(Cat(group.xor() for group in groups)),
            so.eq(folded.xor()),
        ]
        m.d.comb += [driven.eq(chain), self.so.eq(so)]
        return m


def synthesise(component: wiring.Component, *, target: str = "ecp5", storage: str = "lutram",
               seeds: Sequence[int] = (1, 2, 3, 4, 5), area_delay: int | None = None,
               progress: Callable[[str], None] = lambda step: None) -> Synthesis:
    """Synthesise ``component`` and, once per seed, place and route it.

    The area is that of the bare component; for the clock it is wrapped in a `Harness`.

    Parameters
    ----------
    storage : "lutram" or "registers"
        As the component was built: "registers" keeps memories out of LUT memory.
    seeds : sequence of int
        Of the placements; none for the area alone, which is some ten times faster.
    area_delay : int or None
        Yosys's ``abc9.D``, the clock period in ps up to which area is traded for delay (4500 to 8000 trades
        clock for area). None leaves Yosys's own, which wants all the clock that there is.
    progress : callable
        Told each step before it starts.

    Raises
    ------
    ToolMissing
        A tool is neither beside the running Python nor on the path.
    WormcastError
        An unknown target, or a tool that failed, with the end of what it said.
    """
    if target not in TARGETS:
        raise WormcastError(f"synthesise.target: must be one of {', '.join(TARGETS)}, not {target!r}")
    if storage not in STORAGE:
        raise WormcastError(f"synthesise.storage: must be one of {', '.join(STORAGE)}, not {storage!r}")
    kind = TARGETS[target]
    yosys = find_tool("yosys")
    nextpnr = find_tool(kind.nextpnr) if seeds else []
    synth = kind.yosys + (" -nolutram" if storage == "registers" else "")
    if area_delay is not None:
        synth = f"scratchpad -set abc9.D {area_delay}; {synth}"

    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        progress("area: synthesis of the bare component")
        Path(folder, "bare.il").write_text(rtlil.convert(component, name="bare", emit_src=False))
        _run([*yosys, "-q", "-p", f"read_rtlil bare.il; {synth} -top bare; tee -q -o stat.json stat -json"],
             folder)
        cells = json.loads(Path(folder, "stat.json").read_text())["design"]["num_cells_by_type"]
        lut4, ff, dpr16x4 = (cells.get(name, 0) for name in ("LUT4", "TRELLIS_FF", "TRELLIS_DPR16X4"))
        if not seeds:
            return Synthesis(target, lut4, ff, dpr16x4)

        progress("clock: synthesis with harness")
        harness = rtlil.convert(Harness(component), name="harness", emit_src=False)
        Path(folder, "harness.il").write_text(harness)
        _run([*yosys, "-q", "-p", f"read_rtlil harness.il; {synth} -top harness -json harness.json"], folder)
        placed = []
        for seed in seeds:
            progress(f"clock: place and route, seed {seed}")
            _run([*nextpnr, "-q", *kind.device, "--lpf-allow-unconstrained", "--timing-allow-fail",
                  "--freq", "100", "--seed", str(seed), "--json", "harness.json", "--report", "report.json"],
                 folder)
            placed.append(json.loads(Path(folder, "report.json").read_text()))
    mhz = [next(iter(report["fmax"].values()))["achieved"] for report in placed]
    median = placed[mhz.index(statistics.median_low(mhz))]
    return Synthesis(target, lut4, ff, dpr16x4, median["utilization"]["TRELLIS_COMB"]["used"], tuple(mhz),
                     _critical(median))


def _critical(report: dict) -> tuple[str, str]:
    """Names of the signals where the longest path from clock to clock starts and ends."""
    paths = [entry["path"] for entry in report["critical_paths"]
             if "posedge" in entry["from"] and "posedge" in entry["to"]]
    path = max(paths, key=lambda steps: sum(step["delay"] for step in steps))
    ends = [path[0]["from"]["cell"], path[-1]["to"]["cell"]]
    start, end = (re.sub(r"(_TRELLIS_FF|\$DPRAM|\$RAMW).*", "", cell) for cell in ends)
    return start, end


def _run(command: Iterable[str], folder: str) -> None:
    """Run a tool in ``folder``; raise with the end of its output if it fails."""
    done = subprocess.run(list(command), cwd=folder, capture_output=True, text=True)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-1000:]
        raise WormcastError(f"synthesise: {Path(done.args[0]).name} failed: {said}")
