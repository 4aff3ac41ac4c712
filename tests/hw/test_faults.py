# amaranth: UnusedElaboratable=no
"""Errors on the wire: the worm concerned is dropped, all others come out exactly, and nothing is lost for later."""

import itertools
import random
from collections import Counter

import pytest
from cases import slow, some

from wormcast.algorithms import E_CUBE, HAMILTONIAN, topology

from . import bench, lanes

MESH = topology("mesh:3x5")
HERE = 7  # 1.2: labels rise from right to left in this row
OWN, WEST, EAST, FIRST, OUTSIDE = 0b01_010, 0b01_001, 0b01_011, 0b00_000, 0b11_000

CONFIGURATIONS = [
    {"readers": "coupled", "delays": "paper", "vcs": 1, "depth": 1},
    {"readers": "coupled", "delays": "fast", "vcs": 2, "depth": 4},
    {"readers": "independent", "delays": "paper", "vcs": 2, "depth": 1},
    {"readers": "independent", "delays": "fast", "vcs": 1, "depth": 4},
    {"readers": "coupled", "delays": "paper", "vcs": 1, "depth": 4},
    {"readers": "coupled", "delays": "paper", "vcs": 2, "depth": 1},
    {"readers": "coupled", "delays": "fast", "vcs": 1, "depth": 1},
    {"readers": "independent", "delays": "paper", "vcs": 1, "depth": 4},
    {"readers": "independent", "delays": "paper", "vcs": 2, "depth": 4},
    {"readers": "independent", "delays": "fast", "vcs": 2, "depth": 1},
]
OTHERS = [
    {"readers": "independent", "delays": "paper", "vcs": 1, "depth": 2, "injection": "all",
     "consumption_links": "separate"},
    {"readers": "independent", "delays": "fast", "vcs": 1, "depth": 1, "table": True},
    {"readers": "independent", "delays": "paper", "vcs": 2, "depth": 1, "table": True, "consumption_links": "separate",
     "consumption": 3},
    {"readers": "independent", "delays": "fast", "vcs": 2, "depth": 3, "injection": "all", "consumption": 1},
    {"readers": "independent", "delays": "paper", "vcs": 3, "depth": 2, "consumption_links": "separate"},
    {"readers": "independent", "delays": "paper", "vcs": 1, "depth": 5, "table": True, "injection": "all"},
    {"readers": "independent", "delays": "fast", "vcs": 2, "depth": 2, "table": True, "injection": "all",
     "consumption_links": "separate"},
    {"readers": "coupled", "delays": "fast", "vcs": 1, "depth": 2, "table": True, "injection": "all",
     "consumption_links": "separate"},
    {"readers": "coupled", "delays": "paper", "vcs": 3, "depth": 1, "table": True},
]


def run(switch, kernel, runs, cycles, relation=HAMILTONIAN):
    """Step all lanes as the router of node 1.2."""
    return lanes.run(switch, kernel, bench.straps_of(switch, MESH, relation, HERE), runs, cycles)


def streams_of(switch, lane):
    """The worms that left, by output; those of separate consumption links together."""
    return {
        port: [worm for name in (switch.consumption_ports if port == "local" else (port,))
               for worm in lane.streams(name)]
        for port in switch.decoder.outputs
    }


def header(*addresses, last=1, width=10):
    """A header flit, its slots left over filled with the last address."""
    slots = (width - 1) // 5
    addresses += addresses[-1:] * (slots - len(addresses))
    return 1, 0, sum(address << 5 * k for k, address in enumerate(addresses)) | last << width - 1


def body(*data, tail=True):
    return [(0, int(tail and k == len(data) - 1), value) for k, value in enumerate(data)]


def good_worm(rng, switch, port, number, upwards=None):
    """A random worm that may come by an input (by its index), and what must leave: (output, flits) of each copy."""
    form, label = switch.decoder.header, MESH.hamiltonian_labels
    injects = port >= switch.decoder.ejection
    first = port - switch.decoder.ejection if injects and switch.decoder.injection == "all" else None
    if first is not None:
        upwards = label[MESH.neighbours[HERE, first]] > label[HERE]
    elif not injects:
        upwards = label[HERE] > label[MESH.neighbours[HERE, port]]
    elif upwards is None:
        upwards = rng.random() < 0.5
    own = not injects and rng.random() < 0.6
    beyond = sorted((node for node in range(MESH.nodes) if node != HERE and (label[node] > label[HERE]) == upwards),
                    key=lambda node: label[node], reverse=not upwards)
    hops, onward = HAMILTONIAN.on(MESH).table[HERE], None
    while onward is None or (first is not None and hops[onward[0]] != first):
        chosen = rng.sample(beyond, rng.randint(0 if own else 1, min(5, len(beyond))))
        onward = [node for node in beyond if node in chosen]
    flits = form.encode([HERE] * own + onward)
    length = rng.randint(1, 6)
    payload = body(*(number << 3 | k for k in range(length)))
    rest = [flit for flit in [form.strip(flits[0]) if own else flits[0], *flits[1:]] if flit is not None]
    whole = [(1, 0, flit) for flit in rest] + payload
    copies = []
    if onward:
        copies.append((switch.decoder.outputs[hops[onward[0]]], whole))
    if own:
        copies.append(("local", whole if onward else payload))
    return [(1, 0, flit) for flit in flits] + payload, copies


