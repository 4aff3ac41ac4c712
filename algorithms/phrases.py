"""Phrases of sentences."""

__all__ = ["count"]


def count(number: int, word: str) -> str:
    """Return a number with its noun: ``1 worm``, ``2 worms``, ``2 classes``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}{'es' if word.endswith('s') else 's'}"
