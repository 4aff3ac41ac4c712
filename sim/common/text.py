"""Words that results and errors are told in, and tables for documents."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wormcast.algorithms import Topology

__all__ = ["consumption_text", "count", "markdown_table", "resource_text"]


def count(number: int, word: str) -> str:
    """Write a number of things: ``1 worm``, ``2 worms``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def consumption_text(channels: int, ejection: str) -> str:
    """Write how many consumption channels there are: ``1 consumption channel a node``, or an ejection port."""
    return f"{count(channels, 'consumption channel')} {'a node' if ejection == 'one' else 'an ejection port'}"


def resource_text(topology: "Topology", resource: str) -> str:
    """Name a resource for people, with coordinates for the ids of nodes: ``cons:1:0`` becomes ``cons:0.1:0``.

    Switches keep their names, but in a direct network, where they have the ids of their nodes. The resource may lack
    its last number, as the name of a link does. What names no node of the topology stays as it is.
    """
    parts = re.fullmatch(r"(link):(\d+)>(\d+)(.*)|(cons|inj|retrans|place):(\d+)(.*)", resource)
    if parts is None or (parts[1] and not topology.direct):
        return resource
    kind, *nodes, rest = (part for part in parts.groups() if part is not None)
    if any(int(node) >= topology.nodes for node in nodes):
        return resource
    return f"{kind}:{'>'.join(topology.node_name(int(node)) for node in nodes)}{rest}"


def markdown_table(columns: Sequence[str], numeric: Sequence[bool], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Write a table in Markdown, line by line as the rows come; columns of numbers to the right, nothing for None."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---:' if right else '---' for right in numeric)}|"
    for row in rows:
        yield f"| {' | '.join('' if cell is None else str(cell) for cell in row)} |"
