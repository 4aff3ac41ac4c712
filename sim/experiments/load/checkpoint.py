"""Checkpoints: files with the state of a load experiment, from which any machine can continue the experiment."""

import contextlib
import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from wormcast.algorithms import WormcastError, file_digest, find_scheme, topology, user_file
from wormcast.algorithms.errors import naming
from wormcast.algorithms.file_schema import ALLOWED, FileSchema

from ...build.configuration import Configuration
from ...build.setup import Origin
from ...build.traffic import Traffic
from ...common.option import options_of
from ...engines.bulk import BulkEngine
from ...waves.record import checkpoint
from .experiment import Experiment
from .trace import Trace
from .validate import grows, require_sound, require_state

__all__ = ["CONTENT", "keep", "resume"]

WHOLE = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}
DIGEST = {"type": "string", "pattern": "^[0-9a-f]{64}$", ALLOWED: "a digest of 64 digits"}


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


def _options(*kinds: type, **more: Any) -> dict[str, Any]:
    """Return the JSON Schema of a table with a key for each option of some dataclasses, and with the keys ``more``.

    The options of a dataclass are its fields that are declared with `option`. An option's value may be null.
    """
    known = {name: _or_null(one.schema) for kind in kinds for name, one in options_of(kind).items()}
    return {"type": "object", "additionalProperties": False, "properties": {**known, **more}}


_CONTENT: dict[str, Any] = {
    "cycle": WHOLE,
    "topology": TEXT, "scheme": TEXT, "relation": _or_null(TEXT), "named": _or_null(TEXT),
    "topology_sha256": _or_null(DIGEST), "scheme_sha256": _or_null(DIGEST), "relation_sha256": _or_null(DIGEST),
    "configuration": {**_options(Configuration), "title": "a configuration"},
    "hardware": DIGEST,
    "traffic": {**_options(Traffic, trace=TEXT, trace_sha256=DIGEST), "title": "traffic"},
    "cycles": _or_null(WHOLE), "warmup": _or_null(WHOLE), "precision": {"type": "number"},
    "seconds": {"type": "number", "minimum": 0},
    "parts": {"type": "array", "items": {"type": "array", "items": WHOLE, "minItems": 1}},
    "groups": {"type": "array", "items": {"type": "object"}},
}
#: Schema of a checkpoint's content, except its arrays.
CONTENT = FileSchema("a checkpoint", {
    "type": "object", "required": list(_CONTENT), "additionalProperties": False, "properties": _CONTENT})

#: Users whose Python files are executed, besides the checkpoint's owner: root and the current user.
OURS = (0, os.getuid()) if hasattr(os, "getuid") else (0,)


def keep(experiment: Experiment, origin: Origin, path: Path) -> None:
    """Write an experiment to a file from which `resume` continues it.

    The experiment must be paused and not in a deadlock.

    Raises
    ------
    OSError
        The file cannot be written. A partly written checkpoint cannot be resumed.
    """
    arrays: dict[str, np.ndarray] = {}
    numbers: list[dict[str, Any]] = []
    for k, group in enumerate(experiment.groups):
        leaves = group.to_leaves()
        arrays |= {f"{k}.{name}": leaf for name, leaf in leaves.items() if isinstance(leaf, np.ndarray)}
        numbers.append({name: leaf for name, leaf in leaves.items() if not isinstance(leaf, np.ndarray)})
    checkpoint.write(Path(path), {
        "cycle": experiment.now,
        "topology": experiment.topology.origin,
        "topology_sha256": file_digest(experiment.topology.origin),
        **asdict(origin),
        "scheme_sha256": file_digest(origin.scheme),
        "relation_sha256": file_digest(origin.relation),
        "configuration": experiment.configuration.to_dict(),
        "hardware": _hardware(experiment.groups[0].engine),
        "traffic": experiment.traffic.to_dict(),
        "cycles": experiment.cycles,
        "warmup": experiment.warmup,
        "precision": experiment.precision,
        "seconds": experiment.seconds,
        "parts": [list(group.seeds) for group in experiment.groups],
        "groups": numbers,
    }, arrays)


