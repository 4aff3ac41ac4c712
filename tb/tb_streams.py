"""Bench of a network whose hosts have AXI4-Stream: every message arrives at each of its destinations, with its source.

The agents are those of cocotbext-axi.
"""

from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from tb_common import PATTERNS, cross, given


class StreamsTB:
    """Sources and sinks of all hosts.

    In the setup, ``nodes`` are the prefixes of the nodes' ports and ``links`` the consumption links of a node.
    ``width`` is the number of data bits, and ``carries`` the member, ``tuser`` or ``tdest``, that has the destination
    set of a message. ``sets`` has for each node the beats that write its destination sets: data, mark. Each of the
    ``messages`` has ``source``, ``to`` (its destination set), ``destinations`` and ``data``. ``damaged`` is the bit of
    ``tuser`` that marks a damaged message.
    """

    def __init__(self, dut):
        self.dut, self.setup = dut, given()
        self.clock = dut.clk
        self.sources = [self._agent(AxiStreamSource, f"{node}_s_axis") for node in self.setup.nodes]
        self.tables = [self._agent(AxiStreamSource, f"{node}_s_axis_table") for node in self.setup.nodes
                       if self.setup.sets]
        self.sinks = {(node, link): self._agent(AxiStreamSink, f"{prefix}_m_axis_{link}")
                      for node, prefix in enumerate(self.setup.nodes) for link in range(self.setup.links)}
        Clock(dut.clk, 10, unit="ns").start()

    def _agent(self, kind, prefix):
        agent = kind(AxiStreamBus.from_prefix(self.dut, prefix), self.clock, self.dut.rst, byte_size=self.setup.width)
        agent.log.setLevel("WARNING")
        return agent

    async def begin(self):
        """Reset the network, and write all destination sets."""
        self.dut.rst.value = 1
        await self.cycles(3)
        self.dut.rst.value = 0
        await self.cycles(2)
        for table, sets in zip(self.tables, self.setup.sets, strict=False):
            for beats in sets:
                data, marks = zip(*beats, strict=True)
                table.send_nowait(AxiStreamFrame(list(data), tuser=list(marks)))
        for table in self.tables:
            await table.wait()
        await self.cycles(2)

    async def cycles(self, count):
        for _ in range(count):
            await RisingEdge(self.clock)

    def send(self, message):
        """Send a message. All beats but the first have wrong destination sets, which the interface must ignore."""
        data, to = message["data"], message["to"]
        sets = [to, *[to ^ 1] * (len(data) - 1)]
        self.sources[message["source"]].send_nowait(AxiStreamFrame(list(data), **{self.setup.carries: sets}))

    def received(self):
        """Take all received messages: node, source, payload. Beats of different channels interleave."""
        found, beats = Counter(), self._open
        for (node, link), sink in self.sinks.items():
            while not sink.empty():
                frame = sink.recv_nowait(compact=False)
                for k, (data, user) in enumerate(zip(frame.tdata, frame.tuser, strict=True)):
                    channel = node, link, frame.tid[k] if frame.tid else 0
                    beats.setdefault(channel, []).append((user, data))
                    if k == len(frame.tdata) - 1:
                        users, payload = zip(*beats.pop(channel), strict=True)
                        [source] = set(users)
                        found[node, source, payload] += 1
        return found

    async def all_arrive(self, messages, limit=20_000):
        """Wait until each message has arrived once at each of its destinations, and nothing else."""
        self._open = {}
        wanted = Counter((node, message["source"], tuple(message["data"]))
                         for message in messages for node in message["destinations"])
        found = Counter()
        for _ in range(limit):
            await self.cycles(1)
            found += self.received()
            if found.total() >= wanted.total():
                break
        await self.cycles(100)
        found += self.received()
        assert found == wanted, f"missing {wanted - found}, not sent {found - wanted}"
        assert not self._open
        faults = [handle._name for handle in self.dut if handle._name.endswith("fault") and int(handle.value)]
        assert not faults, faults


@cocotb.test()
@cross
async def every_message_arrives_at_all_its_destinations(dut, idle, pressure):
    """All messages arrive, with each pattern in which hosts idle and stall (`cross`)."""
    tb = StreamsTB(dut)
    await tb.begin()
    for seed, source in enumerate(tb.sources):
        source.set_pause_generator(PATTERNS[idle](seed))
    for seed, sink in enumerate(tb.sinks.values()):
        sink.set_pause_generator(PATTERNS[pressure](100 + seed))
    for message in tb.setup.messages:
        tb.send(message)
    await tb.all_arrive(tb.setup.messages)


@cocotb.test()
async def a_long_message_has_a_beat_in_each_cycle(dut):
    """A single message has a beat in each cycle at its destination, and at its source once its header has arrived.

    In the setup, ``alone`` is a message to one destination.
    """
    tb = StreamsTB(dut)
    await tb.begin()
    message = tb.setup.alone
    [node] = message["destinations"]
    ends = {"s_axis": message["source"], "m_axis_0": node}
    seen = {stream: [] for stream in ends}

    async def watch():
        cycle = 0
        while True:
            await RisingEdge(tb.clock)
            cycle += 1
            for stream, at in ends.items():
                valid, ready = (getattr(dut, f"{tb.setup.nodes[at]}_{stream}_t{way}") for way in ("valid", "ready"))
                if int(valid.value) and int(ready.value):
                    seen[stream].append(cycle)

    cocotb.start_soon(watch())
    tb.send(message)
    await tb.all_arrive([message])
    # the header is slower than data, so that the source waits while the buffers on the way fill
    waits = {"s_axis": len(message["data"]) // 2, "m_axis_0": 0}
    for stream, cycles in seen.items():
        steady = cycles[waits[stream]:]
        assert steady == list(range(steady[0], steady[0] + len(message["data"]) - waits[stream])), (stream, cycles)
