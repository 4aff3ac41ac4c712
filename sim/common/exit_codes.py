"""Exit codes of the command line, which also classify results."""

import enum

__all__ = ["Exit"]


class Exit(enum.IntEnum):
    """Exit codes of the command line."""

    DONE = 0
    INTERNAL = 1
    BAD_INPUT = 2
    DEADLOCK = 3
    TOOL_MISSING = 4
    UNFINISHED = 5
    UNDECIDED = 6
    INTERRUPTED = 130
