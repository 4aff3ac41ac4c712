# amaranth: UnusedElaboratable=no
"""False credits, and flits without room: stopped channels, dropped flits, and reports."""

import itertools

import pytest
from cases import slow, some

from wormcast.algorithms import HAMILTONIAN, topology
from wormcast.hw import PortSpec
from wormcast.hw.faults import Cause, fault_layout
from wormcast.hw.interface import NetworkInterface

from . import bench, lanes

MESH = topology("mesh:3x5")
HERE = 7  # 1.2: labels rise from right to left in this row
OWN, WEST, SOUTH, OUTSIDE = 0b01_010, 0b01_001, 0b10_010, 0b11_000
WIDTH = 16
SLOTS = 3

CONFIGURATIONS = [
    {"readers": "coupled", "delays": "paper", "depth": 4},
    {"readers": "independent", "delays": "paper", "depth": 1},
    {"readers": "independent", "delays": "fast", "depth": 3},
]


def header(*addresses, last=1):
    """A header flit, its slots left over filled with the last address."""
    addresses += addresses[-1:] * (SLOTS - len(addresses))
    return 1, 0, sum(address << 5 * k for k, address in enumerate(addresses)) | last << WIDTH - 1


def body(*data, tail=True):
    return [(0, int(tail and k == len(data) - 1), value) for k, value in enumerate(data)]


def kernel_of(vcs=2, **options):
    return lanes.mesh_kernel(shape=(3, 5), width=WIDTH, vcs=vcs, **options)


def run(switch, kernel, runs, cycles):
    return lanes.run(switch, kernel, bench.straps_of(switch, MESH, HAMILTONIAN, HERE), runs, cycles)


# a virtual channel that is stopped --------------------------------------------------------------------------------

def first_wrong(lane, depth, port, channel, fast):
    """The cycle in which the output gets a credit with all of them held, from what was on the links; None: never."""
    sent = [cycle - fast for cycle in lane.when.get((port, channel), [])]
    back = {cycle + lane.credit_after for cycle in lane.when.get((port, channel), [])}
    back |= {cycle for (cycle, out), mask in lane.false_credits.items() if out == port and mask >> channel & 1}
    for cycle in sorted(back):
        held = depth - sum(one <= cycle for one in sent) + sum(one < cycle for one in back)
        if held == depth:
            return cycle
    return None


# each port, and each kind of reader: with the fast delays all is a cycle later
@pytest.mark.parametrize(("options", "port"), [
    (CONFIGURATIONS[0], "west"), (CONFIGURATIONS[1], "local"), slow(CONFIGURATIONS[0], "local"),
    slow(CONFIGURATIONS[1], "west"), slow(CONFIGURATIONS[2], "west"), slow(CONFIGURATIONS[2], "local")], ids=str)
def test_nothing_leaves_behind_a_false_credit(options, port):
    """A false credit in each cycle from before one or two worms come until they are through, on the one or the other
    virtual channel. Once it is seen, at once or with the true one for which it was taken, nothing is sent on that
    channel from the next cycle on: on the link is only what is in the output registers already. Later no header is sent
    alone, and a worm on the other channel is whole."""
    switch, kernel = kernel_of(**options)
    way, fast = header(WEST if port == "west" else OWN), options["delays"] == "fast"
    worms = [[way, *body(1, 2, 3)], [way, *body(4, 5, 6)]]
    # flits far apart, so that the output has all its credits in between, and one behind the other
    runs = []
    for gap, count, moment, channel in itertools.product([1, 9], [1, 2], range(8, 50), range(2)):
        lane = lanes.Lane()
        lane.false_credits[moment, port] = 1 << channel
        for vc, flits in enumerate(worms[:count]):
            for k, flit in enumerate(flits):
                lane.send(10 + gap * k, "east", [flit], vc)
        runs.append((count, moment, channel, lane))
    run(switch, kernel, [lane for *_, lane in runs], 200)
    begun, untouched = 0, 0
    for count, moment, channel, lane in runs:
        wrong = first_wrong(lane, options["depth"], port, channel, fast)
        if wrong is None:  # in the cycle of a true one
            assert lane.fault[0] == "NONE"
            continue
        assert lane.fault == ("CREDIT", switch.decoder.outputs.index(port), channel), moment
        cycles = lane.when.get((port, channel), [])
        late = [cycle for cycle in cycles if cycle > wrong + 1 + fast]
        # a consumption channel that was reserved in that very cycle gets one flit
        assert not late or (port == "local" and late == cycles == [wrong + 2 + fast]), (moment, wrong, cycles)
        begun += any(cycle <= wrong for cycle in cycles)
        untouched += not cycles
        whole = [flits for flits in lane.streams(port) if (flits if port == "west" else [way, *flits]) in worms]
        # the only worm may own the channel that is stopped; of a consumption channel before it has sent anything
        assert whole or (count == 1 and (cycles or port == "local")), (moment, lane.seen)
    assert begun > 20
    assert untouched >= 2


