"""Mutated files of every format, and mutated command lines."""

import gzip
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from .guarded import Place
from .mutations import NUMBERS, TEXTS, mutated, mutated_bytes, mutated_code, mutated_lines, mutated_text, toml
from .trial import Trial, attempt

__all__ = ["Bases", "Originals", "originals"]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CATALOGUE = ROOT / "sim" / "experiments" / "figure" / "catalogue"

#: Digits of a number that may make a command long.
LARGE = re.compile(rb"\d{4,}|\de\+?\d")

SWEEP = """\
topology = "mesh:3x3"
scheme = ["dual-path", "individual"]
rate = [0.01, 0.02]
length = 8
destinations_mean = 2.0
cycles = 300
seeds = 2
vcs = 2
"""
FIGURE = """\
title = "Two schemes"
source = "an example"
step = 0.4
most = 0.8
cycles = 800
[options]
topology = "mesh:3x3"
destinations_mean = 2.0
[series.individual]
scheme = "individual"
[series.multipath]
scheme = "multipath"
drawn = false
[variations.three]
text = "three virtual channels"
vcs = 3
[[statements]]
claim = "x-1"
text = "individual sends more worms"
holds = "copies('individual') > copies('multipath')"
[[statements]]
claim = "x-2"
text = "hops of a plan"
holds = "told('plan mesh:3x3 dual-path --source 0 --destinations 1,5', 'hops') == 3"
[[pictures]]
name = "plan"
command = "plan mesh:3x3 dual-path --source 0.0 --destinations 1.1 --plot {plot}"
"""
RUNS = """\
title = "Runs"
source = "an example"
points = "runs"
across = "length"
values = [4, 8]
[options]
topology = "mesh:3x3"
destinations = 3
[series.dual-path]
scheme = "dual-path"
[[statements]]
claim = "x-1"
text = "hops of a plan"
holds = "told('topology mesh:3x3', 'nodes/#') == 9 and told('check ring:4 individual', 'free') == True"
"""
LOAD = (
    "load",
    "mesh:3x3",
    "dual-path",
    "--rate",
    "0.02",
    "--destinations-mean",
    "2",
    "--length",
    "6",
    "--seeds",
    "2",
    "--cycles",
    "600",
)

#: Command lines that are valid; ``m.jsonl`` and ``net.toml`` are files of `Originals`.
COMMANDS = (
    "topology mesh:3x3 --json",
    "topology min:b=2,stages=2 --tokens 1 --plot p.svg",
    "topology ring:5 --toml net2.toml",
    "plan mesh:3x3 dual-path --source 0 --destinations 1,5 --json",
    "plan torus:4x4 u-torus --source 0 --destinations all",
    "plan mesh:3x3 multipath --random 20 --destinations-mean 3 --seed 1 --json",
    "plan net.toml k-binomial --source 0 --destinations 1,2,3 --packet 8 --length 20 --plot p.svg",
    "run mesh:3x3 dual-path --source 0 --destinations 1,5 --length 8 --json",
    "run mesh:3x4 dual-path --messages m.jsonl --contention --json",
    "run mesh:3x3 dual-path --source 0 --destinations 1,5 --length 8 --vcd r.vcd --window 3:20 --instances 0.0",
    "run mesh:2x2 individual --source 0 --destinations 1 --length 4 --engine amaranth --timeout 500",
    "run min:b=2,stages=2 atbm --source 0 --destinations 1,3 --length 6 --tokens on --vcs 1",
    "run mesh:3x3 dual-path --source 0 --destinations 1,5 --length 8 --plot p.svg --replay r.html",
    "check mesh:3x3 dual-path --consumption 2 --json",
    "check mesh:3x3 individual --relation e-cube --explain",
    "check mesh:1x4 dual-path --consumption 1 --plot p.svg",
    "check min:b=2,stages=2 atbm --tokens off --json",
    "check mesh:3x3 dual-path --with individual=e-cube --absorb 2",
    " ".join(LOAD),
    " ".join((*LOAD, "--json", "--links", "--messages-out", "o.csv")),
    " ".join((*LOAD, "--checkpoint", "c.state", "--checkpoint-every", "200")),
    "load mesh:3x4 dual-path --trace m.jsonl --json",
    " ".join((*LOAD, "--vcd", "l.vcd", "--window", "10:40")),
    "load mesh:4x4 individual --rate 0.01 --multicast-fraction 0 --pattern transpose --cycles 400 --seeds 1",
    "load mesh:3x3 individual --rate 0.01 --pattern hot-spot --hot-spots 0,4 --cycles 400 --warmup 100",
    "hunt mesh:3x3 dual-path --consumption 1 --cycles 2000 --length 4:20 --json --out h",
    "hunt ring:4 individual --relation shortest --cycles 2000 --vcs 1",
    "list schemes",
    "list figures --json",
    "list configurations",
    "sweep s.toml --out o --json",
    "sweep s.toml --out o --plot o.svg --parquet",
    "figure f.toml --quick --out o --json",
    "continue c.state --cycles 900 --json",
    "continue c.state --links --plot p.png",
    "wave r.vcd --json",
    "wave r.vcd --text --window 2:20 --worms 0 --links all",
    "wave r.vcd --plot p.svg",
    "wave r.vcd --replay w.html --links 0.0>0.1,inj:0.0",
    "verilog mesh:2x2 --help",
    "doctor --help",
)


