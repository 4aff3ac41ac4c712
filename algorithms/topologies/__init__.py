"""Topologies by name: ``topology("mesh:8x8")``.

A new kind of topology is one file with a builder, and one ``TOPOLOGIES.add`` in this file, or an entry point in the
group ``wormcast.topologies``. A user's network is a file, see `network_file` and `own`.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import WormcastError, nearest
from ..python_file import split_file
from ..registry import Registry
from ..typecheck import require_kind
from .base import Places, Topology
from .cmesh import cmesh
from .dragonfly import dragonfly
from .fat_tree import fat_tree
from .irregular import irregular
from .mesh import mesh
from .min import WIRINGS, multistage
from .network_file import read_toml, to_toml
from .own import load_topology
from .torus import ring, torus
from .validation import validate_topology

__all__ = ["TOPOLOGIES", "Places", "Topology", "TopologyKind", "to_toml", "topology"]


@dataclass(frozen=True)
class TopologyKind:
    """A kind of topology: its syntax, its description, and the builder for the text after the colon.

    ``relation`` is the name of the relation that routes unicasts if the user names no relation.
    """

    syntax: str
    description: str
    build: Callable[[str], Topology]
    relation: str = "up-down"


TOPOLOGIES: Registry[TopologyKind] = Registry("topology", TopologyKind, "wormcast.topologies")
TOPOLOGIES.add(
    "mesh",
    TopologyKind(
        "mesh:ROWSxCOLUMNS",
        "mesh of one router a node; coordinates row.column, row 0 on top; more dimensions: "
        "mesh:XxYxZ, and so on",
        mesh, "e-cube",
    ),
)

TOPOLOGIES.add("torus", TopologyKind(
    "torus:ROWSxCOLUMNS", "a mesh with links around its edges; coordinates row.column; more dimensions: "
    "torus:XxYxZ, and so on", torus, "e-cube"))
TOPOLOGIES.add("ring", TopologyKind("ring:N", "nodes in a circle, links both ways", ring, "e-cube"))
TOPOLOGIES.add("cmesh", TopologyKind(
    "cmesh:ROWSxCOLUMNSxNODES", "concentrated mesh: a mesh of routers with several nodes each; coordinates "
    "row.column.number", cmesh, "e-cube"))
TOPOLOGIES.add("fat-tree", TopologyKind(
    "fat-tree:k=K,levels=L", "fat tree of switches with k links down and k links up, for k**L nodes", fat_tree,
    "d-mod-k"))
TOPOLOGIES.add("dragonfly", TopologyKind(
    "dragonfly:p=P,a=A,h=H", "A*H+1 groups of A routers with P nodes and H global links each, one global link between "
    "any two groups; coordinates group.router.number", dragonfly, "dragonfly-minimal"))
TOPOLOGIES.add("min", TopologyKind(
    "min:b=B,stages=S[,kind=KIND]", "multistage network of BxB switches for B**S nodes, which inject on the left and "
    f"consume on the right; kinds: {', '.join(WIRINGS)}", multistage, "destination-tags"))
TOPOLOGIES.add("irregular", TopologyKind(
    "irregular:NAME=NUMBER,...", "switches with several nodes each, joined at random by a share of the ports that "
    "nodes leave free; defaults: switches=8, ports=8, nodes=32, connectivity=0.8, seed=1", irregular))


def topology(specification: str | Topology) -> Topology:
    """Build the topology that a user names. Return a `Topology` unchanged.

    Parameters
    ----------
    specification : str or Topology
        A kind with parameters, as ``"mesh:8x8"``; ``NAME.toml``, a network file (`read_toml`); or ``FILE.py`` or
        ``FILE.py:NAME`` for a `Topology`, or a function without arguments that returns one. For a Python file with a
        single topology, ``:NAME`` is not needed. wormcast runs the file as a Python program.

    Raises
    ------
    WormcastError
        The kind is unknown, its builder refuses the parameters, or a file contains no valid network.
    """
    require_kind("topology", specification, str, Topology)
    if isinstance(specification, Topology):
        return specification
    file, name = split_file(specification)
    if file is not None:
        return _of_file(specification, load_topology(file, name))
    if specification.endswith(".toml"):
        return _of_file(specification, read_toml(specification))
    kind, colon, parameters = specification.partition(":")
    if not colon and kind in TOPOLOGIES:
        raise WormcastError(f"topology: {kind} has no parameters. Needed: {TOPOLOGIES[kind].syntax}.")
    if not colon:  # the forms are separated by semicolons, as some of them contain commas
        forms = "; ".join([*(TOPOLOGIES[name].syntax for name in TOPOLOGIES), FILES])
        raise WormcastError(f"topology: {specification!r} is not valid. Allowed: {forms}.")
    if kind not in TOPOLOGIES:
        raise WormcastError(f"topology: {kind!r} is unknown.{nearest(kind, TOPOLOGIES)} "
                            f"Allowed: {', '.join(TOPOLOGIES)}, {FILES}.")
    if kind in TOPOLOGIES.own:
        return TOPOLOGIES[kind].build(parameters)
    return _of_others(kind, parameters)


FILES = "NAME.toml, FILE.py, FILE.py:NAME"


def _of_file(specification: str, found: Topology) -> Topology:
    """Return a file's network. Refuse the name or the kind of a built-in kind, unless that kind builds the same
    network."""
    claimed = {found.kind, found.name.partition(":")[0]} & set(TOPOLOGIES.own)
    if claimed:
        try:
            meant = found.name.partition(":")[0] == found.kind and topology(found.name).describe() == found.describe()
        except WormcastError:
            meant = False
        if not meant:
            key, value = next((key, value) for key, value in (("name", found.name), ("kind", found.kind))
                              if value.partition(":")[0] in claimed)
            raise WormcastError(
                f"{key} in {specification}: {value!r} is not valid: it is for a built-in network, and this network is "
                f"another one. Allowed: a name that does not begin with {' or '.join(sorted(claimed))}, as name = "
                "'mine', with kind = 'own'.")
    return dataclasses.replace(found, origin=specification)


def _of_others(kind: str, parameters: str) -> Topology:
    """Build a topology of a kind that another package defines. Errors in the other package's code are raised as
    `WormcastError`."""
    try:
        found = TOPOLOGIES[kind].build(parameters)
    except WormcastError:
        raise
    except Exception as error:
        raise WormcastError(f"topology: '{kind}:{parameters}' cannot be built "
                            f"({type(error).__name__}: {error})") from error
    if not isinstance(found, Topology):
        raise WormcastError(f"topology: '{kind}:{parameters}' returns a value of type {type(found).__name__}. "
                            "Needed: a Topology.")
    return validate_topology(found, f"{kind}:{parameters}")
