"""``hunt``: look for messages that deadlock, and make them few and small."""

import contextlib
import dataclasses
import re
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import WormcastError

from ..build.setup import Setup
from ..common.apart import require_apart
from ..common.figure_file import whole_picture
from ..common.whole_file import whole_file
from ..experiments.hunt import CYCLES, LENGTHS, Hunt, Searched, hunt
from ..experiments.message_file import write_messages
from ..experiments.run import Run
from ..waves.record import around, find_instances, whole_waveform
from ..waves.view import draw_spacetime, read_waveform, rows_of
from ..waves.view.replay import write_replay
from .app import Exit, Json, SchemeName, TopologyName, app, count, emit, say, stdout_for_results, user_files
from .hardware import RelationOption, describe_hardware, takes_hardware
from .options import Given
from .progress import progress
from .replaying import REST
from .running import describe_deadlock
from .waveform import waveform_files

__all__: list[str] = []

#: Networks of so many nodes are recorded whole, others where the deadlock is.
WHOLE = 256

#: What is written, by its ending.
FILES = {"messages": ".jsonl", "waveform": ".vcd", "picture": ".svg", "replay": ".html"}


@app.command("hunt")
@takes_hardware
def hunt_(
    topology: TopologyName,
    scheme: SchemeName,
    cycles: Annotated[int, typer.Option(help="Cycles to search at most, of all networks together.")] = CYCLES,
    length: Annotated[str, typer.Option(
        metavar="A:B", help="Fewest and most payload flits of a message in the search; or one number.")
    ] = "{}:{}".format(*LENGTHS),
    seed: Annotated[int, typer.Option(help="The same seed finds the same.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the files that it writes.")] = Path("out"),
    relation: RelationOption = None,
    *,
    given: Given,
    json: Json = False,
) -> int:
    """Look for messages that deadlock: random ones, in many networks side by side; and make them few and small.

    Exit code 3 and the deadlock if one is found; its messages, a waveform, a space-time diagram and a replay in --out.

    If none is found, exit code 0, and how much was searched; that is no proof, which is what check is for.
    """
    name = re.sub(r"[^\w.+-]", "_", f"{Path(scheme).stem}_{topology}")
    files = {what: out / f"{name}{ending}" for what, ending in FILES.items()}
    require_apart(user_files(scheme, relation, topology),
                  {**files, **waveform_files(files["waveform"])} | {"waveform": None})
    with stdout_for_results():
        setup = Setup.of({"topology": topology, "scheme": scheme, "relation": relation, **given})
        with progress(cycles, "cycles") as show:
            found = hunt(setup.topology, setup.scheme, configuration=setup.configuration, cycles=cycles,
                         lengths=_lengths(length), seed=seed, tell=show)
    command = None
    if found.result is not None:
        out.mkdir(parents=True, exist_ok=True)
        _write(found.result, files)
        command = _command(topology, scheme, relation, given, files["messages"])
    if json:
        resolved = setup.to_dict({"cycles": cycles, "length": length})
        emit(_to_dict(found, files, command), resolved, seed)
    else:
        _report(found, setup, files, command)
    return Exit.DONE if found.result is None else Exit.DEADLOCK


def _lengths(text: str) -> tuple[int, int]:
    """Read A:B, or one number for both."""
    parts = text.split(":")
    if not (len(parts) <= 2 and all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts)):
        raise WormcastError(f"length: {text!r} is given, it must be a number of flits, or A:B, the fewest and the most")
    return int(parts[0]), int(parts[-1])


def _command(topology: str, scheme: str, relation: str | None, given: Given, messages: Path) -> str:
    """What runs the messages again."""
    options = {**({} if relation is None else {"relation": relation}), **given, "messages": messages}
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    return shlex.join(["wormcast", "run", topology, scheme, *words])


def _write(result: Run, files: dict[str, Path]) -> None:
    """Write the messages, and how they deadlock."""
    network, host = result.network, result.host
    assert result.deadlock is not None
    instances = (find_instances(network, "all") if network.topology.nodes <= WHOLE
                 else around(network, host, result.deadlock)[0])
    end = min(result.cycles, int(host.touched.max()) + REST)
    with contextlib.ExitStack() as stack:
        messages = stack.enter_context(whole_file(files["messages"]))
        waveform = stack.enter_context(whole_waveform(files["waveform"]))
        picture = stack.enter_context(whole_picture(files["picture"]))
        write_messages(result.messages, network.topology, messages)
        result.record(waveform, 0, end, instances)
        history = read_waveform(waveform).trimmed()
        draw_spacetime([(history, rows_of(history))], *picture)
        write_replay(history, files["replay"])


def _to_dict(found: Hunt, files: dict[str, Path], command: str | None) -> dict[str, Any]:
    result = found.result
    if result is None:
        return {"found": False, "searched": dataclasses.asdict(found.searched)}
    return {
        "found": True, "searched": dataclasses.asdict(found.searched), "fewer": dataclasses.asdict(found.fewer),
        "first": found.first, "tried": found.tried, "minimal": found.minimal,
        "messages": [dataclasses.asdict(message) for message in result.messages],
        "deadlock": None if result.deadlock is None else result.deadlock.to_dict(),
        "files": {what: str(path) for what, path in files.items()}, "command": command,
    }


def _report(found: Hunt, setup: Setup, files: dict[str, Path], command: str | None) -> None:
    say(f"{setup.scheme.name} on {setup.topology.name}: "
        f"{'no deadlock found' if found.result is None else 'a deadlock'}")
    say(describe_hardware(setup.configuration, setup.scheme))
    say(f"searched: {_told(found.searched)}")
    if found.result is None:
        return
    least = ("it deadlocks no longer without any one message or destination, or with any one payload a flit shorter or "
             "message a cycle earlier" if found.minimal else "given up there, fewer or shorter ones may deadlock")
    say(f"shrunk: {count(found.first or 0, 'message')} to {len(found.result.messages)}, by {found.tried} runs; {least}")
    if found.fewer.networks:
        say(f"searched for fewer messages: {_told(found.fewer)}")
    name = setup.topology.node_name
    for message in found.result.messages:
        say(f"  cycle {message.at}, {name(message.source)} to {' '.join(map(name, message.destinations))}: "
            f"{count(message.length, 'flit')}")
    say(describe_deadlock(found.result))
    for what, path in files.items():
        say(f"{what}: {path}")
    say(f"again: {command}")


def _told(searched: Searched) -> str:
    """How much was searched, in words."""
    (shortest, longest), (fewest, most) = searched.lengths or (0, 0), searched.destinations or (0, 0)
    least, largest = searched.loads or (0, 0)
    unfinished = f"; {searched.unfinished} given up unfinished" if searched.unfinished else ""
    return (f"{searched.cycles} cycles of {count(searched.networks, 'network')}, {count(searched.messages, 'message')} "
            f"of {shortest} to {longest} flits to {fewest} to {count(most, 'node')}, {least:.2f} to {largest:.2f} "
            f"flits to deliver per node and cycle{unfinished}")
