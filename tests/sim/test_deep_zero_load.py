"""Worms alone among deep switches: every delivery comes in exactly the cycle that a recurrence says.

A flit that is on the link into a switch in cycle t is on those out of it in t + delay, all of a worm's alike:

    unicast                 3
    bit string, h flits     3 + h - 1       the switch has to see all of it
    pairs, p flits each     3 + i - 1       passed: it has to see the id, i flits
                            3 + p - 1       the worm ends: the first pair
                            3 + p + i - 1   it goes on from a stop: that, and the id behind it

A worm's first flit is on the injection link 3 cycles after its creation, and payload on the host's link 2 cycles after
that to the node. A unicast of f header flits, and each header with its form below, is known with its last flit, as a
bit string is. The copies that a stop sends on lose the first pair, those for nodes all header flits: what is left
comes no earlier for it.
"""

import random

import pytest
from cases import slow, some

from wormcast.algorithms import topology

from .bench import bulk, check_receipts, send
from .test_deep_networks import DEEP

SWITCHES, HOMES = 6, 2  # in a row, the root at one end; nodes of each
APART = 400


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    """The network, as a file."""
    path = tmp_path_factory.mktemp("row") / "row.toml"
    links = ", ".join(f"[{k}, {k + 1}]" for k in range(SWITCHES - 1))
    homes = ", ".join(str(k) for k in range(SWITCHES) for _ in range(HOMES))
    path.write_text(f"switches = {SWITCHES}\nroot = 0\nlinks = [{links}]\nnodes = [{homes}]\n")
    return str(path)


def home(node):
    return node // HOMES


def string_flits(width, form=0):
    """h: a bit for each node, the one that asks for reports, and the form."""
    return -(-(form + SWITCHES * HOMES + 1) // width)


#: Multi-drop worms to 2 to 4 nodes.
MIXED = "mixed:few=path-g,limit=4"


def delays(scheme, source, destinations, width):
    """Header flits, and by destination the cycles in the switches on its way."""
    first, stops = home(source), sorted({home(node) for node in destinations})
    assert len(destinations) == 1 or stops[0] >= first == 0
    form = {"mixed": 1, MIXED: 2}.get(scheme, 0)
    if form and len(destinations) == 1:
        flits = -(-(form + (SWITCHES * HOMES - 1).bit_length()) // width)
        return flits, {node: (2 + flits) * (abs(home(node) - first) + 1) for node in destinations}
    if scheme == "individual":
        return 1, {node: 3 * (abs(home(node) - first) + 1) for node in destinations}
    if scheme in ("tree", "mixed") or (scheme == MIXED and len(destinations) > 4):
        flits = string_flits(width, form)
        return flits, {node: (2 + flits) * (abs(home(node) - first) + 1) for node in destinations}
    bits = form + ((SWITCHES * HOMES if "node" in scheme else SWITCHES) - 1).bit_length()
    pair, name = -(-(bits + 1 + HOMES + 2) // width), -(-bits // width)
    step = 1 if stops[-1] >= first else -1
    spent, found = 0, {}
    for switch in range(first, stops[-1] + step, step):
        if switch not in stops:
            spent += 3 + name - 1
            continue
        spent += 3 + pair - 1 + (name if switch != stops[-1] else 0)
        found |= {node: spent for node in destinations if home(node) == switch}
    return pair * len(stops), found


def check(network, scheme, cases, width, lengths, **options):
    """Send worms, each when the one before is through; all deliveries, heads and tails."""
    sent, expected = [], []
    for number, (source, destinations) in enumerate(cases):
        at, length = 5 + APART * number, lengths[number % len(lengths)]
        headers, spent = delays(scheme, source, destinations, width)
        sent.append(send(source, *destinations, length=length, at=at))
        expected.append({node: (at + 5 + headers + cycles, at + 5 + headers + cycles + length - 1)
                         for node, cycles in spent.items()})
    engine = bulk(network, scheme, sent, **DEEP, buffer=320, chunk=8, flit_width=width, **options)
    engine.run(5 + APART * len(cases))
    check_receipts(engine.host)
    host, found = engine.host, []
    assert len(host.worms) == len(sent), "a message is sent as several worms"
    for one in host.worms:
        rows = host.deliveries[one["delivery"]:one["delivery_end"]]
        found.append(dict(zip(rows["node"].tolist(), zip(rows["head"].tolist(), rows["tail"].tolist(), strict=True),
                              strict=True)))
    wrong = [three for three in zip(sent, expected, found, strict=True) if three[1] != three[2]]
    assert not wrong, f"{len(wrong)} of {len(sent)}; (message, recurrence, hardware): {wrong[0]}"
    return found


def pairs():
    """Unicasts from each end of the row to a node at each switch."""
    ends = (0, SWITCHES * HOMES - 1)
    return [(end, [node]) for end in ends for node in range(0, SWITCHES * HOMES, HOMES) if node != end]


def subsets(count, seed):
    """Draw multicasts from the node at the root's end to random sets of other nodes."""
    rng = random.Random(seed)
    return [(0, sorted(rng.sample(range(1, SWITCHES * HOMES), rng.randint(1, SWITCHES * HOMES - 1))))
            for _ in range(count)]


LENGTHS = (1, 7, 8, 40, 2, 100)


# of copies' schemes at one more width; at others below
@pytest.mark.parametrize("scheme", ["individual", slow("path-g"), slow("tree")])
def test_unicasts_over_none_to_five_links(row, scheme):
    check(row, scheme, pairs(), 16, LENGTHS)


@pytest.mark.parametrize(("scheme", "width"), [
    ("tree", 6), *(slow("tree", width) for width in (16, 4, 3)), ("path-g", 4),
    *(slow("path-g", width) for width in (16, 3, 2)), slow("path-lg", 4), (MIXED, 4),
    *(slow("path-g:ids=node", width) for width in (16, 4, 3)),
    *(slow(MIXED, width) for width in (16, 5, 3)), *(slow("mixed", width) for width in (16, 4, 2)),
])
def test_copies_on_the_way_come_when_the_recurrence_says(row, scheme, width):
    check(row, scheme, [*pairs(), *subsets(40, width)], width, LENGTHS)


@pytest.mark.parametrize("width", some((16, 6, 4), 6))
def test_a_tree_comes_to_the_farthest_node_nearly_as_soon_as_a_unicast(row, width):
    """But for the flits of its header behind the first: h - 1 cycles at each switch, and h - 1 as they are sent."""
    everyone, last = list(range(1, SWITCHES * HOMES)), SWITCHES * HOMES - 1
    more = string_flits(width) - 1
    [tree] = check(row, "tree", [(0, everyone)], width, [30])
    [alone] = check(row, "individual", [(0, [last])], width, [30])
    assert max(tail for _, tail in tree.values()) == tree[last][1] == alone[last][1] + more * (SWITCHES + 1)


def test_the_row_is_as_the_recurrence_takes_it(row):
    built = topology(row)
    assert max(map(len, built.ports)) == HOMES + 2
    assert [int(switch) for switch, _ in built.consumptions] == [home(node) for node in range(built.nodes)]
