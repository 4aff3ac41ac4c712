"""Parameters of a switch that replicates worms by bit strings, and its properties that do not need its logic."""

from typing import Any

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.schemes.atbm import REPLICATION

from ..decoders.branching import TreeDecoder
from ..events import Event, buffer_events
from ..switch_spec import SwitchSpec

__all__ = ["TreeSwitchSpec", "branches_of"]


def branches_of(leads: list[int], replication: str) -> list[list[int]]:
    """Return the outputs of each branch that a worm can have, at an input that leads to these outputs."""
    return [leads] if replication == "synchronous" else [[o] for o in leads]


class TreeSwitchSpec(SwitchSpec):
    """Parameters of a `TreeSwitch`, which documents them."""

    copies = True
    decoders = TreeDecoder

    def __init__(self, *, decoder: TreeDecoder, replication: str = "asynchronous", reports: bool = False,
                 tokens: bool = False, **parameters: Any):
        if replication not in REPLICATION:
            raise WormcastError(f"TreeSwitch.replication: {replication!r} is not valid. Allowed: "
                                f"{', '.join(REPLICATION)}.")
        if parameters.get("readers", "coupled") != "coupled":
            raise WormcastError(f"TreeSwitch.readers: {parameters['readers']!r} is not valid. Allowed: coupled.")
        if tokens and not reports:
            raise WormcastError(f"TreeSwitch.tokens: {tokens} is not valid with reports {reports}. Allowed: tokens "
                                "with reports.")
        self.string_decoder = decoder
        self.replication = replication
        self.has_reports = reports
        self.has_tokens = tokens
        # called last: a component among the base classes makes its ports from these parameters
        super().__init__(decoder=decoder, **parameters)

    def readers_of(self, port: int) -> int:
        return len(branches_of(self.string_decoder.leads(port), self.replication))

    def _buffer_events(self, port: int) -> list[Event]:
        # flits are skipped only in worms that request nothing, which are errors
        return buffer_events(f"{self.inputs[port].name}_input.buffer", "buffer_write", "buffer_read",
                             readers=self.readers_of(port), vcs=0)
