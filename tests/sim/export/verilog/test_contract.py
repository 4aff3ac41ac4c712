# amaranth: UnusedElaboratable=no
"""The hardware keeps the contract of the ports: cycles of credits, reset, errors and their effects."""

import random
from dataclasses import dataclass, field
from functools import cache

import pytest
from cases import slow

from tools.timing import Flit, Stimulus, record
from wormcast.hw.faults import Cause
from wormcast.sim.build.components import blueprint_of, build_component
from wormcast.sim.export.verilog import ports
from wormcast.sim.export.verilog.contract import (
    VIOLATIONS,
    credit_cycles,
    family,
)
from wormcast.sim.export.verilog.links import links
from wormcast.sim.host.row_requests import GIVE_BACK

from ....hw.smart import answer, release, request

PATH = {"topology": "mesh:1x5", "scheme": "dual-path", "flit_width": 8, "vcs": 3}
TREE = {"topology": "min:b=2,stages=2", "scheme": "tree-synchronous", "tokens": "off", "flit_width": 4, "vcs": 3,
        "consumption": 2}
TOKENS = {"topology": "min:b=2,stages=2", "scheme": "atbm", "flit_width": 4}
DEEP = {"topology": "min:b=2,stages=2", "scheme": "atbm", "buffer_kind": "deep", "vcs": 1, "consumption": 1,
        "buffer": 16, "chunk": 4, "flit_width": 4}
LOOKED_UP = {"topology": "irregular:switches=4,ports=4,nodes=6", "scheme": "tree", "configuration": "sivaram_32"}
INTERFACE = {"topology": "mesh:1x5", "flit_width": 8, "vcs": 3, "consumption": 3}
SMART = {"topology": "mesh:1x5", "scheme": "k-binomial", "flit_width": 8, "ni": "fpfs", "packet": 2, "rows": 2,
         "places": 2, "row": 4}
REQUESTED = SMART | {"admission": "messages"}

#: The router of node 2, in which a worm from the west goes on to node 3.
STRAPS = {"strap_coordinate_1": 2}


@cache
def built(what, kind, **options):
    return build_component(blueprint_of(options), what, kind=kind)


def component(what, options, kind=None):
    return built(what, kind, **options)


def left(seen, link):
    """Marks and data of the flits that were on a link, in their order."""
    return [(flit & 3, flit >> 2) for flit, valid in zip(seen[f"{link}_flit"], seen[f"{link}_valid"], strict=True)
            if valid]


def cycles(seen, signal):
    return [cycle for cycle, value in enumerate(seen[signal]) if value]


def spaced(flits, start=5, gap=1, vc=0):
    return {start + gap * k: Flit(marks, data, vc) for k, (marks, data) in enumerate(flits)}


# reset ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("what", "options"), [
    ("router", PATH), slow("router", PATH | {"delays": "fast", "readers": "independent"}), ("router", TOKENS),
    ("router", DEEP), slow("router", LOOKED_UP), ("interface", INTERFACE),
    slow("interface", INTERFACE | {"absorb": "1"}), slow("interface", INTERFACE | {"ni": "fpfs", "packet": 16})],
    ids=str)
def test_all_outputs_are_0_in_the_cycle_after_reset(what, options):
    """Random bits on all inputs, then reset for a cycle, with random bits on the inputs in this cycle, too."""
    part, rng = component(what, options), random.Random(str(options))
    noise = {port.name: {cycle: rng.getrandbits(port.width) for cycle in range(31)} for port in ports(part)
             if port.inward and not port.name.startswith("strap")}
    [seen] = record(part, [Stimulus(33, drives=noise, resets=(30,))], STRAPS | {"strap_first": 1})
    outputs = [port.name for port in ports(part) if not port.inward]
    assert any(seen[name][30] for name in outputs)
    assert {name: seen[name][31] for name in outputs if seen[name][31]} == {}


# cycles of credits ------------------------------------------------------------------------------------------------

def address(*nodes, last=1):
    """A header flit of a path worm, with room for two addresses."""
    return 1, nodes[0] | nodes[-1] << 3 | last << 7


def body(*payload):
    return [(2 * (k == len(payload) - 1), data) for k, data in enumerate(payload)]


