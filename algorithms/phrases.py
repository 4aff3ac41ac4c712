"""Counts, numbers and options as words in sentences."""

from typing import Any

__all__ = ["allowed_text", "count", "given_text", "number_text", "plural"]


def count(number: int, word: str) -> str:
    """Return a number with its noun: ``1 worm``, ``2 worms``, ``2 classes``."""
    return f"{number} {word}" if number == 1 else f"{number} {plural(word)}"


def plural(word: str) -> str:
    """Return the plural of a noun: ``worms``, ``classes``."""
    return word + ("es" if word.endswith("s") else "s")


def number_text(value: Any) -> str:
    """Return a value as a user writes it: a float that is a whole number without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def given_text(options: Any, name: str) -> str:
    """Return the value of a dataclass's field for an error message; the text marks the default."""
    return number_text(vars(options)[name]) + " (the default)" * _is_default(options, name)


def allowed_text(options: Any, name: str, allowed: str) -> str:
    """Return the end of an error message, with the allowed values of a dataclass's field. The text names the field if
    the user has not: the value that is refused is the default."""
    return f"Needed: {name} {allowed}." if _is_default(options, name) else f"Allowed: {allowed}."


def _is_default(options: Any, name: str) -> bool:
    return bool(vars(options)[name] == vars(type(options)).get(name))
