"""Proofs by Yosys and z3: a harness becomes SMT, its claims are checked from reset and by induction."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Fragment, Module

from wormcast.sim.common.external import ended, find_tool, run_tool, scratch_folder

__all__ = ["Outcome", "bounded", "by_induction"]

#: Memories become registers: the solver is quicker on these than on arrays.
SCRIPT = """
{read}
prep -flatten -top {top}
memory_map
async2sync
chformal -lower
opt -full
dffunmap
write_smt2 -wires proof.smt2
"""


@dataclass(frozen=True)
class Outcome:
    """Result of the solver.

    Attributes
    ----------
    holds : bool
    base : bool
        The violation is in a run from reset. Otherwise it is in the induction step, from a state that may be
        unreachable.
    step : int or None
        Cycle of the violation, counted from reset or in the induction step.
    waveform : Path or None
        Waveform of the violation.
    seconds : float
    """

    holds: bool
    base: bool
    step: int | None
    waveform: Path | None
    seconds: float

    def __str__(self):
        if self.holds:
            return f"holds, {self.seconds:.1f} s"
        where = "from reset" if self.base else "in the induction step"
        return f"violated in cycle {self.step} {where}, {self.seconds:.1f} s, see {self.waveform}"


def by_induction(harness, steps: int, waveform: Path) -> Outcome:
    """Prove by induction: runs of ``steps`` + 1 cycles from reset, then the induction step after ``steps`` cycles.

    Parameters
    ----------
    harness : Harness
    waveform : Path
        VCD file for the waveform of a violation.
    """
    with _Problem(harness, waveform) as problem:
        # the solver's induction step leaves the first cycle out: so the base case has one more
        base = problem.solve(True, "--presat", "-t", str(steps + 1))
        return problem.solve(False, "-i", "-t", str(steps)) if base.holds else base


def bounded(harness, steps: int, waveform: Path) -> Outcome:
    """Check all runs of ``steps`` cycles from reset."""
    with _Problem(harness, waveform) as problem:
        return problem.solve(True, "--presat", "-t", str(steps))


class _Problem:
    """Harness as a transition system for the solver, in a temporary folder."""

    def __init__(self, harness, waveform):
        self.harness, self.waveform = harness, waveform

    def __enter__(self):
        self.started = time.monotonic()
        self.folder = tempfile.mkdtemp(dir=scratch_folder())
        try:
            verilog = self.harness.verilog()
            if verilog is None:
                Path(self.folder, "proof.il").write_text(self._netlist())
                script = SCRIPT.format(read="read_rtlil proof.il", top="proof")
            else:
                Path(self.folder, "proof.sv").write_text(verilog)
                script = SCRIPT.format(read="read_verilog -formal -sv proof.sv", top="proof_formal")
            Path(self.folder, "proof.ys").write_text(script)
            run_tool([*find_tool("yosys", "prove"), "-q", "-s", "proof.ys"], who="prove", folder=Path(self.folder))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *failure):
        shutil.rmtree(self.folder)

    def _netlist(self) -> str:
        top = Module()
        # the registers start as they are after reset; no other reset is looked at
        top.domains.sync = sync = ClockDomain(reset_less=True)
        top.submodules.harness = self.harness
        # the inputs are known once it is elaborated
        fragment = Fragment.get(top, None)
        return rtlil.convert(fragment, name="proof", ports=[sync.clk, *self.harness.inputs])

    def solve(self, base: bool, *options: str) -> Outcome:
        """Run the solver with ``options`` of yosys-smtbmc.

        z3 gets the problem again for each cycle, as pure bit vectors: its methods for these are faster than its
        incremental mode.
        """
        command = [*find_tool("yosys-smtbmc", "prove"), "-s", "z3", "--unroll", "--noincr", "--dump-vcd", "found.vcd",
                   *options, "proof.smt2"]
        # it finds the solver on the path: the one beside the running Python
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        done = subprocess.run(command, cwd=self.folder, env=os.environ | {"PATH": path}, capture_output=True, text=True)
        seconds = time.monotonic() - self.started
        said = done.stdout + done.stderr
        # it ends with 1 if a claim is violated; a third status, PREUNSAT: no run keeps to what is assumed
        status = re.search(r"Status: (PASSED|FAILED)", said)
        if status is None or done.returncode not in (0, 1):
            raise RuntimeError(f"yosys-smtbmc {ended(done.returncode)}: {said.strip()[-2000:]}")
        if status[1] == "PASSED":
            return Outcome(True, base, None, None, seconds)
        steps = re.findall(r"Checking assertions in step (\d+)", said) if base else [options[-1]]
        self.waveform.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(self.folder, "found.vcd"), self.waveform)
        return Outcome(False, base, int(steps[-1]), self.waveform, seconds)
