"""What the options of a load experiment ask for, on the command line and in a sweep's file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from wormcast.algorithms import WormcastError

from ...build.limits import CYCLES, FIRST_SEED, SEEDS
from ...build.traffic import Traffic
from .experiment import MOST_SEEDS
from .trace import Trace

__all__ = ["Specification"]

FIELDS = tuple(field.name for field in fields(Traffic))

#: What a trace says itself, or has none of.
NOT_WITH_TRACE = (*FIELDS, "until_interval", "precision", "seed", "seeds")


@dataclass(frozen=True)
class Specification:
    """Traffic of a load experiment, and for how long it is run, with which seeds.

    Parameters
    ----------
    traffic : Traffic or Trace
    cycles : int or None
    seed, seeds : int or None
        The first seed and how many; None of a trace.
    """

    traffic: Traffic | Trace
    cycles: int | None
    seed: int | None
    seeds: int | None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Specification":
        """Take it from options by name; those that are not there, None or False are not given.

        Raises
        ------
        WormcastError
            Neither a rate nor a trace is given, or something beside a trace that has no meaning with it; a parameter
            of `Traffic` is refused, or there are too many seeds.
        """
        options = {name: value for name, value in given.items() if value is not None and value is not False}
        if "trace" in options:
            beside = [name for name in NOT_WITH_TRACE if name in options]
            if beside:
                raise WormcastError(f"trace: {', '.join(beside)} is given beside it, a trace says itself what is sent "
                                    "when, and nothing in it is random")
            return cls(Trace(options["trace"]), options.get("cycles"), None, None)
        if "rate" not in options:
            raise WormcastError("rate: neither a rate nor a trace is given, a load experiment needs one of them")
        traffic = Traffic(**{name: options[name] for name in FIELDS if name in options})
        seed, seeds = options.get("seed", FIRST_SEED), options.get("seeds", SEEDS)
        if seed < 0:
            raise WormcastError(f"seed: {seed} is given, it must be 0 or more")
        if not 1 <= seeds <= MOST_SEEDS:
            raise WormcastError(f"seeds: {seeds} is given, allowed are 1 to {MOST_SEEDS}")
        return cls(traffic, options.get("cycles", CYCLES), seed, seeds)

    @property
    def seed_numbers(self) -> Sequence[int]:
        """All seeds; of a trace one that means nothing."""
        return (0,) if self.seed is None or self.seeds is None else range(self.seed, self.seed + self.seeds)