def check(switch, lane, unrest, copies):
    """Everything was sent, every credit is back, the switch is empty, each copy left once and no worm is open."""
    assert not lane.waits
    assert lane.sent == lane.credits
    assert not unrest
    streams = streams_of(switch, lane)
    for port, flits in copies:
        assert streams[port].count(flits) == 1, (port, flits, streams[port])
    assert all(worm[-1][1] for worms in streams.values() for worm in worms)
    return streams


# each cause by itself ---------------------------------------------------------------------------------------------

X = None  # the data of a tail that the switch has made
MOVING, COPIED, CONSUMED = [header(WEST)], [header(OWN, last=0), header(WEST)], [header(OWN)]
TO_WEST = [header(WEST), *body(1, tail=False), (1, 1, X)]

#: cause, input, flits on its virtual channel 0, and what leaves of them by each output
CASES = {
    "payload first": ("NO_HEADER", "east", body(1, 2), {}),
    "payload first, no tail": ("NO_HEADER", "east", body(1, 2, tail=False), {}),
    "payload first from the node": ("NO_HEADER", "local", body(1, 2, tail=False), {}),
    "list cut": ("LIST_CUT", "east", [header(WEST, last=0), *body(1, 2)],
                 {"west": [[header(WEST, last=0), *body(1, 2)]]}),
    "list cut, no tail": ("LIST_CUT", "east", [header(WEST, last=0), *body(1, tail=False)],
                          {"west": [[header(WEST, last=0), *TO_WEST[1:]]]}),
    "list cut from the node": ("LIST_CUT", "local", [header(WEST, last=0), *body(1, 2)],
                               {"west": [[header(WEST, last=0), *body(1, 2)]]}),
    "list cut behind the own address": ("LIST_CUT", "east", [header(OWN, last=0), *body(1, 2)],
                                        {"local": [body(1, 2)]}),
    "list cut behind the own address, no tail": ("LIST_CUT", "east", [header(OWN, last=0), *body(1, tail=False)],
                                                 {"local": [TO_WEST[1:]]}),
    "list too long": ("LIST_TOO_LONG", "east", [header(WEST), header(WEST), *body(1, 2)],
                      {"west": [[header(WEST), (1, 1, X)]]}),
    "list too long by two": ("LIST_TOO_LONG", "east", [header(WEST), header(WEST, last=0), header(WEST), *body(1)],
                             {"west": [[header(WEST), (1, 1, X)]]}),
    "list too long at its end": ("LIST_TOO_LONG", "east", [header(OWN), header(OWN), *body(1, 2, tail=False)],
                                 {"local": [[(1, 1, X)]]}),
    "no tail, moving": ("NO_TAIL", "east", [*MOVING, *body(1, tail=False)], {"west": [TO_WEST]}),
    "no tail, from the node": ("NO_TAIL", "local", [*MOVING, *body(1, tail=False)], {"west": [TO_WEST]}),
    "no tail, copied": ("NO_TAIL", "east", [*COPIED, *body(1, tail=False)], {"west": [TO_WEST], "local": [TO_WEST]}),
    "no tail, consumed": ("NO_TAIL", "east", [*CONSUMED, *body(1, tail=False)], {"local": [TO_WEST[1:]]}),
    **{f"no tail, {name}, next one bad": ("NO_TAIL", "east", [*flits, *body(1, tail=False), header(OUTSIDE), *body(2)],
                                          {port: [TO_WEST if flits != CONSUMED else TO_WEST[1:]] for port in ports})
       for name, flits, ports in [("moving", MOVING, ["west"]), ("copied", COPIED, ["west", "local"]),
                                  ("consumed", CONSUMED, ["local"])]},
    "outside": ("NO_SUCH_DESTINATION", "east", [header(OUTSIDE), *body(1, 2)], {}),
    "outside from the node": ("NO_SUCH_DESTINATION", "local", [header(OUTSIDE), *body(1, 2)], {}),
    "outside behind the own address": (
        "NO_SUCH_DESTINATION", "east", [header(OWN, last=0), header(OUTSIDE), *body(1, 2)], {"local": [body(1, 2)]}),
    "outside behind the own address, no tail": (
        "NO_SUCH_DESTINATION", "east", [header(OWN, last=0), header(OUTSIDE), *body(1, tail=False)],
        {"local": [TO_WEST[1:]]}),
    "labels fall": ("WRONG_ORDER", "east", [header(FIRST), *body(1, 2)], {}),
    "back where it came from": ("WRONG_ORDER", "east", [header(EAST), *body(1, 2)], {}),
    "own address again": ("WRONG_ORDER", "east", [header(OWN, last=0), header(OWN), *body(1, 2)],
                          {"local": [body(1, 2)]}),
    "own address from the node": ("WRONG_ORDER", "local", [header(OWN), *body(1, 2)], {}),
}


