"""Components and networks that the tests of the Verilog build."""

from contextlib import suppress

import pytest
from cases import slow

from wormcast.algorithms import HAMILTONIAN, Relation, WormcastError, find_scheme, load_scheme, topology
from wormcast.hw.router import Blueprint
from wormcast.sim.build.components import COMPONENTS, build_component
from wormcast.sim.build.configurations import hardware


class Own(Relation):
    """R by another name: routers look it up in a table."""

    name = "own"

    def table(self, topology):
        return HAMILTONIAN.table(topology)


OWN = Own()


def blueprint(mesh="mesh:3x3", scheme="dual-path", *, relations=(), relation=None, **options):
    """Blueprint by names."""
    network, found = topology(mesh), load_scheme(scheme)
    if relation is not None:
        found = found.routed_by(relation)
    return Blueprint(network, found, hardware(network, found, options), relations)


def having(name, **options):
    """Blueprint of hardware that has a component."""
    given = {**options, **COMPONENTS[name].options}
    return blueprint(given.pop("topology", "mesh:3x3"), **given)


def names_in(built):
    """Components that hardware has."""
    found = []
    for name in COMPONENTS:
        with suppress(WormcastError):
            build_component(built, name)
            found.append(name)
    return found


def on_any(network, **options):
    """Blueprint of unicasts on a network of any kind."""
    found = topology(network)
    scheme = find_scheme("individual", found)
    return Blueprint(found, scheme, hardware(found, scheme, options))


#: Networks other than meshes: coordinates around rings, digits of addresses, tables in memories, several kinds of
#: routers and several nodes at one.
ANY = [
    slow(lambda: on_any("torus:3x3"), id="torus"),
    pytest.param(lambda: on_any("ring:4", ties="signed"), id="signs"),
    slow(lambda: on_any("torus:2x4", ties="signed"), id="two signs"),
    pytest.param(lambda: on_any("min:b=2,stages=2", flit_width=12), id="min"),
    slow(lambda: on_any("irregular:switches=3,ports=5,nodes=5,connectivity=0.8,seed=4", flit_width=12),
                 id="irregular"),
    slow(lambda: on_any("cmesh:1x2x2", flit_width=12), id="cmesh"),
    slow(lambda: on_any("fat-tree:k=2,levels=2", flit_width=12), id="fat-tree"),
    slow(lambda: on_any("dragonfly:p=1,a=2,h=1", flit_width=12), id="dragonfly"),
]

#: Worms that are copied to several outputs: headers of two flits and tokens, and the other ways of copying.
TREES = [
    pytest.param(lambda: blueprint("min:b=2,stages=2", "atbm", flit_width=4), id="tree"),
    slow(lambda: blueprint("min:b=2,stages=2", "tree-synchronous", flit_width=9), id="synchronous"),
    slow(lambda: blueprint("min:b=2,stages=2", "tree-serial", flit_width=9, tokens="off"), id="serial"),
    slow(lambda: blueprint("min:b=2,stages=4,kind=omega", "atbm", flit_width=5, vcs=3, buffer=4), id="omega"),
]

#: Queues of whole packets.
QUEUES = {"send_queue": 2, "receive_queue": 2}