def passing(part):
    """Links into and out of the component, the header of a worm from the one to the other, and what leaves of it."""
    east, own = [address(3)], [address(2)]
    match family(part):
        case "interface":
            return [("host_in_0", "network_out_0", east, east), ("network_in_0", "host_out_0", own, [])]
        case "path router":
            return [("west_in", "east_out", east, east), ("west_in", "local_out", own, [])]
    bits = [(1, 0b10), (1, 0)][:part.decoder.header.flits()]
    return [("p0_in", "p0_out", bits, bits)]


ALONE = {"vcs": 1, "consumption": 1}
TIMED = [("router", PATH | ALONE, None), slow("router", PATH | ALONE | {"delays": "fast"}, None),
         slow("router", PATH | ALONE | {"readers": "independent"}, None), slow("router", TREE | ALONE, "router_0"),
         slow("router", TREE | ALONE | {"delays": "fast"}, "router_0"), ("router", DEEP, "router_0"),
         slow("router", DEEP, "router_1"), slow("router", DEEP | {"flit_width": 8}, "router_1"),
         ("interface", INTERFACE | ALONE, None)]


def test_credit_cycle_of_a_child_table():
    part = component("interface", SMART | ALONE)
    [seen] = record(part, [Stimulus(20, sends={"table_in": spaced([(1, 1), (3, 5)], gap=4)})])
    late = cycles(seen, "table_in_credit")[0] - cycles(seen, "table_in_valid")[0]
    assert late == credit_cycles(part, "table_in")


def test_credits_of_requests_for_rows():
    """A row that exists and is free is granted by a credit; a refused flit, and one that gives a row back, has none."""
    part = component("interface", REQUESTED | ALONE)
    control = [address(2), *body(*release(1, 3, 9, 8))]
    table = {5: Flit(1, 0), 6: Flit(0, 1), 7: Flit(3, 33), 10: Flit(1, 0), 12: Flit(1, 2), 14: Flit(3, GIVE_BACK),
             16: Flit(1, 0), 17: Flit(0, 1), 18: Flit(3, 33), 40: Flit(1, 1), 80: Flit(1, 1)}
    [seen] = record(part, [Stimulus(90, sends={"table_in": table, "network_in_0": spaced(control, 30, 4)})])
    late = credit_cycles(part, "table_in")
    assert [cycle - late for cycle in cycles(seen, "table_in_credit")] == [5, 6, 7, 16, 17, 18, 80]
    assert max(seen["fault"]) == 0


@pytest.mark.parametrize(("what", "options", "kind"), TIMED, ids=str)
def test_cycles_of_credits(what, options, kind):
    """The least cycles from a flit to its credit; and from a credit to the flit that uses it, which waits for it.
    A credit may come in its flit's own cycle."""
    part = component(what, options, kind)
    for into, out, header, leaves in passing(part):
        depth, chunk = links(part)[out].depth, links(part)[into].chunk
        short = [*header, *body(*range(max(chunk, 4) - len(header)))]
        waiting = [*header, *body(*[7] * (depth + 1 - len(leaves)))]  # a flit more than there are credits
        long = [*header, *body(*range(13))]
        at = 5 + 8 * len(waiting) + 20
        alone, held, soon = record(part, [
            # one flit, or one chunk, at a time
            Stimulus(100, sends={into: spaced(short, gap=20 if chunk == 1 else 1)}),
            Stimulus(at + 20, sends={into: spaced(waiting, gap=8)}, credit_after={out: None},
                drives={f"{out}_credit": {at: 1}}),
            Stimulus(120, sends={into: spaced(long, gap=4)}, credit_after={out: 0})], STRAPS)
        users = cycles(alone, f"{into}_valid")[chunk - 1::chunk]
        found = [late - early for early, late in zip(users, cycles(alone, f"{into}_credit"), strict=True)]
        assert min(found) == credit_cycles(part, into), into
        gone = cycles(held, f"{out}_valid")
        assert (len(gone), gone[-1] - at) == (depth + 1, credit_cycles(part, out)), out
        assert max(held["fault"]) == 0
        if links(part)[out].chunk == 1:
            assert left(soon, out) == [*leaves, *body(*range(13))]
            assert max(soon["fault"]) == 0


# errors -----------------------------------------------------------------------------------------------------------

ANY = None  # the data of a flit that ends a damaged worm
CLOSED = (3, ANY)


