"""Specification of a load experiment by options of the command line or of a sweep file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import flag_text
from wormcast.algorithms.phrases import count

from ...build.limits import CYCLES, FIRST_SEED, MOST_SEED, MOST_SEEDS, SEEDS
from ...build.traffic import Traffic
from .trace import Trace

__all__ = ["Specification"]

FIELDS = tuple(field.name for field in fields(Traffic))

#: Options that are refused with a trace, because the trace determines them or has no use for them.
NOT_WITH_TRACE = (*FIELDS, "until_interval", "precision", "seed", "seeds")


@dataclass(frozen=True)
class Specification:
    """Traffic, number of cycles and seeds of a load experiment.

    Parameters
    ----------
    traffic : Traffic or Trace
    cycles : int or None
    seed, seeds : int or None
        The first seed and the number of seeds; None for a trace.
    """

    traffic: Traffic | Trace
    cycles: int | None
    seed: int | None
    seeds: int | None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Specification":
        """Build a specification from options by name. Options with the value None or False count as not given."""
        options = {name: value for name, value in given.items() if value is not None and value is not False}
        if "trace" in options:
            beside = [name for name in NOT_WITH_TRACE if name in options]
            if beside:
                flags = [name for name in beside if options[name] is True][:1]
                values = ", ".join(str(options[name]) for name in beside)
                typed = flag_text(*flags) if flags else f"{', '.join(beside)}: {values}"
                one = len(flags or beside) == 1
                raise WormcastError(f"{typed} {'is' if one else 'are'} not valid with a trace, "
                                    "which determines all messages. Allowed: a trace without "
                                    f"{'this option' if one else 'these options'}.")
            return cls(Trace(options["trace"]), options.get("cycles"), None, None)
        if "rate" not in options:
            raise WormcastError("rate is missing. Needed: rate or trace.")
        traffic = Traffic(**{name: options[name] for name in FIELDS if name in options})
        seed, seeds = options.get("seed", FIRST_SEED), options.get("seeds", SEEDS)
        if not 1 <= seeds <= MOST_SEEDS:
            raise WormcastError(f"seeds: {seeds} is not valid. Allowed: 1 to {MOST_SEEDS}.")
        if not 0 <= seed <= MOST_SEED + 1 - seeds:
            raise WormcastError(f"seed: {seed} is not valid with {count(seeds, 'seed')}. Allowed: 0 to "
                                f"{MOST_SEED + 1 - seeds}.")
        return cls(traffic, options.get("cycles", CYCLES), seed, seeds)

    @property
    def seed_numbers(self) -> Sequence[int]:
        """All seeds. A trace has one seed, which is ignored."""
        return (0,) if self.seed is None or self.seeds is None else range(self.seed, self.seed + self.seeds)
