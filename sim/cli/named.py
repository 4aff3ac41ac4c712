"""What a user names on the command line: schemes, and files of their own."""

from wormcast.algorithms import Scheme, Topology, user_file
from wormcast.algorithms import find_scheme as find

from .app import stdout_for_results

__all__ = ["find_scheme", "user_files"]


def find_scheme(name: str, network: Topology, relation: str | None = None) -> Scheme:
    """Find a scheme as `algorithms.find_scheme` does; what its file prints goes to stderr."""
    with stdout_for_results():
        return find(name, network, relation)


def user_files(scheme: str | None, relation: str | None = None, topology: str | None = None) -> dict[str, str | None]:
    """The files that a user names for a scheme, a relation and a topology, as `require_apart` takes them."""
    return {"the scheme": user_file(scheme), "the relation": user_file(relation), "the topology": user_file(topology)}
