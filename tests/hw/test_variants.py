# amaranth: UnusedElaboratable=no
"""Variants of routers and interfaces: the first that fits is used, and the variant of the documentation works."""

import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.hw import variants
from wormcast.hw.input_probe import PathProbe
from wormcast.hw.interface import AbsorbingInterface, NetworkInterface
from wormcast.hw.interface.smart import ForwardingInterface
from wormcast.hw.variants import INTERFACES, ROUTERS
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines import bulk as bulk_engine
from wormcast.sim.export.verilog import ports

from ..sim.bench import check_receipts, host_of, send
from . import bench

PAGE = (Path(__file__).parents[2] / "docs" / "variants.md").read_text()


def on_page():
    """The module that the page shows."""
    [code] = re.findall(r'```python\n(""".*?)```', PAGE, re.DOTALL)
    module = ModuleType("lossy")
    exec(compile(code, "hw/lossy.py", "exec"), module.__dict__)
    return module


@pytest.fixture
def lossy(monkeypatch):
    """The variant of the page, at its place in the list, with its line as the page shows it."""
    module = on_page()
    [line] = re.findall(r"^(RouterVariant\(.*),$", PAGE, re.MULTILINE)
    names = {"LossySpec": module.LossySpec, "_build_lossy": lambda **given: module.LossySwitch(**given)}
    variant = eval(line, {**vars(variants), **names})
    for where in ("variants", "router"):
        monkeypatch.setattr(f"wormcast.hw.{where}.ROUTERS", [*ROUTERS[:-1], variant, ROUTERS[-1]])
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
    ("tree", "path", {}, "TreeSwitch.decoder: MeshDecoder is not valid. Allowed: a BitStringDecoder."),
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


def test_hosts_notice_what_the_variant_of_the_page_loses(lossy, monkeypatch):
    sources = bulk_engine._sources()
    monkeypatch.setattr(bulk_engine, "_sources", lambda: f"{sources} {PAGE}")  # kernels of their own
    built = Network(topology("mesh:1x2"), SCHEMES["individual"], Configuration(delays="fast", vcs=1))
    engine = bulk_engine.BulkEngine(built, host_of(built, [send(0, 1, length=1500)]))
    engine.run(4000)
    with pytest.raises(RuntimeError, match=r"node 1, .* received a payload flit that is not the next one of its worm"):
        check_receipts(engine.host)


@pytest.mark.parametrize(("network", "scheme", "name"), [
    ("mesh:3x3", "dual-path", "lossy"), ("min:b=2,stages=2", "atbm", "tree")])
def test_the_variant_of_the_page_leaves_networks_of_other_variants_alone(lossy, network, scheme, name):
    built = Network(topology(network), SCHEMES[scheme], Configuration(delays="fast", consumption=1))
    assert built.blueprint.variant.name == name


def test_the_variant_of_the_page_has_the_ports_of_a_router(lossy):
    names = [
        [port.name for port in ports(Network(topology("mesh:3x3"), SCHEMES["dual-path"], options).blueprint.router())]
        for options in (Configuration(delays="fast"), Configuration())
    ]
    assert names[0] == names[1]
