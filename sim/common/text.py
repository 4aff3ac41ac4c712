"""Words that results and errors are told in, and tables for documents."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wormcast.algorithms import Topology

__all__ = ["channel_options", "count", "markdown_table", "resource_text"]

#: Hardware options that say which channels worms may take, each with the value that goes without saying.
USUAL = {"ejection": "one", "vc_classes": "relation", "ties": "plus"}


def count(number: int, word: str) -> str:
    """Write a number of things: ``1 worm``, ``2 worms``."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def channel_options(hardware: Mapping[str, Any]) -> list[str]:
    """Name the options by which channels are taken, where they are not the usual ones: ``["ejection all"]``."""
    return [f"{name.replace('_', '-')} {hardware[name]}" for name, usual in USUAL.items()
            if hardware.get(name, usual) != usual]


def resource_text(topology: Topology, resource: str) -> str:
    """Name a resource for people, with coordinates for the ids of nodes: ``cons:1:0`` becomes ``cons:0.1:0``.

    Switches keep their names, but in a direct network, where they have the ids of their nodes. The resource may lack
    its last number, as the name of a link does. What names no node of the topology stays as it is.
    """
    parts = re.fullmatch(r"(link):(\d+)>(\d+)(.*)|(cons|inj):(\d+)(.*)", resource)
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
