"""The history read from a waveform equals the run, on networks of every kind."""

import random
from pathlib import Path

import numpy as np
import pytest
from cases import some

from wormcast.algorithms import WormcastError, find_scheme, topology
from wormcast.algorithms.channels import Resource, link_names
from wormcast.algorithms.multicast_plan import plan
from wormcast.sim import Configuration, Message, run
from wormcast.sim.waves.view import choose_links, read_waveform, rows_of, summarise
from wormcast.sim.waves.view.descriptions import name_any

TO_HOST = 2  # cycles from a consumption link to the host
NETWORKS = ["min:b=2,stages=2,kind=omega", "irregular:switches=4,ports=5,nodes=8,connectivity=1,seed=2", "torus:2x3",
            "examples/hypercube.py:three"]

OWN = '''
import numpy as np
from wormcast.algorithms import Topology

def pair(name="pair"):
    """Two switches with two links each way, and two nodes at each."""
    links = [[0, 0, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [1, 1, 0, 1]]
    ends = [[0, 2], [0, 3], [1, 2], [1, 3]]
    return Topology(name=name, kind="own", shape=(4,), ports=(("a", "b", "c", "d"),) * 2,
                    links=np.array(links, np.int32), injections=np.array(ends, np.int32),
                    consumptions=np.array(ends, np.int32), coordinates=np.arange(4, dtype=np.int32).reshape(-1, 1))
'''


def sent(name, path, seed=1, number=12):
    """Send unicasts at random, and read the waveform back: the run and the history."""
    network = topology(name)
    rng = random.Random(seed)
    messages = []
    for source in rng.choices(range(network.nodes), k=number):
        others = [node for node in range(network.nodes) if node != source]
        messages.append(Message(rng.randrange(20), source, (rng.choice(others),), 7))
    scheme = find_scheme("individual", network)
    result = run(network, scheme, messages, Configuration(vcs=2, buffer=4), vcd=path)
    assert result.outcome == "delivered"
    return result, read_waveform(path)


@pytest.mark.parametrize("name", some(NETWORKS, NETWORKS[0]))
def test_a_history_has_every_hop_and_delivery_of_the_run(name, tmp_path):
    result, history = sent(name, tmp_path / "w.vcd")
    network = history.topology
    names = link_names(network)
    assert [link.name for link in history.links if link.kind == "network"] != []
    assert {link.name for link in history.links if link.kind == "network"} == {f"link:{name}" for name in names}
    told = {one["worm"]: one for one in summarise(history)}
    for worm, message in enumerate(result.messages):
        [node] = message.destinations
        assert told[worm]["delivered"] == result.host.tail[worm] - TO_HOST
        holds = sorted((hold for hold in history.holds if hold.worm == worm), key=lambda hold: hold.first)
        assert all(hold.ended and len(hold.flits) >= message.length for hold in holds)
        links = [history.links[hold.link] for hold in holds]
        inner = [(link.source, link.target) for link in sorted(
            (link for link in links if link.kind == "network"),
            key=lambda link: holds[links.index(link)].flits[0])]
        here = int(network.injections[message.source, 0])
        for start, end in inner:  # a way from switch to switch, wherever adaptive routing leads
            assert start == here
            here = end
        assert here == network.consumptions[node, 0]
        if result.network.scheme.relation.on(network).deterministic:
            assert inner == list(plan(network, result.network.scheme, message.source, [node]).worms[0].links)
        assert {link.node for link in links if link.kind == "injection"} == {message.source}
        assert {link.node for link in links if link.kind == "consumption"} == {node}
    for wait in history.waits:
        for resource in wait.resources:
            assert Resource.parse(resource)
            assert history.channel(resource) is not None


@pytest.mark.parametrize("name", some(NETWORKS, NETWORKS[0]))
def test_channels_have_a_name_each_and_are_found_by_it(name, tmp_path):
    _, history = sent(name, tmp_path / "w.vcd", number=3)
    channels = [(link, vc) for link, one in enumerate(history.links) for vc in range(one.vcs)]
    assert len({history.channel_name(*channel) for channel in channels}) == len(channels)
    assert len(rows_of(history, choose_links(history, "all"))) >= len(history.links)


