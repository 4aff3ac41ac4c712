"""Errors on the links of a network: found where they arrive, reported, and no harm to anybody else."""

import pytest

from wormcast.sim.cli.run_report import report
from wormcast.sim.engines.faults import find_faults
from wormcast.sim.engines.port_packing import credit_word, data_word
from wormcast.sim.experiments.run import Run, plan_messages, run_bulk

from .bench import bulk, send


def spoil(engine, node, port, flit=None, credit=None):
    """Put a flit (vc, head, tail, data) or a credit mask on what a router's port drives."""
    block = engine.blocks["router"]
    if credit is not None:
        block.output(credit_word(f"{port}_in"))[node] |= credit
        return engine
    word = block.output(f"{port}_out")
    vc, head, tail, data = flit
    bits = (engine.network.configuration.vcs - 1).bit_length()
    word[node] = 1 | (vc | (head | tail << 1) << bits) << 1
    block.output(data_word(f"{port}_out"))[node] = data
    return engine


def until(engine, node, port, wanted):
    """Run until the word of marks on a router's output is as wanted."""
    for _ in range(400):
        if wanted(int(engine.blocks["router"].output(f"{port}_out")[node])):
            return engine
        engine.run(1)
    raise AssertionError("it never came")


def received(engine):
    """Destinations that have everything, by message."""
    host, worms = engine.host, engine.host.worms
    return [int((host.received[one["delivery"]:one["delivery_end"]] >= 0).sum()) for one in worms]


def places(faults):
    """List the place and the cause of each fault."""
    return [(fault.component, fault.node, fault.port, fault.vc, fault.cause) for fault in faults]


# a row of seven: the first message runs over all of it, the others beside and behind it
MESSAGES = [send(0, 3, 6, length=40), send(6, 5, 1, length=40), send(0, 2, 5, length=10), send(4, 6, 5, length=20),
            send(2, 3, length=9, at=900), send(0, 6, 1, length=9, at=1000)]
HARDWARE = [
    {"readers": "coupled", "delays": "paper", "buffer": 4},
    {"readers": "independent", "delays": "fast", "buffer": 1},
]


@pytest.mark.parametrize("options", HARDWARE, ids=str)
@pytest.mark.parametrize("what", ["no tail mark", "no head mark", "wrong address", "outside", "stray payload"])
def test_everybody_elses_messages_arrive(options, what):
    """One flit is changed on the link from router 1 to router 2, or put there: all other messages arrive."""
    engine = bulk("mesh:1x7", "dual-path", MESSAGES, vcs=1, consumption=2, flit_width=16, **options)
    address = engine.network.header.address
    head, tail = 1 << 1, 1 << 2
    moment = {"no tail mark": lambda word: word & 1 and word & tail,
              "stray payload": lambda word: not word & 1}.get(what, lambda word: word & 1 and word & head)
    if what == "stray payload":
        engine.run(850)  # between the messages
    until(engine, 1, "east", moment)
    last = 1 << 15
    flit = {"wrong address": (0, 1, 0, last | sum(address(0) << 3 * k for k in range(5))),
            "no tail mark": (0, 0, 0, 77), "no head mark": (0, 0, 0, 77),
            "outside": (0, 1, 0, last | sum(7 << 3 * k for k in range(5))),
            "stray payload": (0, 0, 1, 5)}[what]
    spoil(engine, 1, "east", flit)
    if what == "stray payload":
        # its credit is one too many at router 1, and stops that virtual channel
        outcome, deadlock, faults = run_bulk(engine, 3000)
        assert places(faults) == [("router", 1, "east", 0, "credit"), ("router", 2, "west", 0, "no header")]
        assert (outcome, deadlock) == ("error", None)
        assert received(engine)[4] == 1
        return
    outcome, deadlock, faults = run_bulk(engine, 5000)
    assert (outcome, deadlock) == ("error", None)
    causes = {"no tail mark": "no tail", "no head mark": "no header", "wrong address": "wrong order",
              "outside": "no such destination"}
    assert places(faults)[:1] == [("router", 2, "west", 0, causes[what])]
    hurt = [index for index, (got, message) in enumerate(zip(received(engine), engine.host.worms, strict=True))
            if got < message["delivery_end"] - message["delivery"]]
    assert len(hurt) == 1, hurt


@pytest.mark.parametrize("options", HARDWARE, ids=str)
def test_false_credit_stalls_and_is_no_deadlock(options):
    engine = bulk("mesh:1x7", "dual-path", MESSAGES, vcs=1, consumption=2, flit_width=16, **options)
    spoil(engine, 3, "west", credit=1)  # towards router 2's east output, before anything is sent
    outcome, deadlock, faults = run_bulk(engine, 3000)
    assert (outcome, deadlock) == ("error", None)
    assert places(faults) == [("router", 2, "east", 0, "credit")]
    assert received(engine)[1] == 2  # the other way


