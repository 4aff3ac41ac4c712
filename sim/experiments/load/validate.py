"""Validation of a seed group's state that was read from a file: types, shapes and consistency.

Compiled code does not check indices into arrays, so they are checked here.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...engines.faults import find_faults
from ...host import NOW, require_program
from .seed_batch import CHUNK, FOR_EVER, SeedBatch

__all__ = ["grows", "require_sound", "require_state"]

#: Arrays with a first dimension that grows with the messages under way, or with the time slices.
GROWING = {*(f"engine.host.{field}" for field in ("worms", "deliveries", "agenda", "releases", "exchanges", "header",
                                              "begun")),
           "window._messages.state", "totals.edges", "totals.table", "links.table", "stages.table",
           *(f"totals.{of}.{part}" for of in ("latencies", "round_trips") for part in ("cells", "_worst", "_pending"))}

#: CHANGING: numbers that change during a simulation; all other numbers stay. STAYING: arrays that do not change.
CHANGING = {"now", "drained", "window.worms_before", "window.messages_before", "window._seen"}
STAYING = {"engine.host.options", "engine.host.stall", "links._starts"}


def grows(name: str) -> bool:
    """Return whether an array's length changes during the simulation: it may have any length in a checkpoint."""
    return name in GROWING


def require_state(group: SeedBatch, leaves: Mapping[str, Any], cycles: int | None, warmup: int | None) -> None:
    """Raise a ValueError for the first leaf (entry of a state) that does not fit the group of seeds: by type, shape or
    value.

    Parameters
    ----------
    group : SeedBatch
        Group before its first cycle.
    leaves : mapping
        Input of `SeedBatch.from_leaves`.
    cycles, warmup : int or None
        See `Experiment`.
    """
    fresh: Mapping[str, Any] = group.to_leaves()
    for name in sorted(fresh.keys() ^ leaves.keys()):
        raise ValueError(f"{name} is {'missing' if name in fresh else 'not known'}")
    for name, like in fresh.items():
        leaf = leaves[name]
        if isinstance(like, np.ndarray):
            _require_array(name, leaf, like)
        elif type(leaf) is not type(like) or (leaf < 0 if name in CHANGING else leaf != like):
            raise ValueError(f"{name} is {leaf!r}")
    for name in leaves:
        if name.startswith("window.sources."):
            _require_ahead(name, leaves[name], leaves["now"])
    _require_times(leaves, FOR_EVER if cycles is None else cycles, warmup)


def _require_ahead(name: str, state: np.ndarray, now: int) -> None:
    """Refuse a stream with a next message in the past, or with a negative position in a trace's file."""
    if (state["next"] < now if state.dtype.names else state < 0).any():
        raise ValueError(f"{name} lies before cycle {now}")


def _require_array(name: str, leaf: Any, like: np.ndarray) -> None:
    shape = (*leaf.shape[:1], *like.shape[1:]) if name in GROWING else like.shape
    # the integer type of ``links.table`` depends on the lengths of the slices
    alike = leaf.dtype.kind == "u" if name == "links.table" else leaf.dtype == like.dtype
    if not alike or leaf.shape != shape:
        raise ValueError(f"{name} is {leaf.dtype} {list(leaf.shape)}, not {like.dtype} {list(shape)}")
    if name in STAYING and not np.array_equal(leaf, like):
        raise ValueError(f"{name} is {leaf.tolist()}, not {like.tolist()}")


def _require_times(leaves: Mapping[str, Any], last: int, warmup: int | None) -> None:
    """Refuse a state with invalid edges of time slices, or with a cycle ``now`` in which no step ends."""
    edges, now = leaves["totals.edges"], leaves["now"]
    if (len(edges) < 2 or edges[0] or (np.diff(edges) < 1).any() or edges[-1] != last
            or (warmup or 0) not in edges):
        raise ValueError("totals.edges do not divide the cycles into slices")
    for name in ("totals.table", "links.table", "stages.table"):
        if len(leaves[name]) != len(edges) - 1:
            raise ValueError(f"{name} has {len(leaves[name])} slices, totals.edges have {len(edges) - 1}")
    if now != leaves["engine.host.counters"][NOW] or not (
            now in edges or (now < last and (now % CHUNK == 0 or leaves["drained"]))):
        raise ValueError(f"now is {now}")


def require_sound(group: SeedBatch, leaves: Mapping[str, Any]) -> None:
    """Raise a ValueError if a group of seeds with a state from a file is inconsistent.

    The checks: numbers fit into their registers, no component has detected an error, and the hosts' program is valid
    and belongs to the group's messages and scheme.
    """
    held: Mapping[str, Any] = group.to_leaves()
    for name, leaf in held.items():
        if not np.array_equal(leaf, leaves[name]):
            raise ValueError(f"{name} has numbers with too many bits")
    for latencies in (group.totals.latencies, group.totals.round_trips):
        latencies.require_sound(len(group.totals.table))
    for fault in find_faults(group.engine):
        raise ValueError(f"{fault.place(group.engine.network.topology)} has detected an error, {fault.cause}")
    if group.drained != group.all_received:
        raise ValueError(f"drained is {group.drained}")
    require_program(group.window.host)
    group.window.require_planned()