@dataclass(frozen=True)
class Originals:
    """Valid files by name, some of which commands have written."""

    files: Mapping[str, bytes]


def originals() -> Originals:
    """Write a waveform and a checkpoint by commands, beside files of the examples and small ones."""
    files = {
        path.name: path.read_bytes()
        for path in (*EXAMPLES.iterdir(), *(EXAMPLES / "networks").iterdir())
        if path.is_file()
    }
    files |= {
        "s.toml": SWEEP.encode(),
        "f.toml": FIGURE.encode(),
        "runs.toml": RUNS.encode(),
        "m.jsonl": files["table1.jsonl"],
        "net.toml": files["star.toml"],
    }
    with Place() as place:
        for command in (
            "run mesh:3x3 dual-path --source 0 --destinations 1,5 --length 4 --vcd r.vcd",
            " ".join((*LOAD, "--checkpoint", "c.state")),
            "topology min:b=2,stages=2 --toml full.toml",
        ):
            attempt(Trial(tuple(command.split())), place)
        files |= {name: content for name, content in place.files().items() if name in ("r.vcd", "c.state", "full.toml")}
    return Originals(files)


class Bases:
    """Makes trials from original files and command lines.

    Parameters
    ----------
    found : Originals
    """

    def __init__(self, found: Originals):
        self.files = found.files
        self._makers: tuple[Callable[[Random], Trial], ...] = (
            self._network,
            self._messages,
            self._trace,
            self._sweep,
            self._figure,
            self._catalogue,
            self._checkpoint,
            self._waveform,
            self._python,
            self._command,
            self._command,
            self._command,
            self._network,
            self._messages,
            self._sweep,
            self._figure,
            self._figure,
            self._waveform,
        )

    def trial(self, rng: Random) -> Trial:
        """Make a trial."""
        made = rng.choice(self._makers)(rng)
        texts = [
            *(word.encode(errors="replace") for word in made.arguments),
            *(content for name, content in made.files.items() if not name.endswith((".vcd", ".state"))),
        ]
        return replace(made, long=made.long or any(map(LARGE.search, texts)))

    def _network(self, rng: Random) -> Trial:
        name = rng.choice(("star.toml", "full.toml"))
        command = rng.choice(
            (
                "topology n.toml --json",
                "topology n.toml --plot p.svg",
                "topology n.toml --toml again.toml",
                "check n.toml individual --json",
                "plan n.toml individual --source 0 --destinations all --json",
                "run n.toml individual --source 0 --destinations 1 --length 4 --json",
                "check n.toml tree --buffer-kind deep",
                "load n.toml individual --rate 0.01 --destinations-mean 1 --cycles 300 --seeds 1 --json",
                "check n.toml individual --relation up-down-adaptive --json",
            )
        )
        return self._of_toml(command, "n.toml", self.files[name].decode(), rng)

    def _messages(self, rng: Random) -> Trial:
        name = rng.choice(("table1.jsonl", "figure4.jsonl"))
        command = rng.choice(
            (
                "run mesh:1x4 dual-path --messages {} --json",
                "run mesh:1x4 individual --messages {}",
                "run mesh:1x4 dual-path --messages {} --absorb 2 --timeout 3000",
            )
        )
        return self._of_lines(command, self.files[name].decode(), rng)

    def _trace(self, rng: Random) -> Trial:
        command = rng.choice(
            (
                "load mesh:1x4 dual-path --trace {} --json",
                "load mesh:1x4 individual --trace {} --cycles 400",
                "load mesh:1x4 dual-path --trace {} --messages-out o.csv",
            )
        )
        return self._of_lines(command, self.files["table1.jsonl"].decode(), rng)

    def _sweep(self, rng: Random) -> Trial:
        return self._of_toml(rng.choice(("sweep s.toml --out o --json", "sweep s.toml")), "s.toml", SWEEP, rng)

    def _figure(self, rng: Random) -> Trial:
        text = rng.choice((FIGURE, FIGURE, RUNS, _short(self.files["mine.toml"].decode())))
        made = self._of_toml("figure f.toml --quick --out o --json", "f.toml", text, rng)
        return replace(made, files={**made.files, "short_paths.py": self.files["short_paths.py"]})

    def _catalogue(self, rng: Random) -> Trial:
        path = rng.choice(sorted(CATALOGUE.glob("*-*.toml")))
        beside = {other.name: other.read_bytes() for other in CATALOGUE.iterdir()}
        text = _short(path.read_text())
        made = self._of_toml(f"figure {path.name} --quick --out o --json", path.name, text, rng)
        return replace(made, files={**beside, **made.files}, long=True)

    def _of_toml(self, command: str, name: str, text: str, rng: Random) -> Trial:
        """Change a file of TOML by its structure, by its lines or by its bytes."""
        how = rng.randrange(10)
        if how < 7:
            entries: Any = tomllib.loads(text)
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                entries = mutated(entries, rng)
            content = (toml(entries) if isinstance(entries, dict) else str(entries)).encode(errors="surrogatepass")
        elif how < 9:
            content = mutated_lines(text, rng).encode(errors="surrogatepass")
        else:
            content = mutated_bytes(text.encode(), rng)
        return Trial(tuple(command.split()), {name: content}, note=f"of {name}")

    def _of_lines(self, command: str, text: str, rng: Random) -> Trial:
        """Change messages, as JSON lines or as a list, plain or compressed."""
        lines: Any = [json.loads(line) for line in text.splitlines()]
        if rng.random() < 0.3:
            lines[-1]["after"] = rng.choice((0, [0], [1, 2], -1, 99, "0"))
        if rng.random() < 0.8:
            for _ in range(rng.choice((1, 1, 2))):
                lines = mutated(lines, rng)
        as_list = rng.random() < 0.3
        if as_list and isinstance(lines, list):
            lines = [
                {("at" if key == "cycle" else key): value for key, value in line.items()}
                if isinstance(line, dict)
                else line
                for line in lines
            ]
        content = (
            json.dumps(lines) if as_list or not isinstance(lines, list) else "\n".join(map(json.dumps, lines))
        ).encode()
        if rng.random() < 0.2:
            content = mutated_bytes(content, rng)
        name = "m.jsonl"
        if rng.random() < 0.1:
            name, content = "m.jsonl.gz", gzip.compress(content, mtime=0)
            content = mutated_bytes(content, rng) if rng.random() < 0.6 else content
        return Trial(tuple(command.format(name).split()), {name: content}, note="of messages")

    def _checkpoint(self, rng: Random) -> Trial:
        """Forge the numbers of a checkpoint, with right check sums, or damage its bytes."""
        command = rng.choice(("continue c.state --json", "continue c.state --cycles 900", "continue c.state --links"))
        data = self.files["c.state"]
        content = mutated_bytes(data, rng) if rng.random() < 0.2 else _forged(data, rng)
        return Trial(tuple(command.split()), {"c.state": content}, long=True, note="of a checkpoint")

    def _waveform(self, rng: Random) -> Trial:
        command = rng.choice(
            ("wave r.vcd --json", "wave r.vcd --text", "wave r.vcd --plot p.svg", "wave r.vcd --replay w.html")
        )
        content = self.files["r.vcd"]
        for _ in range(rng.choice((1, 1, 2, 5))):
            content = (
                mutated_bytes(content, rng)
                if rng.random() < 0.3
                else mutated_lines(content.decode(errors="replace"), rng).encode(errors="surrogatepass")
            )
        return Trial(tuple(command.split()), {"r.vcd": content}, note="of a waveform")

    def _python(self, rng: Random) -> Trial:
        name, commands = rng.choice(
            (
                (
                    "short_paths.py",
                    (
                        "plan mesh:3x3 short_paths.py --source 0 --destinations 1,5,7",
                        "check mesh:3x3 short_paths.py",
                        "run mesh:3x3 short_paths.py --source 0 --destinations 1,5,7 --length 4 --json",
                        "load mesh:3x3 short_paths.py --rate 0.01 --destinations-mean 2 --cycles 300 --seeds 1",
                    ),
                ),
                (
                    "hypercube.py",
                    (
                        "topology hypercube.py:three --json",
                        "check hypercube.py:three individual --relation hypercube.py",
                        "load hypercube.py:three individual --relation hypercube.py --rate 0.01 --cycles 200",
                    ),
                ),
            )
        )
        text = mutated_code(self.files[name].decode(), rng)
        return Trial(
            tuple(rng.choice(commands).split()), {name: text.encode(errors="surrogatepass")}, note=f"of {name}"
        )

    def _command(self, rng: Random) -> Trial:
        """Change words of a command line, and add options with values that its option does not expect."""
        words = rng.choice(COMMANDS).split()
        needed = {
            name: content
            for name, content in self.files.items()
            if any(name in word for word in words) or name in ("net.toml", "short_paths.py")
        }
        for _ in range(rng.choice((1, 1, 2, 3))):
            words = _changed(words, rng)
        return Trial(tuple(word.replace("\x00", "") for word in words), needed, note="of a command line")