@dataclass
class Case:
    """Flits on a link, and what must leave by each link (None: anything); else as in `Stimulus`."""

    into: str
    flits: list
    out: dict | None
    vc: int = 0
    gap: int = 4
    later: dict = field(default_factory=dict)
    credit_after: dict = field(default_factory=dict)
    held: dict = field(default_factory=dict)
    drives: dict = field(default_factory=dict)
    others: dict = field(default_factory=dict)  # flits on further links, as in `Stimulus.sends`

    @property
    def run(self):
        flits = {**spaced(self.flits, gap=self.gap, vc=self.vc), **self.later}
        return Stimulus(300, sends={self.into: flits, **self.others},
                        credit_after=self.credit_after, held=self.held, drives=self.drives)


def of_credits(part, into, out, header, leaves):
    """Cases of credits and room, for a worm from a link to another: name and case."""
    depth, room = links(part)[out].depth, links(part)[into].depth
    filling = [(0, k) for k in range(depth + room - len(leaves))]  # fills the receiver's buffer, then that of the link
    last = Flit(2, 8)
    passed = [(0, k) for k in range(depth - len(leaves))]
    yield "full", Case(into, [*header, *filling], {out: [*leaves, *filling, (2, 8)]}, held={out: 150},
                       later={100: Flit(0, 9), 200: last})
    # the credit of the flit that makes room is on the link in the same cycle as the flit that takes the room
    yield "room", Case(into, [*header, *filling], {out: [*leaves, *filling, (0, 9), (2, 8)]}, held={out: 150},
                       later={152: Flit(0, 9), 200: last})
    yield "at rest", Case(into, [*header, *body(1, 2)], {out: []}, drives={f"{out}_credit": {3: 1}})
    yield "under way", Case(into, [*header, *filling], {out: [*leaves, *passed, (0, len(passed))]},
                            credit_after={out: None}, drives={f"{out}_credit": {100: 1}})
    yield "lost", Case(into, [*header, *filling], {out: [*leaves, *passed]}, credit_after={out: None})


def of_worms(into, out, header, leaves):
    """Cases of switches whose effect does not depend on the kind of switch."""
    yield "tail lost", Case(into, [*header, (0, 1)], {out: [*leaves, (0, 1)]})
    yield "data", Case(into, [*header, *body(6, 5)], {out: [*leaves, *body(6, 5)]})


FULL = "a flit while the buffer of its virtual channel is full"
ROOM = "a flit without a credit, while the buffer has room"
STRAY = "payload, or a flit with both marks, where a worm must begin"
TOO_LONG = "a header flit after the last header flit"
UNENDED = "a header flit before the tail of the worm in front"
CREDITS = {FULL: "full", ROOM: "room", "a credit is lost or withheld": "lost",
           "a credit, while the sender has all credits and no flit is on the link": "at rest",
           "a credit too many, while the receiver owes other credits": "under way"}
SWITCH = CREDITS | {"the tail of a worm is lost, and no worm follows": "tail lost", "wrong payload data": "data"}


def of_switch(part, into, out, header, leaves):
    """Cases at a link of any switch: error and case."""
    found = dict([*of_credits(part, into, out, header, leaves), *of_worms(into, out, header, leaves)])
    yield from ((error, found[name]) for error, name in SWITCH.items())


def path_cases(part):
    east, own = address(3), address(2)
    good = [east, *body(5, 6)]
    yield from of_switch(part, "west_in", "east_out", [east], [east])
    yield from of_switch(part, "west_in", "local_out", [own], [])

    def case(*flits, into="west_in", **out):
        return Case(into, list(flits), {"east_out": [], "local_out": [], "west_out": []} | out)

    yield STRAY, case((0, 1), (2, 2), *good, east_out=good)
    yield STRAY, case((0, 1), *good, east_out=good)
    yield STRAY, case((3, 0), *good, east_out=good)
    more = address(3, last=0)
    announced = "payload, or a flit with both marks, while the header has announced more header flits"
    yield announced, case(more, *body(1, 2), *good, east_out=[more, *body(1, 2), *good])
    yield announced, case(more, (3, 0), *good, east_out=[more, CLOSED, *good])
    yield TOO_LONG, case(east, east, *body(1, 2), *good, east_out=[east, CLOSED, *good])
    yield TOO_LONG, case(own, east, *body(1, 2), *good, east_out=good, local_out=[CLOSED])
    on = address(2, 3)
    yield UNENDED, case(east, (0, 1), *good, east_out=[east, (0, 1), CLOSED, *good])
    yield UNENDED, case(on, (0, 1), *good, east_out=[east, (0, 1), CLOSED, *good], local_out=[east, (0, 1), CLOSED])
    for error, wrong in (("an address that no node has", 7),
                         ("a destination to which no legal hop leads from here", 1)):
        yield error, case(address(wrong), *body(1, 2), *good, east_out=good)
        yield error, case(address(2, wrong), *body(1, 2), *good, east_out=good, local_out=body(1, 2))
    yield error, case(own, *body(1, 2), *good, into="local_in", east_out=good)
    yield error, case(address(2, last=0), own, *body(1, 2), *good, east_out=good, local_out=body(1, 2))
    yield "an address that is another node's", case(address(4), *body(1, 2), east_out=[address(4), *body(1, 2)])


