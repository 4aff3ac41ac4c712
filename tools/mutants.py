"""Mutation test: insert small faults into the sources one at a time, and find the tests that detect them.

    python -m tools.mutants --count 60 --seed 1 --limit 600 --out out/mutants.json
    python -m tools.mutants --again out/mutants.json

The tests of ``make test`` run until one of them fails, which kills the mutant. Tests near the mutant's file run first.
A mutant has survived if the whole suite has run and no test has failed. If ``--limit`` ends the tests earlier, the
mutant is undecided. With ``--again``, the command repeats the killed mutants of an earlier run, and fails if one of
them survives, for example because tests have changed.
"""

import argparse
import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

__all__ = ["Mutant", "mutants_of", "near_first"]

ROOT = Path(__file__).parents[1]
FOLDERS = ("hw", "sim/lowering", "algorithms/deadlock")
COPIED = ("algorithms", "docs", "examples", "hw", "sim", "src", "tb", "tests", "tools", "pyproject.toml", "README.md",
          "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "CITATION.cff", "LICENSE", "setup.py", ".ci")

COMPARISONS = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
               ast.GtE: ast.Gt}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
             ast.RShift: ast.LShift, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitXor: ast.BitOr}


@dataclass(frozen=True)
class Mutant:
    """A change in a source file.

    Parameters
    ----------
    file : str
        Path from the root.
    line, begin, end : int
        Line number, and the range of bytes to replace in the line.
    text : str
        Replacement.
    change : str
        Description of the change, for reports.
    killed_by : str
        The first test that failed. Empty: no test failed.
    undecided : bool
        The time limit ended the tests before the whole suite had run.
    seconds : float
        Wall-clock time of the tests.
    """

    file: str
    line: int
    begin: int
    end: int
    text: str
    change: str
    killed_by: str = ""
    undecided: bool = False
    seconds: float = 0.0

    def apply(self, root: Path) -> None:
        """Make the change in the source tree with the root folder ``root``."""
        path = root / self.file
        lines = path.read_bytes().split(b"\n")
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.begin] + self.text.encode() + line[self.end :]
        path.write_bytes(b"\n".join(lines))

    @property
    def result(self) -> str:
        """First test that failed, ``SURVIVED`` or ``UNDECIDED``."""
        return self.killed_by or ("UNDECIDED" if self.undecided else "SURVIVED")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.change}"


def mutants_of(file: str, source: str) -> Iterator[Mutant]:
    """Yield all mutants of a file: one for each operator, comparison, small number, truth value and ``not``."""
    tree = ast.parse(source)
    passed_over = {id(inside) for node in ast.walk(tree) for field in ("annotation", "returns")
                   if (hint := getattr(node, field, None)) for inside in ast.walk(hint)}
    # Python 3.11 reports wrong positions inside f-strings
    passed_over |= {id(inside) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
                    for inside in ast.walk(node)}
    for node in ast.walk(tree):
        changed = None if id(node) in passed_over or not hasattr(node, "lineno") else _changed(node)
        if changed is None or node.lineno != node.end_lineno:  # type: ignore[attr-defined]
            continue
        before, after = ast.unparse(node), ast.unparse(changed)
        place = (node.lineno, node.col_offset, node.end_col_offset)  # type: ignore[attr-defined]
        yield Mutant(file, *place, f"({after})" if isinstance(node, ast.expr) else after, f"{before} -> {after}")


def _changed(node: ast.AST) -> ast.AST | None:
    """Return a faulty replacement of a node, or None if there is none."""
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=comparators) if type(operator) in COMPARISONS:
            return ast.Compare(left, [COMPARISONS[type(operator)]()], comparators)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS and not (
                isinstance(left, ast.Constant) and isinstance(left.value, str)):
            return ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(op=ast.And(), values=values):
            return ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            return operand
        case ast.Constant(value=bool() as value):
            return ast.Constant(not value)
        case ast.Constant(value=int() as value) if value in (0, 1, 2):
            return ast.Constant(value + 1)
    return None


