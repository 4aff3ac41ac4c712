"""Python files of schemes, relations and topologies that the command line names."""

from wormcast.algorithms import user_file

__all__ = ["user_files"]


def user_files(scheme: str | None, relation: str | None = None, topology: str | None = None) -> dict[str, str | None]:
    """Return the user's files of a scheme, a relation and a topology, by their names in error messages."""
    return {"the scheme": user_file(scheme), "the relation": user_file(relation), "the topology": user_file(topology)}