def tree_cases(part):
    header = [(1, 0b10), (1, 0)]
    good = [*header, *body(5, 6)]
    yield from of_switch(part, "p0_in", "p0_out", header, header)

    def case(*flits, left):
        return Case("p0_in", [*flits, *good], {"p0_out": [*left, *good], "p1_out": []})

    yield STRAY, case(*body(1, 2), left=[])
    yield STRAY, case((0, 1), (0, 2), (2, 3), left=[])
    missing = "payload, or a flit with both marks, while header flits are missing"
    yield STRAY, case((3, 0), left=[])
    yield missing, case(header[0], *body(1, 2), left=[header[0], *body(1, 2)])
    yield missing, case(header[0], (3, 0), left=[header[0], CLOSED])
    yield TOO_LONG, case(*header, (1, 2), *body(1, 2), left=[*header, CLOSED])
    yield UNENDED, case(*header, (0, 1), left=[*header, (0, 1), CLOSED])
    yield "a bit string without a bit for any output", case((1, 0), (1, 0), *body(1, 2), left=[])
    for node in (0, 2):  # at most one of them is behind the switch
        bits = [(1, 2 << node & 15), (1, 0)]
        yield "a bit of a node that is not behind this switch", case(*bits, *body(1, 2), left=[*bits, *body(1, 2)])


def deep_cases(part):
    header = [(1, 0b10), (1, 0)]
    good = [*header, *body(5, 6)]
    for error, found in of_switch(part, "p0_in", "p0_out", header, header):
        if error == FULL:  # the flits that find room depend on the rows that are read ahead
            yield error, Case("p0_in", [*header, *[(0, 1)] * 50], None, credit_after={"p0_out": None})
        elif error != ROOM:  # no credit is for a single flit
            yield error, found

    def case(*flits, left):
        return Case("p0_in", [*flits, *good], {"p0_out": [*left, *good], "p1_out": []})

    yield STRAY, case(*body(1, 2), left=[])
    yield STRAY, case((0, 1), (0, 2), (2, 3), left=[])
    missing = "payload, or a flit with both marks, while header flits are missing"
    yield STRAY, case((3, 0), left=[])
    yield missing, case(header[0], *body(1, 2), left=[])
    yield missing, case(header[0], (3, 0), left=[])
    yield TOO_LONG, case(*header, (1, 2), *body(1, 2), left=[*header, CLOSED])
    yield UNENDED, case(*header, (0, 1), *header, *body(1, 2), left=[*header, (0, 1), CLOSED])
    yield "a header that leads to no output", case((1, 0), (1, 0), *body(1, 2), left=[])


def interface_cases(part):
    header = address(3)
    good = [header, *body(5, 6)]
    for into, out, leaves in (("host_in_0", "network_out_0", [header]), ("network_in_0", "host_out_0", [])):
        found = dict(of_credits(part, into, out, [header], leaves))
        yield from ((error, found[name]) for error, name in CREDITS.items())
    yield "a header flit of the host before the tail of its worm in front", Case(
        "host_in_0", [header, (0, 1), *good], {"network_out_0": [header, (0, 1), CLOSED, *good]})
    yield HOST_UNENDED, Case("host_in_0", [header, (0, 1)], {"network_out_0": [header, (0, 1)]})
    for error, flits in ((HOST_STRAY, body(1, 2)),
                         ("wrong addresses in a header of the host", [address(7), *body(1, 2)])):
        yield error, Case("host_in_0", [*flits, *good], {"network_out_0": [*flits, *good]})
    for flits in ([header, (0, 1), header, (0, 2)], [(0, 1), (0, 2)]):
        yield "a worm of the router without tail, or payload without header", Case(
            "network_in_0", flits, {"host_out_0": [(0, 1), (0, 2)]})


