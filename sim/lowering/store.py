"""Kernels kept on disk, so that a component is elaborated and compiled once per machine."""

import contextlib
import gc
import hashlib
import json
import os
import pickle
import platform
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from wormcast.algorithms.alone import alone

from ..common.processor import host
from .kernel import Kernel
from .lower import lower
from .observe import observe
from .observer import Observer

__all__ = ["cache_folder", "is_ours", "kept", "lower_cached", "observe_cached", "tell_compiling"]

Made = TypeVar("Made")

DIGEST = hashlib.sha256().digest_size

#: What is entered while something is compiled, which may take minutes: see `tell_compiling`.
compiling: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext


def tell_compiling(by: Callable[[], contextlib.AbstractContextManager[object]]) -> None:
    """Enter what ``by`` gives whenever something is compiled that is not on disk; a program may say so by it."""
    global compiling
    compiling = by


def cache_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Folder of the kept kernels: ``folder``, else ``$WORMCAST_CACHE``, else ``wormcast/kernels`` in the user's
    cache folder (``$XDG_CACHE_HOME``, or ``.cache`` at home)."""
    if folder is not None:
        return Path(folder)
    if chosen := os.environ.get("WORMCAST_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wormcast" / "kernels"


def lower_cached(
    factory: Callable[[], Any],
    *,
    cache_key: str,
    inputs: Mapping[str, Sequence[str]],
    outputs: Mapping[str, Sequence[str]],
    name: str = "top",
    vector_width: int | None = None,
    sources: Iterable[str | os.PathLike[str]] = (),
    folder: str | os.PathLike[str] | None = None,
) -> Kernel:
    """Return the kernel of ``factory()``, from disk if an equal one was compiled before.

    On a hit ``factory`` is not called. Equal means: the same ``cache_key``, words, name and width; the same
    contents of ``sources`` (the files that define the component); the same lowering, Amaranth, llvmlite,
    Python and processor. A file that is damaged is made anew; a folder that cannot be written is no error. To read a
    file is to run what is in it: one that another user might have written is made anew too (`is_ours`).

    Parameters
    ----------
    cache_key : str
        Names the component and all its parameters.
    folder : path
        See `cache_folder`.

    Other parameters, and errors, are those of `lower`.
    """
    groups = [list(map(list, group.items())) for group in (inputs, outputs)]
    return kept(
        [cache_key, name, vector_width, groups, _digest(sources)],
        Kernel,
        lambda: lower(factory(), inputs=inputs, outputs=outputs, name=name, vector_width=vector_width),
        folder,
    )


def observe_cached(
    factory: Callable[[], Any],
    kernel: Kernel,
    *,
    cache_key: str,
    sources: Iterable[str | os.PathLike[str]] = (),
    folder: str | os.PathLike[str] | None = None,
) -> Observer:
    """Return the observer of ``factory()`` for ``kernel``, from disk if an equal one was compiled before.

    Parameters are those of `lower_cached`, errors those of `observe`.
    """
    layout = repr((kernel.name, kernel.inputs, kernel.state, kernel.tile_bytes, kernel.vector_width))
    return kept(
        ["observer", cache_key, hashlib.sha256(layout.encode()).hexdigest(), _digest(sources)],
        Observer,
        lambda: observe(factory(), kernel),
        folder,
    )


def kept(parts: list[Any], kind: type[Made], make: Callable[[], Made],
         folder: str | os.PathLike[str] | None = None) -> Made:
    """What ``make`` makes, from disk if it was made before of the same ``parts``."""
    key = hashlib.sha256(json.dumps([*parts, _surroundings()]).encode()).hexdigest()
    path = cache_folder(folder) / f"{key}.kernel"
    made = _load(path)
    if not isinstance(made, kind):
        with compiling(), _alone(path):
            made = _load(path)  # whoever was first has made it
            if not isinstance(made, kind):
                with _collector_paused():
                    made = make()
                _save(path, made)
    return made


def _alone(path: Path) -> contextlib.AbstractContextManager[None]:
    """Wait while another thread or process makes ``path``; nobody does where nothing is read back (`is_ours`)."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_ours(path.parent.stat()):
            return alone(path.with_suffix(".lock"))
    return contextlib.nullcontext()


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Python's garbage collector takes a quarter of the time of a lowering, which leaves little garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _digest(paths: Iterable[str | os.PathLike[str]]) -> str:
    """Hash of the contents of files, whatever their order and folder."""
    return hashlib.sha256(
        b"".join(sorted(hashlib.sha256(Path(path).read_bytes()).digest() for path in paths))
    ).hexdigest()


@cache
def _surroundings() -> list[str]:
    """All that object code depends on besides the component."""
    own = _digest(sorted(Path(__file__).parent.glob("*.py")))
    packages = [version(package) for package in ("amaranth", "llvmlite", "numpy")]
    return [own, *packages, *host(), sys.version, platform.machine(), sys.platform]


def _load(path: Path) -> Any:
    """What is kept in ``path``, None if there is nothing that is whole and ours."""
    try:
        if not is_ours(path.parent.stat()):
            return None
        with path.open("rb") as file:
            if not is_ours(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    digest, payload = content[:DIGEST], content[DIGEST:]
    if hashlib.sha256(payload).digest() != digest:
        return None
    return pickle.loads(payload)


def is_ours(told: os.stat_result) -> bool:
    """Whether nobody but this user, and the system's, can have written a file or folder of which this is told."""
    if not hasattr(os, "getuid"):
        return True  # a system without such owners and modes
    return told.st_uid in (0, os.getuid()) and not told.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _save(path: Path, made: Any) -> None:
    """Write ``path`` at once: a reader finds a whole file or none."""
    payload = pickle.dumps(made)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
