"""Worms that wait, and tokens, by the stages of a multistage network: sums by slices of time."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.topologies.min import stage_of_switch

from ...build.network import Network
from ...engines.meter import CONSUMPTION_WAITS, LINK_WAITS, TOKEN_WAITS, TOKENS_HELD, TOKENS_WALK, Measured
from .statistics import Interval, interval

__all__ = ["HEADS", "HELD", "WAITS", "WALK", "StageTotals", "Stages"]

#: What is counted of a stage. Sums over samples: heads of worms that wait, for whatever it is, those that wait for a
#: token, tokens held, and tokens on their way to a worm that waits; and tokens that were taken.
HEADS, WAITS, HELD, WALK, TAKEN = range(5)
FIELDS = 5


class StageTotals:
    """Sums by slices of time, stages and lanes; of a network without stages there are none.

    Parameters
    ----------
    network : Network
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the last one ends.

    Attributes
    ----------
    table : int64 array [slices, 5, lanes, stages]
        `HEADS` and so on.
    """

    def __init__(self, network: Network, edges: np.ndarray):
        topology = network.topology
        stage = stage_of_switch(topology) if topology.kind == "min" else np.zeros(0, np.int32)
        # the switches of a stage stand one behind the other
        self._switches = len(stage)
        self._shape = FIELDS, network.lanes, int(stage.max(initial=-1)) + 1
        self.table = np.zeros((len(edges) - 1, *self._shape), np.int64)

    def extend(self, edges: np.ndarray) -> None:
        """Add slices of time: their edges, from the last one that there is on."""
        self.table = np.concatenate([self.table, np.zeros((len(edges) - 1, *self._shape), np.int64)])

    def add(self, at: int, measured: Measured) -> None:
        """Add what was counted in a slice."""
        if self._switches:
            sampled = measured.sampled
            heads = sampled[[LINK_WAITS, CONSUMPTION_WAITS, TOKEN_WAITS]].sum(axis=0)
            counts = np.stack([heads, sampled[TOKEN_WAITS], sampled[TOKENS_HELD], sampled[TOKENS_WALK], measured.taken])
            _, lanes, stages = self._shape
            self.table[at] += counts.reshape(FIELDS, lanes, stages, -1).sum(axis=3)


@dataclass(frozen=True, eq=False)
class Stages:
    """What was measured of the stages in the cycles that count.

    Parameters
    ----------
    sums : int64 array [5, seeds, stages]
        `HEADS` and so on.
    samples : int64 array [seeds]
        Cycles in which those that wait were counted.
    cycles : int
        Cycles that count.
    tokens : tuple of int
        Groups of each stage that share a token.
    accepted : float array [seeds]
        Flits accepted per node and cycle.
    """

    sums: npt.NDArray[np.int64]
    samples: npt.NDArray[np.int64]
    cycles: int
    tokens: tuple[int, ...]
    accepted: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def known(self) -> np.ndarray:
        """Seeds in which anything was counted, bool [seeds]."""
        return self.samples > 0

    def mean(self, what: int, stage: int | None = None) -> Interval:
        """How many of ``what`` there were on average, in a stage or in all."""
        known = self.known & (len(self) > 0)
        return interval(self._of(what, stage)[known] / self.samples[known])

    def each(self, what: int, stage: int | None = None) -> Interval:
        """Cycles for which each token that was taken was ``what``: their mean number over tokens taken per cycle."""
        taken = self._of(TAKEN, stage)
        known = self.known & (taken > 0)
        return interval(self._of(what, stage)[known] / self.samples[known] * self.cycles / taken[known])

    def longest(self, what: int) -> Interval:
        """The same of the stage in which it takes longest: over all of them the many tokens of a stage that is seldom
        asked for hide those of another."""
        stages = [self.each(what, stage) for stage in range(len(self))]
        return max(stages, key=lambda one: -1.0 if one.mean is None else one.mean, default=Interval(None, None))

    def _of(self, what: int, stage: int | None) -> npt.NDArray[np.int64]:
        return self.sums[what].sum(axis=1) if stage is None else self.sums[what][:, stage]

    def early(self) -> Interval:
        """Share of the waiting heads that wait in the first stage."""
        heads = self.sums[HEADS]
        if not len(self):
            return Interval(None, None)
        known = self.known & (heads.sum(axis=1) > 0)
        return interval(heads[known, 0] / heads[known].sum(axis=1))

    def ceiling(self) -> Interval:
        """Flits per node and cycle that would be accepted if the tokens of the busiest stage were never idle.

        A token serves 1 / (hold + walk) worms a cycle: this is what was accepted over the share of time for which those
        tokens were held, or walked to a worm that waited.
        """
        tokens = np.array(self.tokens)
        if not tokens.any() or not self.known.any():
            return Interval(None, None)
        used = (self.sums[HELD] + self.sums[WALK])[self.known][:, tokens > 0] / self.samples[self.known, None]
        share = (used / tokens[tokens > 0]).max(axis=1)
        return interval(self.accepted[self.known][share > 0] / share[share > 0])

    def table(self) -> list[dict[str, object]]:
        """Each stage in the words of JSON."""
        each = {"token_wait": WAITS, "token_hold": HELD, "token_walk": WALK}
        return [{"stage": stage, "tokens": self.tokens[stage],
                 "blocked_heads": self.mean(HEADS, stage).to_dict(),
                 "token_holders": self.mean(HELD, stage).to_dict(),
                 **{word: self.each(what, stage).to_dict() for word, what in each.items()}}
                for stage in range(len(self))]
