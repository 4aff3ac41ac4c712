"""``list``: names of schemes, topologies, relations, configurations, components and figures."""

import enum
from typing import Annotated, Any

import typer

from ..api.catalogue import FORMS, KINDS, names
from .app import Json, emit_result, say, table, width
from .commands import command

__all__: list[str] = []

Subject = enum.StrEnum("Subject", {kind.upper(): kind for kind in KINDS})  # type: ignore[misc]  # kinds as choices

#: Least width of a terminal, in characters, in which the list of schemes has all columns.
WIDE = 120


@command("list")
def list_(
    what: Annotated[Subject, typer.Argument(metavar="WHAT", help=f"Kind of names: {', '.join(Subject)}.")],
    paper: Annotated[str | None, typer.Argument(
        metavar="[PAPER]", help="With figures: only figures of this paper: its number (002), or a part of an author's "
        "name or of the title (boppana).", show_default=False)] = None,
    json: Json = False,
) -> None:
    result = names(str(what), paper)
    if json:
        emit_result(result)
    elif result.kind == "schemes":
        _show_schemes(result.rows())
    else:
        rows = result.rows()
        table(list(rows[0]), [list(entry.values()) for entry in rows])


def _show_schemes(entries: list[dict[str, Any]]) -> None:
    columns = ["name", "networks", "dimensions", "description", "provenance"]
    narrow = width() < WIDE
    if narrow:
        columns.remove("provenance")
    table(columns, [[entry[column] for column in columns] for entry in entries])
    if narrow:
        say(f"not shown in less than {WIDE} characters a line: provenance; --json has it")
    for form, title in FORMS.items():
        say(f"{title}:")
        for entry in entries:
            if entry[form]:
                say(f"  {entry['name']}: {entry[form]}")