def same(worm, expected):
    """Equal flits; the data of a tail that the switch has made are anything."""
    return len(worm) == len(expected) and all(
        one[:2] == (int(other[0]), int(other[1])) and other[2] in (X, one[2])
        for one, other in zip(worm, expected, strict=True))


# what differs most: one reader and a flit of buffer, two readers that come later with room ahead
@pytest.mark.parametrize("options", some([*CONFIGURATIONS, *OTHERS], CONFIGURATIONS[0], CONFIGURATIONS[3]), ids=str)
def test_bad_worm_is_dropped_and_reported(options):
    """Each cause is latched with its place; what comes of the bad worm is as documented; all other worms are exact."""
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=10, **options)
    # which turns a worm may take is not in a table
    cases = {name: (cause, bench.injection_port(switch, "west") if port == "local" else port, flits, pieces)
             for name, (cause, port, flits, pieces) in CASES.items()
             if not (options.get("table") and name == "labels fall")}
    names, runs, expected = [*cases, *cases], [], []
    for at, name in enumerate(names):
        _, port, flits, _ = cases[name]
        rng, lane, copies, number = random.Random(name), lanes.Lane(credit_after=2), [], 0
        alone = at < len(cases)  # each flit by itself and long before all others, or all at once
        for k, flit in enumerate(flits):
            lane.send(10 + (k * 12 if alone else 0), port, [flit])
        for index, spec in enumerate(switch.inputs):
            for vc in range(spec.vcs):
                for _ in range(3):
                    number += 1
                    worm, leaves = good_worm(rng, switch, index, number)
                    lane.send(100 if alone else 10, spec.name, worm, vc)
                    copies += leaves
        lane.send(500, "south", body(3))  # a later error is not noted
        runs.append(lane)
        expected.append(copies)
    block = run(switch, kernel, runs, 700)
    for name, lane, unrest, copies in zip(names, runs, lanes.unrest(kernel, block), expected, strict=True):
        cause, port, _, pieces = cases[name]
        streams = check(switch, lane, unrest, copies)
        for out, worms in streams.items():
            good = [flits for at, flits in copies if at == out]
            rest = [worm for worm in worms if worm not in good]
            wanted = pieces.get(out, [])
            assert len(rest) == len(wanted), (name, out, rest)
            assert all(same(*pair) for pair in zip(rest, wanted, strict=True)), (name, out, rest)
        assert lane.fault == (cause, switch.decoder.inputs.index(port), 0), name


@pytest.mark.parametrize("readers", ["coupled", "independent"])
def test_second_address_in_a_flit_is_looked_at(readers):
    """Behind the own address in the same flit: outside the network, or in the wrong order. The node gets the worm."""
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=16, vcs=1, depth=4, readers=readers, delays="paper")
    wrong = {OUTSIDE: "NO_SUCH_DESTINATION", FIRST: "WRONG_ORDER", EAST: "WRONG_ORDER"}
    runs = []
    for address in wrong:
        runs.append(lanes.Lane())
        runs[-1].send(10, "east", [header(OWN, address, width=16), *body(1, 2)])
    block = run(switch, kernel, runs, 100)
    for lane, unrest, cause in zip(runs, lanes.unrest(kernel, block), wrong.values(), strict=True):
        check(switch, lane, unrest, [("local", body(1, 2))])
        assert lane.fault == (cause, 0, 0)


