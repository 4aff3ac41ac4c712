"""Substitution of names by texts: ``{NAME}`` in a figure's commands and predicates."""

import re
from collections.abc import Mapping
from typing import Any

from wormcast.algorithms import WormcastError

__all__ = ["PLOT", "read_words", "written"]

#: Names that are replaced when a command is run: the picture's file, and the catalogue's folder.
LATER = ("plot", "here")
PLOT = "{plot}"

BRACES = re.compile(r"\{(\w+)\}")


def read_words(given: Mapping[str, Any]) -> dict[str, str]:
    """Read texts by name. A text may contain ``{NAME}``, where NAME is the name of an earlier text."""
    words: dict[str, str] = {}
    for name, text in given.items():
        if not isinstance(text, str) or name in LATER:
            raise WormcastError(f"words.{name}: {text!r} is not valid. Allowed: strings, with names other than "
                                f"{' and '.join(LATER)}.")
        words[name] = written(text, words)
    return words


def written(text: str, words: Mapping[str, str]) -> str:
    """Return a text in which each ``{NAME}`` is replaced by the text of this name, except for names of `LATER`."""
    for name in BRACES.findall(text):
        if name not in words and name not in LATER:
            raise WormcastError(f"{{{name}}} in {text!r} is not valid. Allowed: {', '.join((*words, *LATER))}.")
    return BRACES.sub(lambda found: words.get(found[1], found[0]), text)
