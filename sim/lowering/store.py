"""Kernels on disk: later processes neither elaborate nor compile an unchanged component.

Two keys find a kernel. The first key is made from the component's parameters and the syntax trees of its sources. With
the first key, the digest of the netlist is found on disk, without elaboration. The second key is made from the digest
of the netlist and everything that affects the compilation of a netlist. If a change of the component's sources leaves
the netlist unchanged, nothing is compiled.
"""

import contextlib
import gc
import hashlib
import json
import os
import pickle
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar

from wormcast.algorithms.announcements import announce
from wormcast.algorithms.file_lock import alone
from wormcast.algorithms.kept_files import cache_folder, is_ours, read_kept, write_kept
from wormcast.algorithms.source_digest import source_digest

from ..common.processor import host
from .errors import LoweringError
from .kernel import Kernel
from .observer import Observer

__all__ = ["cache_folder", "collector_paused", "is_ours", "lower_cached", "observe_cached"]

Made = TypeVar("Made", Kernel, Observer)

Groups = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class _Refusal:
    """Message of the `LoweringError`, stored in place of a kernel or observer that cannot be compiled."""

    reason: str


@dataclass(frozen=True)
class _Elaborated(Generic[Made]):
    """Elaborated component: the digest of its netlist, and a function that compiles it."""

    digest: str
    make: Callable[[], Made]


def lower_cached(
    factory: Callable[[], Any],
    *,
    cache_key: str,
    words: Callable[[Any], tuple[Groups, Groups]],
    name: str = "top",
    vector_width: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Kernel:
    """Return the kernel of ``factory()``, from disk if an equal one was compiled before.

    ``factory`` is not called if the netlist's digest and its kernel are on disk for the same ``cache_key``, lowering,
    packages, Python and processor. Nothing is compiled if a kernel of the same netlist, words, name and width is on
    disk for the same lowering, packages, Python and processor. A damaged file is replaced. A folder that cannot be
    written is not an error. Loading a file may run code in it, so a file that another user except root might have
    written is not read (`is_ours`).

    Parameters
    ----------
    cache_key : str
        Identifies the component, all its parameters, and by a `source_digest` the files that define it and its words.
    words : callable
        Returns the ``inputs`` and ``outputs`` of `lower` for a component that ``factory`` returns.
    folder : path
        See `cache_folder`.

    The other parameters and the errors of `lower_cached` are as for `lower`.
    """

    def elaborate() -> _Elaborated[Kernel]:
        from . import netlist  # imports Amaranth
        from .lower import lower_design

        component = factory()
        inputs, outputs = words(component)
        design = netlist.read(component)
        return _Elaborated(design.digest([list(map(list, group.items())) for group in (inputs, outputs)]), lambda:
                           lower_design(design, inputs=inputs, outputs=outputs, name=name, vector_width=vector_width))

    return _kept(Kernel, cache_key, elaborate, [name, vector_width], folder)


def observe_cached(
    factory: Callable[[], Any],
    kernel: Kernel,
    *,
    cache_key: str,
    signals: Sequence[str] | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> Observer:
    """Return the observer of ``factory()`` for ``kernel``, from disk if an equal one was compiled before.

    ``factory``, ``cache_key`` and ``folder`` are as in `lower_cached`, ``kernel`` and ``signals`` as in `observe`. The
    errors of `observe_cached` are as for `observe`.
    """

    def elaborate() -> _Elaborated[Observer]:
        from . import netlist  # imports Amaranth
        from .observe import observe_design, select

        design, variables = netlist.read_visible(factory())
        if signals is not None:
            variables = select(variables, signals, kernel.name)
        return _Elaborated(design.digest(variables), lambda: observe_design(design, variables, kernel))

    layout = repr((kernel.name, kernel.inputs, kernel.state, kernel.tile_bytes, kernel.vector_width))
    definition = cache_key if signals is None else json.dumps([cache_key, *signals])
    return _kept(Observer, definition, elaborate, [hashlib.sha256(layout.encode()).hexdigest()], folder)


def _kept(kind: type[Made], definition: str, elaborate: Callable[[], _Elaborated[Made]], request: list[Any],
          folder: str | os.PathLike[str] | None) -> Made:
    """Return the kernel or observer of a netlist, from disk if it was compiled before.

    Parameters
    ----------
    definition : str
        Everything that the netlist depends on, besides `_surroundings`.
    elaborate : callable
        Elaborates the component.
    request : JSON data
        Everything that the compiled code depends on, besides the netlist and `_surroundings`.
    """
    netlist = _path([kind.__name__, definition], "netlist", folder)

    def code(digest: str) -> Path:
        return _path([kind.__name__, digest, *request], "kernel", folder)

    def known() -> Made | _Refusal | None:
        digest = read_kept(netlist)
        return None if digest is None else _load(code(digest.decode()), kind)

    found = known()
    if found is None:
        with announce("compiling this hardware", once=True), _alone(netlist), collector_paused():
            found = known()  # another process may have compiled the netlist meanwhile
            if found is None:
                elaborated = elaborate()
                path = code(elaborated.digest)
                with _alone(path):
                    found = _load(path, kind) or _make(path, elaborated)
                write_kept(netlist, elaborated.digest.encode())
    if isinstance(found, _Refusal):
        raise LoweringError(found.reason)
    return found


def _make(path: Path, elaborated: _Elaborated[Made]) -> Made | _Refusal:
    """Compile a netlist, and write to disk the kernel, or the message of the error."""
    made: Made | _Refusal
    try:
        made = elaborated.make()
    except LoweringError as error:
        made = _Refusal(str(error))
    write_kept(path, pickle.dumps(made))
    return made


def _path(parts: list[Any], what: str, folder: str | os.PathLike[str] | None) -> Path:
    key = hashlib.sha256(json.dumps([*parts, *_surroundings()]).encode()).hexdigest()
    return cache_folder(folder) / f"{key}.{what}"


def _alone(path: Path) -> contextlib.AbstractContextManager[None]:
    """Lock ``path``: wait while another thread or process makes the file.

    If other users can write to the folder (see `is_ours`), its files are not read, so nothing is locked.
    """
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_ours(path.parent.stat()):
            return alone(path.with_suffix(f"{path.suffix}-lock"))
    return contextlib.nullcontext()


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's garbage collector, which takes a quarter of the time of a lowering and finds little garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@cache
def _surroundings() -> list[str]:
    """Return everything that a netlist and its code depend on, besides the parameters of `_kept`."""
    own = source_digest(sorted(Path(__file__).parent.glob("*.py")))
    packages = [version(package) for package in ("amaranth", "llvmlite", "numpy")]
    return [own, *packages, *host(), sys.version, platform.machine(), sys.platform]


def _load(path: Path, kind: type[Made]) -> Made | _Refusal | None:
    """Return the content of ``path``, or None if it is missing, damaged, or perhaps written by another user."""
    payload = read_kept(path)
    found = None if payload is None else pickle.loads(payload)
    return found if isinstance(found, (kind, _Refusal)) else None
