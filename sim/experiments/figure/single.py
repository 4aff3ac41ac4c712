"""Curve of single runs over an option: one multicast per point, or a mean of random multicasts."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

import wormcast
from wormcast.algorithms import Topology, WormcastError, file_digest, find_scheme, topology
from wormcast.algorithms.source_digest import source_digest

from ...build.configuration import UNTIMED_FIELDS, Configuration
from ...build.setup import Setup
from ...common.stop import Stop
from ...host import Message
from ..contention import followed
from ..formula import Formula, UnloadedLatency, has_formula, unloaded_latency
from ..option_grid import named_point
from ..run import run
from ..sweep import REPETITIONS
from .predicate import RUN_WORDS
from .quantity import Quantity
from .random_points import RandomPoint
from .series_curve import NETWORK, SeriesCurve, drawn_network

__all__ = ["RunCurve", "RunPoint"]

#: Version of the results. Increase the version when keys of results or their meaning change.
RESULTS = 4

TIMEOUT = 10**8

#: Keys of waits in results, and their causes (`CAUSES`). The cause ``other_traffic`` does not occur with one message.
WAITS_BEHIND = {"others_wait": "other_nodes", "own_wait": "own_sends", "arbitration_wait": "arbitration"}


@dataclass(frozen=True, eq=False)
class RunPoint:
    """Point of a curve of single runs: one multicast, without other messages.

    Parameters
    ----------
    name : str
        Name of the curve and the value.
    setup : Setup
    message : Message
    key : str
        Everything that the result depends on, as JSON: options, version, digests of code and of files in options.
    """

    name: str
    setup: Setup
    message: Message
    key: str

    @property
    def size(self) -> float:
        """Relative duration, to compare with other points of single multicasts: nodes times payload flits."""
        return self.setup.topology.nodes * self.message.length

    def run(self, workers: int | None = None, stop: Stop | None = None) -> dict[str, Any]:
        """Run the multicast, and return its results as plain data.

        ``workers`` is ignored, as a run has one seed, and ``stop``, as a run is short.

        ``bound`` of a broadcast: [Hou]'s least number of steps times the latency of a unicast over one hop. On a 2-D
        torus of N nodes the least number of steps is ceil(log5 N). ``t_hop`` and ``c`` are measured by unicasts from
        node 0 to nodes 1 and 2 of the last dimension (`unloaded_latency`). If nodes 1 and 2 are not one hop and two
        hops away from node 0, ``t_hop``, ``c`` and ``bound`` are None.
        ``others_wait``, ``own_wait``, ``arbitration_wait``: waiting cycles by cause, for channels and turns together
        (`contention`).
        """
        network, scheme, configuration = self.setup.topology, self.setup.scheme, self.setup.configuration
        with named_point(self.name):
            result = run(network, scheme, [self.message], configuration, timeout=TIMEOUT,
                         contention=followed(scheme, configuration))
            one = _alone(network, configuration, self.message.length)
        if result.outcome != "delivered":
            at = f"{result.cycles} cycles" + ", the limit of runs in figures" * (result.cycles >= TIMEOUT)
            raise WormcastError(f"{self.name}: the run's outcome is {result.outcome} after {at}. Needed: options with "
                                "which wormcast run has the outcome delivered.")
        t_s, t_r = configuration.t_hs, configuration.t_hr
        cost = scheme.cost(network) if has_formula(network, configuration, self.message) else None
        broadcast = len(self.message.destinations) == network.nodes - 1
        least = math.ceil(round(math.log(network.nodes, 2 * len(network.shape) + 1), 9))
        return {
            "latency": result.message_to_dict(0)["latency"],
            "formula": Formula(cost, t_s, t_r, one).latency if cost and one else None,
            "bound": least * (t_s + t_r + one.hop + one.c) if broadcast and one else None,
            "bound_steps": least if broadcast else None, "t_hop": one and one.hop, "c": one and one.c,
            "cycles_simulated": result.cycles, "worms": len(result.worms),
            **{word: sum(result.contention[0][cause].values()) if result.contention else None
               for word, cause in WAITS_BEHIND.items()},
        }


@cache
def _alone(network: Topology, configuration: Configuration, length: int) -> UnloadedLatency | None:
    return unloaded_latency(network, configuration, length)


#: Functions that return the same object for equal arguments, so that hardware is built once for all points.
_topology = cache(topology)
_scheme = cache(find_scheme)

@cache
def _code() -> str:
    return source_digest([__file__])


def _key(kind: str, given: Mapping[str, Any], setup: Setup, message: Mapping[str, Any]) -> str:
    """Return everything that a point's result depends on, as JSON. ``message``: options of the multicast."""
    texts = {f"{what}_text": file_digest(given.get(what)) for what in ("topology", "scheme", "relation")}
    resolved = setup.to_dict(message, named="configuration", without=UNTIMED_FIELDS)
    version = {"version": wormcast.__version__, kind: RESULTS, "code": _code()}
    return json.dumps({**version, **texts, **resolved}, sort_keys=True)


