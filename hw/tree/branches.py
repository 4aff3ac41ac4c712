"""Branches of the worms in a tree input."""

__all__ = ["branches_of"]


def branches_of(leads: list[int], replication: str) -> list[list[int]]:
    """Return the outputs of each branch that a worm can have, at an input that leads to these outputs."""
    return [leads] if replication == "synchronous" else [[o] for o in leads]