def resume(path: Path, *, rewind: bool = False) -> tuple[Experiment, Origin]:
    """Read an experiment from a file. The experiment continues with the same results as without a pause.

    Parameters
    ----------
    rewind : bool
        See `Experiment`. The resumed experiment cannot be rewound to cycles before the state in the file.

    Raises
    ------
    WormcastError
        The file is not valid (`wormcast.sim.waves.record.checkpoint.opened`), or the topology's, scheme's or relation's
        file is missing, has changed, or belongs to another user (`OURS`). Of the files that a checkpoint names, only
        the Python files of topology, scheme and relation are executed.
    """
    path = Path(path)
    with checkpoint.opened(path) as stored:
        content = stored.content
        with _named_errors(path):
            experiment, origin = _build(path, content, rewind)
            likes = {f"{k}.{name}": leaf for k, group in enumerate(experiment.groups)
                     for name, leaf in group.to_leaves().items() if isinstance(leaf, np.ndarray)}
            arrays = stored.arrays({name: None if grows(name.partition(".")[2]) else like.nbytes
                                    for name, like in likes.items()})
            _put(experiment, content, arrays)
    experiment.source = path
    return experiment, origin


@contextlib.contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Convert errors that arise because a file does not fit its experiment to `WormcastError`."""
    try:
        yield
    except WormcastError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise WormcastError(f"{path} is damaged, or another wormcast of the same version wrote it ({error}). "
                            "Needed: a checkpoint of this wormcast.") from error


def _build(path: Path, content: Mapping[str, Any], rewind: bool) -> tuple[Experiment, Origin]:
    """Build the experiment in its state before the first cycle."""
    with naming(str(path)):
        CONTENT.require(content)
    origin = Origin(content["scheme"], content["relation"], content["named"])
    for what, name in (("topology", content["topology"]), ("scheme", origin.scheme), ("relation", origin.relation)):
        _require_same(path, what, name, content[f"{what}_sha256"])
    network = topology(content["topology"])
    scheme = find_scheme(origin.scheme, network, origin.relation)
    experiment = Experiment(
        network, scheme, _traffic(path, content["traffic"]), configuration=Configuration(**content["configuration"]),
        cycles=content["cycles"], warmup=content["warmup"], parts=content["parts"], rewind=rewind,
        precision=content["precision"])
    if _hardware(experiment.groups[0].engine) != content["hardware"]:
        raise ValueError("it builds different hardware")
    return experiment, origin


def _put(experiment: Experiment, content: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Set the state of the experiment to the state that a file stores."""
    for k, (group, numbers) in enumerate(zip(experiment.groups, content["groups"], strict=True)):
        prefix = f"{k}."
        leaves = numbers | {name.removeprefix(prefix): array for name, array in arrays.items()
                            if name.startswith(prefix)}
        require_state(group, leaves, content["cycles"], experiment.warmup)
        group.from_leaves(leaves)
        require_sound(group, leaves)
    if content["cycle"] != experiment.now:
        raise ValueError("the key cycle differs from the cycle of the groups of seeds: "
                         f"{content['cycle']}, {experiment.now}")
    if not math.isfinite(content["seconds"]):
        raise ValueError(f"seconds is {content['seconds']}")
    experiment.seconds = content["seconds"]


def _require_same(path: Path, what: str, name: str | None, digest: str | None) -> None:
    """Refuse a user's file, before it is executed, if it is missing, has changed, or has a foreign owner.

    The file's owner may be the current user, root, or the owner of the checkpoint.
    """
    file = user_file(name)
    if file is None:
        return
    if not Path(file).is_file():
        raise WormcastError(f"{what}: there is no file {file}, which {path} names. Needed: this file, as it was when "
                            f"{path} was written.")
    if owner(Path(file)) not in (owner(path), *OURS):
        raise WormcastError(f"{what}: {file}, which {path} names, is not valid: it belongs to another user. "
                            "Allowed: a file of yours, of root, or of the checkpoint's owner.")
    if file_digest(name) != digest:
        raise WormcastError(f"{what}: {name} has changed since {path} was written. Needed: the same text.")


def owner(file: Path) -> int:
    """Return the user who owns a file."""
    return file.stat().st_uid


def _traffic(path: Path, content: Mapping[str, Any]) -> Traffic | Trace:
    """Build the traffic from the result of its `to_dict`. The file of a trace must be unchanged."""
    if "trace" not in content:
        return Traffic(**content)
    trace = Trace(content["trace"])
    if trace.sha256 != content["trace_sha256"]:
        raise WormcastError(f"trace: {trace.path} has changed since {path} was written. Needed: the same file.")
    return trace


def _hardware(engine: BulkEngine) -> str:
    """Return a digest of all kinds of components: keys, and the names, widths and depths of their registers."""
    kinds: Mapping[str, Any] = {
        kind: [engine.network.kinds[kind].key, [(one.name, one.width, one.depth) for one in kernel.state.values()]]
        for kind, kernel in engine.kernels.items()}
    return hashlib.sha256(repr(sorted(kinds.items())).encode()).hexdigest()