def test_links_are_chosen_by_the_names_of_switches_and_nodes(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    _, history = sent(f"{tmp_path / 'own.py'}", tmp_path / "w.vcd")

    def chosen(text):
        return [history.links[link].name for link in choose_links(history, text)]

    assert chosen("s0>s1#1") == ["link:s0>s1#1"]
    assert sorted(chosen("s0>s1")) == ["link:s0>s1#0", "link:s0>s1#1"]
    assert chosen("inj:3") == ["inj:3:0"]
    assert chosen("cons:2") == ["cons:2#0"]
    assert sorted(chosen("2")) == ["cons:2#0", "inj:2:0"]
    assert len(chosen("s1")) == 4 + 4
    with pytest.raises(WormcastError, match=r"links: 's7' is not valid: pair has no such switch\. Allowed: s0 to s1\."):
        choose_links(history, "s0>s7")


def test_a_network_of_ones_own_is_built_from_its_file_again(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    path = tmp_path / "w.vcd"
    _, history = sent(f"{file}:pair", path)
    assert history.topology.name == "pair"
    assert history.topology.origin == f"{file}:pair"
    file.write_text(OWN.replace('name="pair"', 'name="other"'))
    with pytest.raises(WormcastError, match=rf"w\.vcd was recorded with .*, and {file}:pair now defines other"):
        read_waveform(path)
    file.write_text(OWN.replace("[0, 1, 1, 1], ", "").replace("[1, 0, 0, 0], ", ""))
    with pytest.raises(WormcastError, match=r"is damaged .its comment gives link \d+ the name .*, which no link"):
        read_waveform(path)
    Path(file).unlink()
    with pytest.raises(WormcastError, match=rf"w\.vcd needs network pair from {file}:pair, which cannot be built"):
        read_waveform(path)


def test_waits_name_parallel_links(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    result, history = sent(f"{tmp_path / 'own.py'}", tmp_path / "w.vcd", number=30)
    asked = {resource for wait in history.waits for resource in wait.resources}
    assert any(resource.startswith("link:s0>s1#") for resource in asked)
    assert np.count_nonzero(result.host.tail >= 0) == 30


def test_slots_and_who_waits_for_them(tmp_path):
    """[Boppana98]'s Table 1: who has a slot, and who keeps a consumption channel after its tail, as it has none."""
    mesh, file = topology("mesh:1x4"), tmp_path / "table1.vcd"
    ends = ((0, (1, 2, 3)), (3, (2, 1, 0)), (0, (1, 2)), (3, (2, 1)))
    messages = [Message(place // 2, source, visits, 24) for place, (source, visits) in enumerate(ends)]
    result = run(mesh, find_scheme("dual-path", mesh), messages, Configuration(vcs=1, consumption=1, absorb="1"))
    with file.open("w"):
        result.record(file, 0, 120, [("interface", node) for node in range(4)])
    history = read_waveform(file)
    shown = [(history.channel_name(hold.link, hold.vc), hold.worm, bool(hold.flits), hold.ended)
             for hold in history.holds if history.links[hold.link].kind in ("slots", "consumption")]
    assert sorted(shown) == [
        ("cons:0.1:0", 0, True, True), ("cons:0.1:0", 2, False, False), ("cons:0.1:0", 2, True, True),
        ("cons:0.2:0", 1, True, True), ("cons:0.2:0", 3, False, False), ("cons:0.2:0", 3, True, True),
        ("retrans:0.1:0", 0, False, False), ("retrans:0.2:0", 1, False, False)]
    assert {(wait.worm, wait.resources, wait.last) for wait in history.waits} >= {
        (2, ("retrans:1:0",), 119), (3, ("retrans:2:0",), 119)}
    rows = [row.label for row in rows_of(history)]
    assert rows[-4:] == ["retrans:0.1:0", "retrans:0.2:0", "cons:0.1:0", "cons:0.2:0"]
    assert [row.label for row in rows_of(history, choose_links(history, "retrans:0.2"))] == ["retrans:0.2:0"]
    assert sum(link.kind == "slots" for link in history.links) == 4


def test_a_worm_holds_the_token_of_its_switch_until_its_branches_have_reported(tmp_path):
    """Of two trees that a switch copies one after the other; the later one needs both outputs that the first holds."""
    network = topology("min:b=2,stages=3")
    messages = [Message(0, 0, (1, 5), 32), Message(0, 1, (3, 7), 32)]
    run(network, find_scheme("atbm", network), messages, Configuration(vcs=1, consumption=2), vcd=tmp_path / "w.vcd")
    history = read_waveform(tmp_path / "w.vcd")
    assert history.replicates
    first, later = (one for one in history.tokens if one.resource == "token:0:0")
    assert {first.worm, later.worm} == {0, 1}
    assert first.last < later.first
    waits = [wait for wait in history.waits if wait.worm == later.worm]
    [token] = [wait for wait in waits if wait.resources == ("token:0:0",)]
    assert token.first <= first.last < token.last < later.first
    both = next(wait for wait in waits if len(wait.resources) == 2)
    assert name_any(history, both.resources) == "link:s0>s4:0 and link:s0>s6:0"
    assert history.between(history.first, later.first).tokens == (first,)
