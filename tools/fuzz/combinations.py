"""Random networks, schemes, relations and hardware: what commands say of them is compared."""

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from .guarded import Ended, Place
from .mutations import toml
from .trial import Fault, Trial, attempt, faults_of

if TYPE_CHECKING:
    from .session import Session

__all__ = ["Combination", "compared", "contradictions"]

NETWORKS = (
    "mesh:1x4",
    "mesh:2x3",
    "mesh:3x3",
    "mesh:2x2x2",
    "mesh:4x2",
    "ring:4",
    "ring:5",
    "torus:4x4",
    "torus:3x3",
    "min:b=2,stages=2",
    "min:b=2,stages=3",
    "min:b=2,stages=2,kind=omega",
    "irregular:switches=3,ports=4,nodes=5,connectivity=0.8,seed={seed}",
    "irregular:switches=4,ports=6,nodes=6,connectivity=0.5,seed={seed}",
    "n.toml",
    "n.toml",
)

#: What each option may be; most of them stay as they are.
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
    "dma": ("1/2", "2"),
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

#: Options that make others possible.
WITH: Mapping[str, Mapping[str, object]] = {
    "buffer-kind": {"vcs": 1, "consumption": 1, "buffer": 32, "chunk": 8},
    "ni": {"packet": 4},
    "places": {"ni": "fpfs", "packet": 4},
    "rows": {"ni": "fcfs", "packet": 4},
    "chunk": {"buffer-kind": "deep", "vcs": 1, "consumption": 1, "buffer": 64},
    "slot": {"absorb": "2"},
    "row": {"ni": "fpfs", "packet": 4},
}

#: Combinations in a row that share network and hardware.
SHARED = 6

#: Keys of the JSON of a run that name the engine, or times of day.
ASIDE = ("configuration", "engine", "waveform")


@dataclass(frozen=True)
class Combination:
    """A network, a scheme, a relation, hardware options and messages."""

    network: str
    scheme: str
    relation: str | None
    options: Mapping[str, object]
    length: int
    files: Mapping[str, bytes]

    def trial(self, command: str, *more: str) -> Trial:
        """Make a trial of a command with the options that it has."""
        has = _options_of(command)
        options = {**({} if self.relation is None else {"relation": self.relation}), **self.options}
        words = [word for name, value in options.items() if name in has for word in (f"--{name}", str(value))]
        return Trial((command, self.network, self.scheme, *words, *more, "--json"), self.files)


@functools.cache
def _options_of(command: str) -> frozenset[str]:
    from wormcast.sim.cli.commands import find_command

    return frozenset(
        option.removeprefix("--") for parameter in find_command(command).params for option in parameter.opts
    )


def drawn(rng: Random, shared: Random) -> Combination:
    """Draw a combination; schemes are those that are made for the network, most of the time.

    Network and hardware come from a generator that several combinations share, as hardware takes seconds to compile.
    """
    from wormcast.algorithms import RELATIONS, SCHEMES
    from wormcast.algorithms import topology as find_topology

    network = shared.choice(NETWORKS).format(seed=shared.randint(0, 99))
    files: dict[str, bytes] = {}
    kind, nodes = "own", 0
    if network == "n.toml":
        files[network], nodes = _own_network(shared)
    else:
        built = find_topology(network)
        kind, nodes = built.kind, built.nodes
    fitting = [name for name, scheme in SCHEMES.items() if scheme.networks.startswith("any") or kind in scheme.networks]
    scheme = rng.choice(fitting if rng.random() < 0.9 else [*SCHEMES])
    relation = rng.choice([*RELATIONS]) if rng.random() < 0.25 else None
    options: dict[str, object] = {}
    for name in shared.sample([*OPTIONS], shared.choice((0, 0, 1, 1, 2, 3))):
        options = {**WITH.get(name, {}), **options, name: shared.choice(OPTIONS[name])}
    length = rng.choice((1, 4, 16, 40))
    messages = list(_messages(nodes, length, SCHEMES[scheme].broadcasts, rng))
    files["m.jsonl"] = "".join(json.dumps(message) + "\n" for message in messages).encode()
    return Combination(network, scheme, relation, options, length, files)


def _own_network(rng: Random) -> tuple[bytes, int]:
    """Draw a network of a few switches: a tree, and some more links, which may be parallel; number its nodes."""
    switches = rng.randint(1, 5)
    names = rng.choice(([f"s{index}" for index in range(switches)], ["a", "n", "in", "tables", "x y"][:switches]))
    links = [[names[rng.randrange(index)], names[index]] for index in range(1, switches)]
    links += [rng.sample(names, 2) for _ in range(rng.randint(0, 3)) if switches > 1]
    nodes = [rng.choice(names) for _ in range(rng.randint(2, 6))]
    return toml({"switches": names, "nodes": nodes, "links": links}).encode(), len(nodes)


