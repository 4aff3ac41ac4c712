# amaranth: UnusedElaboratable=no
"""Switches of networks that are no meshes: cycles, deliveries, classes and choices of virtual channels, shapes."""

import random
from collections import Counter

import pytest
from cases import slow

from wormcast.algorithms import E_CUBE, WormcastError, load_relation
from wormcast.algorithms.routing import ADAPTIVE, UP_DOWN, UP_DOWN_ADAPTIVE, without_classes
from wormcast.hw import PortSpec, Switch
from wormcast.hw.tables import TableBus
from wormcast.sim.lowering import netlist
from wormcast.sim.lowering.order import refuse_paths

from . import bench
from .anywhere import Place, blueprint, place

FOUR_AND_FOUR = "irregular:switches=5,ports=8,nodes=20,connectivity=1.0,seed=1"
THREE_AND_ONE = "irregular:switches=8,ports=4,nodes=8,connectivity=0.7,seed=3"
START = 10


def header(here, node):
    return here.switch.decoder.header.encode([node])


def reached(here, port):
    """Nodes that a worm from an input can go to, on and here."""
    return [node for node in range(here.routes.topology.nodes) if here.ways(port, node)]


def by_network(here, port):
    """Return a node to which worms from an input have one output, a link, and the name of this output."""
    for node in reached(here, port):
        [o, *more] = {o for o, _ in here.ways(port, node)}
        if o < here.switch.ejection and not more:
            return node, here.switch.decoder.outputs[o]
    raise AssertionError("no such node")


def cycles_of(driver, port):
    return [cycle - START for cycle, out, *_ in driver.seen if out == port]


THROUGH = [
    pytest.param("torus:4x4", 5, E_CUBE, 1, id="torus"),
    slow("min:b=2,stages=3", 5, None, 0, id="middle stage"),
    pytest.param("min:b=4,stages=2", 1, None, 2, id="first stage"),
    slow(THREE_AND_ONE, 3, UP_DOWN, 3, id="irregular"),
    pytest.param(THREE_AND_ONE, 3, UP_DOWN_ADAPTIVE, 3, id="adaptive"),
    slow("mesh:3x3", 4, ADAPTIVE, 4, id="escape"),
]


# comparators, digits, and tables that give alternatives
@pytest.mark.parametrize(("network", "number", "relation", "port"), THROUGH)
@pytest.mark.parametrize(("delays", "extra"), [("paper", 0), slow("fast", 1)])
def test_header_takes_three_cycles_and_data_two(network, number, relation, port, delays, extra):
    here = place(network, number, relation, delays=delays, buffer=5)
    node, out = by_network(here, port)
    flits = bench.worm(header(here, node), 2)
    driver = here.driver()
    for at, flit in zip((0, 10, 20), flits, strict=True):
        driver.send(START + at, here.switch.decoder.inputs[port], [flit])
    assert cycles_of(driver.run(60), out) == [3 + extra, 12 + extra, 22 + extra]
    assert driver.fault == ("NONE", 0, 0)


@pytest.mark.parametrize(("network", "number", "readers", "ejection"), [
    ("min:b=4,stages=2", 5, "independent", "all"), slow("torus:4x4", 5, "coupled", "all"),
    (FOUR_AND_FOUR, 2, "coupled", "one"), slow(FOUR_AND_FOUR, 2, "coupled", "all"),
    *(slow(network, number, readers, ejection) for network, number, readers, ejection in [
        ("min:b=4,stages=2", 5, "coupled", "one"), ("torus:4x4", 5, "independent", "one"),
        ("min:b=4,stages=2", 5, "coupled", "all"), ("min:b=4,stages=2", 5, "independent", "one"),
        ("torus:4x4", 5, "coupled", "one"), ("torus:4x4", 5, "independent", "all"),
        (FOUR_AND_FOUR, 2, "independent", "one"), (FOUR_AND_FOUR, 2, "independent", "all")]),
])
def test_payload_is_on_the_consumption_link_four_cycles_after_the_header(network, number, readers, ejection):
    here = place(network, number, readers=readers, ejection=ejection)
    decoder = here.switch.decoder
    [node] = here.kind.nodes_at(here.routes.topology)[here.member, -1:].tolist()
    driver = here.driver()
    driver.send(START, decoder.inputs[0], bench.worm(header(here, node), 3))
    driver.run(40)
    [(o, _)] = here.ways(0, node)
    assert cycles_of(driver, decoder.outputs[o]) == [4, 5, 6]
    assert {out for _, out, *_ in driver.seen} == {decoder.outputs[o]}
    assert driver.worms(decoder.outputs[o]) == [bench.worm([], 3)]


