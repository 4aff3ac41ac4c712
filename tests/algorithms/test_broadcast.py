"""Broadcasts on tori: the schedules of [Hou], from every source, and what is refused."""

import math

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.routing import with_ties

from .tree_reference import DCF_1, DCF_2, EDN, Z, blocks, way

TORI = ["z", "dcf", "dcf-2", "edn"]
BLOCKS = {"dcf": DCF_1, "dcf-2": DCF_2, "edn": EDN}


def torus(n):
    return topology(f"torus:{n}x{n}")


def signed(name, n):
    scheme = SCHEMES[name]
    return scheme.routed_by(with_ties(scheme.relation, torus(n), "signed"))


def expected(name, n):
    """The unicasts from (0, 0), with their steps and signs."""
    units, unit = [], n
    if name == "z":
        return blocks(n, *((n >> k, Z) for k in range(1, n.bit_length())))
    while unit >= 4:
        unit //= 4
        units.append((unit, BLOCKS[name]))
    return blocks(n, *units, *([(1, Z)] if unit == 2 else []))


def told(broadcast, n):
    """A plan's unicasts as the reference has them, shifted to the source (0, 0); x is the second coordinate."""
    def place(node):
        (row, column), (row0, column0) = (divmod(one, n) for one in (node, broadcast.source))
        return (column - column0) % n, (row - row0) % n

    return {(place(worm.source), place(worm.destinations[0]), worm.step,
             tuple(-1 if worm.signs[0] >> d & 1 else 1 for d in (1, 0))) for worm in broadcast.worms}


@pytest.mark.parametrize("name", TORI)
@pytest.mark.parametrize("n", [2, 4, 8, 16, slow(32), slow(64)])
def test_the_unicasts_are_those_of_the_paper(name, n):
    """The plan itself has refused a node that is visited twice or never."""
    broadcast = plan(torus(n), SCHEMES[name], 0, "all")
    assert told(broadcast, n) == expected(name, n)
    assert broadcast.steps == broadcast.phases == n.bit_length() - 1
    sizes = {"z": 3 * (n.bit_length() - 1), "edn": 3 * (n.bit_length() - 1)}
    if name in sizes:
        assert broadcast.start_ups == sizes[name]


@pytest.mark.parametrize("name", TORI)
@pytest.mark.parametrize("n", [4, 8])
def test_every_source_has_the_same_broadcast(name, n):
    first = told(plan(torus(n), SCHEMES[name], 0, "all"), n)
    for source in range(1, n * n):
        assert told(plan(torus(n), SCHEMES[name], source, "all"), n) == first


@pytest.mark.parametrize("name", TORI)
@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_with_signs_worms_go_as_their_offsets_say_and_without_upwards(name, n):
    for scheme, sign in ((signed(name, n), None), (SCHEMES[name], (1, 1))):
        if n == 2 and sign is None:
            continue  # two links each way: both ways are one to a plan
        for worm in plan(torus(n), scheme, 5 % (n * n), "all").worms:
            start, end = (divmod(one, n)[::-1] for one in (worm.source, worm.destinations[0]))
            signs = sign or tuple(-1 if worm.signs[0] >> d & 1 else 1 for d in (1, 0))
            taken = [tuple(divmod(one, n)[::-1] for one in link) for link in worm.links]
            assert taken == way(n, start, end, signs)


def test_dcf_sends_in_the_order_of_the_paper():
    """Step 1: A, B, C, D; then each of them to its units, and the source to (1, 0)."""
    broadcast = plan(torus(4), "dcf", 0, "all")
    by_sender = {}
    for worm in broadcast.worms:
        by_sender.setdefault(worm.source, []).append(worm.destinations[0])
    at = {(x, y): 4 * (y % 4) + x % 4 for x in range(-2, 4) for y in range(-2, 4)}
    assert by_sender[0] == [at[2, 1], at[-1, -1], at[0, 2], at[0, -1], at[1, 0]]
    assert {sender: len(sent) for sender, sent in by_sender.items()} == {
        0: 5, at[2, 1]: 4, at[-1, -1]: 3, at[0, 2]: 2, at[0, -1]: 1}
    assert by_sender[at[0, 2]] == [at[1, 2], at[0, 1]]


