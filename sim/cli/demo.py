"""``demo``: run typical commands on built-in input."""

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from ..common.atomic_write import make_folder, whole_file
from .app import Exit, app, say
from .commands import command

__all__: list[str] = []

#: Figure 4 of [Boppana98]: from both ends of a row, a multicast to the same two nodes between them.
MESSAGES = """\
{"cycle": 0, "source": "0.0", "destinations": ["0.1", "0.2"], "length": 64}
{"cycle": 0, "source": "0.3", "destinations": ["0.2", "0.1"], "length": 64}
"""

SCHEMES = """\
topology = "mesh:8x8"
scheme = ["individual", "dual-path", "multipath", "column-path", "e-mcast"]
rate = [0.004, 0.01, 0.016, 0.02, 0.024, 0.028]
cycles = 10_000
consumption = 4
"""

#: Input files of the commands.
GIVEN = {"figure4.jsonl": MESSAGES, "schemes.toml": SCHEMES}

#: Figure 2 of [Boppana98].
MULTICAST = "--source 3.2 --destinations 5.0,3.1,0.4,1.4,0.5,1.5,5.5"
FIGURE_4 = "run mesh:1x4 dual-path --vcs 1 --messages {out}/figure4.jsonl"

#: Title of each step, its command, and the exit code that the command must have.
STEPS = (
    ("A multicast to seven nodes of a 6x6 mesh: two worms along the Hamiltonian path",
     f"plan mesh:6x6 dual-path {MULTICAST} --plot {{out}}/paths.svg", Exit.DONE),
    ("The same two worms, simulated on the router hardware",
     f"run mesh:6x6 dual-path {MULTICAST} --length 20", Exit.DONE),
    ("A deadlock: two multicasts, each holds the consumption channel that the other needs",
     f"{FIGURE_4} --consumption 1 --vcd {{out}}/deadlock.vcd --replay {{out}}/deadlock.html", Exit.DEADLOCK),
    ("The same messages with two consumption channels per node: both arrive",
     f"{FIGURE_4} --consumption 2 --vcd {{out}}/cured.vcd --replay {{out}}/cured.html", Exit.DONE),
    ("Space-time diagrams of both runs, side by side, from their waveforms",
     "wave {out}/deadlock.vcd {out}/cured.vcd --plot {out}/figure4.svg", Exit.DONE),
    ("Five schemes under load, each point with four seeds of 10 000 cycles",
     "sweep {out}/schemes.toml --out {out} --plot {out}/schemes.svg", Exit.DONE),
)

FILES = {
    "paths.svg": "paths and visiting orders of the multicast's worms",
    "figure4.svg": "space-time diagram: the deadlock beside the cured run",
    "deadlock.html": "replay of the deadlock, cycle by cycle, in a browser; cured.html: the cured run",
    "deadlock.vcd": "waveform of the deadlock, all signals; with layouts for GTKWave and Surfer",
    "schemes.svg": "latency and throughput of five schemes over load; schemes.csv: the numbers",
}


@command("demo")
def demo(
    out: Annotated[Path, typer.Option(help="Output folder. Default: out.", show_default=False)] = Path("out"),
) -> None:
    started = time.monotonic()
    make_folder(out)
    for name, text in GIVEN.items():
        with whole_file(out / name) as unfinished:
            unfinished.write_text(text)
    for title, line, expected in STEPS:
        words = shlex.split(line.format(out=shlex.quote(str(out))))
        say(f"\n{title}:\n$ {shlex.join(['wormcast', *words])}")
        if (code := app(words, standalone_mode=False) or Exit.DONE) != expected:
            raise WormcastError(f"demo: exit code {code} of wormcast {words[0]} is not valid. Allowed: {expected}.")
    say(f"\nfiles, written in {time.monotonic() - started:.0f} seconds:")
    for name, what in FILES.items():
        say(f"  {out / name}  {what}")