def _changed(words: list[str], rng: Random) -> list[str]:
    """Change a command line in one place."""
    if not words:
        return [_hostile(rng)]
    at = rng.randrange(len(words))
    match rng.randrange(6):
        case 0:
            return words[:at] + words[at + 1 :]
        case 1:
            return [*words[:at], words[at], *words[at:]]
        case 2 if at:
            return [*words[:at], mutated_text(words[at], rng), *words[at + 1 :]]
        case 3 if at:
            return [*words[:at], _hostile(rng), *words[at + 1 :]]
        case _:
            options = list(_options(words[0]))
            return [*words, *([rng.choice(options), _hostile(rng)] if options else [_hostile(rng)])]


def _hostile(rng: Random) -> str:
    return rng.choice((str(rng.choice(NUMBERS)), rng.choice(TEXTS)))


def _options(name: str) -> Iterator[str]:
    """Yield the options of a command, but those that would reach for other machines."""
    from wormcast.sim.cli.commands import COMMANDS, find_command

    if name in COMMANDS:
        for parameter in find_command(name).params:
            yield from (option for option in parameter.opts if option.startswith("--") and option != "--scheduler")


def _short(text: str) -> str:
    """Let a figure measure few cycles."""
    return re.sub(r"(?m)^cycles = [\d_]+$", "cycles = 400", text)


