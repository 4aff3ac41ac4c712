# amaranth: UnusedElaboratable=no
"""Variants of routers and interfaces: the first that fits is used, and the variant of the documentation works."""

import pickle
import re
import sys
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from wormcast import load
from wormcast.algorithms import SCHEMES, Unicast, WormcastError, topology
from wormcast.algorithms.errors import WireError
from wormcast.algorithms.schemes.individual import Individual
from wormcast.hw import variants
from wormcast.hw.input_probe import PathProbe
from wormcast.hw.interface import AbsorbingInterface, NetworkInterface
from wormcast.hw.interface.smart import ForwardingInterface
from wormcast.hw.variants import INTERFACES, ROUTERS
from wormcast.sim import Message, run
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.cli.run_report import report
from wormcast.sim.engines import bulk as bulk_engine
from wormcast.sim.export.verilog import ports
from wormcast.sim.host.constants import (
    CHANNELS,
    COUNTERS,
    FAULT,
    FAULT_CHANNEL,
    FAULT_EXPECTED,
    FAULT_FLIT,
    FAULT_MARKS,
    FAULT_NODE,
    FAULT_RECEIVED,
    FAULT_WORM,
    HEAD,
    MARK_BITS,
    NODES,
    NONE,
    TAIL,
)
from wormcast.sim.host.receipts import WrongReceipt, first_wrong_receipt

from ..sim.bench import check_receipts, host_of, send
from . import bench

PAGE = (Path(__file__).parents[2] / "docs" / "variants.md").read_text()


def on_page():
    """The module that the page shows."""
    [code] = re.findall(r'```python\n(""".*?)```', PAGE, re.DOTALL)
    module = ModuleType("wormcast.hw.lossy")
    exec(compile(code, "hw/lossy.py", "exec"), module.__dict__)
    return module


@pytest.fixture
def lossy(monkeypatch):
    """The variant of the page, at its place in the list, with its line as the page shows it."""
    module = on_page()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    [(functions, line)] = re.findall(r"^(from .lossy .*)^(RouterVariant\(.*),$", PAGE, re.MULTILINE | re.DOTALL)
    names = dict(vars(variants))
    exec(compile(functions, "hw/variants.py", "exec"), names)
    for name in names.keys() - vars(variants).keys():
        monkeypatch.setattr(variants, name, names[name], raising=False)
    variant = eval(line, names)
    monkeypatch.setattr(variants, "ROUTERS", [*ROUTERS[:-1], variant, ROUTERS[-1]])
    return variant


@pytest.mark.parametrize(("network", "scheme", "options", "name"), [
    ("mesh:3x3", "dual-path", {}, "path"),
    ("min:b=2,stages=2", "atbm", {"consumption": 1}, "tree"),
    ("irregular:switches=4,ports=4,nodes=6", "tree",
     {"buffer_kind": "deep", "buffer": 32, "vcs": 1, "consumption": 1}, "deep"),
])
def test_a_network_has_the_first_variant_that_fits(network, scheme, options, name):
    built = Network(topology(network), SCHEMES[scheme], Configuration(**options))
    assert built.blueprint.variant.name == name
    router = built.blueprint.router()
    assert isinstance(router, built.blueprint.variant.spec)
    assert isinstance(built.probe(next(iter(built.routers)), 0, 0), built.blueprint.variant.probe)


def test_a_header_whose_routers_are_of_no_variant_is_refused():
    class Lost(Unicast):
        router = "ring"

    class Losing(Individual):
        header = Lost

    built = Network(topology("mesh:1x2"), Losing(), Configuration()).blueprint
    with pytest.raises(WormcastError) as error:
        _ = built.variant
    assert str(error.value) == (
        "header: class Lost has router 'ring', which is no variant. Allowed: path, tree, or the name of a new variant "
        "in wormcast.hw.variants.")


@pytest.mark.parametrize(("options", "name", "component"), [
    ({}, "conventional", NetworkInterface),
    ({"absorb": "2"}, "absorbing", AbsorbingInterface),
    ({"ni": "fpfs", "packet": 8}, "forwarding", ForwardingInterface),
])
def test_a_network_has_the_first_variant_of_interfaces_that_fits(options, name, component):
    built = Network(topology("mesh:3x3"), SCHEMES["u-mesh"], Configuration(**options)).blueprint
    assert built.interface_variant.name == name
    interface = built.interface()
    assert type(interface) is component
    registers = built.interface_variant.probe(interface, lambda name: 0)
    assert registers.stored(0) == []


