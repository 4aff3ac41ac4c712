# amaranth: UnusedElaboratable=no
"""Networks whose hosts have streams: destination sets, straps, and what they are refused for."""

import pytest

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.hw.router import Blueprint
from wormcast.sim import hardware
from wormcast.sim.build.host_port import HostPort
from wormcast.sim.build.stream_network import StreamNetwork, require_streams, resolved, set_beats


def network_of(name, scheme, options=None, **host):
    """Network with streams, and its blueprint."""
    mesh, found = topology(name), SCHEMES[scheme]
    configuration = hardware(mesh, found, options or {})
    blueprint = Blueprint(mesh, found, configuration)
    port = resolved(HostPort(host="axis", **host), blueprint)
    require_streams(blueprint, port)
    return StreamNetwork(topology=mesh, scheme=found, configuration=configuration, host_port=port)


@pytest.mark.parametrize(("name", "scheme", "options", "sets"), [
    ("mesh:3x3", "dual-path", {}, "mask"), ("mesh:3x3", "individual", {}, "mask"), ("mesh:3x3", "e-mcast", {}, "table"),
    ("mesh:3x3", "multipath", {}, "table"), ("torus:4x4", "individual", {}, "mask"),
    ("torus:4x4", "individual", {"ties": "signed"}, "table"), ("min:b=2,stages=2", "atbm", {}, "mask"),
    ("irregular:switches=4,ports=4,nodes=6", "tree", {"configuration": "sivaram_32"}, "mask"),
])
def test_sets_are_masks_where_the_hardware_computes_headers(name, scheme, options, sets):
    network = network_of(name, scheme, options)
    assert network.host_port.sets == sets
    ports = {name for name, _ in network.components["interface"].signature.members.items()}
    assert ("s_axis_table" in ports) == (sets == "table")
    assert network.kinds["interface"].straps["strap_node"].tolist() == list(range(network.nodes))
    assert network.host_ports(0) >= {"s_axis", "m_axis_0", "send_fault"}


def test_positions_of_nodes_are_their_labels():
    network = network_of("mesh:3x3", "dual-path")
    assert network.kinds["interface"].straps["strap_position"].tolist() == network.topology.hamiltonian_labels.tolist()


@pytest.mark.parametrize("scheme", ["e-mcast", "dual-path", "individual"])
def test_beats_of_a_set_are_the_headers_of_the_plan(scheme):
    network = network_of("mesh:3x3", scheme, sets="table")
    first, *beats = set_beats(network, 5, 4, [0, 8, 2, 3])
    assert first == (5, 0)
    worms = [network.header.encode(worm.destinations) for worm in plan(network.topology, scheme, 4, [0, 8, 2, 3]).worms]
    assert beats == [(flit, int(k == len(worm) - 1)) for worm in worms for k, flit in enumerate(worm)]


def test_sets_of_schemes_whose_destinations_send_on_are_refused():
    with pytest.raises(WormcastError, match="host: axis is not valid with scheme binomial: its destinations send cop"):
        network_of("mesh:3x3", "binomial")


@pytest.mark.parametrize(("build", "said"), [
    (lambda: network_of("mesh:3x3", "e-mcast", sets="mask"), "does not compute headers of e-mcast on mesh:3x3"),
    (lambda: network_of("mesh:3x3", "e-mcast", set_count=5), "set_count: 5 is not valid. Allowed: powers of two"),
    (lambda: network_of("mesh:3x3", "dual-path", {"ports": "all"}), "ports: all is not valid with host axis"),
    (lambda: network_of("mesh:3x3", "dual-path", {"absorb": "2"}), "absorb: 2 is not valid with host axis"),
    (lambda: network_of("irregular:switches=4,ports=4,nodes=6", "tree", {"configuration": "sivaram_32"},
                        message_flits=639), "a buffer of 640 flits must hold a whole worm, with 2 flits in front"),
    (lambda: network_of("mesh:3x3", "dual-path", message_flits=0), "message_flits: 0 is not valid. Allowed: 1 to 4096"),
    (lambda: network_of("mesh:3x3", "binomial", sets="mask"), "host: axis is not valid with scheme binomial"),
    (lambda: network_of("mesh:2x2", "dual-path", {"flit_width": 5}, sets="table"),
     "flit_width: 5 is not valid with host axis: a table of sets needs flits of at least a byte. Allowed: multiples"),
])
def test_hardware_that_cannot_have_streams_is_refused(build, said):
    with pytest.raises(WormcastError, match=said):
        build()
