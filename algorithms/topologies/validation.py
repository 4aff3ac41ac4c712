"""Validation of user-supplied topologies: shapes, ranges, ports used once, paths between all nodes."""

import dataclasses
import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from ..phrases import count
from .base import Topology
from .coordinates import FARTHEST, Places
from .parameters import MOST_NODES, MOST_PORTS, MOST_SWITCHES

__all__ = ["validate_topology"]

PORT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}[+-]?")
SWITCH_NAME = re.compile(r"[A-Za-z0-9_.-]{1,32}")


def validate_topology(topology: Topology, where: str) -> Topology:
    """Check a network, and return it with arrays of the types that `Topology` states.

    Parameters
    ----------
    where : str
        Name of the network in refusals: ``"net.toml"``.

    Raises
    ------
    WormcastError
        The network violates the documentation of `Topology`.
    """
    try:
        _require_names(topology)
        topology = _with_arrays(topology)
        _require_ports_taken_once(topology)
        _require_ways(topology)
    except _Invalid as fault:
        raise WormcastError(f"topology {where}: {fault}") from None
    return topology


class _Invalid(Exception):
    """Reason why a network is not valid, without the name of the network."""


def _require_names(topology: Topology) -> None:
    """Check the names, the ports and the root."""
    for field in ("name", "kind"):
        value = getattr(topology, field)
        if not isinstance(value, str) or not value.isprintable() or not value:
            raise _Invalid(f"{field} {value!r} is not valid. Allowed: text on one line.")
    if not isinstance(topology.ports, tuple) or not topology.ports or not all(
            isinstance(names, tuple) and all(isinstance(name, str) for name in names) for names in topology.ports):
        raise _Invalid("ports are not valid. Needed: a tuple that has a tuple of names for each switch.")
    for switch, names in enumerate(topology.ports):
        if not names:
            raise _Invalid(f"switch {switch} has no ports, and so no links. Needed: 1 or more ports.")
        if len(names) > MOST_PORTS:
            raise _Invalid(f"switch {switch} has {len(names)} ports. Allowed: 1 to {MOST_PORTS}.")
        for name in names:
            if not PORT_NAME.fullmatch(name):
                raise _Invalid(f"port name {name!r} of switch {switch} is not valid. Allowed: a letter, up to 30 "
                               "letters, digits and underscores, and at the end + or - or neither.")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise _Invalid(f"two ports of switch {switch} have the name {twice!r}. Allowed: distinct names.")
    names = topology.switch_names
    if not isinstance(names, tuple) or len(names) != topology.switches:
        raise _Invalid(f"switch_names are not valid. Needed: a tuple of {topology.switches} names, one per switch.")
    for switch, name in enumerate(names):
        if not isinstance(name, str) or not SWITCH_NAME.fullmatch(name):
            raise _Invalid(f"name {name!r} of switch {switch} is not valid. Allowed: up to 32 letters, digits, _, - "
                           "and .")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _Invalid(f"two switches have the name {twice!r}. Allowed: distinct names.")
    roots = topology.root if isinstance(topology.root, tuple) else (topology.root,)
    if not roots or not all(_is_whole(root) and 0 <= root < topology.switches for root in roots):
        raise _Invalid(f"root {topology.root!r} is not valid. Allowed: switches from 0 to {topology.switches - 1}.")


