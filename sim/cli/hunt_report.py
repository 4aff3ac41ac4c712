"""Report of a hunt, and the files that show the deadlock found."""

import contextlib
from pathlib import Path

from ..api.simulation import REST, HuntResult
from ..common.atomic_write import make_folder, whole_file
from ..common.figure_file import save_figure, whole_picture
from ..experiments.hunt import SearchExtent
from ..experiments.message_file import write_messages
from ..experiments.run import Run
from ..waves.record import around, find_instances, whole_waveform
from ..waves.view import read_waveform, rows_of, spacetime_figure
from ..waves.view.replay import write_replay
from .app import count, say
from .hardware import describe_hardware
from .run_report import describe_deadlock

__all__ = ["report", "save_deadlock", "save_messages"]

#: Largest number of nodes of a network that is recorded whole.
#: In a network with more than `WHOLE` nodes, only routers and interfaces near the deadlock are recorded.
WHOLE = 256


def save_messages(result: Run, file: Path) -> None:
    """Write the messages of a deadlock, and create the folder if it does not exist."""
    make_folder(file.parent)
    with whole_file(file) as unfinished:
        write_messages(result.messages, result.network.topology, unfinished)


def save_deadlock(result: Run, files: dict[str, Path]) -> None:
    """Write the waveform, picture and replay of a deadlock."""
    network, host = result.network, result.host
    assert result.deadlock is not None
    instances = (find_instances(network, "all") if network.topology.nodes <= WHOLE
                 else around(network, result.deadlock)[0])
    end = min(result.cycles, int(host.touched.max()) + REST)
    with contextlib.ExitStack() as stack:
        waveform = stack.enter_context(whole_waveform(files["waveform"]))
        picture = stack.enter_context(whole_picture(files["picture"]))
        result.record(waveform, 0, end, instances)
        history = read_waveform(waveform).trimmed()
        save_figure(spacetime_figure([(history, rows_of(history))]), *picture)
        write_replay(history, files["replay"])


def report(result: HuntResult) -> None:
    """Print the extent of a hunt, the messages of the reduced deadlock, the deadlock and the written files."""
    found, setup, files, command = result.hunt, result.setup, result.written, result.command
    say(f"{setup.scheme.name} on {setup.topology.name}: "
        f"{'no deadlock found (no proof)' if found.result is None else 'a deadlock'}")
    say(describe_hardware(setup.configuration, setup.scheme))
    say(f"searched: {_extent(found.searched)}")
    if found.result is None:
        return
    least = ("minimal: no deadlock if one message or destination is removed, one payload is a flit shorter, or one "
             "message is a cycle earlier" if found.minimal else "stopped there; fewer or shorter messages may deadlock")
    say(f"shrunk: {count(found.first or 0, 'message')} to {len(found.result.messages)}, by {found.tried} runs; {least}")
    if found.fewer.networks:
        say(f"searched for fewer messages: {_extent(found.fewer)}")
    name = setup.topology.node_name
    for message in found.result.messages:
        say(f"  cycle {message.at}, {name(message.source)} to {' '.join(map(name, message.destinations))}: "
            f"{count(message.length, 'flit')}")
    say(describe_deadlock(found.result))
    for what, path in files.items():
        say(f"{what}: {path}")
    if command:
        say(f"again: {command}")


def _extent(searched: SearchExtent) -> str:
    """Return the extent of a search in words."""
    (shortest, longest), (fewest, most) = searched.lengths or (0, 0), searched.destinations or (0, 0)
    least, largest = searched.loads or (0, 0)
    unfinished = f"; {count(searched.unfinished, 'network')} stopped unfinished" if searched.unfinished else ""
    return (f"{searched.cycles} cycles of {count(searched.networks, 'network')}, {count(searched.messages, 'message')} "
            f"of {shortest} to {longest} flits to {fewest} to {count(most, 'node')}, {least:.2f} to {largest:.2f} "
            f"flits to deliver per node and cycle{unfinished}")
