"""The one exception root of the project, and how others' errors are told."""

__all__ = ["WormcastError", "told"]


class WormcastError(ValueError):
    """Bad input, in one sentence: what was given, what is allowed, where.

    Every refusal that a user can cause is raised as this class, so that the command line turns it into
    exit code 2 and a library user catches one name.
    """


def told(error: BaseException) -> str:
    """Tell another's error within a sentence: its type and its first line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]
