"""Points that are means over random multicasts. Each multicast is simulated without other messages."""

from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean
from typing import Any

import numpy as np

from wormcast.algorithms import WormcastError
from wormcast.algorithms.phrases import count
from wormcast.algorithms.worms import steps_of

from ...build.compatibility import require_sent
from ...build.network import Network
from ...build.setup import Setup
from ...common.stop import Stop
from ...engines.bulk import BulkEngine
from ...host import NOW, UNDELIVERED, check_receipts, lay_out
from ..load.statistics import interval
from ..option_grid import named_point
from ..sweep import REPETITIONS

__all__ = ["RandomPoint", "random_sets"]

TIMEOUT = 10**7
STEP = 1024


def random_sets(nodes: int, count: int, draws: int, seed: int) -> list[tuple[int, list[int]]]:
    """Choose ``draws`` random sources, with ``count`` random destinations each.

    With the same seed, a larger ``count`` only adds destinations.
    """
    orders = [np.random.default_rng([seed, draw]).permutation(nodes).tolist() for draw in range(draws)]
    return [(order[0], order[1:count + 1]) for order in orders]


@dataclass(frozen=True, eq=False)
class RandomPoint:
    """Mean over random multicasts, one in each lane. Each network has ``draws`` lanes.

    Parameters
    ----------
    name : str
        Name of the curve and the value.
    setups : tuple of Setup
        Setup of each network.
    count, length, draws : int
        Number of a multicast's destinations, its payload flits, and number of multicasts in each network.
    key : str
        Everything that the result depends on, as in `RunPoint`.
    """

    name: str
    setups: tuple[Setup, ...]
    count: int
    length: int
    draws: int
    key: str

    @property
    def size(self) -> float:
        """Duration relative to other `RandomPoint` objects: nodes times multicasts times payload flits."""
        return sum(setup.topology.nodes for setup in self.setups) * self.draws * self.length

    def run(self, workers: int | None = None, stop: Stop | None = None) -> dict[str, Any]:
        """Run the multicasts, and return results as plain data.

        Each result but two is the mean over the networks of the mean in each network. ``cycles_simulated`` is the sum
        over the networks. ``replications`` is a list: with several networks, an item has the means in one network; with
        a single network, an item has the results of one multicast. ``latency``: cycles until the last destination has
        noted its receipt, with the half width of a 95 % interval. ``worms``, ``phases``: mean numbers of worms and of
        phases in a multicast's plan.
        """
        found = []
        for number, setup in enumerate(self.setups):
            if stop is not None and stop.requested:
                raise KeyboardInterrupt
            with named_point(f"{self.name}, network {number + 1}"):
                found.append(self._run(setup, number))
        means = [{name: fmean(values) for name, values in each.items()} for each, _ in found]
        latency = interval([one["latency"] for one in means])
        each = means if len(means) > 1 else [dict(zip(found[0][0], values, strict=True))
                                             for values in zip(*found[0][0].values(), strict=True)]
        return {"latency": latency.mean, "latency_half_width": latency.half_width,
                **{name: fmean(one[name] for one in means) for name in ("worms", "phases")},
                "cycles_simulated": sum(cycles for _, cycles in found), REPETITIONS: each}

    def _run(self, setup: Setup, number: int) -> tuple[dict[str, list[float]], int]:
        """Return latency, worms and phases of each multicast in a network, and the cycles simulated."""
        network = _network(setup.topology, setup.scheme, setup.configuration, self.draws)
        sets = random_sets(setup.topology.nodes, self.count, self.draws, number)
        worms = network.scheme.batch(
            setup.topology, [source for source, _ in sets], np.arange(self.draws + 1) * self.count,
            [node for _, destinations in sets for node in destinations],
            packets=network.configuration.packets_of(np.full(self.draws, self.length)))
        require_sent(setup.topology, network.scheme, network.configuration, worms)
        host = lay_out(network, np.zeros(self.draws, np.int64), np.full(self.draws, self.length), worms,
                       lane=np.arange(self.draws))
        engine = BulkEngine(network, host)
        while host.counters[UNDELIVERED] and host.counters[NOW] < TIMEOUT:
            engine.run(STEP)
        check_receipts(engine.host)
        if host.counters[UNDELIVERED]:
            raise WormcastError(
                f"{count(int(host.counters[UNDELIVERED]), 'destination')} of {count(self.draws, 'multicast')} have not "
                f"received the message after {TIMEOUT} cycles, the limit of runs in figures. Needed: shorter messages "
                "or overheads (length, t_hs), or hardware in which the run ends without deadlock.")
        offsets = worms.destination_offsets[worms.message_offsets]
        latencies = np.maximum.reduceat(host.received, offsets[:-1])
        steps = np.maximum.reduceat(np.array(steps_of(worms)), worms.message_offsets[:-1])
        each = {"latency": latencies, "worms": np.diff(worms.message_offsets), "phases": steps}
        return {name: np.asarray(values, float).tolist() for name, values in each.items()}, int(host.counters[NOW])


@lru_cache(maxsize=32)
def _network(*of: Any) -> Network:
    return Network(*of)
