"""Claims of [Boppana98] about single schemes on two-dimensional meshes."""

from dataclasses import dataclass

__all__ = ["STATED", "Claim", "SchemeClaims"]


@dataclass(frozen=True)
class Claim:
    """Claim of the paper about the number of consumption channels that a scheme needs.

    Parameters
    ----------
    name, place : str
        Name of the claim or of the scheme, and the section.
    text : str
    too_few, enough : int or None
        Number of consumption channels of a node with which the scheme can deadlock, and number with which it cannot.
    """

    name: str
    place: str
    text: str
    too_few: int | None = None
    enough: int | None = None


@dataclass(frozen=True)
class SchemeClaims:
    """Claims of the paper about a scheme.

    Parameters
    ----------
    meets : bool
        The scheme meets the hypotheses of Theorem 1 (section 3.1: all schemes but individual do).
    claims : tuple of Claim
    dans : int
        Number of DANs of the paper's valid set for the scheme. `dans` is 0 if the paper states no valid set.
    unique : bool
        The paper says that its valid set for the scheme is minimal and the only minimal one.
    shortest : bool
        The paper says that unicasts by the scheme's relation take shortest paths (section 2.1).
    outgoing : int or None
        Outgoing virtual channels that the paper counts at a node, with two on each link (section 3.2.1).
    """

    meets: bool
    claims: tuple[Claim, ...]
    dans: int = 0
    unique: bool = False
    shortest: bool = False
    outgoing: int | None = None


_COROLLARY_1 = Claim("Corollary 1", "section 3.1", "one channel can deadlock", too_few=1)
_TWO = "two channels are necessary and sufficient"
_COLUMN_PATH = SchemeClaims(True, (_COROLLARY_1, Claim("Corollary 3", "section 3.2", _TWO, 1, 2)), 2,
                            unique=True, outgoing=4)
_LABELS = SchemeClaims(True, (_COROLLARY_1, Claim("Corollary 4", "section 3.2", _TWO, 1, 2)), 2, shortest=True)

STATED = {
    "column-path": _COLUMN_PATH,
    "column-path-literal": _COLUMN_PATH,
    "dual-path": _LABELS,
    "multipath": _LABELS,
    "e-mcast": SchemeClaims(True, (Claim("e-mcast", "section 3.2", "four channels suffice", enough=4),
                             Claim("e-mcast", "section 4", "at least four channels are required", too_few=3)), 4),
    "individual": SchemeClaims(False, (Claim("individual", "section 4", "one channel suffices", enough=1),)),
}
"""Claims of [Boppana98] by the name of the scheme."""
