# amaranth: UnusedElaboratable=no
"""Deep switches, compiled, whose worms say themselves by which outputs they go; and what must leave."""

from functools import cache
from types import SimpleNamespace

from wormcast.hw.decoders.branching import BranchingDecoder
from wormcast.hw.deep import DeepSwitch
from wormcast.hw.link import PortSpec
from wormcast.sim.engines.words import words
from wormcast.sim.lowering import lower_cached

from . import lanes

__all__ = ["MaskDecoder", "copies", "deep_switch", "payload", "worm"]

WIDTH = 16


class MaskDecoder(BranchingDecoder):
    """The first header flit is the mask of the outputs; others say nothing."""

    def __init__(self, inputs, outputs, flits):
        self.straps, self.vc_classes, self.injections, self.ejections = {}, 1, (), ()
        self.inputs = tuple(f"in_{i}" for i in range(inputs))
        self.outputs = tuple(f"out_{o}" for o in range(outputs))
        self.flits, self.links_in, self.ejection = flits, inputs, outputs
        self.header = SimpleNamespace(flit_width=WIDTH)

    def leads(self, port):
        return list(range(self.ejection))

    exits = leads

    def strap_values(self, routes, kind):
        return {}

    def seen(self, m, port, straps, flit, place):
        return flit[:self.ejection] & (place == 0).replicate(self.ejection) if self.flits > 1 else flit[:self.ejection]

    def branches(self, m, port, straps, seen):
        return seen


@cache
def deep_switch(inputs, outputs, *, chunk, rows, flits=1, nodes=0):
    """A switch and its compiled form; so many of the outputs lead to nodes."""
    def build():
        into = [PortSpec(f"in_{i}", depth=rows * chunk, chunk=chunk) for i in range(inputs)]
        out = [PortSpec(f"out_{o}", depth=4, to_node=True) if o >= outputs - nodes else
               PortSpec(f"out_{o}", depth=rows * chunk, chunk=chunk) for o in range(outputs)]
        return DeepSwitch(inputs=into, outputs=out, decoder=MaskDecoder(inputs, outputs, flits), width=WIDTH)

    switch = build()
    into, out = words(switch)
    key = f"deep {inputs} {outputs} {chunk} {rows} {flits} {nodes}"
    return switch, lower_cached(build, inputs=into, outputs=out, name="switch", cache_key=key, sources=lanes.SOURCES)


def worm(mask, length, number=0, flits=1):
    """Flits (head, tail, data) of a worm with so much payload."""
    return [(1, 0, mask), *[(1, 0, number & 0xFFFF)] * (flits - 1), *payload(length, number)]


def payload(length, number=0):
    """Payload flits that say of which worm they are."""
    return [(0, int(k == length - 1), (number << 8 | k) & 0xFFFF) for k in range(length)]


def copies(sent, outputs):
    """For each output the worms that must leave there by input: {output: {input: worms}}; of worms (input, flits)."""
    found = {o: {} for o in range(outputs)}
    for port, flits in sent:
        for o in range(outputs):
            if flits[0][2] >> o & 1:
                found[o].setdefault(port, []).append(flits)
    return found
