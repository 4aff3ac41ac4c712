"""Stored verdicts of figures that have run, with version and date of the run: a JSON file for each paper.

Papers, and figures of a paper, run one by one. A run replaces the entries of its own figures, and keeps all others.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import wormcast
from wormcast.algorithms import WormcastError

from ...common.text import DIGITS
from .definition import catalogue, paper_of
from .papers import PAPERS, Paper
from .rounds import FigureOutcome
from .verdict import Verdict

__all__ = ["CLAIMS", "FigureRecord", "file_of", "join_records", "papers_in", "read_records", "record_of",
           "written_records"]

#: Folder of the pages and tables of statements, inside the folder of the figures.
CLAIMS = "verdicts"


@dataclass(frozen=True)
class FigureRecord:
    """Verdicts of a figure, with the run that they are from.

    Parameters
    ----------
    figure, title, source : str
        As in `Figure`; ``figure`` is the figure's name.
    version : str
    commit : str or None
    date : str
        Day of the run in UTC, as ``2026-11-27``.
    quick : bool
    picture : str
        File of the picture with the paper's axes; empty without one.
    verdicts : tuple of Verdict
    """

    figure: str
    title: str
    source: str
    version: str
    commit: str | None
    date: str
    quick: bool
    picture: str
    verdicts: tuple[Verdict, ...]

    @property
    def run(self) -> str:
        """Kind, date and version of the run, as text."""
        commit = "" if self.commit is None else f" (commit {self.commit[:DIGITS]})"
        return f"{self.kind} run of {self.date}, version {self.version}{commit}"

    @property
    def kind(self) -> str:
        """Kind of the run, as text."""
        return "quick" if self.quick else "full"

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data for JSON."""
        return {**vars(self), "verdicts": [one.to_dict() for one in self.verdicts]}

    @classmethod
    def of_dict(cls, given: Mapping[str, Any]) -> "FigureRecord":
        """Return the record that `to_dict` has made plain data."""
        verdicts = (Verdict(**{**one, "reconstructed": tuple(one["reconstructed"])}) for one in given["verdicts"])
        return cls(**{**given, "verdicts": tuple(verdicts)})


def record_of(outcome: FigureOutcome, quick: bool) -> FigureRecord:
    """Return the record of a figure that has just run."""
    figure = outcome.figure
    picture = f"{figure.name}.svg" if outcome.curves else f"{figure.name}-scatter.svg" if outcome.scatter else ""
    return FigureRecord(figure.name, figure.title, figure.source, wormcast.__version__, wormcast.__commit__,
                        datetime.now(UTC).date().isoformat(), quick, picture, tuple(outcome.verdicts))


def file_of(paper: Paper, folder: Path, suffix: str) -> Path:
    """Return the file of a paper's statements in the folder of the figures. ``suffix``: ``json``, ``csv`` or ``md``."""
    return folder / CLAIMS / f"{paper.number}.{suffix}"


def read_records(folder: Path) -> list[FigureRecord]:
    """Read the records of all papers whose figures were measured into a folder.

    Figures that the catalogue lacks are left out.

    Raises
    ------
    WormcastError
        A file has another form.
    """
    found: list[FigureRecord] = []
    for file in (file_of(paper, folder, "json") for paper in PAPERS):
        if not file.exists():
            continue
        try:
            found += map(FigureRecord.of_dict, json.loads(file.read_text(encoding="utf-8"))["figures"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WormcastError(f"{file} is not valid: wormcast figure did not write it, or another version "
                                "did. Needed: another folder, or a folder without this file.") from error
    return [one for one in found if one.figure in catalogue()]


def join_records(before: Iterable[FigureRecord], new: Sequence[FigureRecord]) -> list[FigureRecord]:
    """Return all records in the order of the catalogue. A new record replaces the one of the same figure."""
    every = {one.figure: one for one in (*before, *new)}
    return [every.pop(name) for name in catalogue() if name in every] + [*every.values()]


def papers_in(records: Iterable[FigureRecord]) -> dict[Paper, list[FigureRecord]]:
    """Return the papers with figures that have run, each with the records of these figures."""
    every = [*records]
    found = {paper: [one for one in every if paper_of(one.figure) == paper.number] for paper in PAPERS}
    return {paper: some for paper, some in found.items() if some}


def written_records(paper: Paper, records: Iterable[FigureRecord]) -> str:
    """Return the JSON of a paper's figures."""
    return json.dumps({"paper": paper.number, "figures": [one.to_dict() for one in records]}, indent=1) + "\n"
