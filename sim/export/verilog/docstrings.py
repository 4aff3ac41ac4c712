"""What the docstrings of components promise: they are the one place where it is written."""

import inspect
import re
from collections.abc import Iterator

__all__ = ["entries", "member_meaning", "promises", "summary"]

#: The promises that matter to who instantiates a component, as they are told, in this order.
TOLD = {"Reset": "After reset", "Latency": "Latency", "Throughput": "Throughput", "Waiting": "Waiting",
        "Deadlock": "Deadlock", "Errors on the wire": "Errors on the wire"}


def summary(kind: object) -> str:
    """First sentence of the docstring of a class or function."""
    first = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return re.split(r"(?<=\.)\s", _plain(" ".join(first.split())))[0]


def promises(kind: type) -> list[str]:
    """What a class promises: the sentences behind ``*Latency*`` and its like."""
    text = (inspect.getdoc(kind) or "").partition("\nParameters\n")[0]
    found = {}
    for word, said in re.findall(r"\*([A-Z][\w ]*)\*(.*?)(?=\s\*[A-Z][\w ]*\*|\n\n|\Z)", text, re.DOTALL):
        found[word] = _plain(TOLD.get(word, word) + re.sub(r"\s+", " ", said)).strip()
    return [found[word] for word in TOLD if word in found]


def member_meaning(kind: type, name: str) -> str | None:
    """What the docstrings of a class and its bases say of a member: the entry of its name, or else the first whose
    names match.

    ``{...}`` in a name stands for anything, and in what is said for the same again.
    """
    told = [(pattern, said) for one in kind.__mro__ for head, said in entries(one, "Members", "Straps")
                     for pattern in filter(None, (part.split(":")[0].strip() for part in head.split(",")))]
    for pattern, said in sorted(told, key=lambda entry: entry[0] != name):
        found = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\w+)", re.escape(pattern)), name)
        if found:
            for hole, value in found.groupdict().items():
                said = said.replace(f"{{{hole}}}", value)
            return said
    return None


def entries(kind: type, *sections: str) -> Iterator[tuple[str, str]]:
    """Head (names, and what they are) and text of each entry of a class's sections of these titles: numpydoc's."""
    text = inspect.getdoc(kind) or ""
    titles = "|".join(sections)
    for section in re.findall(rf"(?:{titles})\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", text, re.DOTALL):
        for head, body in re.findall(r"^(\S.*)\n((?:    .*\n?|\n)*)", section + "\n", re.MULTILINE):
            yield head, _plain(" ".join(body.split()))


def _plain(text: str) -> str:
    """Without the marks of reStructuredText."""
    return re.sub(r"`{1,2}([^`]*)`{1,2}", r"\1", text)