@pytest.mark.parametrize(("n", "steps"), [(5, 3), (25, 5)])
def test_tseng_informs_all_once_in_its_steps(n, steps):
    broadcast = plan(torus(n), "tseng", n + 2, "all")
    assert broadcast.steps == steps == 2 * round(math.log(n, 5)) + 1
    s = (steps - 1) // 2
    after = {worm.destinations[0] for worm in broadcast.worms if worm.step <= s} | {broadcast.source}
    assert len(after) == len({node // n for node in after}) == n  # a node of each row
    diagonal = {worm.destinations[0] for worm in broadcast.worms if worm.step == s + 1} | after
    assert {(1 + k) % n * n + (2 + k) % n for k in range(n)} <= diagonal


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 14, 15, 62, 63])
def test_u_torus_takes_the_fewest_steps_of_one_port(count):
    random = np.random.default_rng(count)
    for source in random.integers(0, 64, 5).tolist():
        others = random.permutation([node for node in range(64) if node != source])[:count].tolist()
        multicast = plan(torus(8), "u-torus", source, others)
        assert multicast.steps == math.ceil(math.log2(count + 1))
        first = multicast.worms[0]
        chain = sorted([source, *others], key=lambda node: (node % 8, node // 8))
        chain = chain[chain.index(source):] + chain[:chain.index(source)]
        assert first.destinations[0] == chain[(count + 1) // 2]


def test_separate_sends_all_from_the_source():
    multicast = plan(torus(4), "separate", 5, [3, 9, 0])
    assert [(worm.source, *worm.destinations) for worm in multicast.worms] == [(5, 0), (5, 3), (5, 9)]


@pytest.mark.parametrize(("n", "expected"), [(4, (5, 4, 2)), (8, (8, 10, 3)), (16, (10, 20, 4)), (32, (13, 42, 5)),
                                             (64, (15, 84, 6))])
def test_the_formula_of_dcf(n, expected):
    """5 k t_s + 4 (4^k - 1) / 3 + 2 k, and (5 k + 3) t_s + 2 (4^(k + 1) - 1) / 3 + 2 k + 1."""
    cost = SCHEMES["dcf"].cost(torus(n))
    assert (cost.start_ups, cost.hops, cost.receipts) == expected
    edn = SCHEMES["edn"].cost(torus(n))
    assert (edn.start_ups, edn.hops, edn.receipts) == (3 * expected[2], *expected[1:])
    # the exact values of t_c = 1 and c = L
    if n <= 16:
        assert cost.latency(t_s=0, t_r=0, t_hop=1, c=1000) == {4: 2004, 8: 3010, 16: 4020}[n]


@pytest.mark.parametrize(("name", "network", "destinations", "sentence"), [
    ("dcf", "torus:6x6", "all", "scheme dcf: topology torus:6x6 is not valid. Allowed: tori of 2\\^d x 2\\^d nodes"),
    ("z", "torus:4x8", "all", "scheme z: topology torus:4x8 is not valid"),
    ("edn", "torus:4x4x4", "all", "scheme edn: topology torus:4x4x4 is not valid"),
    ("dcf", "mesh:4x4", "all", "scheme dcf: topology mesh:4x4 is not valid. Allowed: tori of 2.d x 2.d nodes"),
    ("tseng", "torus:8x8", "all", "tseng: topology torus:8x8 is not valid. Allowed: tori of 5\\^s x 5\\^s nodes"),
    ("dcf", "torus:4x4", "1,2", "destinations: 2 destinations are not valid for dcf. Allowed: all 15 other nodes"),
])
def test_what_is_refused(name, network, destinations, sentence):
    with pytest.raises(WormcastError, match=sentence):
        plan(topology(network), name, 0, destinations)


def test_a_batch_of_broadcasts_is_each_of_them():
    network, scheme = torus(8), SCHEMES["dcf"]
    sources = [3, 60, 3]
    sets = [network.destination_set("all", source) for source in sources]
    worms = scheme.batch(network, sources, [0, 63, 126, 189], [*sets[0], *sets[1], *sets[2]])
    for message, source in enumerate(sources):
        alone = plan(network, scheme, source, "all").arrays
        rows = slice(63 * message, 63 * message + 63)
        for field in ("source", "rank", "destinations", "signs", "steps"):
            assert getattr(worms, field)[rows].tolist() == getattr(alone, field).tolist()
        after = [one if one < 0 else one - 63 * message for one in worms.after[rows].tolist()]
        assert after == alone.after.tolist()
    with pytest.raises(WormcastError, match="destinations in message 1: 2 destinations are not valid for dcf"):
        scheme.batch(network, [3, 60], [0, 63, 65], [*sets[0], 1, 2])


def test_messages_to_one_node_are_unicasts_between_broadcasts():
    """Rows of broadcasts are where they would be alone; a unicast has the signs that hosts set by default."""
    network, scheme = torus(4), SCHEMES["dcf"]
    others = [node for node in range(16) if node != 9]
    worms = scheme.batch(network, [3, 9, 0, 9], [0, 1, 16, 17, 32], [1, *others, 2, *others])
    alone = scheme.batch(network, [9], [0, 15], others)
    assert worms.message_offsets.tolist() == [0, 1, 16, 17, 32]
    for first in (1, 17):
        rows = slice(first, first + 15)
        for field in ("source", "rank", "destinations", "signs", "steps"):
            assert getattr(worms, field)[rows].tolist() == getattr(alone, field).tolist()
        assert worms.after[rows].tolist() == [one if one < 0 else one + first for one in alone.after.tolist()]
    unicasts = [0, 16]
    assert [(int(worms.source[row]), int(worms.destinations[row])) for row in unicasts] == [(3, 1), (0, 2)]
    assert worms.signs[unicasts].tolist() == [2, 0]  # from 0.3 to 0.1 down, from 0.0 to 0.2 up
    assert (worms.after[unicasts] == -1).all()
    assert worms.steps[unicasts].tolist() == [1, 1]
