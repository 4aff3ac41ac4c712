"""Words that results and errors are told in."""

__all__ = ["count"]


def count(number: int, word: str) -> str:
    """Write a number of things: ``1 worm``, ``2 worms``."""
    return f"{number} {word}{'' if number == 1 else 's'}"