def near_first(file: str, tests: list[str]) -> list[list[str]]:
    """Group test files by distance from a source file: similar name, same folder, same top-level folder, others.

    Of the other tests, those in ``tests/sim`` come first, because they run the hardware.
    """
    path = Path(file)
    stem, folder = path.stem, Path("tests", *path.parent.parts)
    room = Path("tests", path.parts[0])
    groups: list[list[str]] = [[], [], [], [], []]
    for test in tests:
        parent = Path(test).parent
        nearness = (0 if folder.is_relative_to(parent) and stem.rstrip("s") in Path(test).stem else
                    1 if parent == folder else 2 if parent.is_relative_to(room) else
                    3 if parent.is_relative_to("tests/sim") else 4)
        groups[nearness].append(test)
    return [group for group in groups if group]


def _run(mutant: Mutant, workers: int, limit: float | None) -> Mutant:
    """Run the tests on a mutant in a copy of the source tree, and return the mutant with the result.

    Parameters
    ----------
    limit : float or None
        Seconds of wall-clock time after which the tests end.
    """
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, root / name, symlinks=True)
            else:
                shutil.copy(ROOT / name, root / name)
        mutant.apply(root)
        for command in (["git", "init", "--quiet"], ["git", "add", "--all"]):  # some tests need git's list of files
            subprocess.run(command, cwd=root, check=True)
        environment = os.environ | {"PYTHONPATH": str(root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        tests = sorted(str(path.relative_to(root)) for path in (root / "tests").rglob("test_*.py"))
        for group in near_first(mutant.file, tests):
            command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "-n", str(workers), *group]
            left = None if limit is None else max(begun + limit - time.monotonic(), 1)
            # pytest and its workers have a process group of their own: killing the group ends them all
            with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, start_new_session=True) as done:
                try:
                    printed, _ = done.communicate(timeout=left)
                except BaseException as error:
                    os.killpg(done.pid, signal.SIGKILL)
                    if not isinstance(error, subprocess.TimeoutExpired):
                        raise  # Ctrl-C
                    return replace(mutant, undecided=True, seconds=time.monotonic() - begun)
            failed = [line for line in printed.splitlines() if line.startswith(("FAILED", "ERROR"))]
            if done.returncode not in (0, 5):  # pytest's exit code 5: the group has slow tests only
                killer = failed[0].split(" - ")[0] if failed else f"exit code {done.returncode}"
                return replace(mutant, killed_by=killer, seconds=time.monotonic() - begun)
    return replace(mutant, killed_by="", seconds=time.monotonic() - begun)


def main() -> int:
    """Run the command line of this module."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=60, help="number of mutants (60)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the selection of mutants (1)")
    parser.add_argument("--workers", type=int, default=2, help="number of test processes (2)")
    parser.add_argument("--limit", type=float, help="seconds after which a mutant is undecided (no limit)")
    parser.add_argument("--out", type=Path, help="write results as JSON, after each mutant")
    parser.add_argument("--again", type=Path, help="repeat the killed mutants in a file of --out")
    arguments = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    if arguments.again:
        chosen = [Mutant(**one) for one in json.loads(arguments.again.read_text())["mutants"] if one["killed_by"]]
    else:
        files = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
        found = [mutant for file in files for mutant in mutants_of(file, (ROOT / file).read_text())]
        chosen = random.Random(arguments.seed).sample(found, arguments.count)
        console.print(f"seed {arguments.seed}: {len(chosen)} of {len(found)} mutants of {', '.join(FOLDERS)}")
    done: list[Mutant] = []
    for mutant in chosen:
        done.append(_run(mutant, arguments.workers, arguments.limit))
        console.print(f"{mutant}: {done[-1].result} ({done[-1].seconds:.0f} s)", markup=False)
        if arguments.out:
            arguments.out.parent.mkdir(parents=True, exist_ok=True)
            arguments.out.write_text(json.dumps({"seed": arguments.seed, "mutants": [asdict(one) for one in done]}))
    killed = sum(bool(one.killed_by) for one in done)
    undecided = sum(one.undecided for one in done)
    console.print(f"{killed} of {len(done)} killed" + (f", {undecided} undecided" if undecided else ""))
    return 1 if arguments.again and killed < len(done) else 0


if __name__ == "__main__":
    sys.exit(main())
