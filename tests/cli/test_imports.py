"""A command imports what it needs, and nothing that takes long besides."""

import subprocess
import sys

import pytest
from command import wormcast

from wormcast.sim.cli.commands import COMMANDS

#: Modules that take at least a tenth of a second to import, or stand for a group of such modules.
HEAVY = ("numba", "llvmlite", "amaranth", "matplotlib", "numpy", "rich.table", "rich.progress", "sqlite3", "vcd",
         "wormcast.sim.experiments", "wormcast.sim.lowering")

SCRIPT = """
import sys
heavy, *commands = sys.argv[1:]
from wormcast.sim.cli import main
for command in commands:
    sys.argv = ["wormcast", *command.split()]
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    print("\\nloaded:", code, *(name for name in heavy.split() if name in sys.modules))
"""


def loaded(*commands, cwd):
    """Exit code of each command, run in this order in one process, and what is imported by then of what is heavy."""
    done = subprocess.run([sys.executable, "-c", SCRIPT, " ".join(HEAVY), *commands], cwd=cwd, check=False,
                          stdout=subprocess.PIPE, text=True)
    found = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("loaded:")]
    assert len(found) == len(commands)
    return {command: (int(code), set(names)) for command, (code, *names) in zip(commands, found, strict=True)}


def test_the_messages_of_a_lesson_are_read_when_it_is_shown():
    code = ("import pathlib; pathlib.Path.read_text = None; from wormcast.sim.cli import demo; "
            "print(demo.LESSONS['tokens'].summary)")
    assert subprocess.run([sys.executable, "-c", code], check=False, stdout=subprocess.PIPE).returncode == 0


def test_the_program_itself_loads_nothing(tmp_path):
    assert loaded("--version", "chek", "--nonsense", cwd=tmp_path) == {
        "--version": (0, set()), "chek": (2, set()), "--nonsense": (2, set())}


def test_the_list_of_commands_is_printed_without_them(tmp_path):
    assert loaded("--help", cwd=tmp_path) == {"--help": (0, {"rich.table"})}


#: Commands without options of hardware and traffic.
PLAIN = ("demo", "doctor", "figure", "sweep")


@pytest.mark.parametrize("plain", [True, False])
def test_help_needs_the_options_alone(plain, tmp_path):
    helps = [f"{name} --help" for name in COMMANDS if (name in PLAIN) is plain]
    found = loaded(*helps, cwd=tmp_path)
    assert {command: (code, names - (set() if plain else {"numpy"})) for command, (code, names) in found.items()} \
        == dict.fromkeys(helps, (0, {"rich.table"}))


TABLES = {"numpy", "rich.table"}
SIMULATED = TABLES | {"llvmlite", "wormcast.sim.experiments", "wormcast.sim.lowering"}
NUMBA = {"numba", "llvmlite"}
MULTICAST = "--source 0 --destinations 1,2"
RUN = f"run mesh:1x3 dual-path {MULTICAST} --length 4"


#: Commands, by what they may load: those that may load the same are run in one process.
NEEDS = [
    (TABLES, ["list schemes", "list components", "topology mesh:4x4",
              "plan mesh:8x8 dual-path --source 0 --destinations 1,2,3"]),
    (TABLES | {"wormcast.sim.experiments"}, ["list figures"]),
    ({"numpy"}, ["list schemes --json", "topology mesh:4x4 --json", f"plan mesh:1x3 dual-path {MULTICAST} --json",
                 # and what is refused
                 "plan mesh:8x8 atbm --source 0 --destinations 1,2,3", "run mesh:1x3 dual-path --vsc 2",
                 "run mesh:1x3 dual-path --vcs 99", "run mesh:1x3 nonsense", "run mesh:1x3 dual-path --source 0"]),
    (TABLES | {"matplotlib"}, ["topology mesh:4x4 --plot plot.svg",
                               f"plan mesh:1x3 dual-path {MULTICAST} --plot plot.svg"]),
    (TABLES | NUMBA, ["check mesh:1x3 dual-path"]),
    (TABLES | NUMBA | {"wormcast.sim.experiments"}, ["plan mesh:4x4 dual-path --random 8"]),
    (SIMULATED, [RUN]),
    (SIMULATED | NUMBA | {"amaranth", "matplotlib"}, [f"{RUN} --plot plot.svg"]),
    (SIMULATED | NUMBA | {"amaranth", "vcd"}, [
        f"{RUN} --vcd run.vcd", "load mesh:1x3 dual-path --rate 0.01 --destinations-mean 1 --cycles 1000"]),
]


@pytest.mark.parametrize(("allowed", "commands"), NEEDS)
def test_commands_load_what_they_need(allowed, commands, tmp_path):
    if commands == [RUN]:
        wormcast(*RUN.split(), cwd=tmp_path)  # what is compiled once
    found = loaded(*commands, cwd=tmp_path)
    assert {command: names - allowed for command, (_, names) in found.items() if names - allowed} == {}


@pytest.mark.parametrize("package", ["wormcast", "wormcast.hw", "wormcast.sim", "wormcast.algorithms"])
def test_packages_load_nothing_until_a_name_is_used(package):
    code = f"import sys, {package}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"numpy", "importlib.metadata", *HEAVY}.isdisjoint(done.stdout.split())
