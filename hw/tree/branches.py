"""Branches of the worms that a tree input copies."""

__all__ = ["branches_of"]


def branches_of(leads: list[int], replication: str) -> list[list[int]]:
    """Give the outputs of each branch that a worm may have at an input that leads to these."""
    return [leads] if replication == "synchronous" else [[o] for o in leads]
