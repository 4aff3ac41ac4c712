"""Trials with mutated files of every format, and mutated command lines."""

import gzip
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from .mutations import (
    NUMBERS,
    TEXTS,
    format_toml,
    make_user_code,
    mutate,
    mutate_bytes,
    mutate_code,
    mutate_lines,
    mutate_text,
)
from .sandbox import Sandbox
from .trial import Trial, run_trial

__all__ = ["FIGURE", "SWEEP", "FileTrials", "original_files"]

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CATALOGUE = ROOT / "sim" / "experiments" / "figure" / "catalogue"

#: Pattern of a large number. A command with a large number may run long.
LARGE_NUMBER = re.compile(rb"\d{4,}|\de\+?\d")

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
holds = "output('plan mesh:3x3 dual-path --source 0 --destinations 1,5', 'hops') == 3"
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
holds = "output('topology mesh:3x3', 'nodes/#') == 9 and output('check ring:4 individual', 'free') == True"
"""
SHORT_LOAD = "load mesh:3x3 dual-path --rate 0.02 --destinations-mean 2 --length 6 --seeds 2 --cycles 600"

#: Valid command lines. ``m.jsonl`` and ``net.toml`` are among the `original_files`.
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
    SHORT_LOAD,
    f"{SHORT_LOAD} --json --links --messages-out o.csv",
    f"{SHORT_LOAD} --checkpoint c.state --checkpoint-every 200",
    "load mesh:3x4 dual-path --trace m.jsonl --json",
    f"{SHORT_LOAD} --vcd l.vcd --window 10:40",
    "load mesh:4x4 individual --rate 0.01 --multicast-fraction 0 --pattern transpose --cycles 400 --seeds 1",
    "load mesh:3x3 individual --rate 0.01 --pattern hot-spot --hot-spots 0,4 --cycles 400 --warmup 100",
    f"{SHORT_LOAD} --csv o.csv --injection-process on-off --burst-on 5 --burst-off 20 --multicast-sets row",
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


def original_files() -> dict[str, bytes]:
    """Return the contents of valid files by name: examples, small files, and files written by commands in a sandbox."""
    files = {path.name: path.read_bytes() for path in (*EXAMPLES.iterdir(), *(EXAMPLES / "networks").iterdir())
             if path.is_file()}
    files |= {"s.toml": SWEEP.encode(), "f.toml": FIGURE.encode(), "runs.toml": RUNS.encode(),
              "m.jsonl": files["table1.jsonl"], "net.toml": files["star.toml"]}
    with Sandbox() as sandbox:
        for command in (
            "run mesh:3x3 dual-path --source 0 --destinations 1,5 --length 4 --vcd r.vcd",
            f"{SHORT_LOAD} --checkpoint c.state",
            "topology min:b=2,stages=2 --toml full.toml",
        ):
            run_trial(Trial(tuple(command.split())), sandbox)
        written = sandbox.files()
    return files | {name: written[name] for name in ("r.vcd", "c.state", "full.toml")}


class FileTrials:
    """Random trials with mutated files and command lines.

    Parameters
    ----------
    files : mapping of str to bytes
        Contents of the `original_files` by name.
    """

    def __init__(self, files: Mapping[str, bytes]):
        self.files = files
        self._makers: tuple[Callable[[Random], Trial], ...] = (
            self._network, self._messages, self._trace, self._sweep, self._figure, self._catalogue, self._checkpoint,
            self._waveform, self._python, self._user_arrays, self._command, self._command, self._command,
            self._network, self._messages, self._sweep, self._figure, self._figure, self._waveform,
        )

    def trial(self, rng: Random) -> Trial:
        """Return a random trial."""
        trial = rng.choice(self._makers)(rng)
        texts = [*(word.encode(errors="replace") for word in trial.arguments),
                 *(content for name, content in trial.files.items() if not name.endswith((".vcd", ".state")))]
        return replace(trial, long=trial.long or any(map(LARGE_NUMBER.search, texts)))

    def _network(self, rng: Random) -> Trial:
        name = rng.choice(("star.toml", "full.toml"))
        command = rng.choice((
            "topology n.toml --json",
            "topology n.toml --plot p.svg",
            "topology n.toml --toml again.toml",
            "check n.toml individual --json",
            "plan n.toml individual --source 0 --destinations all --json",
            "run n.toml individual --source 0 --destinations 1 --length 4 --json",
            "check n.toml tree --buffer-kind deep",
            "load n.toml individual --rate 0.01 --destinations-mean 1 --cycles 300 --seeds 1 --json",
            "check n.toml individual --relation up-down-adaptive --json",
        ))
        return self._mutated_toml(command, "n.toml", self.files[name].decode(), rng)

    def _messages(self, rng: Random) -> Trial:
        name = rng.choice(("table1.jsonl", "figure4.jsonl"))
        command = rng.choice((
            "run mesh:1x4 dual-path --messages {} --json",
            "run mesh:1x4 individual --messages {}",
            "run mesh:1x4 dual-path --messages {} --absorb 2 --timeout 3000",
        ))
        return self._mutated_messages(command, self.files[name].decode(), rng)

    def _trace(self, rng: Random) -> Trial:
        command = rng.choice((
            "load mesh:1x4 dual-path --trace {} --json",
            "load mesh:1x4 individual --trace {} --cycles 400",
            "load mesh:1x4 dual-path --trace {} --messages-out o.csv",
        ))
        return self._mutated_messages(command, self.files["table1.jsonl"].decode(), rng)

    def _sweep(self, rng: Random) -> Trial:
        return self._mutated_toml(rng.choice(("sweep s.toml --out o --json", "sweep s.toml")), "s.toml", SWEEP, rng)

    def _figure(self, rng: Random) -> Trial:
        text = rng.choice((FIGURE, FIGURE, RUNS, _with_few_cycles(self.files["mine.toml"].decode())))
        trial = self._mutated_toml("figure f.toml --quick --out o --json", "f.toml", text, rng)
        return replace(trial, files={**trial.files, "short_paths.py": self.files["short_paths.py"]})

    def _catalogue(self, rng: Random) -> Trial:
        path = rng.choice(sorted(CATALOGUE.glob("*-*.toml")))
        files = {file.name: file.read_bytes() for file in CATALOGUE.iterdir() if file.is_file()}
        text = _with_few_cycles(path.read_text())
        trial = self._mutated_toml(f"figure {path.name} --quick --out o --json", path.name, text, rng)
        return replace(trial, files={**files, **trial.files}, long=True)

    def _mutated_toml(self, command: str, name: str, text: str, rng: Random) -> Trial:
        """Mutate the structure, the lines or the bytes of a TOML file."""
        level = rng.randrange(10)
        if level < 7:
            entries: Any = tomllib.loads(text)
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                entries = mutate(entries, rng)
            changed = format_toml(entries) if isinstance(entries, dict) else str(entries)
            content = changed.encode(errors="surrogatepass")
        elif level < 9:
            content = mutate_lines(text, rng).encode(errors="surrogatepass")
        else:
            content = mutate_bytes(text.encode(), rng)
        return Trial(tuple(command.split()), {name: content}, note=f"mutated {name}")

    def _mutated_messages(self, command: str, text: str, rng: Random) -> Trial:
        """Mutate messages, written as JSON lines or as a list, plain or compressed."""
        lines: Any = [json.loads(line) for line in text.splitlines()]
        if rng.random() < 0.3:
            lines[-1]["after"] = rng.choice((0, [0], [1, 2], -1, 99, "0"))
        if rng.random() < 0.8:
            for _ in range(rng.choice((1, 1, 2))):
                lines = mutate(lines, rng)
        as_list = rng.random() < 0.3
        if as_list and isinstance(lines, list):
            lines = [{("at" if key == "cycle" else key): value for key, value in line.items()}
                     if isinstance(line, dict) else line for line in lines]
        one_text = as_list or not isinstance(lines, list)
        content = (json.dumps(lines) if one_text else "\n".join(map(json.dumps, lines))).encode()
        if rng.random() < 0.2:
            content = mutate_bytes(content, rng)
        name = "m.jsonl"
        if rng.random() < 0.1:
            name, content = "m.jsonl.gz", gzip.compress(content, mtime=0)
            content = mutate_bytes(content, rng) if rng.random() < 0.6 else content
        return Trial(tuple(command.format(name).split()), {name: content}, note="mutated messages")

    def _checkpoint(self, rng: Random) -> Trial:
        """Mutate the manifest or an array of a checkpoint, with correct checksums, or mutate the bytes of the file."""
        command = rng.choice(("continue c.state --json", "continue c.state --cycles 900", "continue c.state --links"))
        data = self.files["c.state"]
        content = mutate_bytes(data, rng) if rng.random() < 0.2 else _mutate_checkpoint(data, rng)
        return Trial(tuple(command.split()), {"c.state": content}, long=True, note="mutated checkpoint")

    def _waveform(self, rng: Random) -> Trial:
        command = rng.choice((
            "wave r.vcd --json", "wave r.vcd --text", "wave r.vcd --plot p.svg", "wave r.vcd --replay w.html"))
        content = self.files["r.vcd"]
        for _ in range(rng.choice((1, 1, 2, 5))):
            if rng.random() < 0.3:
                content = mutate_bytes(content, rng)
            else:
                content = mutate_lines(content.decode(errors="replace"), rng).encode(errors="surrogatepass")
        return Trial(tuple(command.split()), {"r.vcd": content}, note="mutated waveform")

    def _python(self, rng: Random) -> Trial:
        name, commands = rng.choice((
            ("short_paths.py", (
                "plan mesh:3x3 short_paths.py --source 0 --destinations 1,5,7",
                "check mesh:3x3 short_paths.py",
                "run mesh:3x3 short_paths.py --source 0 --destinations 1,5,7 --length 4 --json",
                "load mesh:3x3 short_paths.py --rate 0.01 --destinations-mean 2 --cycles 300 --seeds 1",
            )),
            ("hypercube.py", (
                "topology hypercube.py:three --json",
                "check hypercube.py:three individual --relation hypercube.py",
                "load hypercube.py:three individual --relation hypercube.py --rate 0.01 --cycles 200",
            )),
        ))
        content = mutate_code(self.files[name].decode(), rng).encode(errors="surrogatepass")
        return Trial(tuple(rng.choice(commands).split()), {name: content}, note=f"mutated {name}")

    def _user_arrays(self, rng: Random) -> Trial:
        """Return a trial with a user's scheme or relation that has wrong arrays."""
        command = rng.choice((
            "plan mesh:3x3 {} --source 0 --destinations 1,5,7 --json",
            "check mesh:3x3 {}",
            "run mesh:3x3 {} --source 0 --destinations 1,5,7 --length 4 --json",
            "run mesh:3x3 {} --source 0 --destinations 1,5,7 --length 4 --absorb 2",
            "load mesh:3x3 {} --rate 0.01 --destinations-mean 2 --cycles 300 --seeds 1",
        ))
        used = rng.choice(("own.py:Own", "own.py:Own", "individual --relation own.py"))
        return Trial(tuple(command.format(used).split()), {"own.py": make_user_code(rng).encode()}, note="wrong arrays")

    def _command(self, rng: Random) -> Trial:
        """Mutate the words of a command line, or append options with wrong values."""
        words = rng.choice(COMMANDS).split()
        files = {name: content for name, content in self.files.items()
                 if any(name in word for word in words) or name in ("net.toml", "short_paths.py")}
        for _ in range(rng.choice((1, 1, 2, 3))):
            words = _mutate_words(words, rng)
        return Trial(tuple(word.replace("\x00", "") for word in words), files, note="mutated command line")


