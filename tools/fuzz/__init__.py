"""Hostile input: commands with mutated files, random combinations of options, and killed processes.

    python -m tools.fuzz files --count 3000 --seed 1
    python -m tools.fuzz combinations --count 300 --keep out/fuzz
    python -m tools.fuzz kills --count 100 --seconds 600

Commands run in processes forked from one that has imported all of them, each with a limit of time and of memory. A
fault is a traceback, an exit code that is not in docs/contract.md or is 1, no end within a minute, more than 4 GiB of
memory, a file that was not named or is half-written, or two commands that contradict each other. Each is printed with
a command line that repeats it, whose files are in the folder of ``--keep``. Exit code 1 if there is a fault.
"""

from .parts import PARTS
from .session import Session

__all__ = ["PARTS", "Session"]
