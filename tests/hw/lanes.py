# amaranth: UnusedElaboratable=no
"""Many runs of one switch at a time: compiled, an instance for each run."""

import re
from collections import Counter

import numpy as np

from wormcast.algorithms.source_digest import package_file, source_digest
from wormcast.hw.faults import Cause
from wormcast.sim.engines.port_packing import credit_word, data_word, words
from wormcast.sim.lowering import lower_cached

from . import bench

__all__ = ["Lane", "mesh_kernel", "run", "unrest"]

#: Digest of the sources that define all compiled switches of the tests. Options are added to it.
SOURCES = source_digest([bench.__file__, package_file("wormcast.hw.router"),
                         package_file("wormcast.sim.engines.port_packing")])


class Lane:
    """A run: inputs on the links, and the recorded outputs.

    The neighbours return each credit this number of cycles after the flit (at least 1).

    Attributes
    ----------
    false_credits : dict of (cycle, output) to int
        Virtual channels that get a false credit.
    held : dict of output to int
        Cycle before which no credit comes back from there.
    forced : dict of (cycle, input) to (virtual channel, flit)
        Flits that are put on a link without a credit, in place of any other; they are not counted as sent.
    seen : dict of (output, virtual channel) to list of (head, tail, data)
    when : dict of (output, virtual channel) to list of int
        The cycles in which these flits were on the link.
    report_after : int or None
        So many cycles after a header that asks for it was on a link to another switch its arrival is reported; None:
        never.
    reported : list of (cycle, input, virtual channel)
        The reports of the switch itself.
    walk : int
        Cycles that the token takes round the ring, in which this switch is alone with others that never ask.
    passed : list of int
        The cycles in which the token left the switch.
    sent, credits : Counter of (input, virtual channel)
        Flits on the links into the switch, and credits that came back.
    waits : dict of (input, virtual channel) to int
        Flits that are yet to be sent; without those that there is nothing of.
    fault : tuple of str, int, int
        Cause, port and virtual channel that the switch latched.
    """

    def __init__(self, *, credit_after=1, report_after=1, walk=1):
        self.credit_after = credit_after
        self.report_after = report_after
        self.walk = walk
        self.reported = []
        self.passed = []
        self.begun = set()  # virtual channels on which a worm is under way
        self.queues = {}
        self.false_credits = {}
        self.held = {}
        self.forced = {}
        self.seen = {}
        self.when = {}
        self.sent = Counter()
        self.credits = Counter()
        self.fault = None

    def send(self, cycle, port, flits, vc=0):
        """Put flits (head, tail, data) on a link, the first not before ``cycle``, as credits allow."""
        self.queues.setdefault((port, vc), []).extend((cycle, flit) for flit in flits)

    @property
    def waits(self):
        return {channel: len(queue) for channel, queue in self.queues.items() if queue}

    def streams(self, port):
        """Return the flits sent by a port, split behind each tail: one virtual channel after the other."""
        return [worm for (out, _), flits in sorted(self.seen.items()) if out == port for worm in bench.cut(flits)]


def mesh_kernel(**options):
    """A mesh router as `bench.mesh_switch` makes it, and its compiled form."""
    switch = bench.mesh_switch(**options)
    return switch, lower_cached(lambda: switch, words=words, name="switch",
                                cache_key=f"lanes {sorted(options.items())} {SOURCES}")


