"""Switches of any network, with the straps and tables of one member of their kind."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from wormcast.algorithms import find_scheme, topology
from wormcast.algorithms.routing import Routes
from wormcast.algorithms.schemes.individual import Individual
from wormcast.hw import Switch
from wormcast.hw.router import Blueprint
from wormcast.hw.router_kind import SwitchKind
from wormcast.sim.build.configuration import Configuration

from . import bench

__all__ = ["Place", "blueprint", "place"]


@dataclass(frozen=True)
class Place:
    """A switch of a network, with its kind, its routes, and its straps and tables."""

    number: int
    kind: SwitchKind
    switch: Switch
    routes: Routes

    @property
    def member(self):
        """Index of the switch among the kind's members."""
        return self.kind.members.tolist().index(self.number)

    @property
    def straps(self):
        """Values of the switch's straps, in the decoder's order."""
        return [column[self.member] for column in self.switch.decoder.strap_values(self.routes, self.kind).values()]

    @property
    def writes(self):
        """Writes of the router's tables."""
        if self.switch.tables is None:
            return []
        found = self.switch.decoder.tables(self.routes, self.kind)
        return [(0, port, address, int(entry)) for port, name in enumerate(self.switch.decoder.inputs)
                for address, entry in enumerate(found[name][self.member])]

    def driver(self, **options):
        """Drive its links."""
        return bench.Driver(self.switch, self.straps, writes=self.writes, **options)

    def phase(self, port):
        """Phase of the worms that come by an input."""
        if port >= self.switch.decoder.links_in:
            return 0
        _, _, end, into = self.routes.topology.links.T
        [link] = np.flatnonzero((end == self.number) & (into == self.kind.network_inputs[port]))
        return int(self.routes.phase_of_link[link])

    def is_joined(self, port):
        """Return whether a link or a node is connected to an input."""
        decoder, net = self.switch.decoder, self.routes.topology
        if port >= decoder.links_in:
            n = next(n for n, ports in enumerate(decoder.injections) if port in ports)
            return bool(net.node_of_input[self.number, self.kind.injections[n]] >= 0)
        return bool(((net.links[:, 2:] == [self.number, self.kind.network_inputs[port]]).all(axis=1)).any())

    def ways(self, port, node):
        """List the candidates for a worm at an input: (output, class), restricted to the input's outputs."""
        decoder, options = self.switch.decoder, self.routes.options[self.phase(port), self.number, node]
        found = []
        for code in options[options >= 0].tolist():
            near, k = divmod(code, len(self.routes.classes))
            if near in self.kind.network_outputs:
                found.append((self.kind.network_outputs.index(near), k))
            else:
                own = decoder.ejections[self.kind.ejections.index(near)]
                found += [(o, 0) for o in decoder.ejection_ports(port) if o in own]
        reached = {*decoder.targets(port), *((o, 0) for o in decoder.ejection_ports(port))}
        return [way for way in found if way in reached]


def blueprint(network, relation=None, scheme=None, **options):
    """Unicasts on a network, by its usual relation or by another; or the worms of a scheme."""
    built = topology(network) if isinstance(network, str) else network
    scheme = find_scheme(scheme, built) if scheme else (
        Individual() if relation is None else Individual().routed_by(relation))
    return Blueprint(built, scheme, Configuration(**options))


@lru_cache(maxsize=16)
def place(network, number, relation=None, scheme=None, **options):
    """One switch of a network by its number."""
    built = blueprint(network, relation, scheme, **options)
    kind = next(kind for kind in built.kinds if number in kind.members)
    return Place(number, kind, built.router(kind), built.routes)
