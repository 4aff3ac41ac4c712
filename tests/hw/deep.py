# amaranth: UnusedElaboratable=no
"""Deep switches, compiled, whose worms say themselves by which outputs they go; and what must leave."""

from functools import cache
from inspect import getfile

from mask_decoder import MaskDecoder

from wormcast.algorithms.source_digest import source_digest
from wormcast.hw.deep import DeepSwitch
from wormcast.hw.port import PortSpec
from wormcast.sim.engines.port_packing import words
from wormcast.sim.lowering import lower_cached

from . import lanes

__all__ = ["copies", "deep_switch", "payload", "worm"]

WIDTH = 16

SOURCES = f"{lanes.SOURCES} {source_digest([getfile(MaskDecoder)])}"


@cache
def deep_switch(inputs, outputs, *, chunk, rows, flits=1, nodes=0, adaptive=False):
    """Return a switch and its kernel. The last outputs lead to nodes. With `adaptive` the other outputs may be
    alternatives."""
    def build():
        into = [PortSpec(f"in_{i}", depth=rows * chunk, chunk=chunk) for i in range(inputs)]
        out = [PortSpec(f"out_{o}", depth=4, to_node=True) if o >= outputs - nodes else
               PortSpec(f"out_{o}", depth=rows * chunk, chunk=chunk) for o in range(outputs)]
        decoder = MaskDecoder(inputs=inputs, outputs=outputs, flits=flits, width=WIDTH,
                              choices=adaptive * (outputs - nodes))
        return DeepSwitch(inputs=into, outputs=out, decoder=decoder, width=WIDTH)

    switch = build()
    key = f"deep {inputs} {outputs} {chunk} {rows} {flits} {nodes} {adaptive} {SOURCES}"
    return switch, lower_cached(build, words=words, name="switch", cache_key=key)


def worm(mask, length, number=0, flits=1):
    """Flits (head, tail, data) of a worm with ``length`` payload flits."""
    return [(1, 0, mask), *[(1, 0, number & 0xFFFF)] * (flits - 1), *payload(length, number)]


def payload(length, number=0):
    """Payload flits that say of which worm they are."""
    return [(0, int(k == length - 1), (number << 8 | k) & 0xFFFF) for k in range(length)]


def copies(sent, outputs):
    """Return the expected worms by output and input, {output: {input: worms}}. ``sent`` has pairs (input, flits)."""
    found = {o: {} for o in range(outputs)}
    for port, flits in sent:
        for o in range(outputs):
            if flits[0][2] >> o & 1:
                found[o].setdefault(port, []).append(flits)
    return found
