"""``demo``: run typical commands on built-in input, or a lesson on deadlock."""

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wormcast.algorithms.errors import WormcastError, nearest

from ..common.atomic_write import make_folder, whole_file
from .app import Exit, app, say
from .commands import command

if TYPE_CHECKING:
    from ..waves.view import History

__all__: list[str] = []

#: Figure 4 of [Boppana98]: from both ends of a row, a multicast to the same two nodes between them.
MESSAGES = """\
{"cycle": 0, "source": "0.0", "destinations": ["0.1", "0.2"], "length": 64}
{"cycle": 0, "source": "0.3", "destinations": ["0.2", "0.1"], "length": 64}
"""

SCHEMES = """\
topology = "mesh:8x8"
scheme = ["individual", "dual-path", "multipath", "column-path", "e-mcast"]
rate = [0.004, 0.01, 0.016, 0.02, 0.024, 0.028]
cycles = 20_000
consumption = 4
"""

#: Input files of the commands.
GIVEN = {"figure4.jsonl": MESSAGES, "schemes.toml": SCHEMES}

#: Figure 2 of [Boppana98].
MULTICAST = "--source 3.2 --destinations 5.0,3.1,0.4,1.4,0.5,1.5,5.5"
FIGURE_4 = "run mesh:1x4 dual-path --vcs 1 --messages {out}/figure4.jsonl"

#: Title of each step, its command, and the exit code that the command must have.
STEPS = (
    ("A multicast to seven nodes of a 6x6 mesh: two worms along the Hamiltonian path",
     f"plan mesh:6x6 dual-path {MULTICAST} --plot {{out}}/paths.svg", Exit.DONE),
    ("The same two worms, simulated on the router hardware",
     f"run mesh:6x6 dual-path {MULTICAST} --length 20", Exit.DONE),
    ("A deadlock: two multicasts, each holds the consumption channel that the other needs",
     f"{FIGURE_4} --consumption 1 --vcd {{out}}/deadlock.vcd --replay {{out}}/deadlock.html", Exit.DEADLOCK),
    ("The same messages with two consumption channels per node: both arrive",
     f"{FIGURE_4} --consumption 2 --vcd {{out}}/cured.vcd --replay {{out}}/cured.html", Exit.DONE),
    ("Space-time diagrams of both runs, side by side, from their waveforms",
     "wave {out}/deadlock.vcd {out}/cured.vcd --plot {out}/figure4.svg", Exit.DONE),
    ("Five schemes under load, each point with four seeds of 20 000 cycles",
     "sweep {out}/schemes.toml --out {out} --plot {out}/schemes.svg", Exit.DONE),
)

FILES = {
    "paths.svg": "paths and visiting orders of the multicast's worms",
    "figure4.svg": "space-time diagram: the deadlock beside the cured run",
    "deadlock.html": "replay of the deadlock, cycle by cycle, in a browser; cured.html: the cured run",
    "deadlock.vcd": "waveform of the deadlock, all signals; with layouts for GTKWave and Surfer",
    "schemes.svg": "latency and throughput of five schemes over load; schemes.csv: the numbers",
}


@dataclass(frozen=True)
class LessonRun:
    """A run of a lesson, and the notes on its replay.

    Parameters
    ----------
    name : str
        Name of the waveform and the replay, without suffix.
    title : str
    line : str
        Command.
    code : Exit
        Exit code that the command must have.
    notes : dict of str to str
        Notes by the moment from which the replay shows them: ``start``, ``closed`` (the knot of a deadlock closes),
        ``rest`` (the deadlock's worms are at rest), ``ejected N`` (the last tail of worm N is ejected) or
        ``delivered``. The cycle of each moment is read from the run.
    """

    name: str
    title: str
    line: str
    code: Exit
    notes: dict[str, str]


@dataclass(frozen=True)
class Lesson:
    """A lesson of ``demo``: its summary, its files of messages with their contents or their sources, and its runs."""

    summary: str
    given: dict[str, str | Path]
    runs: tuple[LessonRun, ...]


#: Messages of figure 1(a) of [Varavithya], which wormcast's figures use, too.
TREES = Path(__file__).parents[1] / "experiments" / "figure" / "catalogue" / "000-fig1a.jsonl"

