"""Which networks are refused before they are built, and a topology of one's own that is not."""

from dataclasses import replace

import numpy as np
import pytest

from wormcast.algorithms import HAMILTONIAN, SCHEMES, WormcastError, topology
from wormcast.algorithms.schemes.dual_path import DualPath
from wormcast.hw.decoders import MeshDecoder, TableDecoder
from wormcast.hw.router import Blueprint
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines import amaranth
from wormcast.sim.experiments.run import run

from .bench import send

MESH = topology("mesh:3x3")


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
    links = MESH.links.copy()
    links[:, 3] ^= 1
    return replace(MESH, name="turned", links=links)


@pytest.mark.parametrize(("network", "sentence"), [
    (replace(MESH, name="renamed", ports=(("e", "w", "s", "n", "local"),) * 9),
     "network: switch 0 of renamed has the ports e, w, s, n, local, routers are built with those of a mesh of shape"),
    (replace(MESH, name="seven", ports=(*MESH.ports[:8], MESH.ports[8][1:])),
     "network: switch 8 of seven has the ports west, south, north, local, routers"),
    (replace(MESH, name="backwards", injections=MESH.injections[::-1].copy()),
     "network: backwards has switches without a node at their port local, or several nodes at one; so far node i is"),
    (replace(MESH, name="aside", consumptions=MESH.consumptions - [0, 1]),
     "network: aside has switches without a node at their port local"),
    (turned(),
     "network: a link of turned comes from switch 0 to input east of switch 1, whose output east does not lead back"),
])
def test_other_switches_than_are_built_are_refused(network, sentence):
    with pytest.raises(WormcastError) as caught:
        Network(network, SCHEMES["individual"], Configuration())
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(("scheme", "options", "sentence"), [
    ("column-path", {"flit_width": 7},
     "flit_width: 7 bits hold one address of 4 bits; for the classes 0+/0-:next a header flit must hold two"),
    ("e-mcast", {"flit_width": 12, "classes": "1+,0+/1-/0-"},
     "classes: 1+,0+/1-/0-:next does not go with relation e-cube: by the next hop only one dimension can"),
])
def test_classes_by_a_hop_that_routers_do_not_know_are_refused(scheme, options, sentence):
    with pytest.raises(WormcastError) as caught:
        Network(MESH, SCHEMES[scheme], Configuration(consumption=4, **options))
    assert str(caught.value).startswith(sentence)
    enough = {"flit_width": 64}
    Network(MESH, SCHEMES[scheme], Configuration(consumption=4, **{**options, **enough}))


@pytest.mark.parametrize("mesh", ["mesh:1x2", "mesh:2x3x4", "mesh:2x1x2x2"])
def test_meshes_of_any_dimensions_are_built(mesh):
    Network(topology(mesh), SCHEMES["dual-path"], Configuration())


def test_a_torus_with_the_ports_of_a_mesh_runs():
    """Its routers do not compare coordinates: the way from the first node to the last of a row is one hop."""
    scheme, options = Anywhere(), Configuration()
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
        def __init__(self, network, host, *, vcd):
            pass

        def run(self, cycles):
            pass

    monkeypatch.setattr(amaranth, "AmaranthEngine", Idle)
    with pytest.raises(RuntimeError, match="the engines disagree on what becomes of this run"):
        run(topology("mesh:1x2"), SCHEMES["individual"], [send(0, 1)], Configuration(), engine="amaranth")
