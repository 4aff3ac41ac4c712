"""The one exception root of the project."""

__all__ = ["WormcastError"]


class WormcastError(ValueError):
    """Bad input, in one sentence: what was given, what is allowed, where.

    Every refusal that a user can cause is raised as this class, so that the command line turns it into
    exit code 2 and a library user catches one name.
    """
