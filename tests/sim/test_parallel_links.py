"""Worms that are spread over parallel links, in hardware."""

import random

import pytest
from cases import slow

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.experiments.run import run

from .bench import send
from .test_deep_networks import messages
from .test_engines_agree import Draw, compare

DEEP = {"buffer_kind": "deep", "buffer": 60, "chunk": 10, "vcs": 1, "consumption": 1}


@pytest.fixture
def pair(tmp_path):
    """The name of two switches with two nodes each, joined by two links: of one kind."""
    (tmp_path / "pair.toml").write_text("switches = 2\nnodes = [0, 0, 1, 1]\nlinks = [[0, 1], [0, 1]]\n")
    return str(tmp_path / "pair.toml")


def received(name, how, sent, **options):
    """Cycles in which messages are received, one destination each."""
    network = topology(name)
    result = run(network, find_scheme("individual", network, f"up-down:parallel={how}"), sent,
                 Configuration(**options))
    assert result.outcome == "delivered"
    return [next(iter(result.message_to_dict(index)["deliveries"].values()))["received"] for index in range(len(sent))]


@pytest.mark.parametrize(("how", "options"), [("input", {"vcs": 2}), ("turns", DEEP), slow("turns", {"vcs": 2}),
                                              slow("input", DEEP)], ids=["shallow", "deep", "turns", "input"])
def test_both_engines_drive_the_same_words(pair, how, options):
    worms = messages(4, 16, random.Random(5), longest=12, within=60, unicasts=1.0)
    compare(Draw(pair, "individual", options, worms, 0.3, 1, f"up-down:parallel={how}"), 120)


def kept(pair, how, **options):
    """Return whether each pair of nodes receives its worms in the order of their sending."""
    drawn = random.Random(3)
    sent = [send(drawn.randrange(2), drawn.randrange(2, 4), length=drawn.choice((1, 14)), at=3 * place)
            for place in range(160)]
    pairs = {}
    for message, cycle in zip(sent, received(pair, how, sent, vcs=1, buffer=16, **options), strict=True):
        pairs.setdefault((message.source, message.destinations), []).append(cycle)
    return all(cycles == sorted(cycles) for cycles in pairs.values())


WIDE = ("switches = 3\nnodes = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]\n"
        "links = [[0, 1], [0, 1], [0, 1], [0, 1], [1, 2], [1, 2]]\n")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["input", "turns"])
@pytest.mark.parametrize("options", [{"vcs": 2}, DEEP], ids=["shallow", "deep"])
def test_both_engines_drive_the_same_words_over_four_links(tmp_path, how, options):
    (tmp_path / "wide.toml").write_text(WIDE)
    worms = messages(10, 30, random.Random(5), longest=12, within=80, unicasts=1.0)
    compare(Draw(str(tmp_path / "wide.toml"), "individual", options, worms, 0.3, 1, f"up-down:parallel={how}"), 200)


@pytest.mark.slow
def test_an_input_takes_four_links_in_turn(tmp_path):
    (tmp_path / "wide.toml").write_text(WIDE)
    sent = [send(0, node, length=40) for node in (4, 5, 6, 7)]
    by_turns, by_input = (received(str(tmp_path / "wide.toml"), how, sent, vcs=4, buffer=4)
                          for how in ("turns", "input"))
    assert max(by_turns) <= max(by_input)


@pytest.mark.parametrize(("how", "order"), [("destination", True), ("input", True), ("turns", False)])
def test_order_of_worms_is_kept_but_in_turn(pair, how, order):
    """With one virtual channel, of worms from one node to another, while others wait in front of them."""
    assert kept(pair, how) == order


@pytest.mark.parametrize("slow_end", [{"t_nr": 10}, slow({"dma": "1/2"})], ids=str)
@pytest.mark.parametrize("how", ["destination", "input"])
def test_order_of_worms_behind_a_slow_end_needs_one_consumption_channel(pair, how, slow_end):
    """With two channels a worm waits behind another one's tail, and the next one comes by the free channel."""
    assert kept(pair, how, consumption=1, **slow_end)
    assert not kept(pair, how, consumption=2, **slow_end)


def test_an_input_takes_all_links_in_turn(pair):
    """Two worms from one node at once: by turns both arrive as if each had the network to itself."""
    sent = [send(0, node, length=40) for node in (2, 3)]
    by_turns, by_input = (received(pair, how, sent, vcs=2, buffer=4) for how in ("turns", "input"))
    assert max(by_turns) <= max(by_input)
