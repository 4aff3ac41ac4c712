"""Parallel links, over which worms are spread by their destinations."""

import numpy as np
import pytest

from wormcast.algorithms import WormcastError, check, find_scheme, load_relation, topology
from wormcast.sim import Configuration, Traffic, load

ROW = "switches = 3\nnodes = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]\nlinks = [[0, 1], [0, 1], [0, 1], [0, 1], [1, 2], [1, 2]]\n"
SPREAD = "up-down:parallel=destination"


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


def test_it_is_free_of_deadlock_and_its_name_is_taken_back(row):
    scheme = find_scheme("individual", row, SPREAD)
    assert check(row, scheme, relation=load_relation(SPREAD)).verdict == "free"
    assert scheme.relation.name == SPREAD
    assert load_relation(scheme.relation.name) is scheme.relation


def test_load_is_spread(row):
    """By one link the four of them carry what one did."""
    busiest = {}
    for name in ("up-down", SPREAD):
        found = load(row, find_scheme("individual", row, name), Traffic(0.05, length=8, destinations_mean=1),
                     cycles=20_000, seeds=range(1), workers=1, configuration=Configuration())
        busiest[name] = found.to_dict()["network_utilisation"]["max"]
    assert busiest[SPREAD] < 0.6 * busiest["up-down"]


@pytest.mark.parametrize(("network", "relation", "sentence"), [
    ("mesh:4x4", "e-cube:parallel=destination", "mesh:4x4 has no parallel links, over which worms would be"),
    ("row.toml", "up-down-adaptive:parallel=destination", "up-down-adaptive leaves a choice, which parallel links"),
    ("row.toml", "up-down:parallel=source", "relation: parallel 'source' is given, allowed are destination"),
    ("row.toml", "up-down:paralel=destination", "relation: 'paralel=destination' of .* is no parameter"),
    ("row.toml", "up-down:", "is no parameter, allowed is|must be given|parallel"),
    ("row.toml", "sideways:parallel=destination", "relation: 'sideways:parallel=destination' is unknown"),
])
def test_what_is_refused(network, relation, sentence, row):
    with pytest.raises(WormcastError, match=sentence):
        find_scheme("individual", topology(network), relation)