RING = "run ring:4 individual --ties plus --messages {out}/ring.jsonl"
TREE = "run min:b=2,stages=3 atbm --vcs 1 --consumption 2 --messages {out}/tokens.jsonl"

LESSONS = {
    "ring": Lesson(
        "the textbook's deadlock: four unicasts in a ring; and its cure, classes of virtual channels",
        {"ring.jsonl": "".join(
            f'{{"cycle": 0, "source": "{node}", "destinations": ["{(node + 2) % 4}"], "length": 64}}\n'
            for node in range(4))},
        (LessonRun("ring", "Four unicasts in a ring: deadlock", f"{RING} --vcs 1 --vc-classes none", Exit.DEADLOCK, {
            "start": "Each node sends a worm to the opposite node, by way of the next node in the order 0, 1, 2, 3, "
                     "0. Watch the headers: each reserves a link, and its flits follow.",
            "closed": "Each header waits for the link that the next worm holds. A worm releases a link only after its "
                      "tail has passed, so this wait never ends.",
            "rest": "The buffers behind the headers are full, and their senders have no credits. Nothing moves any "
                    "more."}),
         LessonRun("ring-cured", "The same four unicasts with two classes of virtual channels: all arrive",
               f"{RING} --vcs 2", Exit.DONE, {
                   "start": "Each link has two virtual channels. Worms that still have to cross the edge of the ring, "
                            "between nodes 3 and 0, use channel :0 of a link, all other worms channel :1. Worm 1 waits "
                            "for no other worm.",
                   "ejected 1": "Worm 1 has arrived. Its tail has released link:1>2:1, for which worm 0 waited.",
                   "ejected 0": "Worm 0 has arrived. Its tail has released link:0>1:1, for which worm 3 waited.",
                   "ejected 3": "Worm 3 has arrived. Its tail has released link:3>0:0, for which worm 2 waited.",
                   "delivered": "Headers waited, but not in a circle. No worm crosses the edge on :1, so each wait "
                                "for a channel :1 ends; then each wait for a channel :0 ends, too."}))),
    "consumption": Lesson(
        "two multicasts that wait for each other's consumption channel, and two channels per node",
        {"figure4.jsonl": MESSAGES},
        (LessonRun("consumption", "Two multicasts, one consumption channel per node: deadlock",
               f"{FIGURE_4} --consumption 1", Exit.DEADLOCK, {
                   "start": "Each multicast visits the two nodes in the middle, one from the left, one from the right. "
                            "At a stop a worm reserves the node's consumption channel, and holds it to the tail.",
                   "closed": "Each header waits at its second stop for the consumption channel that the other worm "
                             "holds. No link is in this circle, and the red links only lead to the waiting headers: "
                             "more virtual channels on links would not help.",
                   "rest": "The buffers behind the headers are full, and their senders have no credits. Nothing moves "
                           "any more."}),
         LessonRun("consumption-cured", "The same multicasts with two consumption channels per node: both arrive",
               f"{FIGURE_4} --consumption 2", Exit.DONE, {
                   "start": "One consumption channel is for worms to higher labels, the other for worms to lower "
                            "labels. Both share one link into the node.",
                   "delivered": "The worms passed each other: at each node both held a consumption channel at the "
                                "same time. Both multicasts have arrived."}))),
    "tokens": Lesson(
        "two trees that need the same two outputs of a switch, without tokens and with them",
        {"tokens.jsonl": TREES},
        (LessonRun("tokens", "Two trees that a switch copies, without tokens: deadlock", f"{TREE} --tokens off",
               Exit.DEADLOCK, {
                   "start": "Worms 1 and 2 are multicasts that enter one switch by its two inputs. Each needs both "
                            "outputs of this switch. Worm 0 is a unicast that holds a link which one of them needs.",
                   "closed": "Each tree holds one output of the switch, and waits for the other one. The branch that "
                             "goes on cannot finish: its flits stay in the input buffer until both branches have them.",
                   "rest": "The input buffers are full of flits that one branch still needs. Nothing moves any more."}),
         LessonRun("tokens-cured", "The same trees with tokens: both arrive", TREE, Exit.DONE, {
             "start": "A switch copies a worm only while it holds the token of its group. Watch worm 1: it waits for "
                      "the token, and then for links that worm 2 still holds.",
             "delivered": "The trees went one after the other: worm 1 was copied when worm 2 had released the token "
                          "and the links. All worms have arrived."}))),
}


