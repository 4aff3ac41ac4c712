"""A decoder for tests and proofs: what a header flit says is the outputs themselves."""

from types import SimpleNamespace

from wormcast.hw.decoders.branching import BranchingDecoder

__all__ = ["MaskDecoder"]


class MaskDecoder(BranchingDecoder):
    """The first header flit has a bit for each output that its worm goes to, from bit 0; others say nothing.

    Parameters
    ----------
    width : int, optional
        Bits of a flit; by default one for each output.
    choices : int
        So many of the outputs, from the first on, may be alternatives: they are if the bit behind those of all outputs
        is set.
    """

    def __init__(self, *, inputs: int, outputs: int, flits: int = 1, width: int | None = None, choices: int = 0):
        self.straps, self.vc_classes, self.injections, self.ejections, self.consumption = {}, 1, (), (), ()
        self.inputs = tuple(f"in_{i}" for i in range(inputs))
        self.outputs = tuple(f"out_{o}" for o in range(outputs))
        self.flits, self.links_in, self.ejection = flits, inputs, choices or outputs
        self.adaptive = choices > 0
        self.header = SimpleNamespace(flit_width=outputs if width is None else width)

    def leads(self, port):
        return list(range(len(self.outputs)))

    ejection_ports = leads

    def strap_values(self, routes, kind):
        return {}

    def seen(self, m, port, straps, flit, place):
        mask = flit[:len(self.outputs) + self.adaptive]
        return mask & (place == 0).replicate(len(mask)) if self.flits > 1 else mask

    def branches(self, m, port, straps, seen, taken):
        return seen[:len(self.outputs)] if self.adaptive else seen

    def alternatives(self, port, straps, seen):
        return seen[-1]
