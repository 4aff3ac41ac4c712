"""Substitution of names by texts: ``{NAME}`` in a figure's commands and predicates."""

import re
from collections.abc import Mapping

from wormcast.algorithms import WormcastError

__all__ = ["PLOT", "read_words", "written"]

#: Names that are replaced when a command is run: the picture's file, and the catalogue's folder.
LATER = ("plot", "here")
PLOT = "{plot}"

BRACES = re.compile(r"\{(\w+)\}")


def read_words(given: Mapping[str, str]) -> dict[str, str]:
    """Read texts by name. A text may contain ``{NAME}``, where NAME is the name of an earlier text."""
    words: dict[str, str] = {}
    for name, text in given.items():
        if name in LATER:
            raise WormcastError(f"words.{name}: {text!r} is not valid: {{{name}}} has a meaning of its own. Allowed: "
                                f"words with names other than {' and '.join(LATER)}.")
        words[name] = written(text, words, f"words.{name}")
    return words


def written(text: str, words: Mapping[str, str], where: str) -> str:
    """Return a text in which each ``{NAME}`` is replaced by the text of this name, except for names of `LATER`.

    ``where``: key of the text in the figure's file, for refusals.
    """
    for name in BRACES.findall(text):
        if name not in words and name not in LATER:
            raise WormcastError(f"{where}: {{{name}}} in {text!r} is not valid: there is no such word. "
                                f"Allowed: {', '.join(f'{{{one}}}' for one in (*words, *LATER))}.")
    return BRACES.sub(lambda found: words.get(found[1], found[0]), text)