def _messages(nodes: int, length: int, broadcasts: bool, rng: Random) -> Iterator[dict[str, Any]]:
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


def compared(session: "Session", number: int, rng: Random) -> None:
    """Put a combination to all commands, and compare what they say."""
    combination = drawn(rng, Random(f"{session.seed} {number // SHARED}"))
    first = json.loads(combination.files["m.jsonl"].splitlines()[0])
    destinations = (
        first["destinations"] if first["destinations"] == "all" else ",".join(map(str, first["destinations"]))
    )
    length = str(combination.length)
    asked = {
        "plan": combination.trial(
            "plan",
            *(["--length", length] if "packet" in combination.options else []),
            "--source",
            str(first["source"]),
            "--destinations",
            destinations,
        ),
        "check": combination.trial("check", "--length", length),
        "run": combination.trial("run", "--messages", "m.jsonl", "--timeout", "200000"),
        "amaranth": combination.trial("run", "--messages", "m.jsonl", "--timeout", "200000", "--engine", "amaranth"),
        "trace": combination.trial("load", "--trace", "m.jsonl"),
        "load": combination.trial(
            "load",
            "--rate",
            "0.05",
            "--length",
            length,
            "--cycles",
            "2000",
            "--seeds",
            "2",
            *(
                ("--destinations-distribution", "all")
                if first["destinations"] == "all"
                else ("--destinations-mean", "2")
            ),
        ),
        "hunt": combination.trial("hunt", "--cycles", "20000", "--length", f"1:{length}", "--seed", str(number)),
    }
    answers: dict[str, Ended] = {}
    for name, trial in asked.items():
        with Place() as place:
            answers[name] = attempt(trial, place)
            session.report(f"{number}-{name}", trial, answers[name], faults_of(trial, answers[name], place))
    for name, fault in contradictions(answers):
        session.kinds[fault.kind] += 1
        session.report(f"{number}-{name}", asked[name], answers[name], [fault])


def contradictions(answers: Mapping[str, Ended]) -> Iterator[tuple[str, Fault]]:
    """Yield what commands say of one combination that cannot all be true, and a command that says so.

    Parameters
    ----------
    answers : mapping of str to Ended
        Of ``plan``, ``check``, ``run``, ``amaranth`` (a run by that engine), ``trace`` (a load of the run's messages),
        ``load`` and ``hunt``.
    """
    told = {name: json.loads(one.out) for name, one in answers.items() if one.code in (0, 3, 6) and one.out}
    yield from _refusals(answers)
    if "run" in told and "amaranth" in told:
        one, other = (
            {key: value for key, value in told[name].items() if key not in ASIDE} for name in ("run", "amaranth")
        )
        if one != other:
            keys = [key for key in one if one[key] != other.get(key)]
            yield "amaranth", Fault("engines differ", f"in {', '.join(keys)}")
    if "check" in told and told["check"]["free"] and told["check"]["complete"]:
        for name in ("run", "trace", "load", "hunt"):
            if answers[name].code == 3:
                yield name, Fault("deadlock of what is free", f"check says free, {name} ends in a deadlock")
    if (
        answers["run"].code in (0, 3)
        and answers["trace"].code in (0, 3)
        and answers["run"].code != answers["trace"].code
    ):
        yield "trace", Fault("run and load differ", f"exit {answers['run'].code} and {answers['trace'].code}")
    if answers["run"].code == 5:
        yield "run", Fault("not finished", answers["run"].out[:300])


def _refusals(answers: Mapping[str, Ended]) -> Iterator[tuple[str, Fault]]:
    """Yield refusals by some commands of what others accept."""
    refused = {
        name: one.err.splitlines()[-1].removeprefix("wormcast: ")
        for name, one in answers.items()
        if one.code == 2 and one.err
    }
    for name, others in {
        "plan": ("run", "amaranth", "trace", "load", "hunt", "check"),
        "run": ("amaranth", "trace"),
        "check": ("run", "amaranth", "trace", "load", "hunt"),
        "trace": ("run",),
        "load": ("run", "trace", "hunt"),
        "hunt": ("run", "load"),
        "amaranth": ("run",),
    }.items():
        for other in others if name in refused else ():
            if answers[other].code != 2:
                yield other, Fault(f"{name} refuses, {other} does not", refused[name])
    for name in ("amaranth", "trace"):
        if "run" in refused and name in refused and _reason(refused["run"]) != _reason(refused[name]):
            yield name, Fault(f"run and {name} refuse differently", f"{refused['run']} | {refused[name]}")


def _reason(sentence: str) -> str:
    """Return a refusal without the option that the messages are given by."""
    return sentence.replace("--messages", "--trace").replace("messages:", "trace:")
