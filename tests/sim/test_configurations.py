"""Named configurations, and which options come first."""

import pytest
from amaranth.back import rtlil
from cases import slow

from wormcast.algorithms import E_CUBE, SCHEMES, Relation, WormcastError, topology
from wormcast.hw.router import Blueprint
from wormcast.sim.build.components import build_component
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.configurations import CONFIGURATIONS, NamedConfiguration
from wormcast.sim.build.configurations import hardware as resolve
from wormcast.sim.build.network import Network
from wormcast.sim.common.option import options_of
from wormcast.sim.experiments.run import run

from .bench import send


class Own(Relation):
    name = "own"

    def table(self, topology):
        return E_CUBE.table(topology)


OWN = Own()
DUAL_PATH = SCHEMES["dual-path"]
MESH = topology("mesh:8x8")


def hardware(network, scheme, named=None, **options):
    return resolve(network, scheme, options if named is None else {"configuration": named, **options})


@pytest.mark.parametrize("name", list(CONFIGURATIONS))
def test_each_can_be_run(name):
    configuration = hardware(MESH, DUAL_PATH, named=name)
    network, scheme = topology("mesh:1x3"), DUAL_PATH
    if configuration.deep:  # path worms end in shallow buffers alone
        network, scheme = topology("irregular:switches=2,ports=4,nodes=4"), SCHEMES["individual"]
    assert run(network, scheme, [send(0, 1, 2, length=8)], configuration).outcome == "delivered"
    assert CONFIGURATIONS[name].description.count("\n") == 0


@pytest.mark.parametrize(("name", "depths"), [("boppana_8x8", {1: 8, 2: 4, 4: 2}),
                                              ("boppana_8x8_covered", {1: 8, 2: 4, 4: 4})])
def test_buffers_of_paper_002_go_by_the_virtual_channels(name, depths):
    for vcs, depth in depths.items():
        chosen = hardware(MESH, DUAL_PATH, named=name, vcs=vcs)
        assert (chosen.vcs, chosen.buffer, chosen.consumption) == (vcs, depth, 4)
    chosen = hardware(MESH, DUAL_PATH, named=name)
    assert (chosen.vcs, chosen.buffer) == (2, 4)
    with pytest.raises(WormcastError, match=rf"vcs: 3 .* configuration {name}, which has no buffer depth for it"):
        hardware(MESH, DUAL_PATH, named=name, vcs=3)
    with pytest.raises(WormcastError, match=r"buffer: 4 \(of configuration boppana_8x8\) is not valid with chunks"):
        hardware(MESH, DUAL_PATH, named="boppana_8x8", buffer_kind="deep")
    assert hardware(MESH, DUAL_PATH, named=name, vcs=3, buffer=5).buffer == 5


def test_options_that_are_not_given_go_with_deep_buffers():
    network, scheme = topology("irregular:switches=8,ports=8,nodes=32,seed=1"), SCHEMES["tree"]
    chosen = hardware(network, scheme, buffer_kind="deep")
    paper = hardware(network, scheme, named="sivaram_32", flit_width=32)
    assert chosen == paper
    assert hardware(network, scheme, buffer_kind="deep", chunk=48).buffer == 13 * 48
    assert hardware(network, scheme, buffer_kind="deep", buffer=64).buffer == 64
    for name, value, sentence in (("vcs", 2, "vcs: 2 is not valid with buffer_kind deep. Allowed: 1."),
                                  ("consumption", 2, "consumption: 2 is not valid with buffer_kind deep. Allowed: 1."),
                                  ("buffer", 4, "buffer: 4 is not valid with chunks of 8 flits"),
                                  ("chunk", 1, "chunk: 1 is not valid. Allowed: 2 to 256"),
                                  ("chunk", "8", "chunk: '8' is not valid. Allowed: a whole number")):
        with pytest.raises(WormcastError, match=sentence):
            hardware(network, scheme, buffer_kind="deep", **{name: value})