class RunCurve(SeriesCurve):
    """Curve of single runs over one of their options.

    Points are numbered: the place of a point is the index of its value in `values`, from 0. With ``quick``, only every
    second value has a point.
    """

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options that all points of the curve share: of ``wormcast run``, and of random multicasts.

        Curves of random multicasts also have the options ``random``, ``networks`` and ``draws``, which ``wormcast run``
        does not have.
        """
        one = {} if self.drawn else {"source": "0", "destinations": "all"}
        return {**one, **self.given}

    @cached_property
    def values(self) -> list[Any]:
        """Values of the option on the axis; every second value if ``quick``."""
        given = self.series.values or self.figure.values
        return list(given[::2] if self.quick else given)

    def at(self, place: int) -> float:
        """Return the x value of a point: its option's value; for a topology, the number of nodes."""
        value = self.values[place]
        return _topology(drawn_network(value, 0)).nodes if self.figure.over == "topology" else float(value)

    @property
    def drawn(self) -> bool:
        """The points are means of random multicasts."""
        return "random" in (*self.given, self.figure.over)

    @property
    def reconstructed(self) -> bool:
        """The scheme is reconstructed."""
        network = _topology(drawn_network(self.options.get("topology") or self.values[0], 0))
        return _scheme(self.options["scheme"], network, None).reconstructed

    def columns(self, place: int) -> dict[str, Any]:
        """Return the columns of the figure's table that precede the results of a point."""
        return {self.figure.over: self.values[place]}

    @cached_property
    def hardware(self) -> dict[str, Any]:
        """Everything that the first point's result depends on, without the configuration's name."""
        return {name: value for name, value in json.loads(self.point(0).key).items() if name != "configuration"}

    def point(self, place: int) -> RunPoint | RandomPoint:
        """Build and check a point of the curve without running it."""
        given = {**self.options, self.figure.over: self.values[place]}
        name = f"{self.name}, {self.figure.over} {self.values[place]}"
        if self.drawn:
            return self._drawn_point(name, given)
        with named_point(name):
            network = _topology(given["topology"])
            scheme = _scheme(given["scheme"], network, given.get("relation"))
            setup = Setup.on(network, scheme, given)
            source = network.node(given["source"], "source")
            targets = network.destination_set(given["destinations"], source)
            message = Message(0, source, tuple(targets), given["length"])
        key = _key("run", given, setup, {"source": source, "targets": targets, "length": message.length})
        return RunPoint(name, setup, message, key)

    def points(self, place: int) -> "list[RunPoint | RandomPoint]":
        """Return the point of a place, in a list."""
        return [self.point(place)]

    def put(self, place: int, results: Sequence[dict[str, Any]]) -> None:
        """Store the result of `points`."""
        [self.results[place]] = results

    def _drawn_point(self, name: str, given: dict[str, Any]) -> RandomPoint:
        """Return a point of random multicasts.

        {network} in the topology's name stands for the number of a network, from 1.
        """
        networks = 1 if NETWORK not in given["topology"] else given.get("networks", 10)
        count, draws, length = given["random"], given.get("draws", 8), given["length"]
        if self.quick:
            networks, draws = -(-networks // 3), -(-draws // 2)
        setups = []
        with named_point(name):
            for number in range(networks):
                network = _topology(drawn_network(given["topology"], number))
                setup = Setup.on(network, _scheme(given["scheme"], network, given.get("relation")), given)
                setups.append(setup)
                if count >= network.nodes:
                    raise WormcastError(f"random: {count} destinations are not valid: {network.name} has "
                                        f"{network.nodes} nodes. Allowed: at most {network.nodes - 1}.")
        key = _key("drawn", given, setups[0],
                   {"random": count, "length": length, "networks": networks, "draws": draws})
        return RandomPoint(name, tuple(setups), count, length, draws, key)

    def missing(self) -> set[int]:
        """Return the numbers of the points to measure next: all points without a result."""
        return {*range(len(self.values))} - self.results.keys()

    def measured(self, word: str) -> Quantity:
        """Return the measurement ``word``, one of `RUN_WORDS`, at each value of the option on the axis."""
        if word not in RUN_WORDS:
            raise WormcastError(f"{word} is not valid with series {self.series.name} of {self.figure.place}, which has "
                                f"single runs. Allowed: {', '.join(RUN_WORDS)}.")
        found: dict[float | None, Any] = {}
        for place in self.places:
            each = self.results[place].get(REPETITIONS)
            value = self.results[place].get(word) if each is None else np.array([one[word] for one in each])
            if value is not None:
                found[self.at(place)] = value, value, value
        return Quantity(found)
