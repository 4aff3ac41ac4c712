"""``demo``: the main job on built-in input, by the commands that anybody would type."""

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from ..common.atomic_write import whole_file
from .app import Exit, app, say
from .commands import command

__all__: list[str] = []

#: Boppana et al. 1998, figure 4: two worms that meet between their two destinations.
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

#: Files that the commands read.
GIVEN = {"figure4.jsonl": MESSAGES, "schemes.toml": SCHEMES}

#: Boppana et al. 1998, figure 2.
MULTICAST = "--source 3.2 --destinations 5.0,3.1,0.4,1.4,0.5,1.5,5.5"
FIGURE_4 = "run mesh:1x4 dual-path --vcs 1 --messages {out}/figure4.jsonl"

#: What is shown, the command that shows it, and how it ends.
STEPS = (
    ("A multicast to seven nodes of a 6x6 mesh, as two worms along the Hamiltonian path",
     f"plan mesh:6x6 dual-path {MULTICAST} --plot {{out}}/paths.svg", Exit.DONE),
    ("The same two worms through router hardware", f"run mesh:6x6 dual-path {MULTICAST} --length 20", Exit.DONE),
    ("Two worms that wait for each other's consumption channel",
     f"{FIGURE_4} --consumption 1 --vcd {{out}}/deadlock.vcd --replay {{out}}/deadlock.html", Exit.DEADLOCK),
    ("The same with a second consumption channel at each node",
     f"{FIGURE_4} --consumption 2 --vcd {{out}}/cured.vcd --replay {{out}}/cured.html", Exit.DONE),
    ("Both beside each other, from their waveforms",
     "wave {out}/deadlock.vcd {out}/cured.vcd --plot {out}/figure4.svg", Exit.DONE),
    ("Five schemes under load, four seeds of 10 000 cycles a point",
     "sweep {out}/schemes.toml --out {out} --plot {out}/schemes.svg", Exit.DONE),
)

FILES = {
    "paths.svg": "the multicast's worms: their paths, and the order of their visits",
    "figure4.svg": "space-time diagram: the deadlock beside the cured run",
    "deadlock.html": "the deadlock to step through, in any browser; cured.html the cured run",
    "deadlock.vcd": "its waveform, every signal of all routers, and layouts for GTKWave and Surfer beside it",
    "schemes.svg": "latency and delivered flits over load, five schemes; schemes.csv has the numbers",
}


@command("demo")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files it makes.")] = Path("out"),
) -> None:
    started = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    for name, text in GIVEN.items():
        with whole_file(out / name) as unfinished:
            unfinished.write_text(text)
    for title, line, expected in STEPS:
        words = shlex.split(line.format(out=shlex.quote(str(out))))
        say(f"\n{title}:\n$ {shlex.join(['wormcast', *words])}")
        if (code := app(words, standalone_mode=False) or Exit.DONE) != expected:
            raise WormcastError(f"demo: wormcast {words[0]} ended with {code}, it must end with {expected}")
    say(f"\nfiles, made in {time.monotonic() - started:.0f} seconds:")
    for name, what in FILES.items():
        say(f"  {out / name}  {what}")
