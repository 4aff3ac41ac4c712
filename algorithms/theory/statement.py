"""Result of a theorem check, in words and as data."""

from dataclasses import dataclass, field
from typing import Any

__all__ = ["TheoremCheck"]


@dataclass(frozen=True)
class TheoremCheck:
    """Result of checking one statement of a paper for a scheme on a network.

    Parameters
    ----------
    statement : str
        Name of the statement, for example ``"Theorem 1"``.
    place : str
        Section of the paper.
    sentence : str
        The result in one sentence.
    holds : bool or None
        The statement is true of the scheme. `holds` is None if the statement does not apply or is undecided.
    paper : str or None
        The paper's own result for this scheme.
    agrees : bool or None
        The result agrees with the paper's result. `agrees` is None if the paper has no result for this scheme.
    found : dict
        The numbers in `sentence`, by name.
    witness : list of dict, optional
        Worms that show the result.
    certificate : dict, optional
        Data for a check by hand.
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
        """Return the fields as data for JSON."""
        return {
            "statement": self.statement, "place": self.place, "sentence": self.sentence, "holds": self.holds,
            "paper": self.paper, "agrees": self.agrees, "found": self.found, "witness": self.witness,
            "certificate": self.certificate, "source": self.source,
        }