# a virtual channel that is full -----------------------------------------------------------------------------------

EXTRA = {"payload": (0, 0, 777), "tail": (0, 1, 777), "header": header(SOUTH), "header of a list": header(WEST, last=0)}


@pytest.mark.parametrize("options", some(CONFIGURATIONS, *CONFIGURATIONS[:2]), ids=str)
def test_flit_for_which_there_is_no_room_is_dropped(options):
    """The flit comes by a virtual channel whose buffer is full. The worm in it waits for credits of its link, of its
    consumption channel or of both. Except for the fault, all is as without this flit. Worms on the other virtual
    channel are not affected."""
    switch, kernel = kernel_of(**options)
    south, first = [header(SOUTH), *body(50, 51, 52)], [header(WEST), *body(60, 61, 62)]
    ways = {
        "link": ("east", [header(WEST)], ["west"], {"west": [header(WEST)]}),
        "link, from the node": ("local", [header(WEST)], ["west"], {"west": [header(WEST)]}),
        "consumption": ("east", [header(OWN)], ["local"], {"local": []}),
        "link and consumption": ("east", [header(OWN, WEST)], ["west", "local"],
                                 {"west": [header(WEST)], "local": [header(WEST)]}),
        "link of two": ("east", [header(OWN, WEST)], ["west"], {"west": [header(WEST)], "local": [header(WEST)]}),
        "consumption of two": ("east", [header(OWN, WEST)], ["local"],
                               {"west": [header(WEST)], "local": [header(WEST)]}),
    }
    payload = body(*range(1, 4 * options["depth"] + 4))
    cases = list(itertools.product(ways, EXTRA, range(2), (1, 3)))
    runs = []
    for name, extra, vc, times in cases:
        port, head, held, _ = ways[name]
        lane = lanes.Lane(credit_after=2)
        lane.held = dict.fromkeys(held, 130)
        lane.send(10, port, head + payload + first, vc)
        lane.send(85, port, south, 1 - vc)
        for k in range(times):
            lane.forced[90 + 5 * k, port] = vc, EXTRA[extra]
        runs.append(lane)
    block = run(switch, kernel, runs, 400)
    for lane, unrest, (name, extra, vc, times) in zip(runs, lanes.unrest(kernel, block), cases, strict=True):
        what = name, extra, vc, times
        port, _, _, copies = ways[name]
        assert lane.fault == ("OVERFLOW", switch.decoder.inputs.index(port), vc), what
        assert not lane.waits, what
        assert lane.sent == lane.credits, what
        assert not unrest, what
        assert all(cycles[-1] < 130 for (out, _), cycles in lane.when.items() if out == "south"), what
        assert lane.streams("south") == [south], what
        for out, left in copies.items():
            worms = [flits for flits in lane.streams(out) if flits != first]
            assert worms == [left + payload], what
        assert first in lane.streams("west"), what


def test_full_rate_is_no_overflow():
    """Streams that fill every buffer and empty it again, at the shortest depth and one behind the other."""
    for options in CONFIGURATIONS:
        switch, kernel = kernel_of(**options)
        runs = [lanes.Lane(credit_after=1 + k % 5) for k in range(10)]
        for k, lane in enumerate(runs):
            lane.held = {"west": 40 * (k > 4)}
            for vc in range(2):
                lane.send(10, "east", [header(OWN, WEST), *body(*range(30)), header(WEST), *body(*range(20))], vc)
        block = run(switch, kernel, runs, 900)
        assert not any(lanes.unrest(kernel, block))
        assert {lane.fault[0] for lane in runs} == {"NONE"}
        assert all(lane.sent == lane.credits for lane in runs)


# the own address twice --------------------------------------------------------------------------------------------

