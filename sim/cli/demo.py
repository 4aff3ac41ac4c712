"""``demo``: the main job on built-in input."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import plan
from wormcast.algorithms import topology as build_topology

from ..files import whole_file
from ..host import Message
from ..run import run
from .app import app, find_scheme, say, table
from .hardware import hardware
from .running import describe_deadlock

__all__: list[str] = []

# paper 002, figures 2 and 4
EXAMPLE = ("mesh:6x6", "3.2", "5.0,3.1,0.4,1.4,0.5,1.5,5.5", 20)
CHAIN = "mesh:1x4"
FIGURE_4 = (Message(at=0, source=0, destinations=(1, 2), length=64),
            Message(at=0, source=3, destinations=(2, 1), length=64))


@app.command("demo")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files it makes.")] = Path("out"),
) -> None:
    """Send a multicast by two schemes, run into Figure 4's deadlock, and cure it with a second channel."""
    out.mkdir(parents=True, exist_ok=True)
    files = [*_example(out), *_figure_4(out)]
    say("files:")
    for path, what in files:
        say(f"  {path}  {what}")


def _example(out: Path) -> list[tuple[Path, str]]:
    name, source, destinations, length = EXAMPLE
    network = build_topology(name)
    rows: list[list[object]] = []
    results = []
    for scheme_name in ("individual", "dual-path"):
        scheme = find_scheme(scheme_name, network)
        planned = plan(network, scheme, source, destinations)
        message = Message(0, network.node(source), tuple(network.node_set(destinations)), length)
        result = run(network, scheme, [message], hardware(network, scheme, {}))
        found = result.message_to_dict(0)
        rows.append([scheme_name, planned.copies, planned.hops, found["latency"]])
        results.append({"scheme": scheme_name, "plan": planned.to_dict(), "run": result.to_dict()})
    table(["scheme", "worms", "hops", "latency (cycles)"], rows,
          title=f"{name}: {length} flits from {source} to {destinations} (Boppana et al. 1998, figure 2)")
    path = out / "example.json"
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps(results, indent=1) + "\n")
    return [(path, "both plans, and every delivery")]


def _figure_4(out: Path) -> list[tuple[Path, str]]:
    network = build_topology(CHAIN)
    scheme = find_scheme("dual-path", network)
    say(f"\n{CHAIN}: two worms of 64 flits, 0 to 1,2 and 3 to 2,1 (Boppana et al. 1998, figure 4)")
    waveform = out / "figure4.vcd"
    for channels in (1, 2):
        options = hardware(network, scheme, {"vcs": 1, "buffer": 4, "consumption": channels})
        if channels == 1:
            with whole_file(waveform) as unfinished:
                result = run(network, scheme, FIGURE_4, options, vcd=unfinished)
        else:
            result = run(network, scheme, FIGURE_4, options)
        if result.deadlock:
            say(f"consumption channels {channels}: {describe_deadlock(result)}")
        else:
            latest = max(result.message_to_dict(index)["latency"] for index in range(len(FIGURE_4)))
            say(f"consumption channels {channels}: {result.outcome}, latency {latest} cycles")
    messages = out / "figure4.json"
    entries = [dataclasses.asdict(message) for message in FIGURE_4]
    with whole_file(messages) as unfinished:
        unfinished.write_text(json.dumps(entries) + "\n")
    return [
        (messages, f"the messages, for: wormcast run {CHAIN} dual-path --vcs 1 --consumption 1 --messages {messages}"),
        (waveform, "the deadlock, every signal of the network"),
    ]
