"""``doctor``: test the installation."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from wormcast.algorithms.announcements import announce

from ..common.text import version_text
from .app import Exit, Json, count, emit, say
from .commands import command

if TYPE_CHECKING:
    from .installation import Cache, Engine, Extra, Processor, Speed

__all__: list[str] = []

WORKS = {"bulk": "works", "amaranth": "works, same delivery cycles as bulk"}


@command("doctor")
def doctor(json: Json = False) -> int:
    """Exit code 1 if an engine does not work. Missing extras do not change the exit code.

    Takes about ten seconds, longer the first time, when simulation kernels are compiled.
    """
    from . import installation

    quiet = (lambda line: None) if json else say
    installed, machine = installation.versions(), installation.processor()
    quiet(f"wormcast {version_text()} with Python {installed['python']}, "
          + ", ".join(f"{name} {number}" for name, number in list(installed.items())[2:]))
    quiet(_machine(machine))
    with announce("testing the engines"):
        tried = installation.engines()
    quiet("engines:")
    for engine in tried:
        quiet(f"  {engine.name:9} {_engine(engine)}")
    works = not any(engine.error for engine in tried)
    with announce("measuring the speed"):
        measured = installation.speed() if works else None
    if measured:
        quiet(_speed(measured))
    kept = installation.kernel_cache()
    quiet(_cache(kept))
    found = installation.extras()
    quiet("extras:")
    for extra in found:
        quiet(f"  {extra.name:9} {_extra(extra)}")
    if json:
        emit({"versions": installed, "processor": asdict(machine), "engines": [asdict(engine) for engine in tried],
              "speed": measured and asdict(measured), "kernels": asdict(kept),
              "extras": [asdict(extra) for extra in found]}, {})
    return Exit.DONE if works else Exit.INTERNAL


def _machine(found: "Processor") -> str:
    return (f"processor: {found.name}, {count(found.cores, 'core')}; kernels are compiled for {found.target} with "
            f"{8 * found.vector_bytes}-bit vectors")


def _engine(engine: "Engine") -> str:
    return WORKS[engine.name] if engine.error is None else f"does not work: {engine.error}"


def _speed(measured: "Speed") -> str:
    return (f"speed: {measured.cycles_per_second:,.0f} cycles/s".replace(",", " ")
            + f" with one seed on one core, by: wormcast load {measured.topology} {measured.scheme} "
              f"--rate {measured.rate} --cycles {measured.cycles} --seeds 1")


def _cache(kept: "Cache") -> str:
    return (f"kernels: {count(kept.kernels, 'file')}, {kept.bytes / 1e6:.1f} MB in {kept.folder}"
            + (", which is not writable: kernels are compiled again in each run" if not kept.writable else
               "" if kept.ours else ", where other users can write: kernels are not read from there, but compiled "
               "again in each run; remove the others' write permission (chmod 700)"))


def _extra(extra: "Extra") -> str:
    return f"{', '.join(extra.missing)} missing: {extra.install}" if extra.missing else "works"
