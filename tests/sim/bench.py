"""Helpers of tests of whole networks: runs in short words, and a check that all registers are empty."""

import re
from functools import cache

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments.run import plan_messages
from wormcast.sim.host import Message, check_receipts, make_host

__all__ = ["bulk", "check_receipts", "finish", "host_of", "left_over", "network", "send"]


@cache
def network(name, scheme, options, relation=None):
    """The network of ``mesh:...`` and a frozen set of hardware options, as pairs; kernels are found on disk."""
    built = topology(name)
    return Network(built, find_scheme(scheme, built, relation), Configuration(**dict(options)))


def send(source, *destinations, length=1, at=0):
    return Message(at, source, destinations, length)


def host_of(net, messages, **stalls):
    worms = plan_messages(net.topology, net.scheme, messages)
    return make_host(net, messages, worms, **stalls)


def bulk(name, scheme, messages, *, relation=None, stall=0.0, seed=0, **options):
    """An engine that is about to send these messages."""
    net = network(name, scheme, tuple(sorted(options.items())), relation)
    return BulkEngine(net, host_of(net, messages, stall=stall, seed=seed))


def finish(engine, within):
    """Run until everything is delivered, then 200 cycles more; every receipt was as it must be."""
    engine.run(within)
    check_receipts(engine.host)
    undelivered = int(engine.host.left.sum())
    assert undelivered == 0, f"{undelivered} deliveries are due after {within} cycles"
    engine.run(200, beyond=True)
    check_receipts(engine.host)


#: Values of registers in a network at rest, by patterns of their names. None stands for all ones.
#: Besides, readers of buffers stand where the next flit is written.
AT_REST = {
    r"_filled\d+": 0, r"targets|drops|branch__\d+__(left|owned)|needs_token|.*_awaits|holder|in_use|queue_full": 0,
    r"links|here|owns|owns_link|wants_consumption|claims|done_\d": 0,
    r"(.*__)?eligible": 0, r".*__credit": 0, r"sent|touched|.*__valid": 0, r".*_busy": 0, r"vc\d+_(onward|here)": 0,
    r".*_spent": 0, r".*_frame|ends_here|first_fault": 0, r"free_\d+": None,
    r"wants__\w+|used|owed|over|under_way|holding|following|has_current|has_behind|close|vc0_place": 0,
    r"active|row\d+_taken": 0,
}
MUST_EXIST = ("_filled0", "links", "here", "owns_link", "wants_consumption", "__credit", "_busy", "_spent",
              "__0__eligible")
DEEP_MUST_EXIST = ("wants__{port}", "used", "owed", "under_way", "holding", "has_current", "has_behind", "__credit",
                   "_busy", "_spent")
TREES_MUST_EXIST = ("_filled0", "targets", "drops", "__0__left", "__0__owned", "__credit", "_busy", "_spent",
                   "__0__eligible")


def left_over(engine):
    """Names and values of all registers and host arrays that do not say: empty, idle, all credits held."""
    names = [name for kernel in engine.kernels.values() for name in kernel.state]
    must = TREES_MUST_EXIST if engine.network.scheme.is_tree else MUST_EXIST
    for end in DEEP_MUST_EXIST if engine.network.configuration.deep else must:
        end = end.format(port=engine.network.topology.ports[0][0])
        assert any(name.endswith(end) for name in names), f"no register is called {end} any more: mend AT_REST"
    found = {}
    for kind, kernel in engine.kernels.items():
        for name, register in kernel.state.items():
            last = name.rsplit(".", 1)[-1]
            for pattern, rest in AT_REST.items():
                if re.fullmatch(pattern, last) or re.fullmatch(rf"vc\d+{pattern}", last):
                    values = engine.register(kind, name)
                    if (values != ((1 << register.width) - 1 if rest is None else rest)).any():
                        found[f"{kind}.{name}"] = values.tolist()
            if reader := re.fullmatch(r"(.*vc\d+_)read\d+_at", name):
                values = engine.register(kind, name)
                if (values != engine.register(kind, f"{reader[1]}write_at")).any():
                    found[f"{kind}.{name}"] = values.tolist()
    host = engine.host
    for name, values, rest in (
        ("credits", host.streams["credits"], engine.network.configuration.queue), ("streams", host.streams["worm"], -1),
        ("channels", host.channels["delivery"], -1), ("owed", host.channels["owed"], 0), ("left", host.left, 0),
        ("due", host.deliveries["due"], 0), ("tagged", host.tagged, -1), ("working", host.working, 0),
        ("sending", host.sending, 0), ("begun", host.begun, 1), ("waiting", host.nodes["first"], -1),
        ("queued", host.streams["first"], -1),
    ):
        if (values != rest).any():
            found[f"host.{name}"] = values.tolist()
    return found
