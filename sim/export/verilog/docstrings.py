"""Parser of components' docstrings: summaries, promises, and meanings of ports."""

import inspect
import re
import sys
from collections.abc import Iterator

__all__ = ["entries", "member_meaning", "promises", "summary"]

#: Promises for the user of a component: their titles in docstrings and in the export, in this order.
TITLES = {"Reset": "After reset", "Latency": "Latency", "Throughput": "Throughput", "Waiting": "Waiting",
          "Deadlock": "Deadlock", "Errors on the wire": "Errors on the wire"}


def summary(kind: object) -> str:
    """Return the first sentence of the docstring of a class or function."""
    first = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return re.split(r"(?<=\.)\s", _plain(" ".join(first.split())))[0]


def promises(kind: type) -> list[str]:
    """Return the promises of a class: the sentences after ``*Latency*`` and the other titles of `TITLES`."""
    found = _promises(kind)
    return [_plain(TITLES[word] + found[word]) for word in TITLES if word in found]


def _promises(kind: type) -> dict[str, str]:
    """Return the text of each promise by its title. ``: as in CLASS; MORE`` is the promise of CLASS, and MORE."""
    text = (inspect.getdoc(kind) or "").partition("\nParameters\n")[0]
    found = {}
    for word, said in re.findall(r"\*([A-Z][\w ]*)\*(.*?)(?=\s\*[A-Z][\w ]*\*|\n\n|\Z)", text, re.DOTALL):
        promise = re.sub(r"\s+", " ", said).rstrip()
        if other := re.match(r": as in `(\w+)`[.;] ?", promise):
            more = promise[other.end():]
            promise = _promises(vars(sys.modules[kind.__module__])[other[1]])[word]
            promise += f" {more[0].upper()}{more[1:]}" if more else ""
        found[word] = promise
    return found


def member_meaning(kind: type, name: str) -> str | None:
    """Return the description of a member in the docstrings of a class and its bases.

    An entry with exactly this name takes precedence over the first matching pattern. ``{WORD}`` in an entry's name
    matches any letters, digits and underscores. In the description, ``{WORD}`` is replaced by the matched text. The
    description of an entry ``As in CLASS.`` is that of the member or attribute of CLASS, if CLASS describes it.
    """
    known = [(pattern, said, one) for one in kind.__mro__
             for head, said in entries(one, "Members", "Straps", "Attributes")
             for pattern in filter(None, (part.split(":")[0].strip() for part in head.split(",")))]
    for pattern, said, one in sorted(known, key=lambda entry: entry[0] != name):
        found = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\w+)", re.escape(pattern)), name)
        if found:
            for hole, value in found.groupdict().items():
                said = said.replace(f"{{{hole}}}", value)
            other = re.fullmatch(r"As in (\w+)\.", said)
            return (other and member_meaning(vars(sys.modules[one.__module__])[other[1]], name)) or said
    return None


def entries(kind: type, *sections: str) -> Iterator[tuple[str, str]]:
    """Yield head (names and types) and text of each entry in a class's numpydoc sections with these titles."""
    text = inspect.getdoc(kind) or ""
    titles = "|".join(sections)
    for section in re.findall(rf"(?:{titles})\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", text, re.DOTALL):
        for head, body in re.findall(r"^(\S.*)\n((?:    .*\n?|\n)*)", section + "\n", re.MULTILINE):
            yield head, _plain(" ".join(body.split()))


def _plain(text: str) -> str:
    """Return the text without the backquotes of reStructuredText."""
    return re.sub(r"`{1,2}([^`]*)`{1,2}", r"\1", text)