@pytest.mark.slow  # routers of one key are one netlist: test_network
def test_routers_of_paper_003_are_the_same_for_both_schemes():
    """Single channels; all ports, so that a channel of each is enough; TP and SP differ in what hosts send alone."""
    cube = topology("mesh:3x3x3")
    chosen = hardware(cube, SCHEMES["sp"], named="amnah_5x5x5")
    assert (chosen.vcs, chosen.ports, chosen.ejection, chosen.consumption, chosen.t_hs) == (1, "all", "all", 1, 10)
    texts = {name: rtlil.convert(build_component(
        Blueprint(cube, SCHEMES[name], hardware(cube, SCHEMES[name], named="amnah_5x5x5"), ()), "router"))
        for name in ("tp", "sp", "gtdmpm")}
    assert texts["tp"] == texts["sp"] == texts["gtdmpm"]


@pytest.mark.parametrize(("name", "vcs", "each"), [
    slow("boppana_8x8_covered", 1, 1), slow("boppana_8x8_covered", 2, 1), slow("boppana_8x8_covered", 4, 1),
    ("fast", 2, 1), slow("boppana_8x8", 4, 2), ("small", 1, 2)])
def test_covered_loops_are_covered(name, vcs, each):
    """A worm alone has a flit on its link in every cycle where the credit loop is covered, else in every other one."""
    configuration = hardware(MESH, DUAL_PATH, named=name, vcs=vcs)
    host = run(topology("mesh:1x3"), DUAL_PATH, [send(0, 2, length=41)], configuration).host
    assert host.tail[0] - host.head[0] == 40 * each


def test_options_given_come_first_then_the_named_ones_then_the_scheme_s():
    assert hardware(MESH, DUAL_PATH) == Configuration(consumption=2)
    assert hardware(MESH, DUAL_PATH, named="boppana_8x8", consumption=3, buffer=7).to_dict() == {
        **Configuration().to_dict(), "vcs": 2, "consumption": 3, "buffer": 7}
    assert hardware(MESH, DUAL_PATH, named="small").consumption == 2
    assert hardware(MESH, DUAL_PATH, classes="0+/0-/1+/1-:last").consumption == 4
    assert hardware(MESH, DUAL_PATH, classes="").consumption == 1


def test_unknown_names_are_refused_with_those_there_are():
    with pytest.raises(WormcastError, match=r"configuration: 'big' is unknown. Allowed: amnah_5x5x5, atbm_256"):
        hardware(MESH, DUAL_PATH, named="big")


def test_names_may_be_added():
    registered = type(CONFIGURATIONS)("configuration", NamedConfiguration, "wormcast.configurations")
    registered.add("mine", NamedConfiguration("of my own", {"vcs": 3}))
    assert registered["mine"].resolve({"buffer": 2}, "mine") == {"vcs": 3, "buffer": 2}
    assert NamedConfiguration("the usual virtual channels", {}, {2: 7}).resolve({}, "usual") == {"buffer": 7}


@pytest.mark.parametrize(("field", "value", "sentence"), [
    ("ports", "two", "ports: 'two' is not valid. Allowed: one, all"),
    ("consumption_links", "many", "consumption_links: 'many' is not valid. Allowed: shared, separate"),
    ("ejected_header", "drop", "ejected_header: 'drop' is not valid. Allowed: keep, strip"),
    ("queue", 17, "queue: 17 is not valid. Allowed: 1 to 16"),
    ("packet", -1, "packet: -1 is not valid. Allowed: 0 to 65535"),
    ("t_ns", 65536, "t_ns: 65536 is not valid. Allowed: 0 to 65535"),
    ("storage", "paper", "storage: 'paper' is not valid. Allowed: lutram, registers"),
    ("t_hr", -1, "t_hr: -1 is not valid. Allowed: 0 to 4294967296"),
])
def test_bad_options_are_refused(field, value, sentence):
    with pytest.raises(WormcastError, match=sentence):
        Configuration(**{field: value})


def test_retransmission_slots_need_the_rest_of_the_header():
    assert Configuration(absorb="host", ejected_header="strip")
    with pytest.raises(WormcastError, match=r"ejected_header: strip is not valid with absorb 2: .* Allowed: keep"):
        Configuration(absorb="2", ejected_header="strip")


