"""Random irregular networks, and a multicast on each."""

import random

from wormcast.algorithms import WormcastError, topology

__all__ = ["drawn"]


def drawn(seed):
    """A random irregular network of 2 to 32 switches of 4, 8 or 16 ports, a source and destinations."""
    draw = random.Random(seed)
    while True:
        ports, switches = draw.choice((4, 8, 16)), draw.randint(2, 32)
        nodes = draw.randint(2, switches * (ports - 1))
        share = draw.choice((0.4, 0.6, 0.8, 1))
        try:
            found = topology(f"irregular:switches={switches},ports={ports},nodes={nodes},connectivity={share},"
                             f"seed={draw.randrange(10**9)}")
        except WormcastError:  # too few ports are left for links
            continue
        chosen = draw.sample(range(nodes), draw.randint(2, min(nodes, 40)))
        return found, chosen[0], chosen[1:]
