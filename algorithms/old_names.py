"""Old names of attributes of schemes. A user's file that uses an old name is refused; the message gives the new name.
"""

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["RENAMED"]

RENAMED: Mapping[str, str] = MappingProxyType({
    "legs": "visit_triples",
    "spreads": "is_tree",
    "buffered": "needs_whole_packet",
    "pairs_tell_all": "pairs_are_complete",
})
"""New name of each renamed attribute of a scheme."""