@pytest.mark.parametrize(("variant", "other", "options", "sentence"), [
    ("path", "tree", {}, "Switch.decoder: BitStringDecoder is not valid. Allowed: a PathDecoder."),
    ("tree", "path", {}, "TreeSwitch.decoder: MeshDecoder is not valid. Allowed: a TreeDecoder."),
    ("tree", "tree", {"readers": "independent"}, "TreeSwitch.readers: 'independent' is not valid. Allowed: coupled."),
    ("tree", "tree", {"replication": "lazy"}, "TreeSwitch.replication: 'lazy' is not valid. Allowed: asynchronous, "),
    ("tree", "tree", {"tokens": True, "reports": False}, "TreeSwitch.tokens: True is not valid with reports False. "),
    ("deep", "path", {}, "DeepSwitch.decoder: MeshDecoder is not valid: it decodes one output per worm"),
])
def test_a_variant_refuses_what_is_not_its_own(variant, other, options, sentence):
    network, scheme = {"path": ("mesh:3x3", "dual-path"), "tree": ("min:b=2,stages=2", "atbm")}[other]
    built = Network(topology(network), SCHEMES[scheme], Configuration(consumption=1))
    given = built.blueprint.parameters()
    common = {name: given[name] for name in ("inputs", "outputs", "decoder", "width", "tables")}
    [kind] = [one for one in ROUTERS if one.name == variant]
    with pytest.raises(WormcastError, match=re.escape(sentence)):
        kind.build(**common, **options)


def test_each_variant_has_what_the_page_says():
    rows = re.findall(r"^\| `(\w+)` \| .* \| `(hw/[\w/]+\.py)` \|", PAGE, re.MULTILINE)
    assert [name for name, _ in rows] == [variant.name for variant in (*ROUTERS, *INTERFACES)]
    for variant, (_, file) in zip((*ROUTERS, *INTERFACES), rows, strict=True):
        assert (Path(__file__).parents[2] / file).exists(), variant.name


def test_the_variant_of_the_page_drops_a_payload_flit_in_a_thousand(lossy):
    """All others pass in order and once, and each credit comes back."""
    built = Network(topology("mesh:1x2"), SCHEMES["individual"], Configuration(delays="fast", vcs=1))
    assert built.blueprint.variant is lossy
    assert pickle.loads(pickle.dumps(built)).blueprint.variant == lossy
    assert isinstance(built.probe("router", 0, 0), PathProbe)
    router, length = built.blueprint.router(), 2600
    worm = [(1, 0, 1), *((0, 0, k) for k in range(length)), (0, 1, 9)]
    seen, credits, room = [], 0, [router.inputs[-1].depth]
    [local] = [i for i, name in enumerate(router.decoder.inputs) if name == "local"]
    out = next(link for o, [link] in enumerate(router.out_links) if o < router.ejection)
    entry, owed = router.in_links[local], [0]

    def step(cycle, context):
        nonlocal credits
        back = context.get(entry.credit)
        credits += back
        room[0] += back
        context.set(out.credit, owed[0])
        owed[0] = context.get(out.valid)
        if owed[0]:
            flit = context.get(out.flit)
            seen.append((flit.head, flit.tail, flit.data))
        sends = bool(worm) and room[0] > 0
        context.set(entry.valid, sends)
        if sends:
            head, tail, data = worm.pop(0)
            context.set(entry.flit, {"head": head, "tail": tail, "data": data})
            room[0] -= 1

    bench.simulate(router, length + 200, step)
    data = [value for head, tail, value in seen if not head and not tail]
    missing = sorted(set(range(length)) - set(data))
    assert missing == [999, 1999]
    assert all(first < second for first, second in pairwise(data))
    assert credits == length + 2
    assert (seen[0][0], seen[-1][1]) == (1, 1)


@pytest.fixture
def kernels(lossy, monkeypatch):
    """Kernels of the variant's own."""
    sources = bulk_engine._sources()
    monkeypatch.setattr(bulk_engine, "_sources", lambda: f"{sources} {PAGE}")


