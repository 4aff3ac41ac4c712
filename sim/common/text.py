"""Text of results, and Markdown tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import wormcast
from wormcast.algorithms.phrases import count

if TYPE_CHECKING:
    from wormcast.algorithms import Topology

__all__ = ["consumption_text", "count", "markdown_table", "resource_text", "rounded", "span_text",
           "version_text"]

#: Digits of a commit in texts for people.
DIGITS = 12


def version_text() -> str:
    """Return the version of wormcast, and the beginning of its git commit if it is known."""
    commit = wormcast.__commit__
    return wormcast.__version__ + ("" if commit is None else f" (commit {commit[:DIGITS]})")


def rounded(value: float | None, places: int) -> float | None:
    """Return a number rounded to decimal places, never -0.0; None for None."""
    return None if value is None else round(value, places) + 0


def span_text(least: float, most: float) -> str:
    """Return a range of numbers as text: ``1 to 8``; ``1`` if it has one number."""
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def consumption_text(channels: int, ejection: str) -> str:
    """Return a number of consumption channels as text: per node, or per ejection port if nodes have several ports."""
    return f"{count(channels, 'consumption channel')} {'a node' if ejection == 'one' else 'an ejection port'}"


def resource_text(topology: "Topology", resource: str) -> str:
    """Return a resource's name with coordinates in place of node ids: ``cons:1:0`` becomes ``cons:0.1:0``.

    Names of switches are kept, except in a direct network, where switches have the ids of their nodes. The last number
    of the resource's name may be missing, as in the name of a link. A name without a node of the topology is returned
    unchanged.
    """
    parts = re.fullmatch(r"(link):(\d+)>(\d+)(.*)|(cons|inj|retrans|place):(\d+)(.*)", resource)
    if parts is None or (parts[1] and not topology.direct):
        return resource
    kind, *nodes, rest = (part for part in parts.groups() if part is not None)
    if any(int(node) >= topology.nodes for node in nodes):
        return resource
    return f"{kind}:{'>'.join(topology.node_name(int(node)) for node in nodes)}{rest}"


def markdown_table(columns: Sequence[str], numeric: Sequence[bool], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a Markdown table. Numeric columns are right-aligned, cells with None are empty."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---:' if right else '---' for right in numeric)}|"
    for row in rows:
        yield f"| {' | '.join('' if cell is None else str(cell) for cell in row)} |"
