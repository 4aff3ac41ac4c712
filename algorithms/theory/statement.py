"""A statement about a scheme, in words and as data."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["TheoremCheck"]


@dataclass(frozen=True)
class TheoremCheck:
    """What one statement of a paper comes to for a scheme on a network.

    Parameters
    ----------
    statement : str
        Its name: ``"Theorem 1"``.
    place : str
        Its section.
    sentence : str
        What it comes to here, in one sentence.
    holds : bool or None
        Whether what it says of a scheme is so of this one; None where it says nothing here, or it is not decided.
    paper : str or None
        What the paper says of this very scheme.
    agrees : bool or None
        Whether that is what was found; None where the paper says nothing of this scheme.
    found : dict
        The numbers of the sentence.
    witness : list of dict, optional
        Worms that show it.
    certificate : dict, optional
        What it takes to check it by hand.
    source : str
        Key of the paper.
    """

    statement: str
    place: str
    sentence: str
    holds: bool | None
    paper: str | None = None
    agrees: bool | None = None
    found: dict[str, Any] = field(default_factory=dict)
    witness: list[dict[str, Any]] | None = None
    certificate: dict[str, Any] | None = None
    source: str = "Boppana98"

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data for JSON."""
        return {
            "statement": self.statement, "place": self.place, "sentence": self.sentence, "holds": self.holds,
            "paper": self.paper, "agrees": self.agrees, "found": self.found, "witness": self.witness,
            "certificate": self.certificate, "source": self.source,
        }
