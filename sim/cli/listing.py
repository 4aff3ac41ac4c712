"""``list``: names of schemes, topologies, relations, configurations, components and figures."""

import enum
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from wormcast.algorithms import RELATIONS, SCHEMES, TOPOLOGIES, MeshScheme, Scheme, WormcastError

from ..build.configurations import CONFIGURATIONS
from .app import Json, emit, say, table
from .commands import command

__all__: list[str] = []


class Subject(enum.StrEnum):
    """Kinds of things that can be listed."""

    SCHEMES = "schemes"
    TOPOLOGIES = "topologies"
    RELATIONS = "relations"
    CONFIGURATIONS = "configurations"
    COMPONENTS = "components"
    FIGURES = "figures"


#: Titles of a mesh scheme's attributes.
FORMS = {
    "in_two_dimensions": "forms in two dimensions", "in_three_dimensions": "forms in three dimensions alone",
    "in_more_dimensions": "forms in more than two dimensions",
}


@command("list")
def list_(
    what: Annotated[Subject, typer.Argument(metavar="WHAT", help=f"Kind of names: {', '.join(Subject)}.")],
    paper: Annotated[str | None, typer.Argument(
        metavar="[PAPER]", help="With figures: only those of this paper, by its number (002) or a part of an author's "
        "name or of the title (boppana).", show_default=False)] = None,
    json: Json = False,
) -> None:
    if paper is not None and what is not Subject.FIGURES:
        raise WormcastError(f"paper: {paper!r} is not valid: list {what} has no papers. Allowed: with list figures.")
    entries = _entries(what, paper)
    if json:
        emit({what.value: entries}, {"what": what.value} | ({} if paper is None else {"paper": paper}))
    elif what is Subject.SCHEMES:
        _show_schemes(entries)
    else:
        table(list(entries[0]), [list(entry.values()) for entry in entries])


def _entries(what: Subject, paper: str | None) -> list[dict[str, str | None]]:
    """Return the names and descriptions of one kind; of figures, those of the papers that fit the text ``paper``."""
    described: Mapping[str, Any]
    match what:
        case Subject.SCHEMES:
            return [_scheme(name, SCHEMES[name]) for name in SCHEMES]
        case Subject.FIGURES:
            from ..experiments.figure import catalogue, find_figure, find_papers, paper_of

            numbers = [one.number for one in find_papers(paper)]
            found = [find_figure(name) for name in catalogue() if paper_of(name) in numbers]
            return [{"name": one.name, "description": one.title, "source": one.source} for one in found]
        case Subject.TOPOLOGIES:
            return [{"name": TOPOLOGIES[name].syntax, "description": TOPOLOGIES[name].description}
                    for name in TOPOLOGIES]
        case Subject.RELATIONS:
            described = RELATIONS
        case Subject.CONFIGURATIONS:
            described = CONFIGURATIONS
        case Subject.COMPONENTS:
            from ..build.components import COMPONENTS

            described = COMPONENTS
    return [{"name": name, "description": thing.description} for name, thing in described.items()]


def _scheme(name: str, scheme: Scheme) -> dict[str, str | None]:
    """Describe a scheme, with its forms on meshes of two, three and more dimensions (None: no special form).

    ``networks``: kinds of topology that the scheme supports. ``parameters``: parameters allowed after the scheme's
    name.
    """
    return {
        "name": name, "networks": scheme.networks,
        "parameters": ",".join(f"{one}=..." for one in scheme.parameters) or None,
        "description": scheme.description, "provenance": scheme.provenance,
        "dimensions": scheme.dimensions if isinstance(scheme, MeshScheme) else None,
        **{form: getattr(scheme, form, None) or None for form in FORMS},
    }


def _show_schemes(entries: list[dict[str, str | None]]) -> None:
    table(["name", "networks", "dimensions", "description", "provenance"],
          [[entry["name"], entry["networks"], entry["dimensions"] or "-", entry["description"], entry["provenance"]]
           for entry in entries])
    for form, title in FORMS.items():
        say(f"{title}:")
        for entry in entries:
            if entry[form]:
                say(f"  {entry['name']}: {entry[form]}")
