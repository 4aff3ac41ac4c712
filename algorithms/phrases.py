"""Phrases of sentences."""

from typing import Any

__all__ = ["count", "given_text", "number_text"]


def count(number: int, word: str) -> str:
    """Return a number with its noun: ``1 worm``, ``2 worms``, ``2 classes``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}{'es' if word.endswith('s') else 's'}"


def number_text(value: Any) -> str:
    """Return a value as a user writes it: a float that is a whole number without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def given_text(options: Any, name: str) -> str:
    """Return the value of a dataclass's field for an error message; the text marks the default."""
    value = vars(options)[name]
    return number_text(value) + " (the default)" * (value == vars(type(options)).get(name))
