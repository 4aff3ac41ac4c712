"""Names that a figure gives to texts: ``{NAME}`` in its commands and predicates."""

import re
from collections.abc import Mapping
from typing import Any

from wormcast.algorithms import WormcastError

__all__ = ["read_words", "written"]

#: What commands have in braces that is known when they are run: a picture's file, and the catalogue's folder.
LATER = ("plot", "here")

BRACES = re.compile(r"\{(\w+)\}")


def read_words(given: Mapping[str, Any]) -> dict[str, str]:
    """Read texts by their names; each may have the names of those before it.

    Raises
    ------
    WormcastError
        One is no text, has the name of what is known later, or names what there is not.
    """
    words: dict[str, str] = {}
    for name, text in given.items():
        if not isinstance(text, str) or name in LATER:
            raise WormcastError(f"words.{name}: {text!r} is given, allowed are texts, by names other than "
                                f"{' and '.join(LATER)}")
        words[name] = written(text, words)
    return words


def written(text: str, words: Mapping[str, str]) -> str:
    """Write a text with words in place of their names.

    Raises
    ------
    WormcastError
        It names what there is not.
    """
    for name in BRACES.findall(text):
        if name not in words and name not in LATER:
            raise WormcastError(f"{{{name}}} is given in {text!r}, words are {', '.join((*words, *LATER))}")
    return BRACES.sub(lambda found: words.get(found[1], found[0]), text)