@pytest.mark.parametrize("readers", ["coupled", "independent"])
def test_bad_second_address_behind_a_lost_tail_costs_the_node_nothing(readers):
    """The worm in front is cut off; the next one ends here, and all its payload is handed over."""
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=16, vcs=1, depth=4, readers=readers, delays="paper")
    lane = lanes.Lane()
    lane.send(10, "east", [header(WEST, width=16), *body(1, tail=False), header(OWN, OUTSIDE, width=16), *body(2, 3)])
    block = run(switch, kernel, [lane], 100)
    check(switch, lane, lanes.unrest(kernel, block)[0], [("local", body(2, 3))])
    assert lane.fault == ("NO_TAIL", 0, 0)


@pytest.mark.parametrize("readers", ["coupled", "independent"])
def test_payload_of_no_worm_leaves_its_link_as_it_was(readers):
    """Between worms it begins nothing, with a tail or without: its link waits for a header as before."""
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=16, vcs=1, depth=4, readers=readers, delays="paper")
    good, runs = [header(WEST, width=16), *body(1)], [lanes.Lane(), lanes.Lane()]
    for tail, lane in enumerate(runs):
        lane.send(10, "east", [*good, *body(2, 3, tail=tail)])
    block = run(switch, kernel, runs, 60)
    for lane, unrest in zip(runs, lanes.unrest(kernel, block), strict=True):
        assert check(switch, lane, unrest, [("west", good)])["west"] == [good]
        assert lane.fault == ("NO_HEADER", switch.decoder.inputs.index("east"), 0)
        assert set(lane.seen) == {("west", 0)}


def test_a_turn_against_e_cube_is_refused():
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=10, relations=("e-cube",), vcs=1, depth=4)
    lane = lanes.Lane()
    lane.send(10, "north", [header(EAST), *body(1, 2), header(0b10_010), *body(3)])  # into the row; on in the column
    block = run(switch, kernel, [lane], 100, E_CUBE)
    check(switch, lane, lanes.unrest(kernel, block)[0], [("south", [header(0b10_010), *body(3)])])
    assert lane.fault == ("WRONG_ORDER", switch.decoder.inputs.index("north"), 0)
    assert set(lane.seen) == {("south", 0)}


# the others have no outputs of other kinds
@pytest.mark.parametrize("port", ["west", "local"])
@pytest.mark.parametrize("options", some(
    [*CONFIGURATIONS[:4], *OTHERS[:2]], CONFIGURATIONS[0], CONFIGURATIONS[3], OTHERS[0]), ids=str)
def test_false_credit_stops_its_virtual_channel_alone(options, port):
    """After a false credit nothing is sent on its virtual channel; worms take the others."""
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=10, **options)
    link = switch.consumption_ports[0] if port == "local" else port
    lane = lanes.Lane()
    lane.false_credits[5, link] = 1
    lane.send(10, "east", [header(WEST if port == "west" else OWN), *body(1, 2)])
    south = [header(0b10_010), *body(3, 4)]
    lane.send(10, bench.injection_port(switch, "south"), south)
    run(switch, kernel, [lane], 100)
    assert lane.fault == ("CREDIT", switch.decoder.outputs.index(port), 0)
    assert lane.streams("south") == [south]
    assert (link, 0) not in lane.seen
    others = options["vcs"] > 1 or port == "local"
    assert len(streams_of(switch, lane)[port]) == others
    assert (lane.sent == lane.credits) == others


@pytest.mark.parametrize("channel", [0, 1])
def test_false_credit_on_a_consumption_link_of_its_own_is_that_channel_s(channel):
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=10, **OTHERS[0])
    lane = lanes.Lane()
    lane.false_credits[5, f"local_{channel}"] = 1
    worms = [[header(OWN), *body(number)] for number in range(4)]
    for worm in worms:
        lane.send(10, "east", worm)
    block = run(switch, kernel, [lane], 100)
    # one more than there are: the channel is stopped
    assert lanes.unrest(kernel, block)[0] == [(f"local_output.vc{channel}_spent", OTHERS[0]["depth"] + 1)]
    assert lane.fault == ("CREDIT", switch.decoder.ejection, channel)
    assert lane.streams(f"local_{1 - channel}") == [worm[1:] for worm in worms]


def test_worm_by_the_injection_port_of_another_output_is_refused():
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=10, **OTHERS[0])
    runs = [lanes.Lane(), lanes.Lane()]
    good = [header(WEST), *body(4)]
    for lane, wrong in zip(runs, (EAST, OWN), strict=True):
        lane.send(10, "local_west", [header(wrong), *body(1, 2), *good])
    block = run(switch, kernel, runs, 100)
    for lane, unrest in zip(runs, lanes.unrest(kernel, block), strict=True):
        check(switch, lane, unrest, [("west", good)])
        assert lane.fault == ("WRONG_ORDER", switch.decoder.inputs.index("local_west"), 0)
        assert set(lane.seen) == {("west", 0)}


