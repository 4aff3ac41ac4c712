"""Parallel links, over which worms are spread by their destinations, by inputs, or in turn."""

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import WormcastError, find_scheme, load_relation, topology
from wormcast.algorithms.deadlock.check import check
from wormcast.sim import Configuration, Traffic, load

ROW = "switches = 3\nnodes = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]\nlinks = [[0, 1], [0, 1], [0, 1], [0, 1], [1, 2], [1, 2]]\n"
SPREAD, INPUT, TURNS = (f"up-down:parallel={how}" for how in ("destination", "input", "turns"))


@pytest.fixture
def row(tmp_path, monkeypatch):
    """Three switches in a row, by four links and by two."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "row.toml").write_text(ROW)
    return topology("row.toml")


def test_worms_to_a_node_take_one_link_and_those_to_others_take_others(row):
    plain, spread = (load_relation(name).on(row) for name in ("up-down", SPREAD))
    for start, end, links in ((0, 1, 4), (1, 0, 4), (1, 2, 2), (2, 1, 2)):
        nodes = np.flatnonzero(row.consumptions[:, 0] == end)
        taken = row.link_of_port[start, spread.options[0, start, nodes, 0]]
        assert set(taken) == set(np.flatnonzero((row.links[:, 0] == start) & (row.links[:, 2] == end)))
        assert len(set(taken)) == links
        assert len(set(plain.options[0, start, nodes, 0])) == 1
    assert np.array_equal(spread.phase_of_link, plain.phase_of_link)
    for source in range(10):
        for node in range(10):
            if source != node:
                assert spread.path(source, [node]) == plain.path(source, [node])


def test_worms_of_an_input_take_one_link_and_those_of_others_take_others(row):
    plain, spread = (load_relation(name).on(row) for name in ("up-down", INPUT))
    taken = {source: {channels[0] for node in range(10) if (channels := spread.channels(source, [node]))}
             for source in range(10)}
    assert all(len(some) == 1 for source, some in taken.items() if source not in range(4, 8))
    for nodes, far in ((range(4), 1), (range(4, 8), 0)):
        ways = [spread.channels(node, [8 if far else 0])[0] for node in nodes]
        assert len(set(ways)) == 4
        assert all(row.links[link, 2] == far for link in ways)
    # what comes from the last switch by two links goes on by two
    assert {tuple(spread.channels(node, [0])) for node in (8, 9)} == {(9, 1), (11, 3)}
    # and what comes by four goes on by both of two, as often by one as by the other
    onwards = [spread.channels(node, [8])[1] for node in range(4)]
    assert sorted(onwards) == [8, 8, 10, 10]
    for source in range(10):
        for node in range(10):
            if source != node:
                assert spread.path(source, [node]) == plain.path(source, [node])


def test_inputs_from_the_far_side_do_not_count(tmp_path):
    """Two inputs that may go on to a switch take its two links, though a third one, which comes from there, lies
    between them. It may not go back."""
    (tmp_path / "back.toml").write_text(
        "switches = 3\nports = 4\nnodes = [[0, 3], [1, 3], [2, 3]]\n"
        "links = [[0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 1], [1, 2, 2, 0], [2, 0, 1, 2]]\n")
    back = topology(str(tmp_path / "back.toml"))
    spread = load_relation("shortest:parallel=input").on(back)
    ways = spread.channels(1, [0])[0], spread.channels(2, [0])[1]
    assert {tuple(back.links[way, [0, 2]].tolist()) for way in ways} == {(1, 0)}
    assert len(set(ways)) == 2


def test_worms_in_turn_may_take_all_links_and_wait_for_one(row):
    spread = load_relation(TURNS).on(row)
    assert spread.in_turn
    assert [sorted(row.link_of_port[start, spread.options[0, start, end]].tolist()) for start, end in (
        (0, 4), (2, 8))] == [[0, 2, 4, 6], [-1, -1, -1, row.link_of_port[2, row.consumptions[8, 1]]]]
    assert [sorted(code for code in spread.options[0, 1, 9].tolist() if code >= 0)] == [[4, 5]]


@pytest.mark.parametrize("name", [SPREAD, INPUT, TURNS])
def test_it_is_free_of_deadlock_and_its_name_is_taken_back(row, name):
    scheme = find_scheme("individual", row, name)
    assert check(row, scheme, relation=load_relation(name)).verdict == "free"
    assert scheme.relation.name == name
    assert load_relation(scheme.relation.name) is scheme.relation


@pytest.mark.parametrize("how", ["destination", "input", "turns"])
def test_a_circle_is_a_deadlock_whichever_links_are_taken(tmp_path, how):
    """Worms in turn wait for one link, though another one may be free: so a cycle decides."""
    links = [[s, (s + 1) % 4] for s in range(4) for _ in range(2)]
    ports = "".join(f"[{a}, {p}, {b}, {p}], " for p in range(2) for a, b in links[::2])
    (tmp_path / "ring.toml").write_text(f"switches = 4\nports = 3\nnodes = [0, 1, 2, 3]\nlinks = [{ports}]\n")
    ring = topology(str(tmp_path / "ring.toml"))
    relation = load_relation(f"shortest:parallel={how}")
    found = check(ring, find_scheme("individual", ring, relation.name), relation=relation)
    assert found.verdict == "deadlock"
    assert len(found.cycle) >= 4


@pytest.mark.parametrize("name", [SPREAD, INPUT, slow(TURNS)])  # turns in hardware: tests/sim/test_parallel_links
def test_load_is_spread(row, name):
    """By one link the four of them carry what one did."""
    busiest = {}
    for relation in ("up-down", name):
        found = load(row, find_scheme("individual", row, relation), Traffic(0.05, length=8, destinations_mean=1),
                     cycles=20_000, seeds=range(1), workers=1, configuration=Configuration())
        busiest[relation] = found.to_dict()["network_utilisation"]["max"]
    assert busiest[name] < 0.6 * busiest["up-down"]


@pytest.mark.parametrize(("network", "relation", "sentence"), [
    ("mesh:4x4", "e-cube:parallel=destination", "is not valid: mesh:4x4 has no parallel links. Allowed: e-cube"),
    ("row.toml", "up-down-adaptive:parallel=destination", "up-down-adaptive has several candidates. Allowed: "),
    ("row.toml", "up-down:parallel=source",
     "relation: parallel 'source' of 'up-down:parallel=source' is not valid. Allowed: destination, input"),
    ("row.toml", "up-down-adaptive:parallel=turns", "up-down-adaptive has several candidates. Allowed: "),
    ("mesh:4x4", "e-cube:parallel=input", "is not valid: mesh:4x4 has no parallel links. Allowed: e-cube"),
    ("row.toml", "up-down:paralel=destination", "relation: parameter 'paralel=destination' of .* is unknown"),
    ("row.toml", "up-down:", "is missing. Needed: up-down:parallel=..."),
    ("row.toml", "sideways:parallel=destination", "relation: 'sideways:parallel=destination' is unknown"),
])
def test_what_is_refused(network, relation, sentence, row):
    with pytest.raises(WormcastError, match=sentence):
        find_scheme("individual", topology(network), relation)


@pytest.mark.parametrize("name", [INPUT, TURNS])
def test_worms_of_several_destinations_are_refused(row, name):
    with pytest.raises(WormcastError, match=f"relation: {name} is not valid for path-g: worms of path-g "
                                            "have several destinations. Allowed: schemes of unicasts"):
        check(row, find_scheme("path-g", row, name))


def test_ports_that_lead_by_one_output_take_no_turns(row):
    scheme = find_scheme("individual", row, TURNS)
    traffic = Traffic(0.05, length=8, destinations_mean=1)
    with pytest.raises(WormcastError, match="ports: all is not valid: relation up-down:parallel=turns takes its"):
        load(row, scheme, traffic, cycles=2000, seeds=range(1), workers=1, configuration=Configuration(ports="all"))