def _with_arrays(topology: Topology) -> Topology:
    """Check the shape, each array and the number of switches. Return the network with arrays of the right types."""
    switches = topology.switches
    injections = _integers("injections", topology.injections, ("nodes", 2))
    nodes = len(injections)
    if not 2 <= nodes <= MOST_NODES:
        raise _Invalid(f"it has {count(nodes, 'node')}. Allowed: 2 to {MOST_NODES}.")
    links = _integers("links", topology.links, ("links", 4))
    consumptions = _integers("consumptions", topology.consumptions, (nodes, 2))
    most = np.array([len(names) for names in topology.ports])
    for what, ends in (("a link", links[:, :2]), ("a link", links[:, 2:]), ("a node", injections),
                       ("a node", consumptions)):
        _require_switches(what, ends[:, 0], switches)
        wrong = ends[(ends[:, 1] < 0) | (ends[:, 1] >= most[ends[:, 0]])]
        if len(wrong):
            switch, port = wrong[0].tolist()
            raise _Invalid(f"{what} is at port {port} of switch {switch}. Allowed: 0 to {most[switch] - 1}.")
    shape = topology.shape
    if not isinstance(shape, tuple) or not shape or not all(_is_whole(extent) and extent > 0 for extent in shape) or (
            math.prod(shape) != nodes):
        raise _Invalid(f"shape {shape!r} is not valid. Needed: a tuple of whole numbers from 1 whose product is the "
                       f"number of nodes, {nodes}.")
    coordinates = _integers("coordinates", topology.coordinates, (nodes, len(shape)))
    row_major = np.stack(np.unravel_index(np.arange(nodes), shape), axis=1)
    for node in np.flatnonzero((coordinates != row_major).any(axis=1))[:1]:
        raise _Invalid(f"coordinates {coordinates[node].tolist()} of node {node} are not valid. Needed: "
                       f"{row_major[node].tolist()}, as ids of nodes are row-major in the shape {list(shape)}.")
    labels = None
    if topology.labels is not None:
        labels = _integers("labels", topology.labels, (nodes,))
        if not np.array_equal(np.sort(labels), np.arange(nodes)):
            raise _Invalid(f"labels are not valid. Needed: the numbers from 0 to {nodes - 1}, each once.")
    checked = dataclasses.replace(
        topology, shape=tuple(map(int, shape)), links=links, injections=injections, consumptions=consumptions,
        coordinates=coordinates, labels=labels, places=None,
        root=tuple(map(int, topology.root)) if isinstance(topology.root, tuple) else int(topology.root))
    if switches > (MOST_NODES if checked.direct else MOST_SWITCHES):
        raise _Invalid(f"it has {switches} switches. Allowed: up to {MOST_SWITCHES}, or up to {MOST_NODES} with one "
                       "node each.")
    for switch, name in enumerate(topology.switch_names):
        if name.isdigit() and not (checked.direct and name == str(switch)):
            raise _Invalid(f"name {name!r} of switch {switch} is not valid. Allowed: names with other characters than "
                           "digits; the node's number if each switch has one node.")
    given = vars(topology).get("_places")
    return dataclasses.replace(checked, places=None if given is None else _places(given, switches, nodes))


def _places(places: Any, switches: int, nodes: int) -> Places:
    if not isinstance(places, Places):
        raise _Invalid(f"places have type {type(places).__name__}. Needed: Places.")
    rows = {"switches": switches, "nodes": nodes} | ({"sinks": nodes} if places.sinks is not None else {})
    found = {}
    for field, number in rows.items():
        array = _array(f"places of {field}", getattr(places, field))
        if array.ndim != 2 or len(array) != number or array.shape[1] not in (2, 3) or array.dtype.kind not in "iuf" or (
                not (np.abs(array.astype(float)) <= FARTHEST).all()):
            raise _Invalid(f"places of {field} are not valid. Needed: {number} positions of two or three numbers each, "
                           f"from -{FARTHEST} to {FARTHEST}.")
        found[field] = array.astype(float)
    if len({array.shape[1] for array in found.values()}) > 1:
        raise _Invalid("places of switches and nodes differ in dimensions. Needed: two coordinates for every place, "
                       "or three for every place.")
    return Places(**found)


def _array(what: str, value: Any) -> npt.NDArray[Any]:
    try:
        return np.asarray(value)
    except ValueError:
        sizes = [len(row) if hasattr(row, "__len__") else 1 for row in value]
        odd = next((f"row {row} has {count(size, 'number')}, and row 0 has {sizes[0]}"
                    for row, size in enumerate(sizes) if size != sizes[0]), "their rows differ in length")
        raise _Invalid(f"{what} are not an array: {odd}. Needed: rows of one length.") from None