HOST_STRAY = "payload of the host where a worm must begin"
HOST_UNENDED = "the tail of a worm of the host is lost, and no worm follows"


def smart_cases(part):
    """Packets have two payload flits; a row has room for four header flits."""
    one, other, own = address(3), address(4), address(2)
    # with requests a host writes the number of a message's packets, too
    begin = [(1, 1)] if part.admission is None else [(1, 1), (0, 1)]
    row = [*begin, (2, one[1]), (3, other[1])]  # row 1: two children
    post = [(3, 0), (0, 1), (0, 2)]
    of_host = [one, *body(8, 9)]

    def copies(*payload):
        return [flit for child in (one, other) for flit in [child, *body(*payload)]]

    def case(host=(), network=(), table=row, **left):
        return Case("table_in", table, {"network_out_0": left.get("out", []), "host_out_0": left.get("up", [])}, gap=2,
                    others={"host_in_0": spaced(host, 40, 12), "network_in_0": spaced(network, 40, 12)})

    yield HOST_STRAY, Case("host_in_0", [*body(1, 2), *of_host], {"network_out_0": [*body(1, 2), *of_host]})
    yield HOST_STRAY, Case("host_in_0", [*of_host, *body(1, 2, 3)],
                           {"network_out_0": [*of_host, *body(1, 2), one, *body(3)]})
    unended = "the first flit of a posting before the tail of the worm of the host in front"
    yield unended, case([one, (0, 5), *post, (2, 1)], out=[one, (0, 5), CLOSED, *copies(1, 2), *copies(1)])
    within = "a header flit of the host, or the first flit of a posting, before the tail of the posting in front"
    yield within, case([*post[:-1], *post[:-1], (2, 2)], out=[*copies(1, 0), *copies(1, 2)])
    yield within, case([*post, *of_host], out=[*copies(1, 2), *of_host])
    yield within, case([*post[:-1], *of_host], out=[one, *body(1, one[1]), *of_host, other, *body(1, one[1])])
    yield LONG_HEADER, case(
        [address(1, last=0), one, *body(1, 2, 3)], out=[address(1, last=0), one, *body(1, 2), (1, ANY), *body(3)])
    too_long = "without receive queue, a packet to be forwarded with more payload flits than a packet may have"
    yield too_long, case(network=[own, *body(1, 2, 3, 4)], out=copies(1, 2), up=body(1, 2, 3, 4))
    yield "a row of the child table that does not exist", case(
        [*post[:-1], (2, 2)], table=[(1, 2), (3, one[1])] if part.admission is None else [(1, 2)])
    yield "more header flits for a row than a row has room for", case(
        [*post[:-1], (2, 2)], table=[*begin, *[(2, one[1])] * 4, (3, other[1])])
    again = {20: Flit(1, 1), 24: Flit(3, other[1])}
    error = "the first flit for a row, while packets of the row are stored"
    if part.admission is not None:
        again = {20: Flit(1, 1 | GIVE_BACK), 22: Flit(1, 1), 25: Flit(0, 1), 26: Flit(3, other[1])}
        error = "a flit that gives a row back, then a request for it, while packets of the row are stored"
    yield error, Case("host_in_0", [*post[:-1], (2, 2)], {"network_out_0": [other, *body(1, 2)]}, gap=12,
                      others={"table_in": {**spaced(row, 5, 2), **again}})


