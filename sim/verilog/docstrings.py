"""What the docstrings of components promise: they are the one place where it is written."""

import inspect
import re
from collections.abc import Iterator

__all__ = ["member_meaning", "promises", "summary"]

#: The promises that matter to who instantiates a component, as they are told, in this order.
TOLD = {"Reset": "After reset", "Latency": "Latency", "Throughput": "Throughput", "Waiting": "Waiting",
        "Deadlock": "Deadlock", "Errors on the wire": "Errors on the wire"}


def summary(kind: object) -> str:
    """First sentence of the docstring of a class or function."""
    return _plain(inspect.getdoc(kind) or "").partition("\n")[0]


def promises(kind: type) -> list[str]:
    """What a class promises: the sentences behind ``*Latency*`` and its like."""
    text = (inspect.getdoc(kind) or "").partition("\nParameters\n")[0]
    found = {}
    for word, said in re.findall(r"\*([A-Z][\w ]*)\*(.*?)(?=\s\*[A-Z][\w ]*\*|\n\n|\Z)", text, re.DOTALL):
        found[word] = _plain(TOLD.get(word, word) + re.sub(r"\s+", " ", said))
    return [found[word] for word in TOLD if word in found]


def member_meaning(kind: type, name: str) -> str | None:
    """What a class's docstring says of a member: the first entry whose names match.

    ``{...}`` in a name stands for anything, and in what is said for the same again.
    """
    for names, said in _members(kind):
        for pattern in names:
            found = re.fullmatch(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>\\w+)", re.escape(pattern)), name)
            if found:
                for hole, value in found.groupdict().items():
                    said = said.replace(f"{{{hole}}}", value)
                return said
    return None


def _members(kind: type) -> Iterator[tuple[list[str], str]]:
    """Names and text of each entry of the sections Members and Straps, as numpydoc has them."""
    text = inspect.getdoc(kind) or ""
    for section in re.findall(r"(?:Members|Straps)\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", text, re.DOTALL):
        for head, body in re.findall(r"^(\S.*)\n((?:    .*\n?|\n)*)", section + "\n", re.MULTILINE):
            names = [part.split(":")[0].strip() for part in head.split(",") if part.split(":")[0].strip()]
            yield names, _plain(" ".join(body.split()))


def _plain(text: str) -> str:
    """Without the marks of reStructuredText."""
    return re.sub(r"`{1,2}([^`]*)`{1,2}", r"\1", text)
