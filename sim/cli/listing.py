"""``list``: names of schemes, topologies, relations, configurations, components and figures."""

import enum
from typing import Annotated, Any

import typer

from ..api.catalogue import FORMS, KINDS, names
from .app import Json, emit_result, say, table
from .commands import command

__all__: list[str] = []

Subject = enum.StrEnum("Subject", {kind.upper(): kind for kind in KINDS})  # type: ignore[misc]  # kinds as choices


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
    table(["name", "networks", "dimensions", "description", "provenance"],
          [[entry["name"], entry["networks"], entry["dimensions"] or "-", entry["description"], entry["provenance"]]
           for entry in entries])
    for form, title in FORMS.items():
        say(f"{title}:")
        for entry in entries:
            if entry[form]:
                say(f"  {entry['name']}: {entry[form]}")