def test_relations_that_routers_compare_by_are_named_with_those_there_are():
    for shape, relations, sentence in (
        ("mesh:8x8", ("odd",),
         "relations: odd is not valid. Allowed: e-cube, hamiltonian, hamiltonian-row-first, each once."),
        ("mesh:8x8", ("e-cube", "e-cube"), "relations: e-cube, e-cube is not valid"),
    ):
        with pytest.raises(WormcastError, match=sentence):
            Blueprint(topology(shape), DUAL_PATH, Configuration(), relations).router()
    with pytest.raises(WormcastError,
                       match="relations: e-cube is not valid on ring:4: its routers decode one relation"):
        Blueprint(topology("ring:4"), SCHEMES["individual"], Configuration(), ("e-cube",)).router()


def test_tables_of_routers_have_a_limit_in_the_bits_of_addresses():
    by_e_cube = DUAL_PATH.routed_by(OWN)
    assert Blueprint(topology("mesh:16x16"), by_e_cube, Configuration()).decoder()
    with pytest.raises(WormcastError, match=r"relation: own is not valid: addresses of mesh:5x33 have 9 bits, and"):
        Blueprint(topology("mesh:5x33"), by_e_cube, Configuration()).decoder()


def test_each_option_changes_the_parts_that_it_says():
    """Settings of the hosts change no kernel's key, those of the interfaces not the router's, and so on."""
    def keys(network="mesh:2x2", scheme="dual-path", **options):
        kinds = Network(topology(network), SCHEMES[scheme], Configuration(**options)).kinds
        return next(iter(kinds.values())).key, kinds["interface"].key

    deep = {"vcs": 1, "consumption": 1, "buffer": 16, "buffer_kind": "deep"}
    with_deep = [Network(topology("min:b=2,stages=2"), SCHEMES["individual"], Configuration(**options)).kinds
                 for options in ({**deep, "buffer_kind": "shallow"}, deep, {**deep, "chunk": 4})]
    for kind in with_deep[0]:
        assert len({kinds[kind].key for kinds in with_deep}) == 3
    conventional, *smart = (keys(packet=4, ni=kind) for kind in ("conventional", "fcfs", "fpfs"))
    assert {router for router, _ in smart} == {conventional[0]}
    assert len({interface for _, interface in (conventional, *smart)}) == 3
    # networks with whose other options these change the hardware at all
    matters = {
        "ratio": {"t_hs": 8, "t_hr": 8},
        "tokens": {"network": "min:b=2,stages=2", "scheme": "atbm", "consumption": 1},
        "ties": {"network": "ring:4", "scheme": "individual"},
        "vc_classes": {"network": "ring:4", "scheme": "individual"},
        "slot": {"absorb": "1"},
        "receive_queue": {"packet": 4},
        "send_queue": {"packet": 4},
        "dma": {"dma": "1/2", "dma_engine": "interface"},
        "dma_buckets": {"dma": "1/2", "dma_engine": "interface"},
        "dma_engine": {"dma": "1/2"},
        "admission": {"packet": 16, "ni": "fpfs"},
        "ni_processors": {"packet": 4, "receive_queue": 1, "send_queue": 1},
        "ni_order": {"packet": 4, "receive_queue": 1, "send_queue": 1, "ni_processors": "one"},
        "strings": {"network": "irregular:switches=4,ports=4,nodes=6,seed=4", "scheme": "tree", **deep},
        **{name: {"ni": "fpfs", "packet": 4} for name in ("rows", "places", "row")},
    }
    for name, option in options_of(Configuration).items():
        if name in ("buffer_kind", "chunk", "ni"):
            continue
        other = [value for value in option.allowed if value != option.default] or [
            {"classes": ":next", "absorb": "1", "tokens": "off", "dma": "4/3", "ratio": "2"}[name]
            if option.kind is str else 2 * option.default if name == "rows" else option.default + 1]
        there = matters.get(name, {})
        changed = [one != other for one, other in zip(keys(**{**there, name: other[0]}), keys(**there), strict=True)]
        assert changed == {"host": [False, False], "interface": [False, True], "router": [True, False],
                           "node": [True, True], "cells": [True, True]}[option.changes], name


def test_bad_option_is_refused_wherever_it_is_declared():
    for name, option in options_of(Configuration).items():
        wrong = option.limits[1] + 1 if option.limits else "nothing of the kind"
        with pytest.raises(WormcastError, match=rf"^{name}: '?{wrong}(:next)?'? is not (valid|a direction)"):
            Configuration(**{name: wrong})
        assert option.help.endswith(".")