def traffic(here, driver, seed, worms, longest=5, most=START):
    """Send random unicasts by every input; what must come of them: by payload, the ways and the flits."""
    rng, expected = random.Random(seed), {}
    decoder = here.switch.decoder
    for port in range(len(decoder.inputs)):
        for _ in range(worms if here.is_joined(port) and reached(here, port) else 0):
            node, number = rng.choice(reached(here, port)), len(expected) + 1
            length = rng.randint(1, longest)
            body = [(0, int(k == length - 1), number << 8 | k) for k in range(length)]
            head = [(1, 0, data) for data in header(here, node)]
            expected[number] = (port, here.ways(port, node), head, body)
            driver.send(rng.randint(START, most), decoder.inputs[port], head + body,
                        rng.randrange(here.switch.inputs[port].vcs))
    return expected


def check_deliveries(here, driver, expected):
    """Each worm leaves whole and once by one of its ways, on a virtual channel of the class; all credits come back."""
    decoder, switch, found = here.switch.decoder, here.switch, Counter()
    by_channel = {}
    for _, out, vc, *flit in driver.seen:
        by_channel.setdefault((out, vc), []).append(tuple(flit))
    lanes = {name: o for o in range(len(switch.outputs)) for name in switch._names(o)}
    for (out, vc), flits in by_channel.items():
        o = lanes[out]
        for worm in bench.cut(flits):
            number = worm[-1][2] >> 8
            _, ways, head, body = expected[number]
            assert worm == (body if o >= switch.ejection else head + body)
            if o < switch.ejection:
                share = switch.outputs[o].vcs // decoder.vc_classes
                assert (o, vc // share) in ways
            else:
                assert (o, 0) in ways
            found[number] += 1
    assert found == Counter(dict.fromkeys(expected, 1))
    sent = sum(len(head) + len(body) for _, _, head, body in expected.values())
    assert len(driver.credits) == sent
    assert driver.fault == ("NONE", 0, 0)


@pytest.mark.slow  # switches of stages are, below
@pytest.mark.parametrize(("options", "seed"), [
    ({}, 1), slow({"readers": "independent", "delays": "fast", "consumption_links": "separate"}, 2),
    slow({"ejection": "all", "vcs": 1, "buffer": 2}, 3), slow({"ports": "all", "consumption": 1, "buffer": 1}, 4),
], ids=str)
def test_four_links_and_four_nodes_under_random_unicasts(options, seed):
    """A switch of eight ports, whose neighbours return credits late: each worm leaves once and whole."""
    here = place(FOUR_AND_FOUR, 2, UP_DOWN, **options)
    driver = here.driver(credit_after=1 + seed)
    expected = traffic(here, driver, seed, worms=64 // len(here.switch.inputs))
    driver.run(600)
    check_deliveries(here, driver, expected)


@pytest.mark.parametrize(("network", "number", "options"), [
    ("min:b=4,stages=2", 1, {}), slow("min:b=4,stages=2", 5, {}), slow("min:b=2,stages=3", 5, {"vcs": 4}),
    ("min:b=4,stages=2", 5, {"ejection": "all", "consumption": 1}), ("min:b=2,stages=3", 0, {"ports": "all"}),
    ("min:b=3,stages=2", 4, {"readers": "independent", "consumption_links": "separate", "vcs": 1}),
])
def test_stages_of_every_shape_under_random_unicasts(network, number, options):
    here = place(network, number, **options)
    driver = here.driver(credit_after=3)
    expected = traffic(here, driver, network, worms=8)
    driver.run(400)
    check_deliveries(here, driver, expected)


@pytest.mark.parametrize(("network", "number", "relation", "options"), [
    ("torus:4x4", 0, E_CUBE, {"vcs": 2}), slow("torus:5x5", 14, E_CUBE, {"vcs": 4, "delays": "fast"}),
    slow("ring:6", 5, E_CUBE, {"vcs": 6, "readers": "independent"}), slow("ring:3", 2, E_CUBE, {"vcs": 2, "buffer": 1}),
    slow("torus:4x4", 3, without_classes(E_CUBE), {"vcs": 3}), ("mesh:3x3", 4, ADAPTIVE, {"vcs": 2}),
    slow("mesh:3x3", 1, ADAPTIVE, {"vcs": 4, "ejection": "all", "delays": "fast"}),
    (THREE_AND_ONE, 3, UP_DOWN_ADAPTIVE, {"vcs": 1}),
    slow("torus:4x4", 6, E_CUBE, {"vcs": 2, "ejection": "all", "consumption_links": "separate"}),
])
def test_worms_keep_to_the_virtual_channels_of_their_class(network, number, relation, options):
    """Under random unicasts from all sides and slow credits each leaves on one that its way allows."""
    here = place(network, number, relation, **options)
    driver = here.driver(credit_after=4)
    expected = traffic(here, driver, network, worms=10)
    driver.run(600)
    check_deliveries(here, driver, expected)
    used = {(here.switch.decoder.outputs.index(out), vc) for _, out, vc, *_ in driver.seen
            if out in here.switch.decoder.outputs[:here.switch.ejection]}
    wanted = {way for _, ways, *_ in expected.values() for way in ways if way[0] < here.switch.ejection}
    share = here.switch.outputs[0].vcs // here.switch.decoder.vc_classes
    if not here.switch.decoder.adaptive:
        assert {(o, vc // share) for o, vc in used} == wanted


@pytest.fixture(scope="module")
def parallel():
    """A switch with three links to its only neighbour, one virtual channel each, and four on the way in."""
    built = blueprint("irregular:switches=2,ports=4,nodes=2,connectivity=1.0,seed=1", UP_DOWN_ADAPTIVE)
    decoder = built.decoder()
    outputs = [PortSpec(name, vcs=1) for name in decoder.outputs]
    switch = Switch(inputs=[PortSpec(name, vcs=4) for name in decoder.inputs], outputs=outputs, decoder=decoder,
                    width=32)
    return Place(0, built.kinds[0], switch, built.routes)


@pytest.mark.parametrize("freed", [slow(0), slow(1), 2])
def test_a_choice_takes_what_is_free(parallel, freed):
    """Three worms to one destination take a link each, at once. The fourth waits, and takes the link that is freed
    first."""
    assert sorted(parallel.ways(3, 1)) == [(0, 0), (1, 0), (2, 0)]
    driver, flits = parallel.driver(), bench.worm(header(parallel, 1), 2)
    for vc in range(3):
        driver.send(START + 10 * vc, "n0", flits[:2], vc)
    driver.send(START + 30, "n0", flits, 3)
    driver.send(START + 50, "n0", flits[2:], freed)
    driver.run(80)
    heads = [(cycle - START, out) for cycle, out, _, head, *_ in driver.seen if head]
    outs = [out for _, out in heads]
    assert len(set(outs[:3])) == 3
    assert [cycle for cycle, _ in heads[:3]] == [3, 13, 23]
    assert outs[3:] == [outs[freed]]
    # the tail is on the link 2 cycles after it came; its channel can be taken 2 cycles after it was sent
    assert heads[3][0] == 54


def test_headers_that_come_at_once_take_different_ways(parallel):
    """All ways are free, and all worms see the first of them: who loses it moves on to the next."""
    driver = parallel.driver()
    for vc in range(3):
        driver.send(START, "n0", bench.worm(header(parallel, 1), 2)[:2], vc)
    driver.run(40)
    heads = [(cycle - START, out) for cycle, out, _, head, *_ in driver.seen if head]
    assert len({out for _, out in heads}) == 3


def test_an_input_takes_the_links_to_each_neighbour_in_turn(tmp_path):
    """Worms from one node go alternately to switches joined by four links and by two. Each set of links has a turn of
    its own."""
    (tmp_path / "sets.toml").write_text(
        "switches = 3\nnodes = [0, 1, 2]\nlinks = [[0, 1], [0, 1], [0, 1], [0, 1], [0, 2], [0, 2]]\n")
    here = place(str(tmp_path / "sets.toml"), 0, load_relation("up-down:parallel=turns"), vcs=1)
    driver, port = here.driver(), here.switch.decoder.inputs[-1]
    for k in range(40):
        driver.send(START + 10 * k, port, bench.worm(header(here, 1 + k % 2), 1))
    driver.run(START + 450)
    worms = Counter(out for _, out, _, head, *_ in driver.seen if head)
    assert sorted(worms.values()) == [5, 5, 5, 5, 10, 10]


def test_an_escape_is_the_last_choice():
    """A worm takes the adaptive channel of each output before the escape channel."""
    here = place("mesh:3x3", 0, ADAPTIVE, vcs=2)
    decoder, node = here.switch.decoder, 8
    ways = here.ways(decoder.links_in, node)
    assert sorted(k for _, k in ways) == [0, 1, 1]
    driver = here.driver(credit_after=None)
    for k, (port, vc) in enumerate((("local", 0), ("local", 1))):
        driver.send(START + 10 * k, port, bench.worm(header(here, node), 3)[:2], vc)
    driver.run(60)
    heads = [(out, vc) for _, out, vc, head, *_ in driver.seen if head]
    assert {vc for _, vc in heads} == {1}
    assert len(set(heads)) == 2


def test_a_channel_is_entered_empty_where_the_relation_asks_for_it():
    """While flits of another worm are in the buffer, no header is sent there, even if there is room. With other
    relations it is."""
    for relation, count in ((ADAPTIVE, 1), (E_CUBE, 2)):
        here = place("mesh:1x3", 0, relation, vcs=2 if relation is ADAPTIVE else 1, buffer=8)
        driver = here.driver(credit_after=None)
        vcs = here.switch.inputs[0].vcs
        for k in range(3):
            driver.send(START + 10 * k, "local", bench.worm(header(here, 2), 1), k % vcs)
        driver.run(60)
        heads = Counter((out, vc) for _, out, vc, head, *_ in driver.seen if head)
        assert max(heads.values()) == count if relation is ADAPTIVE else max(heads.values()) >= count


@pytest.mark.parametrize("network", ["mesh:3x3", slow("torus:4x4"), slow(FOUR_AND_FOUR)])
def test_each_way_in_has_an_ejection_port_of_its_own(network):
    """Worms to one node by all links at a time, with one consumption channel each: no worm waits."""
    here = place(network, 2 if network == FOUR_AND_FOUR else 4, ejection="all", consumption=1)
    decoder = here.switch.decoder
    node = int(here.kind.nodes_at(here.routes.topology)[here.member, 0])
    driver, ends = here.driver(), []
    for port in filter(here.is_joined, range(len(decoder.inputs))):
        if (ways := here.ways(port, node)):
            driver.send(START, decoder.inputs[port], bench.worm(header(here, node), 3))
            ends += [decoder.outputs[o] for o, _ in ways]
    driver.run(40)
    assert len(set(ends)) == len(ends) >= 4
    assert {port: cycles_of(driver, port) for port in ends} == {port: [4, 5, 6] for port in ends}


def test_tables_are_written_by_the_number_of_hops():
    """A write is for the switch where the count is 0. Each switch before it takes a cycle and decrements the count."""
    here = place(THREE_AND_ONE, 3, UP_DOWN)
    switch, seen = here.switch, []

    def step(cycle, context):
        if context.get(switch.tables_out.write):
            seen.append((cycle, *(context.get(getattr(switch.tables_out, name))
                                  for name in ("hops", "input", "address", "entry"))))
        words = {2: (5, 1, 3, 2), 3: (0, 1, 4, 1), 4: (1, 0, 7, 3)}
        hops, port, address, entry = words.get(cycle, (0, 0, 0, 0))
        context.set(switch.tables_in, {"write": cycle in words, "hops": hops, "input": port, "address": address,
                                       "entry": entry})

    bench.simulate(switch, 8, step)
    assert seen == [(3, 4, 1, 3, 2), (5, 0, 0, 7, 3)]


def test_before_tables_are_written_every_header_is_an_error():
    here = place(THREE_AND_ONE, 3, UP_DOWN)
    driver = bench.Driver(here.switch, [])
    driver.send(START, "n0", bench.worm(header(here, 0), 3))
    driver.run(40)
    assert driver.seen == []
    assert driver.fault[0] == "WRONG_ORDER"
    assert len(driver.credits) == 4


ODD = [
    slow("ring:2", 0, E_CUBE, {"vcs": 2, "buffer": 1, "flit_width": 7}),
    slow("ring:5", 3, without_classes(E_CUBE), {"vcs": 3, "flit_width": 257, "readers": "independent"}),
    slow("torus:3x1x4", 5, E_CUBE, {"vcs": 2, "ports": "all", "ejection": "all", "delays": "fast"}),
    ("min:b=2,stages=2", 2, None, {"vcs": 1, "buffer": 1, "readers": "independent", "ejection": "all"}),
    slow("min:b=3,stages=2", 1, None, {"vcs": 3, "delays": "fast", "flit_width": 7}),
    slow("irregular:switches=2,ports=2,nodes=2,connectivity=1.0,seed=1", 0, UP_DOWN, {"vcs": 1, "consumption": 1}),
    ("irregular:switches=4,ports=4,nodes=2,connectivity=0.6,seed=2", 3, UP_DOWN_ADAPTIVE, {"vcs": 3, "buffer": 1}),
    slow(THREE_AND_ONE, 3, UP_DOWN_ADAPTIVE,
         {"readers": "independent", "consumption_links": "separate", "flit_width": 257}),
    ("mesh:1x4", 1, ADAPTIVE, {"vcs": 4, "buffer": 3, "delays": "fast"}),
]


@pytest.mark.parametrize(("network", "number", "relation", "options"), ODD)
def test_every_output_comes_from_a_flip_flop(network, number, relation, options):
    """No combinational path from link to link, at odd parameters and shapes; and worms pass."""
    here = place(network, number, relation, **options)
    refuse_paths(netlist.read(here.switch))
    driver = here.driver(credit_after=2)
    if options.get("flit_width", 32) >= 16:  # payload names its worm
        expected = traffic(here, driver, network, worms=3)
        driver.run(250)
        check_deliveries(here, driver, expected)


def test_classes_share_virtual_channels_evenly():
    with pytest.raises(WormcastError, match="vcs: 3 is not valid: e-cube has 2 classes of virtual channels on"):
        blueprint("torus:4x4", vcs=3).router()


def test_ejection_ports_have_as_many_consumption_channels_each():
    decoder = blueprint("mesh:2x2", ejection="all").decoder()
    assert decoder.outputs == ("east", "west", "south", "north", "local_east", "local_west", "local_south",
                               "local_north")
    outputs = [PortSpec(name, vcs=1 + (name == "local_east")) for name in decoder.outputs]
    with pytest.raises(WormcastError, match=r"Switch.outputs: 2, 1, 1, 1 consumption channels are not valid. Allowed:"):
        Switch(inputs=[PortSpec(name) for name in decoder.inputs], outputs=outputs, decoder=decoder, width=32)


def test_one_bus_fits_all_switches_of_a_network():
    """Kinds of different ports and entries are in one chain: the bus is laid out for the largest."""
    built = blueprint("irregular:switches=8,ports=6,nodes=13,connectivity=0.9,seed=4", UP_DOWN)
    assert len(built.kinds) > 1
    routers = [built.router(kind) for kind in built.kinds]
    assert len({str(router.tables) for router in routers}) == 1
    layouts = [router.decoder.table_layout for router in routers]
    assert built.tables == TableBus(tables=6, address_bits=4,
                                    entry_bits=max(layout["entry"].width for layout in layouts))
