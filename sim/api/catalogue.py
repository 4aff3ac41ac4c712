"""Names that other functions accept: of schemes, topologies, relations, configurations, components and figures."""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from wormcast.algorithms import RELATIONS, SCHEMES, TOPOLOGIES, MeshScheme, Scheme, WormcastError
from wormcast.algorithms.errors import nearest
from wormcast.algorithms.typecheck import checked

from ..build.configurations import CONFIGURATIONS
from .results import CommandResult

__all__ = ["FORMS", "KINDS", "NamesResult", "names"]

#: Kinds of names.
KINDS = ("schemes", "topologies", "relations", "configurations", "components", "figures")

#: Largest number of characters in a result's ``repr``.
LONGEST = 120

#: Titles of a mesh scheme's attributes.
FORMS = {
    "in_two_dimensions": "forms in two dimensions", "in_three_dimensions": "forms in three dimensions only",
    "in_more_dimensions": "forms in more than two dimensions",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class NamesResult(CommandResult):
    """Result of `names`: an iterable of names, and a table of their descriptions.

    Parameters
    ----------
    kind : str
        Kind of the names.
    entries : list of dict
        For each name: the name, its description, and further facts about schemes and figures.
    """

    kind: str
    entries: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each name."""
        return self.entries

    def __iter__(self) -> Iterator[str]:
        return (entry["name"] for entry in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        return name in [*self]

    def _shown(self) -> list[dict[str, Any]]:
        return [{"name": entry["name"], "description": entry["description"]} for entry in self.entries]

    def _data(self) -> dict[str, Any]:
        return {self.kind: self.entries}

    def _lines(self) -> list[str]:
        return [textwrap.shorten(f"{len(self)} {self.kind}: {', '.join(self)}", LONGEST, placeholder=" ...")]


@checked
def names(kind: str, paper: str | None = None) -> NamesResult:
    """List names that other functions accept, with their descriptions.

    Parameters
    ----------
    kind : str
        ``"schemes"``, ``"topologies"``, ``"relations"``, ``"configurations"``, ``"components"`` or ``"figures"``.
    paper : str, optional
        With figures: only figures of this paper, given by its number or a part of its authors or title.
    """
    if kind not in KINDS:
        raise WormcastError(f"kind: {kind!r} is not valid.{nearest(kind, KINDS)} Allowed: {', '.join(KINDS)}.")
    if paper is not None and kind != "figures":
        raise WormcastError(f"paper: {paper!r} is not valid: list {kind} has no papers. Allowed: with list figures.")
    asked = {"what": kind} | ({} if paper is None else {"paper": paper})
    return NamesResult(configuration=asked, kind=kind, entries=_entries(kind, paper))


def _entries(kind: str, paper: str | None) -> list[dict[str, Any]]:
    described: Mapping[str, Any]
    match kind:
        case "schemes":
            return [_scheme(name, SCHEMES[name]) for name in SCHEMES]
        case "figures":
            from ..experiments.figure import catalogue, find_figure, find_papers, paper_of

            numbers = [one.number for one in find_papers(paper)]
            found = [find_figure(name) for name in catalogue() if paper_of(name) in numbers]
            return [{"name": one.name, "description": one.title, "source": one.source} for one in found]
        case "topologies":
            return [{"name": TOPOLOGIES[name].syntax, "description": TOPOLOGIES[name].description}
                    for name in TOPOLOGIES]
        case "relations":
            described = RELATIONS
        case "configurations":
            described = CONFIGURATIONS
        case _:
            from ..build.components import COMPONENTS

            described = COMPONENTS
    return [{"name": name, "description": thing.description} for name, thing in described.items()]


def _scheme(name: str, scheme: Scheme) -> dict[str, Any]:
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