def _mutate_words(words: list[str], rng: Random) -> list[str]:
    """Return a command line with one random change."""
    if not words:
        return [_wrong_value(rng)]
    at = rng.randrange(len(words))
    match rng.randrange(6):
        case 0:
            return words[:at] + words[at + 1 :]
        case 1:
            return [*words[:at], words[at], *words[at:]]
        case 2 if at:
            return [*words[:at], mutate_text(words[at], rng), *words[at + 1 :]]
        case 3 if at:
            return [*words[:at], _wrong_value(rng), *words[at + 1 :]]
        case _:
            options = list(_options(words[0]))
            return [*words, *([rng.choice(options), _wrong_value(rng)] if options else [_wrong_value(rng)])]


def _wrong_value(rng: Random) -> str:
    return rng.choice((str(rng.choice(NUMBERS)), rng.choice(TEXTS)))


def _options(name: str) -> Iterator[str]:
    """Yield the options of a command, except --scheduler, which connects to other computers."""
    from wormcast.sim.cli.commands import COMMANDS, find_command

    if name in COMMANDS:
        for parameter in find_command(name).params:
            yield from (option for option in parameter.opts if option.startswith("--") and option != "--scheduler")


def _with_few_cycles(text: str) -> str:
    """Return the definition of a figure with fewer cycles."""
    return re.sub(r"(?m)^cycles = [\d_]+$", "cycles = 400", text)


