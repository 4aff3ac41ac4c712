"""Execution of a sweep's missing points on the workers of a dask.distributed cluster."""

import contextlib
import functools
import hashlib
import importlib.metadata
import logging
import platform
import tempfile
import warnings
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from types import ModuleType
from typing import Any

import wormcast
from wormcast.algorithms import WormcastError
from wormcast.algorithms.phrases import count

from ...common.requirements import require
from .point import Point, build_point
from .store import MemoryStore, ResultStore

__all__ = ["PATIENCE", "require_cluster", "run_on_cluster"]

#: Seconds to wait for the scheduler's answer, and again for the first worker that joins it.
PATIENCE = 10

#: Greatest size in bytes of the files sent with a point. The scheduler keeps these files in memory for each point.
MOST_CARRIED = 2**20


def require_cluster() -> ModuleType:
    """Import the package ``distributed``; raise `ToolMissing` if it is not installed."""
    return require("distributed", "cluster")


def run_on_cluster(points: Sequence[Point], store: ResultStore | MemoryStore, address: str,
                   patience: float = PATIENCE) -> Generator[Point, None, None]:
    """Run points on the workers of a cluster, and yield each point when its result is stored here.

    A slot of a worker runs one point at a time, on one thread. If a worker is lost, its point is run on another one,
    as often as the scheduler's setting ``distributed.scheduler.allowed-failures`` allows.

    Parameters
    ----------
    address : str
        Address of the scheduler, for example ``tcp://host:8786``.
    patience : float
        Seconds to wait for the scheduler, and for its first worker.

    Raises
    ------
    ToolMissing
        The package ``distributed`` is not installed.
    WormcastError
        The scheduler does not answer or has no wormcast; workers have no wormcast, another version or different source
        files; or a point cannot be run. After an error, points that are not stored yet are given up.
    """
    distributed = require_cluster()
    carried = [_carried(point) for point in points]
    with _quiet(), _connected(distributed, address, patience) as client:
        _require_same(client, address)
        given = [point.given for point in points]
        names = [point.name for point in points]
        futures = client.map(_run, given, names, carried, pure=False, digest=_digest())
        running = dict(zip(futures, points, strict=True))
        del futures  # workers keep each result to which a future refers
        for future in distributed.as_completed(list(running), loop=client.loop):
            point = running.pop(future)
            store.put(point.key, _result(distributed, future, point, address))
            yield point


def _run(given: dict[str, Any], name: str, carried: Mapping[str, tuple[str, bytes]], digest: str) -> dict[str, Any]:
    """Run a point on a worker.

    ``carried``: for each option whose value begins with the path of a file, this path and the file's content.
    ``digest``: digest of wormcast's sources on the client.
    """
    if digest != _digest():
        raise WormcastError(f"cluster: the worker on {platform.node()} has different source files of wormcast than "
                            "this machine. Needed: the same files.")
    there = {option: str(_placed(Path(path).name, content)) + given[option].removeprefix(path)
             for option, (path, content) in carried.items()}
    return build_point(given | there, name).run(workers=1)


def _carried(point: Point) -> dict[str, tuple[str, bytes]]:
    """Return a point's files with their contents, see `_run`."""
    carried = {option: (path, Path(path).read_bytes()) for option, path in point.files.items()}
    if sum(len(content) for _, content in carried.values()) > MOST_CARRIED:
        files = ", ".join(point.files.values())
        raise WormcastError(f"scheduler: {files} cannot be sent with each point: too many bytes. Allowed: at most "
                            f"{MOST_CARRIED} bytes of files for a point; any size without --scheduler.")
    return carried


@functools.cache
def _placed(name: str, content: bytes) -> Path:
    """Write a file that was sent with a point, once per process, and return its path."""
    folder = tempfile.TemporaryDirectory(prefix="wormcast-")
    FOLDERS.append(folder)
    path = Path(folder.name) / name
    path.write_bytes(content)
    return path


#: Folders of the files that were sent with points. The folders are deleted at the end of the process.
FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def _digest() -> str:
    """Return a digest of wormcast's sources."""
    [package] = wormcast.__path__
    files = [file for part in ("algorithms", "hw", "sim") for file in sorted(Path(package, part).rglob("*.py"))]
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


@contextlib.contextmanager
def _connected(distributed: Any, address: str, patience: float) -> Iterator[Any]:
    """Connect to the scheduler, and wait for its first worker."""
    try:
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise WormcastError(f"scheduler: {address} is not valid: no scheduler answered within {patience:g} seconds. "
                            "Allowed: the address of a scheduler, for example tcp://host:8786.") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError as error:
            raise WormcastError(f"scheduler: {address} is not valid: no worker has joined it within {patience:g} "
                                "seconds. Needed: one worker or more.") from error
        yield client


def _require_same(client: Any, address: str) -> None:
    """Refuse workers with different source files, because results may differ, and a scheduler without wormcast."""
    versions = {f"worker {worker}": version for worker, version
                in client.run(importlib.metadata.version, "wormcast", on_error="return").items()}
    for who, version in versions.items():
        if version != wormcast.__version__:
            has = "no wormcast" if isinstance(version, Exception) else f"wormcast {version}"
            raise WormcastError(f"scheduler: {who} of {address} has {has}. Needed: wormcast {wormcast.__version__}.")
    for worker, digest in client.run(_digest, on_error="return").items():
        if digest != _digest():
            raise WormcastError(f"scheduler: worker {worker} of {address} has different source files of wormcast "
                                f"{wormcast.__version__} than this machine. Needed: the same files.")
    try:
        client.run_on_scheduler(_digest)
    except ImportError as error:
        raise WormcastError(f"scheduler: {address} has no wormcast. Needed: wormcast {wormcast.__version__}."
                            ) from error


def _result(distributed: Any, future: Any, point: Point, address: str) -> dict[str, Any]:
    """Return a point's result, or raise its error as a run on this machine would."""
    try:
        return future.result()
    except CancelledError as error:
        raise WormcastError(f"scheduler: {address} has stopped answering. Finished points are stored. Needed: a "
                            "scheduler that runs.") from error
    except distributed.KilledWorker as error:
        raise WormcastError(f"scheduler: {address} lost {count(error.allowed_failures + 1, 'worker')} with the point "
                            f"{point.name or 'of the sweep'}. See the logs of its workers. Finished points are stored."
                            ) from error
    except ImportError as error:
        raise WormcastError(f"scheduler: a worker of {address} lacks a package ({error}). Needed: wormcast "
                            f"{wormcast.__version__}.") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppress log and warnings of the package ``distributed``. Callers raise its errors as `WormcastError`."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