def _forged(data: bytes, rng: Random) -> bytes:
    """Change a number of a checkpoint's manifest or arrays, and write it as a checkpoint is written."""
    from wormcast.sim.waves.record import checkpoint

    with Place() as place:
        path = place.tmp / "c.state"
        path.write_bytes(data)
        with checkpoint.opened(path) as stored:
            arrays, content = stored.arrays(), dict(stored.content)
        if rng.random() < 0.6:
            content = mutated(content, rng)
        else:
            name = rng.choice(sorted(arrays))
            arrays[name] = _array(arrays[name], rng)
        try:
            checkpoint.write(path, content, arrays)
        except (ValueError, TypeError, OverflowError):
            return data
        return path.read_bytes()


def _array(array: Any, rng: Random) -> Any:
    """Change an array's number, length or type."""
    changed = array.copy()
    if rng.random() < 0.2:
        other = changed if changed.dtype.names else changed.astype(float)
        return rng.choice((changed[:-1] if changed.ndim else changed, other, changed.reshape(-1)))
    if changed.size and changed.dtype.kind in "iub":
        flat = changed.reshape(-1)
        at = rng.randrange(flat.size)
        flat[at] = (
            not flat[at]
            if changed.dtype.kind == "b"
            else flat[at] ^ flat.dtype.type(1 << rng.randrange(8 * flat.dtype.itemsize - (changed.dtype.kind == "i")))
        )
    return changed