def test_hosts_notice_what_the_variant_of_the_page_loses(kernels):
    built = Network(topology("mesh:1x2"), SCHEMES["individual"], Configuration(delays="fast", vcs=1))
    engine = bulk_engine.BulkEngine(built, host_of(built, [send(0, 1, length=1500)]))
    engine.run(4000)
    with pytest.raises(RuntimeError, match=r"node 1, .* received a payload flit that is not the next one of its worm"):
        check_receipts(engine.host)


@pytest.mark.parametrize("engine", ["bulk", "amaranth"])
def test_a_lost_flit_is_an_error_of_the_run(engine, kernels, capsys):
    """Two routers drop flits 999 and 1000 of worm 1. No router notices it."""
    result = run(topology("mesh:1x2"), SCHEMES["individual"], [Message(0, 0, (1,), 9), Message(0, 1, (0,), 1010)],
                 Configuration(delays="fast", vcs=1), engine=engine, timeout=1600)
    assert result.outcome == "error"
    assert result.to_dict()["faults"] == [
        {"component": "host", "node": 0, "port": "host_out_0", "vc": 1, "cause": "wrong flit", "worm": 1, "flit": 999,
         "expected": f"{1 | 999 << 16:#x}", "received": f"{1 | 1001 << 16:#x}"}]
    report(result)
    assert ("error on the wire: host 0.0, port host_out_0, virtual channel 1: wrong flit, 0x3e90001 in place of "
            "payload flit 999, 0x3e70001; worm 1 (from 0.1 to 0.0) did not arrive") in capsys.readouterr().out


def test_a_lost_flit_ends_a_load_with_the_seed(kernels):
    with pytest.raises(WireError) as error:
        load("mesh:1x2", "individual", rate=0.3, multicast_fraction=0, cycles=5000, delays="fast", vcs=1, seed=31,
             seeds=1)
    assert str(error.value) == (
        "seed 31, up to cycle 4096: host 0.1 found an error at host_out_0, wrong flit, 0xd0062 in place of payload "
        "flit 11, 0xb0062; worm 98 (from 0.0 to 0.1) did not arrive. This is a fault of wormcast.")


def test_a_wrong_receipt_names_lane_and_node_and_marks():
    """Of 16 nodes and two consumption links with three virtual channels each."""
    host = SimpleNamespace(counters=np.zeros(COUNTERS, np.int64), options=np.zeros(20, np.int64))
    host.options[[NODES, CHANNELS]] = 16, 3
    assert first_wrong_receipt(host) is None
    host.counters[[FAULT, FAULT_NODE, FAULT_CHANNEL, FAULT_WORM, FAULT_RECEIVED]] = 1, 31, 4, NONE, -1
    host.counters[FAULT_MARKS] = HEAD | TAIL
    assert first_wrong_receipt(host) == WrongReceipt(
        lane=1, node=15, link=1, vc=1, cause="unexpected worm", received=f"{2**64 - 1:#x}, head, tail")
    host.counters[[FAULT, FAULT_WORM, FAULT_FLIT, FAULT_EXPECTED]] = 2, 5, 7, 10
    host.counters[FAULT_MARKS] = TAIL << MARK_BITS
    assert first_wrong_receipt(host) == WrongReceipt(1, 15, 1, 1, "wrong flit", f"{2**64 - 1:#x}", 5, 7, "0xa, tail")


@pytest.mark.parametrize(("network", "scheme", "name"), [
    ("mesh:3x3", "dual-path", "path"), ("min:b=2,stages=2", "atbm", "tree")])
def test_the_variant_of_the_page_leaves_networks_of_other_variants_alone(lossy, network, scheme, name):
    built = Network(topology(network), SCHEMES[scheme], Configuration(delays="fast", consumption=1))
    assert built.blueprint.variant.name == name


def test_the_variant_of_the_page_has_the_ports_of_a_router(lossy):
    names = [
        [port.name for port in ports(Network(topology("mesh:3x3"), SCHEMES["individual"], options).blueprint.router())]
        for options in (Configuration(delays="fast"), Configuration())
    ]
    assert names[0] == names[1]
