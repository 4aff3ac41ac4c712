"""Waiting worms and tokens by stage of a multistage network, summed by time slice."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wormcast.algorithms.topologies.min import stage_of_switch

from ...build.network import Network
from ...engines.meter import CONSUMPTION_WAITS, LINK_WAITS, TOKEN_WAITS, TOKENS_HELD, TOKENS_WALK, MeterResults
from .statistics import Interval, interval

__all__ = ["HEADS", "HELD", "WAITS", "WALK", "StageTotals", "Stages"]

#: Counts of a stage. HEADS: worms or branches that wait for a link, a consumption channel or a token.
#: WAITS: worms that wait for a token. HELD: tokens that a switch holds.
#: WALK: tokens on their way to a waiting worm. HEADS to WALK are sums over the sampled cycles.
#: TAKEN: number of times that a worm has taken a token.
HEADS, WAITS, HELD, WALK, TAKEN = range(5)
FIELDS = 5


class StageTotals:
    """Counts by time slice, stage and lane. For a network without stages the table has no columns.

    Parameters
    ----------
    network : Network
    edges : int array [slices + 1]
        Cycles in which the slices begin, and the end of the last one.

    Attributes
    ----------
    table : int64 array [slices, 5, lanes, stages]
        Counts in the order `HEADS`, `WAITS`, `HELD`, `WALK`, `TAKEN`.
    """

    def __init__(self, network: Network, edges: np.ndarray):
        topology = network.topology
        stage = stage_of_switch(topology) if topology.kind == "min" else np.zeros(0, np.int32)
        # the switches of a stage have consecutive numbers
        self._switches = len(stage)
        self._shape = FIELDS, network.lanes, int(stage.max(initial=-1)) + 1
        self.table = np.zeros((len(edges) - 1, *self._shape), np.int64)

    def extend(self, edges: np.ndarray) -> None:
        """Append time slices. ``edges`` begins with the last edge of the present slices."""
        self.table = np.concatenate([self.table, np.zeros((len(edges) - 1, *self._shape), np.int64)])

    def add(self, at: int, measured: MeterResults) -> None:
        """Add measurements to a time slice."""
        if self._switches:
            sampled = measured.sampled
            heads = sampled[[LINK_WAITS, CONSUMPTION_WAITS, TOKEN_WAITS]].sum(axis=0)
            counts = np.stack([heads, sampled[TOKEN_WAITS], sampled[TOKENS_HELD], sampled[TOKENS_WALK], measured.taken])
            _, lanes, stages = self._shape
            self.table[at] += counts.reshape(FIELDS, lanes, stages, -1).sum(axis=3)


@dataclass(frozen=True, eq=False)
class Stages:
    """Measurements of the stages in the cycles after the warm-up.

    Parameters
    ----------
    sums : int64 array [5, seeds, stages]
        Counts in the order `HEADS`, `WAITS`, `HELD`, `WALK`, `TAKEN`.
    samples : int64 array [seeds]
        Number of sampled cycles.
    cycles : int
        Number of cycles after the warm-up.
    tokens : tuple of int
        Number of token groups in each stage.
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
        """Flag of each seed: True if the seed has sampled cycles; bool [seeds]."""
        return self.samples > 0

    def mean(self, what: int, stage: int | None = None) -> Interval:
        """Return the mean of a count (`HEADS`, `WAITS`, `HELD` or `WALK`) over the sampled cycles.

        With ``stage``, the switches of one stage are counted, else the switches of all stages.
        """
        known = self.known & (len(self) > 0)
        return interval(self._of(what, stage)[known] / self.samples[known])

    def each(self, what: int, stage: int | None = None) -> Interval:
        """Return a count's mean cycles per taken token: its mean over time, divided by the tokens taken per cycle."""
        taken = self._of(TAKEN, stage)
        known = self.known & (taken > 0)
        return interval(self._of(what, stage)[known] / self.samples[known] * self.cycles / taken[known])

    def longest(self, what: int) -> Interval:
        """Return the maximum over the stages of the results of `each`. A mean over all stages may hide a slow stage."""
        stages = [self.each(what, stage) for stage in range(len(self))]
        return max(stages, key=lambda one: -1.0 if one.mean is None else one.mean, default=Interval(None, None))

    def _of(self, what: int, stage: int | None) -> npt.NDArray[np.int64]:
        return self.sums[what].sum(axis=1) if stage is None else self.sums[what][:, stage]

    def early(self) -> Interval:
        """Return the share of the waiting worms (`HEADS`) that wait in the first stage."""
        heads = self.sums[HEADS]
        if not len(self):
            return Interval(None, None)
        known = self.known & (heads.sum(axis=1) > 0)
        return interval(heads[known, 0] / heads[known].sum(axis=1))

    def ceiling(self) -> Interval:
        """Return the flits per node and cycle that nodes would accept if the busiest stage's tokens were never idle.

        The result is ``accepted``, divided by the share of time in which a token of the busiest stage is held or on its
        way to a waiting worm.
        """
        tokens = np.array(self.tokens)
        if not tokens.any() or not self.known.any():
            return Interval(None, None)
        used = (self.sums[HELD] + self.sums[WALK])[self.known][:, tokens > 0] / self.samples[self.known, None]
        share = (used / tokens[tokens > 0]).max(axis=1)
        return interval(self.accepted[self.known][share > 0] / share[share > 0])

    def table(self) -> list[dict[str, object]]:
        """Return plain data for JSON: a row for each stage of switches of the multistage network."""
        each = {"token_wait": WAITS, "token_hold": HELD, "token_walk": WALK}
        return [{"stage": stage, "tokens": self.tokens[stage],
                 "blocked_heads": self.mean(HEADS, stage).to_dict(),
                 "token_holders": self.mean(HELD, stage).to_dict(),
                 **{word: self.each(what, stage).to_dict() for word, what in each.items()}}
                for stage in range(len(self))]