#: Hardware that differs from the usual in all that makes other Verilog. Its tests are slow: a replay takes a minute or
#: two, lint less.
WIDE = [
    pytest.param(lambda: blueprint(delays="fast", readers="independent", consumption_links="separate", packet=3,
                                   t_ns=2, t_nr=3), id="fast-independent-separate-packets"),
    pytest.param(lambda: blueprint(vcs=3, buffer=3, storage="registers", ports="all", flit_width=5),
                 id="odd-registers-all-ports"),
    pytest.param(lambda: blueprint(scheme="individual", vcs=1, buffer=1, consumption=1, queue=1,
                                   readers="independent"), id="unicast-single-flits"),
    pytest.param(lambda: blueprint("mesh:4x4", relations=("e-cube", "hamiltonian"), vcs=4, consumption=4,
                                   ejected_header="strip"),
                 id="two-relations"),
    pytest.param(lambda: blueprint("mesh:2x2x3", relation=OWN, classes="up/down:last"), id="table"),
    pytest.param(lambda: blueprint(absorb="3", slot=13, consumption=2, vcs=1, flit_width=5), id="absorb"),
    pytest.param(lambda: blueprint(scheme="individual", vcs=1, consumption=1, packet=5, t_ns=2, t_nr=3, flit_width=9,
                                   dma="5/3", dma_engine="interface", **QUEUES, ni_processors="one"),
                 id="queues-one-processor-bus"),
    pytest.param(lambda: blueprint("mesh:1x4", packet=100), id="one-row"),
    pytest.param(lambda: blueprint("mesh:1x4", "k-binomial", ni="fcfs", packet=20, rows=2, places=2, flit_width=9,
                                   admission="messages", t_ns=2, **QUEUES), id="requests-for-rows"),
    pytest.param(lambda: blueprint("mesh:1x2"), id="two-nodes"),
    pytest.param(lambda: blueprint(scheme="e-mcast", configuration="boppana_8x8", packet=1, flit_width=9),
                 id="boppana-packets-of-one"),
    pytest.param(lambda: blueprint("mesh:3x3x3", scheme="sp", configuration="amnah_5x5x5", consumption=3,
                                   flit_width=22), id="all-ports-out"),
    pytest.param(lambda: on_any("torus:4x4", configuration="dcf_torus"), id="dcf-torus"),
    pytest.param(lambda: blueprint("min:b=2,stages=3", "atbm", flit_width=4, buffer=3, vcs=2), id="tree-long-headers"),
    pytest.param(lambda: blueprint("min:b=4,stages=2", "tree-synchronous", vcs=1, delays="fast"), id="tree-lockstep"),
    pytest.param(lambda: blueprint("min:b=2,stages=2", "tree-serial", buffer=1, flit_width=8, tokens="off",
                                   consumption=3), id="tree-serial-single-flits"),
]

#: A bus between host and interface, with a token bucket of its own for each direction.
BUS = {"dma_engine": "interface", "dma_buckets": "separate"}

#: Options of routers and interfaces, one or two at a time.
NARROW = [
    pytest.param(lambda options=options: blueprint("mesh:2x2", **options),
                 id=" ".join(f"{name}={one}" for name, one in options.items()))
    for options in (
        {"vcs": 1}, {"vcs": 3}, {"vcs": 4, "consumption": 4}, {"vcs": 16, "buffer": 1}, {"buffer": 1}, {"buffer": 2},
        {"buffer": 5}, {"buffer": 16}, {"readers": "independent"}, {"readers": "independent", "vcs": 1},
        {"consumption": 1}, {"consumption": 3}, {"consumption_links": "separate"}, {"flit_width": 5},
        {"flit_width": 64}, {"flit_width": 256, "vcs": 1}, {"delays": "fast"}, {"delays": "fast", "vcs": 1},
        {"storage": "registers"},
        {"storage": "registers", "vcs": 1, "buffer": 1}, {"ports": "all"}, {"packet": 8}, {"packet": 8, "t_ns": 4},
        {"t_nr": 3, "packet": 2}, {"queue": 1}, {"queue": 9}, {"absorb": "host"}, {"absorb": "1"},
        {"absorb": "4", "slot": 16}, {"vc_classes": "none"}, {"scheme": "e-mcast"}, {"scheme": "multipath"},
        {"scheme": "column-path", "ejected_header": "strip"}, {"scheme": "individual", "vcs": 1, "consumption": 1},
        {"dma": "1/2", **BUS}, {"packet": 8, **QUEUES}, {"packet": 8, **QUEUES, "dma": "4/3", **BUS})
]
