"""Load experiments in files: kept, and continued by any machine."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wormcast.algorithms import WormcastError, file_digest, find_scheme, topology

from ...build.configuration import Configuration
from ...build.setup import Origin
from ...engines.bulk import BulkEngine
from ...waves.record import checkpoint
from .load import Experiment
from .trace import Trace
from .traffic import Traffic

__all__ = ["keep", "resume"]


def keep(experiment: Experiment, origin: Origin, path: Path) -> None:
    """Write an experiment to a file from which `resume` continues it; it must be paused, and in no deadlock.

    Raises
    ------
    OSError
        The file cannot be written; what is there then is of no use.
    """
    arrays: dict[str, np.ndarray] = {}
    numbers: list[dict[str, Any]] = []
    for k, group in enumerate(experiment.groups):
        leaves = group.to_leaves()
        arrays |= {f"{k}.{name}": leaf for name, leaf in leaves.items() if isinstance(leaf, np.ndarray)}
        numbers.append({name: leaf for name, leaf in leaves.items() if not isinstance(leaf, np.ndarray)})
    checkpoint.write(path, {
        "cycle": experiment.now,
        "topology": experiment.topology.name,
        **asdict(origin),
        "scheme_sha256": file_digest(origin.scheme),
        "relation_sha256": file_digest(origin.relation),
        "configuration": experiment.configuration.to_dict(),
        "hardware": _hardware(experiment.groups[0].engine),
        "traffic": experiment.traffic.to_dict(),
        "cycles": experiment.cycles,
        "warmup": experiment.warmup,
        "seconds": experiment.seconds,
        "parts": [list(group.seeds) for group in experiment.groups],
        "groups": numbers,
    }, arrays)


def resume(path: Path, *, rewind: bool = False) -> tuple[Experiment, Origin]:
    """Read an experiment from a file: it goes on as if it had never paused, with the same results.

    Parameters
    ----------
    rewind : bool
        As for `Experiment`; past states begin with this one.

    Raises
    ------
    WormcastError
        The file is of no use (`wormcast.sim.waves.record.checkpoint.read`), or what it needs is not here: the
        scheme's and the relation's files, as they were.
    """
    content, arrays = checkpoint.read(path)
    try:
        return _build(path, content, arrays, rewind)
    except WormcastError:
        raise
    except (LookupError, TypeError, ValueError) as error:
        raise WormcastError(f"{path} was written by another wormcast, although of the same version: only that one "
                            f"continues it ({error})") from error


def _build(path: Path, content: Mapping[str, Any], arrays: Mapping[str, np.ndarray],
           rewind: bool) -> tuple[Experiment, Origin]:
    origin = Origin(content["scheme"], content["relation"], content["named"])
    network = topology(content["topology"])
    scheme = find_scheme(origin.scheme, network, origin.relation)
    for what, name in (("scheme", origin.scheme), ("relation", origin.relation)):
        if file_digest(name) != content[f"{what}_sha256"]:
            raise WormcastError(f"{what}: {name} is not what it was when {path} was written, it must be the same text")
    experiment = Experiment(
        network, scheme, _traffic(path, content["traffic"]), configuration=Configuration(**content["configuration"]),
        cycles=content["cycles"], warmup=content["warmup"], parts=content["parts"], rewind=rewind)
    if _hardware(experiment.groups[0].engine) != content["hardware"]:
        raise ValueError("it builds other hardware")
    for k, group in enumerate(experiment.groups):
        prefix = f"{k}."
        group.from_leaves(content["groups"][k] | {
            name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)})
    experiment.seconds = content["seconds"]
    return experiment, origin


def _traffic(path: Path, told: Mapping[str, Any]) -> Traffic | Trace:
    """The traffic that was told by `to_dict`; of a trace, its file must be what it was."""
    if "trace" not in told:
        return Traffic(**told)
    trace = Trace(told["trace"])
    if trace.sha256 != told["trace_sha256"]:
        raise WormcastError(f"trace: {trace.path} is not what it was when {path} was written, it must be the same file")
    return trace


def _hardware(engine: BulkEngine) -> str:
    """Tell hardware apart whose registers mean different things."""
    kinds: Mapping[str, Any] = {
        kind: [engine.network.kinds[kind].key, [(one.name, one.width, one.depth) for one in kernel.state.values()]]
        for kind, kernel in engine.kernels.items()}
    return hashlib.sha256(repr(sorted(kinds.items())).encode()).hexdigest()