@pytest.mark.parametrize(("readers", "table"), [("coupled", False), slow("independent", True)])
def test_own_address_twice_in_a_flit_and_then_more_is_out_of_order(readers, table):
    """The node gets the worm, as with any error after its own address, and no other node does."""
    switch, kernel = kernel_of(vcs=1, readers=readers, delays="paper", depth=4, table=table)
    bad, good = [(OWN, OWN, WEST), (OWN, OWN, OUTSIDE)], [(OWN, OWN, OWN), (OWN, WEST, WEST)]
    runs = []
    for addresses in (*bad, *good):
        runs.append(lanes.Lane())
        runs[-1].send(10, "east", [header(*addresses), *body(1, 2), header(WEST), *body(3)])
    block = run(switch, kernel, runs, 100)
    assert not any(lanes.unrest(kernel, block))
    for lane, addresses in zip(runs, (*bad, *good), strict=True):
        assert lane.fault == (("WRONG_ORDER", 0, 0) if addresses in bad else ("NONE", 0, 0)), addresses
        onward = addresses == (OWN, WEST, WEST)
        assert lane.streams("local") == [[header(WEST)] * onward + body(1, 2)], addresses
        worms = [[header(WEST), *body(1, 2)]] * onward + [[header(WEST), *body(3)]]
        assert sorted(lane.streams("west")) == sorted(worms), addresses
        assert lane.sent == lane.credits


# interfaces -------------------------------------------------------------------------------------------------------

def drive(interface, cycles, *, flits=(), credits=(), hold=()):
    """Put flits (cycle: link, virtual channel, flit) and credits (cycle: link, mask) on an interface's links. Each flit
    that leaves gets its credit two cycles later, except on the links in ``hold``. Return what left by each link, and
    the fault: cause, port (injection ports first, then consumption links) and virtual channel."""
    flits, credits, seen, owed, fault = dict(flits), dict(credits), {}, {}, []
    outs = [name for name in interface.signature.members if name.startswith(("network_out", "host_out"))]
    into = [name for name in interface.signature.members if name.startswith(("network_in", "host_in"))]

    def step(cycle, context):
        for name in outs:
            link = getattr(interface, name)
            if context.get(link.valid):
                vc, flit = context.get(link.vc), context.get(link.flit)
                seen.setdefault(name, []).append((cycle, vc, (flit.head, flit.tail, flit.data)))
                if name not in hold:
                    owed[cycle + 2, name] = owed.get((cycle + 2, name), 0) | 1 << vc
            extra = credits[cycle][1] if cycle in credits and credits[cycle][0] == name else 0
            context.set(link.credit, owed.get((cycle, name), 0) | extra)
        for name in into:
            link = getattr(interface, name)
            here = cycle in flits and flits[cycle][0] == name
            context.set(link.valid, here)
            if here:
                _, vc, (head, tail, data) = flits[cycle]
                context.set(link.vc, vc)
                context.set(link.flit, {"head": head, "tail": tail, "data": data})
        found = context.get(interface.fault)
        fault[:] = [(found.cause.name, found.port, found.vc)]

    bench.simulate(interface, cycles, step)
    return seen, fault[0]


def interface_of(**options):
    return bench.built(NetworkInterface, **{"injection": PortSpec("network", vcs=2, depth=3),
                                            "consumption": PortSpec("network", vcs=3, depth=4), "width": WIDTH,
                                            "ports": 2, "links": 2, **options})