def _integers(what: str, value: Any, shape: tuple[int | str, ...]) -> npt.NDArray[np.int32]:
    array = _array(what, value)
    fits = array.ndim == len(shape) and all(
        isinstance(extent, str) or extent == given for extent, given in zip(shape, array.shape, strict=True))
    if not fits or array.dtype.kind not in "iu":
        raise _Invalid(f"{what} are {array.dtype} [{', '.join(map(str, array.shape))}]. Needed: whole numbers "
                       f"[{', '.join(map(str, shape))}].")
    if array.size and not -(2**31) <= array.min() <= array.max() < 2**31:
        large = array[(array < -(2**31)) | (array >= 2**31)][0]
        raise _Invalid(f"{what}: {large} is not valid. Allowed: whole numbers of 32 bits.")
    return array.astype(np.int32)


def _require_switches(what: str, given: Iterable[int], switches: int) -> None:
    for switch in given:
        if not 0 <= switch < switches:
            raise _Invalid(f"{what} is at switch {switch}. Allowed: 0 to {switches - 1}.")


def _require_ports_taken_once(topology: Topology) -> None:
    """Refuse two links, two nodes, or a link and a node at one output or one input."""
    if not len(topology.links):
        raise _Invalid("it has no links. Needed: 1 or more links.")
    itself = np.flatnonzero(topology.links[:, 0] == topology.links[:, 2])
    if len(itself):
        raise _Invalid(f"a link leads from switch {topology.switch_names[topology.links[itself[0], 0]]} to itself. "
                       "Needed: two different switches.")
    for way, links, ends in (("output", topology.links[:, :2], topology.consumptions),
                             ("input", topology.links[:, 2:], topology.injections)):
        taken: dict[tuple[int, int], str] = {}
        for (switch, port), what in [*((tuple(end), "a link") for end in links.tolist()),
                                     *((tuple(end), f"node {node}") for node, end in enumerate(ends.tolist()))]:
            if (switch, port) in taken:
                raise _Invalid(f"more than one link or node is at {way} {topology.ports[switch][port]} of switch "
                               f"{topology.switch_names[switch]}: {taken[switch, port]} and "
                               f"{what if what != 'a link' else 'another'}. Allowed: one.")
            taken[switch, port] = what


def _require_ways(topology: Topology) -> None:
    """Refuse switches without links, and nodes that cannot reach all other nodes."""
    bare = set(range(topology.switches)) - set(topology.links[:, [0, 2]].ravel().tolist())
    if bare:
        raise _Invalid(f"switch {topology.switch_names[min(bare)]} has no links. Needed: 1 or more.")
    behind: list[list[int]] = [[] for _ in range(topology.switches)]
    before: list[list[int]] = [[] for _ in range(topology.switches)]
    for start, _, end, _ in topology.links.tolist():
        behind[start].append(end)
        before[end].append(start)
    starts = np.unique(topology.injections[:, 0])
    ends = topology.consumptions[:, 0]
    if _reached(behind, starts[0]).all() and _reached(before, starts[0]).all():
        return  # all switches reach each other
    for start in starts:
        missed = np.flatnonzero(~_reached(behind, start)[ends])
        if len(missed):
            node = int(np.flatnonzero(topology.injections[:, 0] == start)[0])
            raise _Invalid(
                f"node {node} cannot reach node {missed[0]}: no links lead from switch {topology.switch_names[start]} "
                f"to switch {topology.switch_names[ends[missed[0]]]}. Needed: a path "
                "from each node to each other node.")


def _reached(behind: list[list[int]], start: int) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(behind), bool)
    found[start] = True
    front = [int(start)]
    while front:
        for switch in behind[front.pop()]:
            if not found[switch]:
                found[switch] = True
                front.append(switch)
    return found


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)