@pytest.mark.parametrize("options", HARDWARE, ids=str)
def test_false_credit_with_flits_under_way_costs_one_flit_or_stops_the_link(options):
    """At any moment from before the first message comes until it is through, on the link from router 2 to router 3.
    Either the receiver gets a flit for which it has no room: it drops that one, says so, and everybody else's messages
    arrive, whole; or the sender has all its credits once and gets one more: the link is stopped, and what does not need
    it arrives. One that comes with a true one is no error."""
    # the second waits at router 3, its buffer there full, until the first is through; then it is under way
    messages = [send(3, 4, 5, length=80), send(0, 4, length=60), send(6, 5, 1, length=40), send(1, 3, length=9, at=900)]
    seen = set()
    for moment in range(0, 240, 17):
        engine = bulk("mesh:1x7", "dual-path", messages, vcs=1, consumption=2, flit_width=16, **options)
        engine.run(moment)
        spoil(engine, 3, "west", credit=1)
        outcome, deadlock, faults = run_bulk(engine, 4000)
        assert deadlock is None
        found = places(faults)
        hurt = [index for index, (got, message) in enumerate(zip(received(engine), engine.host.worms, strict=True))
                if got < message["delivery_end"] - message["delivery"]]
        if not found:
            assert (outcome, hurt) == ("delivered", [])
            seen.add("none")
        elif found[0][-1] == "overflow":
            assert found == [("router", 3, "west", 0, "overflow")]
            assert (outcome, len(hurt)) == ("error", 1)
            seen.add("overflow")
        else:
            assert found == [("router", 2, "east", 0, "credit")]
            assert outcome == "error"
            assert hurt
            assert received(engine)[::2] == [2, 2]  # do not go there
            seen.add("credit")
    assert seen >= {"overflow", "credit"}


@pytest.mark.parametrize("options", HARDWARE, ids=str)
def test_false_credit_for_an_interface_stops_what_it_sends(options):
    engine = bulk("mesh:1x7", "dual-path", MESSAGES, vcs=1, consumption=2, flit_width=16, **options)
    spoil(engine, 6, "local", credit=1)
    outcome, deadlock, faults = run_bulk(engine, 3000)
    assert (outcome, deadlock) == ("error", None)
    assert places(faults) == [("interface", 6, "network_out_0", 0, "credit")]
    assert received(engine) == [2, 0, 2, 2, 1, 2]


def test_faults_are_reported(capsys):
    engine = bulk("mesh:1x7", "dual-path", MESSAGES, vcs=1, consumption=2, flit_width=16, buffer=4)
    spoil(engine, 3, "west", credit=1)
    outcome, deadlock, faults = run_bulk(engine, 1500)
    worms = plan_messages(engine.network.topology, engine.network.scheme, MESSAGES)
    result = Run(engine.network, "bulk", 0, outcome, 1500, tuple(MESSAGES), worms, engine.host, deadlock, faults)
    assert result.to_dict()["faults"] == [
        {"component": "router", "node": 2, "port": "east", "vc": 0, "cause": "credit"}]
    report(result)
    assert "error on the wire: router 0.2, port east, virtual channel 0: credit" in capsys.readouterr().out


def test_a_run_without_errors_has_no_faults():
    engine = bulk("mesh:1x7", "dual-path", MESSAGES, vcs=1, consumption=2, flit_width=16, buffer=4)
    assert run_bulk(engine, 5000) == ("delivered", None, ())


@pytest.mark.parametrize("name", ["min:b=2,stages=3", "irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=1"])
def test_faults_name_the_switch_where_it_is_no_nodes(name):
    """A credit too many on each link between switches, in routers of several kinds."""
    for row in (0, -1):
        engine = bulk(name, "individual", [send(0, 5, length=9, at=50)], vcs=1, consumption=1, buffer=2)
        network = engine.network
        link = network.fabric.of_kind("network")[row]
        engine.blocks[link.far.kind].output(credit_word(link.far.port))[link.far.instance] |= 1
        _, _, (fault,) = run_bulk(engine, 40)
        switch = network.topology.switch_names[link.source]
        assert fault.to_dict() == {"component": "router", "switch": switch, "port": link.near.port.removesuffix("_out"),
                                   "vc": 0, "cause": "credit"}
        assert fault.place(network.topology) == f"router {switch}"


def test_ports_are_called_as_a_user_named_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.toml").write_text('switches = ["west", "east"]\nnodes = ["west", "east"]\n'
                                       'ports = [["to_east", "n"], ["token", "n"]]\n'
                                       'links = [["west", "to_east", "east", "token"], '
                                       '["east", "token", "west", "to_east"]]\n')
    engine = bulk("net.toml", "individual", [send(0, 1, length=9)])
    network = engine.network
    kind, name = next((kind, one.name(0)) for kind, one in network.blueprint.named_kinds.items()
                      if network.switch_of(kind, 0) == 0)
    engine.blocks[kind].output(f"{name}_out")[0] = 1 | 1 << 3  # a tail that belongs to no worm
    engine.run(4)
    assert [(fault.node, fault.port) for fault in find_faults(engine)] == [(0, "to_east"), (1, "token")]


def test_names_of_ports_of_three_dimensions_are_those_of_the_topology():
    engine = bulk("mesh:2x2x2", "individual", [send(0, 1, length=9)])
    spoil(engine, 0, "x_plus", flit=(0, 0, 1, 0)).run(4)
    assert [(fault.node, fault.port) for fault in find_faults(engine)] == [(0, "x+"), (4, "x-")]