def requesting_cases(part):
    """A packet has room for a request."""
    one, other = address(3), address(4)

    def asks(row, number, header, *children):
        """A request of node 3 for a row, and the answer to it."""
        data = request(row, 3, number, packets=1, label=number, header=[header[1]],
                       children=[[child] for child in children], width=8)
        return [address(2), *body(*data)]

    def answers(granted, row, number, header):
        return [(head | tail << 1, data) for head, tail, data in answer(granted, row, number, [header[1]], 8)]

    def case(*packets, answered, later=(), table=()):
        flits = [flit for one in packets for flit in one]
        return Case("network_in_0", flits, {"network_out_0": answered, "host_out_0": list(later)},
                    others={"table_in": dict(table)})

    both = [*answers(True, 0, 5, one), *answers(False, 0, 6, other)]  # the row is still in use
    yield "a flit that gives a row back that the host has not been granted", case(
        asks(0, 5, one, 33), asks(0, 6, other, 33), answered=both, table={85: Flit(3, GIVE_BACK)})
    for source, number in ((3, 4), (4, 5)):
        yield "a release with another source or number than the request that was granted the row", case(
            asks(0, 5, one, 33), [address(2), *body(*release(0, source, number, 8))], asks(0, 6, other, 33),
            answered=both)
    yield "a request for a row that does not exist", case(asks(2, 5, one, 33), answered=answers(False, 2, 5, one))
    yield "a request with more header flits than a row has room for", case(
        asks(1, 5, one, *range(5)), [address(2), *body(1, 2)], answered=answers(True, 1, 5, one), later=body(1, 2))
    cut = "a request that ends with a flit that has both marks"
    for kept, answered in ((6, []), (9, []), (12, answers(False, 0, 5, one))):
        yield cut, case([*asks(0, 5, one, 33)[:kept], (3, 0)], asks(0, 6, other, 33),
                        answered=[*answered, *answers(True, 0, 6, other)])


FAMILIES = {
    "path router": ("router", PATH | ALONE, None, path_cases),
    "tree router": ("router", TREE | ALONE, "router_1", tree_cases),
    "deep router": ("router", DEEP, "router_1", deep_cases),
    "interface": ("interface", INTERFACE | ALONE, None, interface_cases),
    "smart interface": ("interface", SMART | ALONE, None, smart_cases),
    "smart interface with requests": ("interface", REQUESTED | ALONE | {"packet": 16}, None, requesting_cases),
    "smart interface with requests, as smart interface": ("interface", REQUESTED | ALONE, None, smart_cases),
    "smart interface with requests, as others": (
        "interface", REQUESTED | ALONE | {"packet": 16}, None, interface_cases),
    "smart interface, as others": ("interface", SMART | ALONE | {"packet": 16}, None, interface_cases),
}
LONG_HEADER = "with packets, a header of the host that is longer than any header of the scheme"
NUMBER = "a virtual channel number that does not exist"


def same(found, expected):
    return len(found) == len(expected) and all(
        marks == wanted and value in (data, ANY)
        for (marks, data), (wanted, value) in zip(found, expected, strict=True))


def _wrong(case, rises):
    """Cycles from the last flit, or the credit, that came before ``fault`` rose."""
    driven = [cycle for by_cycle in (*case.run.sends.values(), *case.drives.values()) for cycle in by_cycle]
    return min(rises - cycle for cycle in driven if cycle < rises)


def test_each_error_has_a_case():
    covered = {(name.partition(", ")[0], error) for name, (what, options, of, cases) in FAMILIES.items()
               for error, _ in cases(component(what, options, of))}
    left_out = {(kind, one.error) for kind, said in VIOLATIONS.items() for one in said} - covered
    # the effect of a virtual channel that does not exist is undefined; packets are those of the smart interface
    assert left_out == {("path router", NUMBER), ("tree router", NUMBER), ("interface", LONG_HEADER)}


@pytest.mark.parametrize("name", [
    slow(name) if name.startswith("smart interface with requests, as") else name for name in FAMILIES])
def test_errors_are_reported_and_have_their_effects(name):
    what, options, of, cases = FAMILIES[name]
    part, kind = component(what, options, of), name.partition(", ")[0]
    assert family(part) == kind
    said = {one.error: one for one in VIOLATIONS[kind]}
    listed = list(cases(part))
    for (error, case), seen in zip(listed, record(part, [case.run for _, case in listed], STRAPS), strict=True):
        assert Cause(seen["fault"][-1] & 15) is (said[error].cause or Cause.NONE), error
        if said[error].cause:
            assert _wrong(case, cycles(seen, "fault")[0]) == said[error].cycles, error
        for link, flits in (case.out or {}).items():
            found = left(seen, link)
            assert same(found, flits), (error, link, found, flits)


@pytest.mark.parametrize("kind", [slow("path router"), slow("tree router")])
def test_a_channel_that_a_false_credit_stops_leaves_the_others_alone(kind):
    what, options, of, _ = FAMILIES[kind]
    part = component(what, options | {"vcs": 3, "consumption": 2}, of)
    into, out, header, leaves = passing(part)[0]
    flits = [*header, *body(1, 2)]
    [seen] = record(part, [Case(into, flits, None, vc=1, later=spaced(flits, 80, vc=2),
                                drives={f"{out}_credit": {3: 1}}).run], STRAPS)
    assert Cause(seen["fault"][-1] & 15) is Cause.CREDIT
    assert left(seen, out) == [*leaves, *body(1, 2)] * 2
    assert 0 not in {vc for vc, valid in zip(seen[f"{out}_vc"], seen[f"{out}_valid"], strict=True) if valid}


