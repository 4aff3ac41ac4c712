"""Parameters of a switch with deep buffers, and what follows from them without its logic."""

from wormcast.algorithms.errors import WormcastError

from ..decoders import Decoder
from ..decoders.branching import BranchingDecoder
from ..port import PortSpec
from ..switch_spec import SwitchSpec
from ..tables import TableBus

__all__ = ["DeepSwitchSpec"]


class DeepSwitchSpec(SwitchSpec):
    """Parameters of a `DeepSwitch`; errors are those of `DeepSwitch`."""

    def __init__(self, *, inputs: list[PortSpec], outputs: list[PortSpec], decoder: Decoder, width: int,
                 tables: TableBus | None = None):
        super().__init__(inputs=inputs, outputs=outputs, decoder=decoder, width=width, tables=tables)
        chunk = inputs[0].chunk
        if not isinstance(decoder, BranchingDecoder):
            raise WormcastError(f"DeepSwitch.decoder: {type(decoder).__name__} is given, its worms take one way in "
                                "buffers that they pass through")
        least = max(len(outputs), decoder.flits)
        if chunk < least:
            raise WormcastError(f"chunk: {chunk} flits are given, a switch of {len(outputs)} outputs that "
                                f"decodes {decoder.flits} header flits at once needs at least {least}")
        self.branching = decoder
        for port in [*inputs, *outputs]:
            if port.vcs != 1:
                raise WormcastError(f"DeepSwitch.vcs: {port.name} has {port.vcs} virtual channels, deep buffers have 1")
            if not port.to_node and (port.chunk, port.depth) != (chunk, inputs[0].depth):
                raise WormcastError(f"DeepSwitch.chunk: {port.name} has {port.depth} flits in chunks of {port.chunk}, "
                                    f"and {inputs[0].name} {inputs[0].depth} in chunks of {chunk}; they must be alike")
        self.chunk = chunk
        self.rows = inputs[0].depth // chunk

    @property
    def copies(self) -> bool:
        return True
