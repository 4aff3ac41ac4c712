"""Networks that are refused before they are built, and a user's topology that is accepted."""

import re
from dataclasses import replace

import numpy as np
import pytest
from amaranth.back import rtlil

from wormcast.algorithms import HAMILTONIAN, SCHEMES, WormcastError, find_scheme, topology
from wormcast.algorithms.schemes.dual_path import DualPath
from wormcast.hw.decoders import MeshDecoder, TableDecoder
from wormcast.hw.router import Blueprint
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines import amaranth
from wormcast.sim.experiments.run import run

from .bench import send

MESH, ROW = topology("mesh:3x3"), topology("mesh:1x3")


class Anywhere(DualPath):
    """Dual-path wherever nodes have labels."""

    kinds = ("mesh", "torus")


def torus():
    """Three rings of three, both ways: the ports of the mesh, and none is left open."""
    links = []
    for node, (row, column) in enumerate(MESH.coordinates.tolist()):
        ends = ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column))
        links += [[node, out, to_row % 3 * 3 + to_column % 3, out ^ 1] for out, (to_row, to_column) in enumerate(ends)]
    return replace(MESH, name="torus:3x3", kind="torus", links=np.array(links, np.int32))


def turned():
    """Inputs called as the opposite ones: a worm that goes west comes in from the west."""
    links = ROW.links.copy()
    links[:, 3] ^= 1
    return replace(ROW, name="turned", links=links)


def fewer():
    """The last switch has no ports for links that it does not have."""
    links, ends = ROW.links.copy(), ROW.injections.copy()
    kept = sorted({port for switch, port in (*links[:, :2].tolist(), *ends.tolist()) if switch == 2})
    for rows, switch, port in ((links, 0, 1), (links, 2, 3), (ends, 0, 1)):
        there = rows[:, switch] == 2
        rows[there, port] = [kept.index(one) for one in rows[there, port].tolist()]
    ports = (*ROW.ports[:2], tuple(ROW.ports[2][port] for port in kept))
    return replace(ROW, name="fewer", kind="own", ports=ports, links=links, injections=ends, consumptions=ends.copy())


ALL_PAIRS = [(a, b) for a in range(3) for b in range(3) if a != b]


def tails(network, pairs):
    """List the latencies of unicasts that are sent far apart: creation to last flit, in cycles."""
    result = run(network, SCHEMES["individual"], [send(a, b, length=4, at=100 * k) for k, (a, b) in enumerate(pairs)],
                 Configuration(vcs=1, buffer=2, consumption=1, flit_width=12))
    assert result.outcome == "delivered"
    return (result.host.tail - 100 * np.arange(len(pairs))).tolist()


@pytest.mark.parametrize("network", [
    replace(ROW, name="renamed", kind="own", ports=(("E", "W", "L"),) * 3),
    turned(),
    fewer(),
], ids=lambda network: network.name)
def test_other_switches_than_those_of_a_mesh_are_as_fast(network):
    """Ports of other names and switches of two kinds, by up*/down*; and inputs called as other outputs."""
    assert tails(network, ALL_PAIRS) == tails(ROW, ALL_PAIRS)


def test_nodes_inject_elsewhere_than_they_consume():
    """Node 0 sends from the last switch, and node 2 from the first: their own are their neighbours' ways."""
    backwards = replace(ROW, name="backwards", injections=ROW.injections[::-1].copy())
    assert tails(backwards, [(0, 2), (2, 0), (1, 0)]) == [tails(ROW, [(0, 1)])[0] - 3] * 2 + tails(ROW, [(1, 0)])


def test_routers_with_one_key_are_one_netlist():
    """By these keys kernels are found on disk: networks of one kind of topology differ in what is no strap."""
    netlists = {}
    for name, relation in (("min:b=2,stages=3,kind=omega", None), ("min:b=2,stages=3,kind=butterfly", None),
                           ("min:b=2,stages=3,kind=cube", None), ("ring:4", None), ("ring:4", "shortest"),
                           ("ring:4", "up-down"), ("ring:4", "e-cube-either")):
        network = topology(name)
        net = Network(network, find_scheme("individual", network, relation), Configuration(consumption=1))
        for kind in net.routers:
            text = re.sub(r"^ *attribute .*\n", "", rtlil.convert(net.components[kind]), flags=re.M)
            assert netlists.setdefault(net.kinds[kind].key, text) == text, (name, relation, kind)
    assert len(netlists) >= 8


def test_names_that_would_be_one_in_hardware_are_refused():
    alike = replace(topology("min:b=2,stages=2"), switch_names=("a-b", "a_b", "c", "d"))
    with pytest.raises(WormcastError, match="switches 'a-b' and 'a_b' would have the same name in hardware, a_b"):
        Network(alike, SCHEMES["individual"], Configuration())


@pytest.mark.parametrize(("scheme", "options", "sentence"), [
    ("column-path", {"flit_width": 8},
     ("flit_width: 8 is not valid: classes 0+/0- depend on the next hop, so a header flit must hold two "
      "addresses of 4 bits, and the header's other bits (1). Allowed: 9 or more.")),
    ("e-mcast", {"flit_width": 12, "classes": "1+,0+/1-/0-"},
     ("classes: 1+,0+/1-/0- is not valid with relation e-cube: the classes depend on the hop after a "
      "stop, and the next address may be in a later header flit. Allowed: 1+,0+/1-/0-:last")),
])
def test_classes_by_an_unknown_hop_are_refused(scheme, options, sentence):
    with pytest.raises(WormcastError) as caught:
        Network(MESH, SCHEMES[scheme], Configuration(consumption=4, **options))
    assert str(caught.value).startswith(sentence)
    enough = {"flit_width": 64}
    Network(MESH, SCHEMES[scheme], Configuration(consumption=4, **{**options, **enough}))


@pytest.mark.parametrize("mesh", ["mesh:1x2", "mesh:2x3x4", "mesh:2x1x2x2"])
def test_meshes_of_any_dimensions_are_built(mesh):
    Network(topology(mesh), SCHEMES["dual-path"], Configuration())


@pytest.mark.slow  # of other switches the ones above run
def test_a_torus_with_the_ports_of_a_mesh_runs():
    """Its routers do not compare coordinates: the way from the first node to the last of a row is one hop."""
    scheme, options = Anywhere(), Configuration(vcs=1, buffer=4)
    assert isinstance(Blueprint(MESH, scheme, options).decoder(), MeshDecoder)
    assert isinstance(Blueprint(torus(), scheme, options).decoder(), TableDecoder)
    assert HAMILTONIAN.on(torus()).path(0, [2]) == [0, 2]
    tails = {}
    for network in (MESH, torus()):
        result = run(network, scheme, [send(0, 2, length=4), send(4, 8, 3, 1, length=6, at=100)], options)
        assert result.outcome == "delivered"
        tails[network.kind] = int(result.host.tail[0])
    assert tails["mesh"] - tails["torus"] == 3  # one header delay


def test_engines_that_disagree_are_an_internal_error(monkeypatch):
    class Idle:
        def __init__(self, network, host, **_):
            pass

        def run(self, cycles):
            pass

    monkeypatch.setattr(amaranth, "AmaranthEngine", Idle)
    with pytest.raises(RuntimeError, match="the engines disagree on the deliveries of this run"):
        run(topology("mesh:1x2"), SCHEMES["individual"], [send(0, 1)], Configuration(), engine="amaranth")
