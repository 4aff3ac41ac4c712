"""What [Boppana98] says of single schemes, on two-dimensional meshes."""

from dataclasses import dataclass

__all__ = ["STATED", "Claim", "Stated"]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper on how many consumption channels a scheme takes.

    Parameters
    ----------
    name, place : str
        Its name, or the scheme's, and its section.
    text : str
    too_few, enough : int or None
        Channels of a node with which it can deadlock, and with which it cannot.
    """

    name: str
    place: str
    text: str
    too_few: int | None = None
    enough: int | None = None


@dataclass(frozen=True)
class Stated:
    """What the paper says of a scheme.

    Parameters
    ----------
    meets : bool
        Whether it meets the hypotheses of Theorem 1 (section 3.1: all but individual do).
    claims : tuple of Claim
    dans : int
        DANs of the valid set that is given; 0 where none is.
    unique : bool
        Whether that set is said to be minimal, and the only one.
    shortest : bool
        Whether unicasts that go by its relation are said to go by shortest ways (section 2.1).
    outgoing : int or None
        Outgoing virtual channels of a node with two on each link (section 3.2.1).
    """

    meets: bool
    claims: tuple[Claim, ...]
    dans: int = 0
    unique: bool = False
    shortest: bool = False
    outgoing: int | None = None


_COROLLARY_1 = Claim("Corollary 1", "section 3.1", "one channel can deadlock", too_few=1)
_TWO = "two channels are necessary and sufficient"
_COLUMN_PATH = Stated(True, (_COROLLARY_1, Claim("Corollary 3", "section 3.2", _TWO, 1, 2)), 2, unique=True, outgoing=4)
_LABELS = Stated(True, (_COROLLARY_1, Claim("Corollary 4", "section 3.2", _TWO, 1, 2)), 2, shortest=True)

STATED = {
    "column-path": _COLUMN_PATH,
    "column-path-literal": _COLUMN_PATH,
    "dual-path": _LABELS,
    "multipath": _LABELS,
    "e-mcast": Stated(True, (Claim("e-mcast", "section 3.2", "four channels suffice", enough=4),
                             Claim("e-mcast", "section 4", "at least four channels are required", too_few=3)), 4),
    "individual": Stated(False, (Claim("individual", "section 4", "one channel suffices", enough=1),)),
}
"""By the names of schemes."""
