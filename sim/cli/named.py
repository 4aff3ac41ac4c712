"""Schemes and Python files that a user names on the command line."""

from wormcast.algorithms import Scheme, Topology, user_file
from wormcast.algorithms import find_scheme as find

from .app import stdout_for_results

__all__ = ["find_scheme", "user_files"]


def find_scheme(name: str, network: Topology, relation: str | None = None) -> Scheme:
    """Find a scheme as `algorithms.find_scheme` does, with the output of a user's file on stderr."""
    with stdout_for_results():
        return find(name, network, relation)


def user_files(scheme: str | None, relation: str | None = None, topology: str | None = None) -> dict[str, str | None]:
    """Return the user's files of a scheme, a relation and a topology, by their names in error messages."""
    return {"the scheme": user_file(scheme), "the relation": user_file(relation), "the topology": user_file(topology)}