@pytest.mark.parametrize(("what", "options", "kind", "most"), [
    ("router", PATH | ALONE, None, 1), slow("router", PATH | ALONE | {"delays": "fast"}, None, 1),
    slow("router", PATH | ALONE | {"readers": "independent"}, None, 1), slow("router", TREE | ALONE, "router_0", 1),
    ("router", DEEP, "router_0", 2), slow("router", DEEP, "router_1", 1),
    slow("interface", INTERFACE | ALONE, None, 1)], ids=str)
def test_a_channel_that_a_false_credit_stops_sends_at_most_these_flits(what, options, kind, most):
    """The false credit comes before, with and after the first flits of a worm. The links between deep switches have
    credits for chunks."""
    part = component(what, options, kind)
    for into, out, header, _ in passing(part):
        runs = [Stimulus(45, sends={into: spaced([*header, *body(*range(7))])}, drives={f"{out}_credit": {at: 1}})
                for at in range(4, 14)]
        after = []
        for seen in record(part, runs, STRAPS):
            if Cause(seen["fault"][-1] & 15) is Cause.CREDIT:
                credit = cycles(seen, "fault")[0] - 2
                after.append(sum(cycle > credit for cycle in cycles(seen, f"{out}_valid")))
        assert (min(after), max(after)) == (0, most), out


# headers at nodes -------------------------------------------------------------------------------------------------

#: Router, its kind, and the worms that reach its node: links, and header flits in front of the payload.
AT_NODES = {
    "path router": (PATH | ALONE, None, {"west_in": [address(2, 3)]}),
    "two header flits": (PATH | ALONE, None, {"west_in": [address(2, 3, last=0), address(4)]}),
    "independent, fast, separate": (
        PATH | {"readers": "independent", "delays": "fast", "consumption_links": "separate"}, None,
        {"west_in": [address(2, 3)], "east_in": [address(2, 1)]}),
    "tree router": (TREE | ALONE, "router_1", {"p0_in": [(1, 0b110), (1, 0)], "p1_in": [(1, 0b10), (1, 0)]}),
    "serial tree router": (TREE | ALONE | {"scheme": "tree-serial"}, "router_1", {"p0_in": [(1, 0b110), (1, 0)]}),
    "deep router": (DEEP, "router_1", {"p0_in": [(1, 0b110), (1, 0)], "p1_in": [(1, 0b10), (1, 0)]}),
}


# of the slow cases the others have all but the options
@pytest.mark.parametrize("case", [
    slow(case) if case in ("path router", "independent, fast, separate", "serial tree router") else case
    for case in AT_NODES])
def test_stripped_headers_leave_all_else_as_it_is(case):
    """With ejected_header strip, links to nodes have the payload alone, in the same cycles; other ports do not change.
    A worm that is cut off still ends with a flit with both marks."""
    options, kind, worms = AT_NODES[case]
    run = Stimulus(200, sends={into: spaced([*header, *body(1, 2, 3), *header, (0, 1), *header, *body(4)], gap=3)
                               for into, header in worms.items()})
    parts = [component("router", options | {"ejected_header": word}, kind) for word in ("keep", "strip")]
    kept, stripped = (record(part, [run], STRAPS)[0] for part in parts)
    nodes = parts[0].consumption_ports
    headers = 0
    for cycle in range(200):
        for node in nodes:
            valid, flit = kept[f"{node}_out_valid"][cycle], kept[f"{node}_out_flit"][cycle]
            headers += valid and flit & 3 == 1
            assert stripped[f"{node}_out_valid"][cycle] == (valid and flit & 3 != 1)
            if stripped[f"{node}_out_valid"][cycle]:
                assert stripped[f"{node}_out_flit"][cycle] == flit
    assert headers
    assert any(flit & 3 == 3 for node in nodes for flit in stripped[f"{node}_out_flit"])
    for name, values in kept.items():
        if not name.startswith(tuple(f"{node}_out" for node in nodes)):
            assert stripped[name] == values, name
