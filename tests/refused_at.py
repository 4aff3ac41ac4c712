"""Refusals without the place of their key."""

import re

__all__ = ["without_place"]

PLACE = re.compile(r"^(wormcast: )?([\w.\[\]-]+)(?: in (?:message \d+ of )?\S+(?: \(the first is 0\))?)+: ")


def without_place(sentence: str) -> str:
    """Return a refusal without the places after its key: ``KEY: ...`` for ``KEY in FILE: ...``."""
    return PLACE.sub(r"\1\2: ", sentence)
