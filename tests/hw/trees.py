# amaranth: UnusedElaboratable=no
"""Switches that copy worms, compiled; worms for them, and what must leave."""

from dataclasses import dataclass
from functools import cache

from wormcast.algorithms.source_digest import package_file, source_digest
from wormcast.sim.engines.port_packing import words
from wormcast.sim.lowering import lower_cached

from . import anywhere, lanes
from .anywhere import place

__all__ = ["Copier", "copier", "payload"]

SOURCES = source_digest([anywhere.__file__, package_file("wormcast.sim.engines.port_packing")])


@dataclass(frozen=True)
class Copier:
    """Switch of a multistage network, with its kernel.

    The outputs of destinations come from the network's routes, not from the masks of the decoder.
    """

    here: object
    kernel: object

    @property
    def switch(self):
        return self.here.switch

    @property
    def inputs(self):
        """Names of the inputs."""
        return self.switch.decoder.inputs

    @property
    def outputs(self):
        """Names of the outputs."""
        return self.switch.decoder.outputs

    def behind(self, port):
        """Nodes behind each output by which a worm from an input can go on: {output: nodes}."""
        decoder, kind = self.switch.decoder, self.here.kind
        found = {}
        for node, near in enumerate(self.here.routes.options[0, self.here.number, :, 0].tolist()):
            if near < 0:
                continue
            if near in kind.network_outputs:
                outputs = [kind.network_outputs.index(near)]
            else:
                outputs = [o for o in decoder.ejection_ports(port)
                           if o in decoder.ejections[kind.ejections.index(near)]]
            for output in outputs:
                found.setdefault(output, []).append(node)
        return found

    @property
    def splits_report(self):
        """Return whether the branches of a worm that this switch replicates send reports."""
        decoder, switch = self.switch.decoder, self.switch
        # in the last stage all worms can come to a node at once
        most = sum(port.vcs for port in switch.inputs)
        consumed = not decoder.ejection and all(port.vcs >= most for port in switch.outputs)
        return switch.has_reports and not consumed

    def header(self, nodes, reports=False):
        """Header flits (head, tail, data) of a worm to some nodes."""
        return self.flits(self.switch.decoder.header.encode(nodes), reports)

    def flits(self, header, reports=False):
        """Flits (head, tail, data) of an encoded header."""
        first, *rest = header
        return [(1, 0, first | reports << self.switch.decoder.mark), *((1, 0, data) for data in rest)]

    def branch(self, nodes, reports=False):
        """Header flits of a copy: those of a bit string, also to one node."""
        header = self.switch.decoder.header
        return self.flits(getattr(header, "string", header).encode(nodes), reports)

    def copies(self, port, nodes, payload, reports=False):
        """Return the expected flits of a worm at each output."""
        behind = self.behind(port)
        ways = {o: [node for node in nodes if node in there] for o, there in behind.items()}
        ways = {o: there for o, there in ways.items() if there}
        assert sorted(node for there in ways.values() for node in there) == sorted(nodes)
        asks = reports or (len(ways) > 1 and self.splits_report)
        made = self.header if len(nodes) == 1 and not reports else self.branch
        return {self.outputs[o]: [*made(there, asks), *payload] for o, there in ways.items()}

    def run(self, runs, cycles):
        return lanes.run(self.switch, self.kernel, self.here.straps, runs, cycles)

    def streams(self, lane):
        """The worms that left, by output; those of separate consumption links together."""
        switch = self.switch
        return {port.name: [worm for name in switch._names(o) for worm in lane.streams(name)]
                for o, port in enumerate(switch.outputs)}

    def unrest(self, block, but=()):
        return lanes.unrest(self.kernel, block, but)


@cache
def copier(network, number, scheme="atbm", *, mutant=None, **options):
    """A switch of a network by its number, compiled; with ``mutant`` a faulty one."""
    if mutant is not None:
        with mutant.applied():
            return _compiled(place.__wrapped__(network, number, scheme=scheme, **options), mutant, options)
    return _compiled(place(network, number, scheme=scheme, **options), scheme, options)


def _compiled(here, name, options):
    key = f"trees {here.routes.topology.name} {here.number} {name} {sorted(options.items())} {SOURCES}"
    return Copier(here, lower_cached(lambda: here.switch, words=words, name="switch", cache_key=key))


def payload(length, number=0):
    """Payload flits that say of which worm they are."""
    return [(0, int(k == length - 1), number << 3 | k % 8) for k in range(length)]
