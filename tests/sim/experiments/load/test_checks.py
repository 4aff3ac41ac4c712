"""Assertions of load experiments, violated on purpose."""

import json
import sys

import numpy as np
import pytest

from wormcast.algorithms import E_CUBE, SCHEMES, Relation, topology
from wormcast.algorithms.errors import WireError, WormcastError
from wormcast.sim import Configuration, Trace, Traffic, load
from wormcast.sim.cli.app import main
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.load.message_window import MessageWindow

MESH = topology("mesh:4x4")


def run(scheme=SCHEMES["dual-path"], cycles=6000):
    return load(MESH, scheme, Traffic(0.05, length=12, destinations_mean=3), cycles=cycles, seeds=(7, 8), workers=1,
                configuration=Configuration(consumption=2))


def lose_a_message(window):
    window._begun["begun"][1] += 1
    window._created["begun"][1] += 1


def create_a_message(window):
    window._created["begun"][1] += 1


def unsend_a_worm(window):
    window.host.streams["worms"][-1] -= 1


def lose_a_delivery(window):
    window.host.deliveries["due"][-1] += 1


def lose_a_worm(window):
    under_way = np.flatnonzero((window.host.injected >= 0) & (window.host.left > 0))
    window.host.worms["left"][under_way[0]] = 0


@pytest.mark.parametrize(("harm", "sentence"), [
    (lose_a_message, r"seed [78]: \d+ messages are created, \d+ of them received, and \d+ on their way or waiting"),
    (create_a_message, r"seed 8: \d+ messages are created, \d+ are counted"),
    (unsend_a_worm, r"seed 8: \d+ worms wait, \d+ are counted"),
    (lose_a_delivery, r"seed [78]: \d+ flits are to be consumed"),
    (lose_a_worm, r"the count of worms under way in the hosts' program differs from the number in its records: \d+, "),
])
def test_what_is_lost_is_missed(monkeypatch, harm, sentence):
    before = MessageWindow.waiting

    def waiting(window):  # the last thing that is asked of it before the check
        found = before(window)
        if window.host.counters[0] > 2000:
            harm(window)
        return found

    run()
    monkeypatch.setattr(MessageWindow, "waiting", waiting)
    with pytest.raises(RuntimeError, match=sentence):
        run()


def test_a_flit_more_on_the_links_than_the_hosts_have_taken(monkeypatch):
    module = sys.modules["wormcast.sim.experiments.load.seed_batch"]
    before = module.take

    def take(meter):
        found = before(meter)
        found.flits[-1, 1] += 1
        return found

    monkeypatch.setattr(module, "take", take)
    with pytest.raises(RuntimeError, match=r"seed 8: \d+ flits are to be consumed, \d+ were on the links to hosts"):
        run()


class Back(Relation):
    """Sends what comes to node 5 for node 15 back to where it came from."""

    name = "back"
    description = "for tests"

    def table(self, shape):
        table = E_CUBE.on(shape).table.copy()
        table[5, 15] = shape.ports[5].index("west")
        return table


def test_a_relation_that_the_routers_do_not_follow_is_refused():
    with pytest.raises(WormcastError, match="relation back: it does not lead from switch 4 to node 15 in mesh:4x4"):
        run(SCHEMES["individual"].routed_by(Back()))


@pytest.fixture
def spoiled(monkeypatch):
    """Engines on whose links something is wrong."""
    before = BulkEngine.run

    def spoil(engine, cycles, *, beyond=False):
        before(engine, cycles, beyond=beyond)
        engine.blocks["router"].output("east_out")[16 + 5] = 1 | 1 << 3  # a tail that belongs to no worm

    monkeypatch.setattr(BulkEngine, "run", spoil)


class Same(Relation):
    """Routes as e-cube."""

    name = "same"
    description = "for tests"

    def table(self, shape):
        return E_CUBE.on(shape).table


def test_an_error_with_a_relation_of_a_users_names_both_causes(spoiled):
    with pytest.raises(WireError, match=r"seed \d, up to cycle \d+: router \d.\d found an error at \w+, \w+; worm \d+ "
                                        r"\(from .* did not arrive\. Either scheme individual or relation same "):
        run(SCHEMES["individual"].routed_by(Same()))


def test_an_error_with_a_relation_of_ours_is_a_fault(spoiled):
    with pytest.raises(WireError, match=r"seed 8, up to cycle \d+: router 1.1 found an error at east, credit.*This is "
                                        r"a fault of wormcast"):
        run()


def test_an_error_on_the_wire_ends_the_command_with_exit_code_1(spoiled, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["wormcast", "load", "mesh:4x4", "dual-path", "--rate", "0.02",
                                      "--destinations-mean", "2", "--cycles", "4000", "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert json.loads(out)["outcome"] == "error"
    assert err.startswith("wormcast: seed ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("overhead", ["t_ns", "t_nr"])
def test_what_waits_for_its_overhead_is_not_taken_for_stuck(overhead, monkeypatch, tmp_path):
    """A tail that its interface holds back, or a packet that waits there: nothing moves for longer than the patience,
    and nobody looks for a deadlock."""
    module = sys.modules["wormcast.sim.experiments.load.seed_batch"]
    looks = []
    monkeypatch.setattr(module, "find_deadlock", lambda *arguments: looks.append(arguments))
    (tmp_path / "one.jsonl").write_text('{"cycle": 9, "source": 0, "destinations": [2], "length": 4}\n')
    found = load(topology("mesh:1x3"), SCHEMES["individual"], Trace(str(tmp_path / "one.jsonl")), seeds=[0],
                 configuration=Configuration(vcs=1, consumption=1, packet=2, **{overhead: 3 * module.PATIENCE}))
    assert found.totals["messages"].sum() == 1
    assert not looks