def test_interface_tells_a_false_credit_of_the_network():
    """Worms take the port's other virtual channel. The other port is not affected, and a later fault is not
    recorded."""
    for vc in range(2):
        worm = bench.worm([9], 3)
        flits = {10 + 3 * k: (f"host_in_{k % 2}", 0, worm[k // 2]) for k in range(8)}
        seen, fault = drive(interface_of(), 80, flits=flits,
                            credits={4: ("network_out_1", 1 << vc), 6: ("host_out_0", 1)})
        assert fault == ("CREDIT", 1, vc)
        assert [flit for *_, flit in seen["network_out_0"]] == [flit for *_, flit in seen["network_out_1"]] == worm
        assert {used for _, used, _ in seen["network_out_1"]} == {1 - vc}


def test_interface_tells_a_false_credit_of_the_host():
    """The consumption channel sends nothing more; the link's other channels do."""
    flits = {10 + k: ("network_in_1", k % 3, bench.worm([], 3)[k // 3]) for k in range(9)}
    seen, fault = drive(interface_of(), 60, flits=flits, credits={4: ("host_out_1", 0b100)})
    assert fault == ("CREDIT", 2 + 1, 2)
    assert {vc for _, vc, _ in seen["host_out_1"]} == {0, 1}
    for channel in range(2):
        assert [flit for _, vc, flit in seen["host_out_1"] if vc == channel] == bench.worm([], 3)


def test_interface_tells_a_flit_of_the_host_for_which_there_is_no_room():
    """The queue is full, because the network returns no credits. The extra flit is dropped, all others are stored."""
    worm = bench.worm([9], 12)
    # the network has room for 3, the queue for 4
    flits = {5 + 4 * k: ("host_in_0", 0, flit) for k, flit in enumerate(worm[:7])}
    flits[40] = "host_in_0", 0, (0, 0, 777)
    credits = {60 + 4 * k: ("network_out_0", 1) for k in range(13)}
    flits |= {70 + 4 * k: ("host_in_0", 0, flit) for k, flit in enumerate(worm[7:])}
    interface = interface_of(injection=PortSpec("network", depth=3))
    seen, fault = drive(interface, 130, flits=flits, credits=credits, hold=["network_out_0"])
    assert fault == ("OVERFLOW", 0, 0)
    assert [flit for *_, flit in seen["network_out_0"]] == worm


@pytest.mark.parametrize("channel", range(3))
def test_interface_tells_a_flit_of_the_network_for_which_there_is_no_room(channel):
    """The host returns no credits of a channel: 4 flits are at the host, 4 in the buffer, and a further one is
    dropped."""
    worm = bench.worm([], 8)
    flits = {5 + k: ("network_in_0", channel, flit) for k, flit in enumerate(worm)}
    flits[30] = "network_in_0", channel, (0, 1, 777)
    flits |= {31 + k: ("network_in_0", (channel + 1) % 3, flit) for k, flit in enumerate(bench.worm([], 2))}
    credits = {50 + 3 * k: ("host_out_0", 1 << channel) for k in range(8)}
    seen, fault = drive(interface_of(), 100, flits=flits, credits=credits, hold=["host_out_0"])
    assert fault == ("OVERFLOW", 2, channel)
    for vc, wanted in ((channel, worm), ((channel + 1) % 3, bench.worm([], 2))):
        assert [flit for _, used, flit in seen["host_out_0"] if used == vc] == wanted


def test_interface_tells_a_worm_of_the_host_without_tail():
    worm = [*bench.worm([9], 2)[:2], *bench.worm([8], 2)]
    seen, fault = drive(interface_of(), 40, flits={5 + k: ("host_in_1", 0, flit) for k, flit in enumerate(worm)})
    assert fault == ("NO_TAIL", 1, 0)
    assert [flit[:2] for *_, flit in seen["network_out_1"]] == [(1, 0), (0, 0), (1, 1), (1, 0), (0, 0), (0, 1)]


def test_of_two_faults_in_a_cycle_a_credit_then_the_first_port_is_kept():
    switch, kernel = kernel_of(readers="coupled", delays="paper", depth=4)
    east, north, south = (switch.decoder.inputs.index(port) for port in ("east", "north", "south"))
    assert north > east
    two, three = lanes.Lane(), lanes.Lane()
    for lane in (two, three):
        lane.send(10, "north", [header(SOUTH), *body(1)][1:], 0)
        lane.send(10, "east", [header(WEST), *body(1)][1:], 1)
    three.false_credits[10, "south"] = 0b10
    run(switch, kernel, [two, three], 30)
    assert two.fault == ("NO_HEADER", east, 1)
    assert three.fault == ("CREDIT", south, 1)


@pytest.mark.parametrize("what", [slow("flit"), "credit"])
def test_fault_is_said_two_cycles_after_what_is_wrong(what):
    switch = bench.mesh_switch((3, 5), width=10, vcs=2)
    east, seen = switch.decoder.inputs.index("east"), []

    def step(cycle, context):
        context.set(switch.east_in.valid, int(cycle == 5 and what == "flit"))
        context.set(switch.east_in.vc, 1)
        context.set(switch.east_out.credit, 0b10 if cycle == 5 and what == "credit" else 0)
        seen.append(tuple(int(context.get(field.as_value() if hasattr(field, "as_value") else field))
                          for field in (switch.fault.cause, switch.fault.port, switch.fault.vc)))

    bench.simulate(switch, 12, step)
    cause = Cause.NO_HEADER if what == "flit" else Cause.CREDIT
    assert seen == [(0, 0, 0)] * 7 + [(cause.value, east, 1)] * 5


def test_interface_without_errors_has_no_fault():
    flits = {5 + k: ("host_in_0", 0, flit) for k, flit in enumerate(bench.worm([9], 3))}
    assert drive(interface_of(), 30, flits=flits)[1] == ("NONE", 0, 0)


def test_fault_has_a_place_for_every_cause():
    layout = fault_layout(5, 2)
    assert max(cause.value for cause in Cause).bit_length() <= layout["cause"].width
    assert max(Cause, key=lambda cause: cause.value) is Cause.CREDIT  # an input's own causes take a bit less