def run(switch, kernel, straps, lanes, cycles):
    """Step all lanes for this number of cycles; return their memory."""
    block = kernel.allocate(len(lanes))
    for name, value in zip(switch.decoder.straps, straps, strict=True):
        word = block.input(f"strap_{name}")
        for part, row in enumerate(word.reshape(-1, word.shape[-1])):
            row[:] = value >> 64 * part & (1 << 8 * word.itemsize) - 1
    links = [*switch.decoder.outputs[:switch.ejection], *switch.consumption_ports]
    depth = {(port.name, vc): port.credits for port in switch.inputs for vc in range(port.vcs)}
    chunk = {port.name: port.chunk for port in (*switch.inputs, *switch.outputs)}
    room = [dict(depth) for _ in lanes]
    places = [Counter() for _ in lanes]  # of the next flit in its chunk, by link
    owed = [{} for _ in lanes]
    reports = [{} for _ in lanes]
    vcs = {port.name: port.vcs for port in switch.inputs}
    into_bits = {port: (count - 1).bit_length() for port, count in vcs.items()}
    out_vcs = [port.vcs for port in switch.outputs[:switch.ejection]]
    out_vcs += [1 if switch.separate else switch.outputs[-1].vcs] * len(switch.consumption_ports)
    bits = {name: (count - 1).bit_length() for name, count in zip(links, out_vcs, strict=True)}
    for cycle in range(cycles):
        for port, count in zip(links, out_vcs, strict=True):
            marks, data = block.output(f"{port}_out"), block.output(data_word(f"{port}_out"))
            credit = block.input(credit_word(f"{port}_out"))
            credit[:] = 0
            for k in np.flatnonzero(marks[: len(lanes)] & 1):
                word, lane = int(marks[k]) >> 1, lanes[k]
                vc = word & (1 << bits[port]) - 1
                flags = word >> bits[port]
                lane.seen.setdefault((port, vc), []).append((flags & 1, flags >> 1 & 1, int(data[k])))
                lane.when.setdefault((port, vc), []).append(cycle)
                if switch.has_reports and port in switch.decoder.outputs[:switch.ejection]:
                    asks = flags & 1 and int(data[k]) & 1 and (port, vc) not in lane.begun
                    (lane.begun.discard if flags & 2 else lane.begun.add)((port, vc))
                    if asks and lane.report_after is not None:
                        at = cycle + lane.report_after, port
                        reports[k][at] = reports[k].get(at, 0) | 1 << vc
                if _begins_chunk(places[k], (port, "out"), chunk.get(port, 1), flags >> 1 & 1):
                    back = max(cycle + lane.credit_after, lane.held.get(port, 0) + len(lane.when[port, vc]))
                    owed[k][back, port] = owed[k].get((back, port), 0) | 1 << vc
            for k, lane in enumerate(lanes):
                due = owed[k].pop((cycle, port), 0) | lane.false_credits.get((cycle, port), 0)
                due |= reports[k].pop((cycle, port), 0) << count
                if due:
                    credit[k] = due
        if switch.has_tokens:
            block.input("strap_first")[:] = 1
            block.input("token_in")[:] = 0
            for k in np.flatnonzero(block.output("token_out")[: len(lanes)]):
                lanes[k].passed.append(cycle)
            for k, lane in enumerate(lanes):
                block.input("token_in")[k] = cycle - lane.walk + 1 in lane.passed[-lane.walk:]
        for port in switch.decoder.inputs:
            back = block.output(credit_word(f"{port}_in"))
            marks, data = block.input(f"{port}_in"), block.input(data_word(f"{port}_in"))
            marks[:] = 0
            for k, lane in enumerate(lanes):
                # a credit seen in this cycle can be spent in the next but one at the earliest, as by a switch
                ready = [vc for vc in range(vcs[port])
                         if (queue := lane.queues.get((port, vc))) and queue[0][0] <= cycle
                         and (room[k][port, vc] or places[k][port, vc])]
                for vc in range(vcs[port]):
                    if int(back[k]) >> vc & 1:
                        room[k][port, vc] += 1
                        lane.credits[port, vc] += 1
                    if switch.has_reports and int(back[k]) >> vcs[port] >> vc & 1:
                        lane.reported.append((cycle, port, vc))
                if (cycle, port) in lane.forced:
                    vc, (head, tail, value) = lane.forced[cycle, port]
                    marks[k] = 1 | (vc | (head | tail << 1) << into_bits[port]) << 1
                    data[k] = value
                elif ready:
                    vc = ready[(cycle + k) % len(ready)]
                    _, (head, tail, value) = lane.queues[port, vc].pop(0)
                    room[k][port, vc] -= _begins_chunk(places[k], (port, vc), chunk[port], tail)
                    lane.sent[port, vc] += 1
                    marks[k] = 1 | (vc | (head | tail << 1) << into_bits[port]) << 1
                    data[k] = value
        kernel.step(block)
    fault = switch.fault_layout
    for k, lane in enumerate(lanes):
        word = int(block.output("fault")[k])
        fields = [word >> field.offset & (1 << field.width) - 1 for field in
                  (fault["cause"], fault["port"], fault["vc"])]
        lane.fault = Cause(fields[0]).name, fields[1], fields[2]
    return block


def _begins_chunk(places, link, chunk, tail):
    """Return whether a flit that is sent is the first of its chunk; store the position of the next flit."""
    place = places[link]
    places[link] = 0 if tail else (place + 1) % chunk
    return place == 0


#: Values of registers in a switch at rest, by the end of the registers' names.
#: Besides, readers of buffers stand where the next flit is written.
AT_REST = {
    "filled0": 0, "filled1": 0, "links": 0, "here": 0, "ends_here": 0, "owns_link": 0, "wants_consumption": 0,
    "consumption_request": 0, "done_0": 0, "done_1": 0, "eligible": 0, "copied": 0, "busy": 0, "spent": 0,
    "frame": 0, "onward": 0,
}
#: The same where worms are copied to several outputs; with those of reports and tokens where these are.
TREES_AT_REST = {
    "filled": 0, "targets": 0, "drops": 0, "left": 0, "owned": 0, "eligible": 0, "needs_token": 0, "awaits": 0,
    "busy": 0, "spent": 0, "frame": 0, "holder": 0, "in_use": 0, "queue_full": 0,
}
MUST_EXIST = ("filled0", "links", "here", "owns_link", "wants_consumption", "busy", "spent", "eligible", "frame")
TREES_MUST_EXIST = ("filled", "targets", "drops", "left", "owned", "eligible", "busy", "spent", "frame")


def unrest(kernel, block, but=()):
    """List for each lane the registers that are not at rest, except those whose names contain one of ``but``."""
    trees = any(name.endswith(".targets") for name in kernel.state)
    found = [[] for _ in range(block.n)]
    at_rest = TREES_AT_REST if trees else AT_REST
    must = TREES_MUST_EXIST if trees else MUST_EXIST
    looked = set()
    for name in kernel.state:
        end = name.rsplit(".", 1)[-1].rsplit("__", 1)[-1]
        end = end.split("_", 1)[1] if end.startswith("vc") and "_" in end else end
        end = re.sub(r"_?\d+$", "", end) if trees else end  # of any branch
        meets = re.fullmatch(r"(.*vc\d+_)read\d+_at|(.*queue_)get", name)
        if (end not in at_rest and not meets) or any(part in name for part in but):
            continue
        looked.add(end)
        rest = at_rest.get(end)
        if meets:
            rest = kernel.read(block, f"{meets[1]}write_at" if meets[1] else f"{meets[2]}put")
        values = kernel.read(block, name)
        for k in np.flatnonzero(values != rest):
            found[k].append((name, int(values[k])))
    assert looked >= set(must), f"no register is called {set(must) - looked} any more: mend AT_REST"
    return found