def _show(name: str, out: Path) -> None:
    """Run a lesson: write waveforms, replays with notes, a space-time diagram, and the notes as text."""
    from ..waves.view import read_waveform
    from ..waves.view.descriptions import milestones
    from ..waves.view.replay import write_replay

    lesson = LESSONS[name]
    make_folder(out)
    for file, content in lesson.given.items():
        with whole_file(out / file) as unfinished:
            unfinished.write_text(content.read_text() if isinstance(content, Path) else content)
    lines = []
    for run in lesson.runs:
        wave, page = out / f"{run.name}.vcd", out / f"{run.name}.html"
        _step(run.title, f"{run.line} --vcd {{out}}/{run.name}.vcd", run.code, out)
        history = read_waveform(wave).trimmed()
        moments = _moments(history)
        notes = [(moments[moment], text) for moment, text in run.notes.items()]
        write_replay(history, page, title=run.title, notes=notes)
        lines += [f"{run.title} ({page.name})", *(f"  from cycle {cycle}: {text}" for cycle, text in notes),
                 *(f"  {words} {cycle}: {why}" for words, cycle, why in milestones(history)), ""]
    waves = " ".join(f"{{out}}/{run.name}.vcd" for run in lesson.runs)
    _step("The runs as space-time diagrams, side by side", f"wave {waves} --plot {{out}}/{name}.svg --width 180",
          Exit.DONE, out)
    with whole_file(out / f"{name}.txt") as unfinished:
        unfinished.write_text("\n".join(lines))
    say("\nwhat to look for:\n")
    for line in lines:
        say(line)
    say("open in a browser (play: space; step: arrow keys; large type: L):")
    for run in lesson.runs:
        say(f"  {out / run.name}.html  {run.title}")
    say(f"files: {out / name}.svg is the picture, {out / name}.txt has the sentences above")


def _moments(history: "History") -> dict[str, int]:
    """Return the cycles of the moments in a history, by the moments' names in `LessonRun.notes`."""
    found = {"start": history.first}
    for hold in history.deliveries:  # in the order of their last cycles
        found[f"ejected {hold.worm}"] = found["delivered"] = hold.last
    if history.deadlock is not None:
        closed = history.knot_closed()
        assert closed is not None
        found |= {"closed": closed, "rest": history.at_rest(step["worm"] for step in history.deadlock["cycle"])}
    return found


def _step(title: str, line: str, expected: Exit, out: Path) -> None:
    """Run a command, and require its exit code."""
    words = shlex.split(line.format(out=shlex.quote(str(out))))
    say(f"\n{title}:\n$ {shlex.join(['wormcast', *words])}")
    if (code := app(words, standalone_mode=False) or Exit.DONE) != expected:
        raise WormcastError(f"demo: exit code {code} of wormcast {words[0]} is not valid. Allowed: {expected}.")


@command("demo")
def demo(
    lesson: Annotated[str, typer.Argument(
        metavar="LESSON", help="Lesson to show in place of the main features. All lessons: wormcast demo --list.",
        show_default=False)] = "",
    out: Annotated[Path, typer.Option(help="Output folder. Default: out.", show_default=False)] = Path("out"),
    lessons: Annotated[bool, typer.Option("--list", help="List the lessons.")] = False,
) -> None:
    """A lesson on deadlock writes replays with notes for a browser, and a picture."""
    if lessons:
        for name, one in LESSONS.items():
            say(f"{name}: {one.summary}")
        return
    if lesson:
        if lesson not in LESSONS:
            raise WormcastError(f"lesson: {lesson!r} is not valid.{nearest(lesson, LESSONS)} "
                                f"Allowed: {', '.join(LESSONS)}.")
        _show(lesson, out)
        return
    started = time.monotonic()
    make_folder(out)
    for name, text in GIVEN.items():
        with whole_file(out / name) as unfinished:
            unfinished.write_text(text)
    for title, line, expected in STEPS:
        _step(title, line, expected, out)
    say(f"\nfiles, written in {time.monotonic() - started:.0f} seconds:")
    for name, what in FILES.items():
        say(f"  {out / name}  {what}")
