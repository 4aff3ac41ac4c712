"""Parameters of a switch with deep buffers, and its properties that do not need its logic."""

from wormcast.algorithms.errors import WormcastError
from wormcast.algorithms.phrases import count

from ..decoders import Decoder
from ..decoders.branching import BranchingDecoder
from ..events import Event
from ..options import MOST_CHUNK
from ..port import PortSpec
from ..switch_spec import SwitchSpec
from ..tables import TableBus

__all__ = ["DeepSwitchSpec"]


class DeepSwitchSpec(SwitchSpec):
    """Parameters of a `DeepSwitch`, which documents them."""

    copies = has_rows = True
    decoders = Decoder  # a decoder of another type is refused below, with the reason

    def __init__(self, *, inputs: list[PortSpec], outputs: list[PortSpec], decoder: Decoder, width: int,
                 ejected_header: str = "keep", tables: TableBus | None = None):
        super().__init__(inputs=inputs, outputs=outputs, decoder=decoder, width=width, ejected_header=ejected_header,
                         tables=tables)
        chunk = inputs[0].chunk
        if not isinstance(decoder, BranchingDecoder):
            raise WormcastError(f"DeepSwitch.decoder: {type(decoder).__name__} is not valid: it decodes one output per "
                                "worm, for shallow buffers. Allowed: a BranchingDecoder.")
        least = max(len(outputs), decoder.flits)
        if chunk < least:
            allowed = f"{least} to {MOST_CHUNK}, with a buffer of whole chunks" if least <= MOST_CHUNK else (
                f"up to {MOST_CHUNK}, with flits wide enough for fewer header flits")
            raise WormcastError(f"chunk: {chunk} is not valid: the switch has {len(outputs)} outputs, and "
                                f"decodes branches from up to {count(decoder.flits, 'header flit')}. "
                                f"Allowed: {allowed}.")
        self.branching = decoder
        for port in [*inputs, *outputs]:
            if port.vcs != 1:
                raise WormcastError(f"DeepSwitch.vcs: {port.vcs} virtual channels of {port.name} are not valid. "
                                    "Allowed: 1.")
            if not port.to_node and (port.chunk, port.depth) != (chunk, inputs[0].depth):
                raise WormcastError(f"DeepSwitch.chunk: {port.depth} flits in chunks of {port.chunk} are not valid at "
                                    f"{port.name}. Allowed: {inputs[0].depth} in chunks of {chunk}, as at "
                                    f"{inputs[0].name}.")
        self.chunk = chunk
        self.rows = inputs[0].depth // chunk

    def _buffer_events(self, port: int) -> list[Event]:
        # a fetch reads all positions of a row; flits that outputs take in passing are not read
        name = f"{self.inputs[port].name}_input"
        return [Event("buffer_write", (f"{name}.intake.write",)),
                Event("buffer_read", (f"{name}.store.fetch",), self.chunk)]
