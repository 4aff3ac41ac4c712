# amaranth: UnusedElaboratable=no
"""What the contract of the ports says is what the hardware does: cycles of credits, reset, errors and their effects."""

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
    CREDIT_FAULT_CYCLES,
    FAULT_CYCLES,
    VIOLATIONS,
    credit_cycles,
    family,
)
from wormcast.sim.export.verilog.links import links

PATH = {"topology": "mesh:1x5", "scheme": "dual-path", "flit_width": 8, "vcs": 3}
TREE = {"topology": "min:b=2,stages=2", "scheme": "tree-synchronous", "tokens": "off", "flit_width": 4, "vcs": 3,
        "consumption": 2}
TOKENS = {"topology": "min:b=2,stages=2", "scheme": "atbm", "flit_width": 4}
DEEP = {"topology": "min:b=2,stages=2", "scheme": "atbm", "buffer_kind": "deep", "vcs": 1, "consumption": 1,
        "buffer": 16, "chunk": 4, "flit_width": 4}
LOOKED_UP = {"topology": "irregular:switches=4,ports=4,nodes=6", "scheme": "tree", "configuration": "sivaram_32"}
INTERFACE = {"topology": "mesh:1x5", "flit_width": 8, "vcs": 3, "consumption": 3}

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

    @property
    def run(self):
        return Stimulus(300, sends={self.into: {**spaced(self.flits, gap=self.gap, vc=self.vc), **self.later}},
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


FULL, ROOM = "a flit on a virtual channel whose buffer is full", "a flit without a credit, while the buffer has room"
STRAY, TOO_LONG = "payload where a worm must begin", "a header flit after the last header flit"
UNENDED = "a header flit before the tail of the worm in front"
CREDIT = "a credit, while the output has all credits and no flit on the link"
SWITCH = {FULL: "full", ROOM: "room", CREDIT: "at rest", "a credit too many, while other credits are out": "under way",
          "a credit is lost or withheld": "lost", "the tail of a worm is lost, and no worm follows": "tail lost",
          "wrong payload data": "data"}


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
    more = address(3, last=0)
    yield "payload while the header has announced more header flits", case(
        more, *body(1, 2), *good, east_out=[more, *body(1, 2), *good])
    yield TOO_LONG, case(east, east, *body(1, 2), *good, east_out=[east, CLOSED, *good])
    on = address(2, 3)
    yield UNENDED, case(east, (0, 1), *good, east_out=[east, (0, 1), CLOSED, *good])
    yield UNENDED, case(on, (0, 1), *good, east_out=[east, (0, 1), CLOSED, *good], local_out=[east, (0, 1), CLOSED])
    for error, wrong in (("an address that is no node's", 7),
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
    yield "payload while header flits are missing", case(header[0], *body(1, 2), left=[header[0], *body(1, 2)])
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
            yield error, Case("p0_in", [*header, *[(0, 1)] * 50], None, gap=1, credit_after={"p0_out": None})
        elif error != ROOM:  # no credit is for a single flit
            yield error, found

    def case(*flits, left):
        return Case("p0_in", [*flits, *good], {"p0_out": [*left, *good], "p1_out": []})

    yield STRAY, case(*body(1, 2), left=[])
    yield STRAY, case((0, 1), (0, 2), (2, 3), left=[])
    yield "payload while header flits are missing", case(header[0], *body(1, 2), left=[])
    yield TOO_LONG, case(*header, (1, 2), *body(1, 2), left=[*header, CLOSED])
    yield UNENDED, case(*header, (0, 1), *header, *body(1, 2), left=[*header, (0, 1), CLOSED])
    yield "a header that leads to no output", case((1, 0), (1, 0), *body(1, 2), left=[])


def interface_cases(part):
    header = address(3)
    good = [header, *body(5, 6)]
    host = dict(of_credits(part, "host_in_0", "network_out_0", [header], [header]))
    network = dict(of_credits(part, "network_in_0", "host_out_0", [header], []))
    yield "a flit of the host, while the queue is full", host["full"]
    yield "a flit of the router on a channel whose buffer is full", network["full"]
    yield "a credit of the router, while the interface has all credits and no flit on the link", host["at rest"]
    yield "a credit of the host, while the interface has all credits and no flit on the link", network["at rest"]
    yield "a header flit of the host before the tail of its worm in front", Case(
        "host_in_0", [header, (0, 1), *good], {"network_out_0": [header, (0, 1), CLOSED, *good]})
    for error, flits in (("payload of the host where a worm must begin", body(1, 2)),
                         ("wrong addresses in a header of the host", [address(7), *body(1, 2)])):
        yield error, Case("host_in_0", [*flits, *good], {"network_out_0": [*flits, *good]})
    for flits in ([header, (0, 1), header, (0, 2)], [(0, 1), (0, 2)]):
        yield "a worm of the router without tail, or payload without header", Case(
            "network_in_0", flits, {"host_out_0": [(0, 1), (0, 2)]})


FAMILIES = {
    "path router": ("router", PATH | ALONE, None, path_cases),
    "tree router": ("router", TREE | ALONE, "router_1", tree_cases),
    "deep router": ("router", DEEP, "router_1", deep_cases),
    "interface": ("interface", INTERFACE | ALONE, None, interface_cases),
}
NUMBER = "a virtual channel number that does not exist"


def same(found, expected):
    return len(found) == len(expected) and all(
        marks == wanted and value in (data, ANY)
        for (marks, data), (wanted, value) in zip(found, expected, strict=True))


@pytest.mark.parametrize("kind", [*VIOLATIONS])
def test_errors_are_reported_and_have_their_effects(kind):
    what, options, of, cases = FAMILIES[kind]
    part = component(what, options, of)
    assert family(part) == kind
    causes = {one.error: one.cause or Cause.NONE for one in VIOLATIONS[kind]}
    listed = list(cases(part))
    # the effect of a virtual channel that does not exist is undefined
    assert set(causes) - {error for error, _ in listed} <= {NUMBER}
    for (error, case), seen in zip(listed, record(part, [case.run for _, case in listed], STRAPS), strict=True):
        assert Cause(seen["fault"][-1] & 15) is causes[error], error
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


@pytest.mark.parametrize("kind", [slow("path router"), slow("tree router"), slow("deep router"), "interface"])
def test_cycles_from_an_error_to_the_fault(kind):
    """Payload first at a router, a flit without room at an interface; and a credit for no flit."""
    what, options, of, _ = FAMILIES[kind]
    part = component(what, options, of)
    into, out, header, leaves = passing(part)[0]
    late = dict(of_credits(part, into, out, header, leaves))["full"] if kind == "interface" else \
        Case(into, [], None, later={100: Flit(0, 1)})
    wrong, credit = record(part, [late.run, Case(into, [], None, drives={f"{out}_credit": {5: 1}}).run], STRAPS)
    assert cycles(wrong, "fault")[0] - 100 == FAULT_CYCLES[kind]
    assert cycles(credit, "fault")[0] - 5 == CREDIT_FAULT_CYCLES


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