# garbage ----------------------------------------------------------------------------------------------------------

def frame_after(flits, frame, last_bit):
    """Return the state of a link's framing after the last of these flits, by the descriptions of the causes."""
    for head, tail, data in flits:
        if head and not tail:
            frame = "end of list" if data >> last_bit & 1 else "list"
        elif tail or frame == "nothing":
            frame = "nothing"
        else:
            frame = "payload"
    return frame


def garbage(rng, form):
    likely = [OWN, WEST, EAST, FIRST, OUTSIDE, 0b10_010, 0b00_010, 0b00_101]
    heads, tails, lasts = rng.choice([0.3, 0.6, 0.9]), rng.choice([0, 0.2, 0.5]), rng.choice([0.2, 0.5, 0.9])
    flits = []
    if rng.random() < 0.2:  # a worm that loses its tail
        address = rng.choice([WEST, EAST, 0b10_010, 0b00_010])
        flits += [header(address, width=form.flit_width), (0, 0, spoilt_payload(rng))]
    for _ in range(rng.randint(1, 12)):
        slots = [rng.choice([*likely, rng.getrandbits(5)]) for _ in range(form.capacity)]
        if rng.random() < 0.4:
            slots = slots[:1] * form.capacity
        data = sum(address << 5 * k for k, address in enumerate(slots)) | (rng.random() < lasts) << form.flit_width - 1
        head, tail = int(rng.random() < heads), int(rng.random() < tails)
        flits.append((head, tail, data if head else spoilt_payload(rng)))
    return flits


def spoilt_payload(rng):
    """Data of a flit that no good worm has."""
    return 127 << 3 | rng.getrandbits(3)


def spoilt_traffic(rng, switch, lane):
    """Good worms on every virtual channel, garbage in front of those of some; the good worms' copies.

    Behind garbage that ends within a list a payload flit follows, with a tail or not: only then a header flit begins
    a worm again.
    """
    form, copies, number = switch.decoder.header, [], 0
    channels = [(index, spec.name, vc) for index, spec in enumerate(switch.inputs) for vc in range(spec.vcs)]
    bad = rng.sample(channels, rng.choice([1, 1, 2, 5]))
    tidy = rng.random() < 0.5
    for channel in channels:
        index, port, vc = channel
        cycle = 10
        for _ in range(rng.randint(1, 4)):
            cycle = rng.choice([10, cycle + rng.randint(0, 40)])
            if channel in bad:
                flits = garbage(rng, form)
                if tidy or frame_after(flits, "nothing", form.flit_width - 1) in ("list", "end of list"):
                    flits.append((0, int(tidy or rng.random() < 0.5), spoilt_payload(rng)))
                lane.send(cycle, port, flits, vc)
            for _ in range(rng.randint(1, 2)):
                worm, leaves = good_worm(rng, switch, index, number)
                lane.send(cycle, port, worm, vc)
                copies += leaves
                number += 1
    return copies


ONE, THREE = 10, 16  # bits of a flit for so many addresses
#: One and two readers, a buffer for a flit; several addresses; several ports to and from the node.
QUICK = [(CONFIGURATIONS[0], ONE), (OTHERS[0], ONE)]


@pytest.mark.parametrize(("options", "width"), [
    case if case in QUICK else slow(*case) for case in itertools.product([*CONFIGURATIONS, *OTHERS], (ONE, THREE))],
    ids=str)
def test_garbage_neither_wedges_nor_disturbs(options, width):
    """Whatever flits come by some virtual channels, every good worm behind them and beside them leaves whole and
    once, all credits come back, and the switch is empty in the end."""
    switch, kernel = lanes.mesh_kernel(shape=(3, 5), width=width, **options)
    runs, expected = [], []
    plain = set(options) == {"readers", "delays", "vcs", "depth"}
    for seed in range(128 if plain else 64):
        rng = random.Random(f"{options} {width} {seed}")
        runs.append(lanes.Lane(credit_after=rng.choice([1, 2, 7])))
        expected.append(spoilt_traffic(rng, switch, runs[-1]))
    block = run(switch, kernel, runs, 1500)
    for lane, unrest, copies in zip(runs, lanes.unrest(kernel, block), expected, strict=True):
        check(switch, lane, unrest, copies)
    causes = Counter(lane.fault[0] for lane in runs)
    expected = {"NO_HEADER", "LIST_CUT", "LIST_TOO_LONG", "NO_TAIL", "NO_SUCH_DESTINATION", "WRONG_ORDER"}
    assert len(expected & set(causes)) >= (6 if plain else 4), causes