def _mutate_checkpoint(data: bytes, rng: Random) -> bytes:
    """Return a checkpoint with one random change of its manifest or of an array, and correct checksums."""
    from wormcast.sim.waves.record import checkpoint

    with Sandbox() as sandbox:
        path = sandbox.tmp / "c.state"
        path.write_bytes(data)
        with checkpoint.opened(path) as stored:
            arrays, content = stored.arrays(), dict(stored.content)
        if rng.random() < 0.6:
            content = mutate(content, rng)
        else:
            name = rng.choice(sorted(arrays))
            arrays[name] = _mutate_array(arrays[name], rng)
        try:
            checkpoint.write(path, content, arrays)
        except (ValueError, TypeError, OverflowError):
            return data
        return path.read_bytes()


def _mutate_array(array: Any, rng: Random) -> Any:
    """Return an array with another length, type or shape, or with one flipped bit."""
    changed = array.copy()
    if rng.random() < 0.2:
        as_float = changed if changed.dtype.names else changed.astype(float)
        return rng.choice((changed[:-1] if changed.ndim else changed, as_float, changed.reshape(-1)))
    if changed.size and changed.dtype.kind in "iub":
        flat = changed.reshape(-1)
        at = rng.randrange(flat.size)
        if changed.dtype.kind == "b":
            flat[at] = not flat[at]
        else:
            bits = 8 * flat.dtype.itemsize - (changed.dtype.kind == "i")  # the sign stays
            flat[at] ^= flat.dtype.type(1 << rng.randrange(bits))
    return changed
