"""Random combinations of networks, schemes, relations and hardware, and comparisons of commands that use them."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from .mutations import format_toml
from .sandbox import CommandOutcome, Sandbox
from .session import Session
from .trial import CommandFault, Trial, find_faults, run_trial

__all__ = ["Combination", "compare_commands", "draw_combination", "find_contradictions"]

NETWORKS = (
    "mesh:1x4", "mesh:2x3", "mesh:3x3", "mesh:2x2x2", "mesh:4x2", "ring:4", "ring:5", "torus:4x4", "torus:3x3",
    "min:b=2,stages=2", "min:b=2,stages=3", "min:b=2,stages=2,kind=omega",
    "irregular:switches=3,ports=4,nodes=5,connectivity=0.8,seed={seed}",
    "irregular:switches=4,ports=6,nodes=6,connectivity=0.5,seed={seed}", "n.toml", "n.toml",
)

#: Commands that draw a random sample of multicasts, and the start of their refusals of a worm in the sample.
SAMPLE = ("check", "load", "hunt")
OF_A_WORM = re.compile(r"scheme \S+( by \S+)?: a worm |ni: \S+ is not valid: network interfaces forward the worms ")

#: Words of the refusal by ``hunt`` of a scheme that supports broadcast only.
OF_BROADCASTS = "it supports broadcast only"

#: Values of each option. In a combination, most options keep their defaults.
OPTIONS: Mapping[str, tuple[object, ...]] = {
    "vcs": (1, 1, 2, 3),
    "buffer": (1, 2, 4, 16, 32),
    "buffer-kind": ("deep",),
    "chunk": (4, 8),
    "readers": ("independent",),
    "consumption": (1, 1, 2, 3),
    "flit-width": (4, 8, 16, 64),
    "header": ("ideal",),
    "delays": ("fast",),
    "ports": ("all",),
    "ejection": ("all",),
    "consumption-links": ("separate",),
    "packet": (1, 4, 8),
    "queue": (1, 8),
    "t-hs": (3,),
    "t-hr": (5,),
    "t-ns": (2,),
    "t-nr": (2,),
    "dma": ("1/2", "5/3", "2"),
    "dma-buckets": ("separate",),
    "dma-engine": ("interface",),
    "send-queue": (1, 2),
    "receive-queue": (1, 3),
    "ni-processors": ("one",),
    "ni-order": ("receive-first", "send-first"),
    "absorb": ("host", "1", "2"),
    "slot": (16,),
    "ni": ("fcfs", "fpfs"),
    "rows": (1, 2),
    "places": (1, 8),
    "row": (4,),
    "vc-classes": ("none",),
    "tokens": ("on", "off"),
    "ties": ("signed",),
    "classes": ("", "1+,0+/1-/0-:last"),
    "copying": ("first",),
    "configuration": ("boppana_8x8", "dcf_torus", "atbm_64", "sivaram_32", "small", "amnah_5x5x5"),
}

#: For some options, further options without which they would be refused.
NEEDED_WITH: Mapping[str, Mapping[str, object]] = {
    "buffer-kind": {"vcs": 1, "consumption": 1, "buffer": 32, "chunk": 8},
    "ni": {"packet": 4},
    "places": {"ni": "fpfs", "packet": 4},
    "rows": {"ni": "fcfs", "packet": 4},
    "chunk": {"buffer-kind": "deep", "vcs": 1, "consumption": 1, "buffer": 64},
    "slot": {"absorb": "2"},
    "row": {"ni": "fpfs", "packet": 4},
    "dma-buckets": {"dma": "1/2"},
    "dma-engine": {"dma": "4/3"},
    "send-queue": {"packet": 4},
    "receive-queue": {"packet": 4},
    "ni-processors": {"packet": 8, "send-queue": 1, "receive-queue": 2},
    "ni-order": {"packet": 8, "send-queue": 2, "receive-queue": 1, "ni-processors": "one"},
}

#: Number of consecutive combinations with the same network and hardware.
SHARED = 6

#: Keys of the JSON of a run that differ between engines.
ENGINE_KEYS = ("configuration", "engine", "waveform")


@dataclass(frozen=True)
class Combination:
    """Combination of network, scheme, relation, hardware options and messages."""

    network: str
    scheme: str
    relation: str | None
    options: Mapping[str, object]
    length: int
    files: Mapping[str, bytes]

    def trial(self, command: str, *more: str) -> Trial:
        """Return a trial of a command. Options that the command does not have are omitted."""
        accepted = _options_of(command)
        options = {**({} if self.relation is None else {"relation": self.relation}), **self.options}
        words = [word for name, value in options.items() if name in accepted for word in (f"--{name}", str(value))]
        return Trial((command, self.network, self.scheme, *words, *more, "--json"), self.files)


@functools.cache
def _options_of(command: str) -> frozenset[str]:
    from wormcast.sim.cli.commands import find_command

    return frozenset(option.removeprefix("--") for parameter in find_command(command).params
                     for option in parameter.opts)


def draw_combination(rng: Random, shared: Random) -> Combination:
    """Draw a combination. In nine of ten cases the scheme is chosen from those that support the network.

    Network and hardware are drawn from ``shared``, a generator whose seed several combinations have in common: hardware
    takes seconds to compile.
    """
    from wormcast.algorithms import RELATIONS, SCHEMES
    from wormcast.algorithms import topology as find_topology

    network = shared.choice(NETWORKS).format(seed=shared.randint(0, 99))
    files: dict[str, bytes] = {}
    kind, nodes = "own", 0
    if network == "n.toml":
        files[network], nodes = _draw_network_file(shared)
    else:
        built = find_topology(network)
        kind, nodes = built.kind, built.nodes
    fitting = [name for name, scheme in SCHEMES.items() if scheme.networks.startswith("any") or kind in scheme.networks]
    scheme = rng.choice(fitting if rng.random() < 0.9 else [*SCHEMES])
    relation = rng.choice([*RELATIONS]) if rng.random() < 0.25 else None
    options: dict[str, object] = {}
    for name in shared.sample([*OPTIONS], shared.choice((0, 0, 1, 1, 2, 3))):
        options = {**NEEDED_WITH.get(name, {}), **options, name: shared.choice(OPTIONS[name])}
    length = rng.choice((1, 4, 16, 40))
    messages = list(_draw_messages(nodes, length, SCHEMES[scheme].broadcasts, rng))
    files["m.jsonl"] = "".join(json.dumps(message) + "\n" for message in messages).encode()
    return Combination(network, scheme, relation, options, length, files)


def _draw_network_file(rng: Random) -> tuple[bytes, int]:
    """Draw a network file and its number of nodes: up to five switches in a tree, and up to three further links."""
    switches = rng.randint(1, 5)
    names = rng.choice(([f"s{index}" for index in range(switches)], ["a", "n", "in", "tables", "x y"][:switches]))
    links = [[names[rng.randrange(index)], names[index]] for index in range(1, switches)]
    links += [rng.sample(names, 2) for _ in range(rng.randint(0, 3)) if switches > 1]
    nodes = [rng.choice(names) for _ in range(rng.randint(2, 6))]
    return format_toml({"switches": names, "nodes": nodes, "links": links}).encode(), len(nodes)


def _draw_messages(nodes: int, length: int, broadcasts: bool, rng: Random) -> Iterator[dict[str, Any]]:
    cycle = 0
    for _ in range(rng.randint(1, 12)):
        source, *others = rng.sample(range(nodes), nodes)
        yield {
            "cycle": cycle,
            "source": source,
            "length": rng.randint(1, length),
            "destinations": "all" if broadcasts else others[: rng.randint(1, len(others))],
        }
        cycle += rng.choice((0, 0, 1, 5))


def compare_commands(session: Session, number: int, rng: Random) -> None:
    """Run the commands of `_trials` on a random combination, and report faults and contradictions."""
    combination = draw_combination(rng, Random(f"{session.seed} {number // SHARED}"))
    trials = _trials(combination, number)
    outcomes: dict[str, CommandOutcome] = {}
    for name, trial in trials.items():
        with Sandbox() as sandbox:
            outcomes[name] = run_trial(trial, sandbox)
            session.report(f"{number}-{name}", trial, outcomes[name], find_faults(trial, outcomes[name], sandbox))
    for name, fault in find_contradictions(outcomes):
        session.report(f"{number}-{name}", trials[name], outcomes[name], [fault])


def _trials(combination: Combination, number: int) -> dict[str, Trial]:
    """Return one trial per command, by name.

    ``amaranth``: the command ``run`` with this engine. ``trace``: the command ``load`` with the messages of ``run``.
    """
    first = json.loads(combination.files["m.jsonl"].splitlines()[0])
    to_all = first["destinations"] == "all"
    destinations = "all" if to_all else ",".join(map(str, first["destinations"]))
    length = str(combination.length)
    length_of_plan = ("--length", length) if "packet" in combination.options else ()
    number_of_destinations = ("--destinations-distribution", "all") if to_all else ("--destinations-mean", "2")
    run = ("--messages", "m.jsonl", "--timeout", "200000")
    return {
        "plan": combination.trial(
            "plan", *length_of_plan, "--source", str(first["source"]), "--destinations", destinations),
        "check": combination.trial("check", "--length", length),
        "run": combination.trial("run", *run),
        "amaranth": combination.trial("run", *run, "--engine", "amaranth"),
        "trace": combination.trial("load", "--trace", "m.jsonl"),
        "load": combination.trial(
            "load", "--rate", "0.05", "--length", length, "--cycles", "2000", "--seeds", "2", *number_of_destinations),
        "hunt": combination.trial("hunt", "--cycles", "20000", "--length", f"1:{length}", "--seed", str(number)),
    }


def find_contradictions(outcomes: Mapping[str, CommandOutcome]) -> Iterator[tuple[str, CommandFault]]:
    """Yield each contradiction between two commands, with the name of one of the two, and an unfinished ``run``.

    Parameters
    ----------
    outcomes : mapping of str to CommandOutcome
        Outcomes of ``plan``, ``check``, ``run``, ``amaranth`` (a run by that engine), ``trace`` (a load with the run's
        messages), ``load`` and ``hunt``.
    """
    results = {name: json.loads(outcome.out) for name, outcome in outcomes.items()
               if outcome.code in (0, 3, 6) and outcome.out}
    yield from _contradictory_refusals(outcomes)
    if "run" in results and "amaranth" in results:
        bulk, amaranth = ({key: value for key, value in results[name].items() if key not in ENGINE_KEYS}
                          for name in ("run", "amaranth"))
        if bulk != amaranth:
            keys = [key for key in bulk if bulk[key] != amaranth.get(key)]
            yield "amaranth", CommandFault("engines differ", f"in {', '.join(keys)}")
    if "check" in results and results["check"]["free"] and results["check"]["complete"]:
        for name in ("run", "trace", "load", "hunt"):
            if outcomes[name].code == 3:
                yield name, CommandFault("deadlock contradicts check", f"check reports no deadlock, {name} ends in one")
    run, trace = outcomes["run"], outcomes["trace"]
    if run.code in (0, 3) and trace.code in (0, 3) and run.code != trace.code:
        yield "trace", CommandFault("run and load differ", f"exit {run.code} and {trace.code}")
    if run.code == 5:
        yield "run", CommandFault("not finished", run.out[:300])


def _contradictory_refusals(outcomes: Mapping[str, CommandOutcome]) -> Iterator[tuple[str, CommandFault]]:
    """Yield a fault for each command that accepts what another command refuses, or refuses it for another reason.

    A refusal of a worm in the random sample of ``check``, ``load`` or ``hunt`` does not contradict a command with given
    messages. If ``hunt`` refuses a scheme that supports broadcast only, the refusal contradicts no other command.
    """
    refusals = {name: outcome.err.splitlines()[-1].removeprefix("wormcast: ") for name, outcome in outcomes.items()
                if outcome.code == 2 and outcome.err}
    for name, others in {
        "plan": ("run", "amaranth", "trace", "load", "hunt", "check"),
        "run": ("amaranth", "trace"),
        "check": ("run", "amaranth", "trace", "load", "hunt"),
        "trace": ("run",),
        "load": ("run", "trace", "hunt"),
        "hunt": ("run", "load"),
        "amaranth": ("run",),
    }.items():
        for other in others if name in refusals else ():
            sampled = name in SAMPLE and other not in SAMPLE and OF_A_WORM.match(refusals[name])
            if outcomes[other].code != 2 and not sampled and OF_BROADCASTS not in refusals[name]:
                yield other, CommandFault(f"{name} refuses, {other} does not", refusals[name])
    for name in ("amaranth", "trace"):
        if "run" in refusals and name in refusals and _reason(refusals["run"]) != _reason(refusals[name]):
            yield name, CommandFault(f"run and {name} refuse differently", f"{refusals['run']} | {refusals[name]}")


def _reason(refusal: str) -> str:
    """Replace --messages by --trace in the text of a refusal, so that refusals of run and load can be compared."""
    return refusal.replace("--messages", "--trace").replace("messages:", "trace:")
