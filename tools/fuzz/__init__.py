"""Fuzzer: commands with mutated files, random combinations of options, and killed processes.

    python -m tools.fuzz files --count 3000 --seed 1
    python -m tools.fuzz combinations --count 300 --keep out/fuzz
    python -m tools.fuzz kills --count 100 --seconds 600

Each command runs in a process with limits of time and memory, forked from a process that has imported all commands.

A traceback, exit code 1, or an exit code that is not in docs/contract.md is a fault. If a command needs more than 60
seconds of processor time, 5 minutes of elapsed time or 4 GiB of memory, this is a fault. Commands with large numbers
may need more time: they get SIGINT after some seconds, and must then end. A file that the command line does not name,
or a half-written file, is a fault. A contradiction between two commands is a fault.

Each fault is printed with a command line that repeats it. The files of that command line are in the folder of
``--keep``. The fuzzer ends with exit code 1 if there is a fault.
"""

from .parts import PARTS
from .session import Session

__all__ = ["PARTS", "Session"]
