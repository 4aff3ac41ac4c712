"""A command imports what it needs, and nothing that takes long besides."""

import subprocess
import sys

import pytest

from wormcast.sim.cli.commands import COMMANDS

#: What takes a tenth of a second or more to import, or stands for all that does.
HEAVY = ("numba", "llvmlite", "amaranth", "matplotlib", "numpy", "rich.table", "rich.progress", "sqlite3", "vcd",
         "wormcast.sim.experiments", "wormcast.sim.lowering")

SCRIPT = """
import atexit, sys
heavy = sys.argv.pop(1).split()
atexit.register(lambda: print("\\nloaded:", *(name for name in heavy if name in sys.modules)))
from wormcast.sim.cli import main
main()
"""


def loaded(*words, cwd):
    """Exit code of a command, and what it has imported of what is heavy."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, " ".join(HEAVY), *words], cwd=cwd, check=False,
                          stdout=subprocess.PIPE, text=True)
    return done.returncode, set(done.stdout.rpartition("loaded:")[2].split())


def test_the_messages_of_a_lesson_are_read_when_it_is_shown():
    code = ("import pathlib; pathlib.Path.read_text = None; from wormcast.sim.cli import demo; "
            "print(demo.LESSONS['tokens'].summary)")
    assert subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.PIPE).returncode == 0


@pytest.mark.parametrize("words", ["--version", "chek", "--nonsense"])
def test_the_program_itself_loads_nothing(words, tmp_path):
    assert loaded(words, cwd=tmp_path) == (0 if words == "--version" else 2, set())


def test_the_list_of_commands_is_printed_without_them(tmp_path):
    assert loaded("--help", cwd=tmp_path) == (0, {"rich.table"})


#: Commands without options of hardware and traffic.
PLAIN = ("demo", "doctor", "figure", "sweep")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_needs_the_options_alone(name, tmp_path):
    code, found = loaded(name, "--help", cwd=tmp_path)
    assert (code, found - (set() if name in PLAIN else {"numpy"})) == (0, {"rich.table"})


TABLES = {"numpy", "rich.table"}
SIMULATED = TABLES | {"llvmlite", "wormcast.sim.experiments", "wormcast.sim.lowering"}
NUMBA = {"numba", "llvmlite"}
MULTICAST = "--source 0 --destinations 1,2"
RUN = f"run mesh:1x3 dual-path {MULTICAST} --length 4"


@pytest.mark.parametrize(("command", "allowed"), [
    ("list schemes", TABLES),
    ("list components", TABLES),
    ("list figures", TABLES | {"wormcast.sim.experiments"}),
    ("list schemes --json", {"numpy"}),
    ("topology mesh:4x4", TABLES),
    ("topology mesh:4x4 --json", {"numpy"}),
    ("topology mesh:4x4 --plot plot.svg", TABLES | {"matplotlib"}),
    ("plan mesh:8x8 dual-path --source 0 --destinations 1,2,3", TABLES),
    ("plan mesh:8x8 atbm --source 0 --destinations 1,2,3", {"numpy"}),  # which is refused
    (f"plan mesh:1x3 dual-path {MULTICAST} --json", {"numpy"}),
    (f"plan mesh:1x3 dual-path {MULTICAST} --plot plot.svg", TABLES | {"matplotlib"}),
    ("plan mesh:4x4 dual-path --random 8", TABLES | NUMBA | {"wormcast.sim.experiments"}),
    ("check mesh:1x3 dual-path", TABLES | NUMBA),
    ("run mesh:1x3 dual-path --vsc 2", {"numpy"}),
    ("run mesh:1x3 dual-path --vcs 99", {"numpy"}),
    ("run mesh:1x3 nonsense", {"numpy"}),
    ("run mesh:1x3 dual-path --source 0", {"numpy"}),
    (RUN, SIMULATED),
    (f"{RUN} --plot plot.svg", SIMULATED | NUMBA | {"amaranth", "matplotlib"}),
    (f"{RUN} --vcd run.vcd", SIMULATED | NUMBA | {"amaranth", "vcd"}),
    ("load mesh:1x3 dual-path --rate 0.01 --destinations-mean 1 --cycles 1000",
     SIMULATED | NUMBA | {"amaranth", "vcd"}),
])
def test_commands_load_what_they_need(command, allowed, tmp_path):
    if command.startswith(("run", "load")):
        loaded(*command.split(), cwd=tmp_path)  # what is compiled once
    assert loaded(*command.split(), cwd=tmp_path)[1] - allowed == set()


@pytest.mark.parametrize("package", ["wormcast", "wormcast.hw", "wormcast.sim", "wormcast.algorithms"])
def test_packages_load_nothing_until_a_name_is_used(package):
    code = f"import sys, {package}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"numpy", "importlib.metadata", *HEAVY}.isdisjoint(done.stdout.split())
