"""``hunt``: search for messages that deadlock, and reduce them."""

import dataclasses
import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from ..api.simulation import hunt
from ..build.limits import HUNT_CYCLES, HUNT_LENGTHS
from ..common.atomic_write import require_writable
from ..common.path_conflicts import require_apart
from .app import Json, SchemeName, TopologyName, emit_result, stdout_for_results
from .commands import command
from .hardware import RelationOption, takes_hardware
from .named import user_files
from .options import Given

__all__: list[str] = []

#: Suffixes of the files that a hunt writes, by content.
FILES = {"messages": ".jsonl", "waveform": ".vcd", "picture": ".svg", "replay": ".html"}


@command("hunt")
@takes_hardware
def hunt_(
    topology: TopologyName,
    scheme: SchemeName,
    cycles: Annotated[int, typer.Option(
        help=f"Limit of the simulated cycles of all networks together: the batch of networks that reaches the limit "
        f"is the last batch. "
        f"Default: {HUNT_CYCLES}.",
        show_default=False)] = HUNT_CYCLES,
    length: Annotated[str | None, typer.Option(
        metavar="A:B", help="Shortest and longest payload of a message; or one number. Default: {}:{}, with a larger "
        "minimum for narrow flits. Unit: flits.".format(*HUNT_LENGTHS), show_default=False)] = None,
    seed: Annotated[int, typer.Option(
        help="Seed of the random messages. The same seed gives the same result. Default: 0.", min=0,
        show_default=False)] = 0,
    out: Annotated[Path, typer.Option(help="Output folder. Default: out.", show_default=False)] = Path("out"),
    relation: RelationOption = None,
    *,
    given: Given,
    json: Json = False,
) -> int:
    """Exit code 3: a deadlock was found. The folder --out then has the messages, a waveform, a space-time diagram and a
    replay.

    Exit code 0: no deadlock was found. A search is no proof. The command check can prove that no deadlock
    is possible.
    """
    from .hunt_report import report, save_deadlock, save_messages
    from .waveform_report import waveform_files

    name = re.sub(r"[^\w.+-]", "_", f"{Path(scheme).stem}_{topology}")
    files = {what: out / f"{name}{ending}" for what, ending in FILES.items()}
    require_apart(user_files(scheme, relation, topology),
                  {**files, **waveform_files(files["waveform"])} | {"waveform": None})
    messages = files["messages"]
    if out.exists():
        require_writable(messages)
    with stdout_for_results():
        result = hunt(topology, scheme, cycles=cycles, length=length, relation=relation, seed=seed, **given)
    failed, deadlocked = None, result.run
    if deadlocked is not None:
        try:
            save_messages(deadlocked, messages)
            result = dataclasses.replace(result, written={"messages": messages},
                                         command=_command(topology, scheme, relation, given, messages))
            save_deadlock(deadlocked, files)
            result = dataclasses.replace(result, written=files)
        except WormcastError as error:  # the error is raised after the result is printed
            failed = error
    if json:
        emit_result(result)
    else:
        report(result)
    if failed:
        raise failed
    return result.exit_code


def _command(topology: str, scheme: str, relation: str | None, given: Given, messages: Path) -> str:
    """Return the command that runs the messages again."""
    options = {**({} if relation is None else {"relation": relation}), **given, "messages": messages}
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    return shlex.join(["wormcast", "run", topology, scheme, *words])
