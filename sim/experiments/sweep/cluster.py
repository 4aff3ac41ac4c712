"""Running what is not finished of a sweep on the workers of a dask.distributed cluster."""

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

from ...common.requirements import require
from .point import Point, build_point
from .store import ResultStore

__all__ = ["PATIENCE", "require_cluster", "run_on_cluster"]

#: Seconds after which a scheduler that does not answer, or has no worker, is given up.
PATIENCE = 10

#: Bytes of files that a point may take along: the scheduler keeps them in memory, for each point apart.
MOST_CARRIED = 2**20


def require_cluster() -> ModuleType:
    """Import the package distributed.

    Raises
    ------
    ToolMissing
        It is not installed.
    """
    return require("distributed", "cluster")


def run_on_cluster(points: Sequence[Point], store: ResultStore, address: str,
                   patience: float = PATIENCE) -> Generator[Point, None, None]:
    """Run these points on the workers of a cluster, and give each when it is stored here.

    A worker's slot runs a point at a time, on one thread. A point whose worker is lost is run on another one; as often
    as the scheduler's setting ``distributed.scheduler.allowed-failures`` allows.

    Parameters
    ----------
    address : str
        Of the scheduler, as ``tcp://host:8786``.
    patience : float
        Seconds to wait for the scheduler, and for its first worker.

    Raises
    ------
    ToolMissing
        The package distributed is not installed.
    WormcastError
        There is no such scheduler, or none any more; scheduler or workers have another wormcast, or none; a point
        cannot be run. Points that are not stored yet are given up.
    """
    distributed = require_cluster()
    carried = [_carried(point) for point in points]
    with _quiet(), _connected(distributed, address, patience) as client:
        _require_same(client, address)
        given = [point.given for point in points]
        names = [point.name for point in points]
        futures = client.map(_run, given, names, carried, pure=False, digest=_digest())
        running = dict(zip(futures, points, strict=True))
        del futures  # or the workers would keep all results
        for future in distributed.as_completed(list(running), loop=client.loop):
            point = running.pop(future)
            store.put(point.key, _result(distributed, future, point, address))
            yield point


def _run(given: dict[str, Any], name: str, carried: Mapping[str, tuple[str, bytes]], digest: str) -> dict[str, Any]:
    """Run a point on a worker.

    ``carried`` has, by option, the path of a file as the option begins, and its content. ``digest`` is the client's.
    """
    if digest != _digest():
        raise WormcastError(f"cluster: the worker on {platform.node()} has other files of wormcast than this machine, "
                            "it must have the same")
    there = {option: str(_placed(Path(path).name, content)) + given[option].removeprefix(path)
             for option, (path, content) in carried.items()}
    return build_point(given | there, name).run(workers=1)


def _carried(point: Point) -> dict[str, tuple[str, bytes]]:
    """Give a point's files with their contents, as `_run` takes them."""
    carried = {option: (path, Path(path).read_bytes()) for option, path in point.files.items()}
    if sum(len(content) for _, content in carried.values()) > MOST_CARRIED:
        files = ", ".join(point.files.values())
        raise WormcastError(f"scheduler: {files} has more than {MOST_CARRIED} bytes, which are too many to go to a "
                            "worker with each point; without --scheduler it is read where it is")
    return carried


@functools.cache
def _placed(name: str, content: bytes) -> Path:
    """Write a file that a point takes along, once in this process, and give its path."""
    folder = tempfile.TemporaryDirectory(prefix="wormcast-")
    FOLDERS.append(folder)
    path = Path(folder.name) / name
    path.write_bytes(content)
    return path


#: Folders of the files that are carried; they go when the process ends.
FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@functools.cache
def _digest() -> str:
    """Tell one state of wormcast's sources from another."""
    [package] = wormcast.__path__
    files = [file for part in ("algorithms", "hw", "sim") for file in sorted(Path(package, part).rglob("*.py"))]
    return hashlib.sha256(b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)).hexdigest()


@contextlib.contextmanager
def _connected(distributed: Any, address: str, patience: float) -> Iterator[Any]:
    """A client of the scheduler, which has a worker at least."""
    try:
        client = distributed.Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise WormcastError(f"scheduler: {address} is given, no scheduler has answered there within {patience:g} "
                            "seconds; it must be its address, as tcp://host:8786") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=patience)
        except TimeoutError as error:
            raise WormcastError(f"scheduler: {address} is given, no worker has joined it within {patience:g} seconds, "
                                "it must have one or more") from error
        yield client


def _require_same(client: Any, address: str) -> None:
    """Refuse a cluster with another wormcast than the one here, whose results may be others."""
    versions = {f"worker {worker}": version for worker, version
                in client.run(importlib.metadata.version, "wormcast", on_error="return").items()}
    for who, version in versions.items():
        if version != wormcast.__version__:
            has = "no wormcast" if isinstance(version, Exception) else f"wormcast {version}"
            raise WormcastError(f"scheduler: {who} of {address} has {has}, it must have {wormcast.__version__} as here")
    for worker, digest in client.run(_digest, on_error="return").items():
        if digest != _digest():
            raise WormcastError(f"scheduler: worker {worker} of {address} has other files of wormcast "
                                f"{wormcast.__version__} than this machine, it must have the same")
    try:
        client.run_on_scheduler(_digest)
    except ImportError as error:
        raise WormcastError(f"scheduler: {address} has no wormcast, it must have {wormcast.__version__} as here"
                            ) from error


def _result(distributed: Any, future: Any, point: Point, address: str) -> dict[str, Any]:
    """What a point came to, or what was wrong with it, in the words in which it is told without a cluster."""
    try:
        return future.result()
    except CancelledError as error:
        raise WormcastError(f"scheduler: {address} does not answer any more; what is finished is kept") from error
    except distributed.KilledWorker as error:
        raise WormcastError(f"point {point.name}: {error.allowed_failures + 1} workers were lost that ran it or had "
                            "it next, their logs say more; what is finished is kept") from error
    except ImportError as error:
        raise WormcastError(f"scheduler: a worker of {address} lacks something ({error}), it must have wormcast "
                            f"{wormcast.__version__} as here") from error


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep to ourselves what the library logs: what matters is told in a sentence."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
