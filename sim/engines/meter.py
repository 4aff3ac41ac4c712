"""Counters of a running network: flits and worms on links, waiting worms in routers, owned channels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.hw.input_probe import owner_flags

from ..build.network import Network
from ..host import SAMPLES, widen
from ..lowering import Kernel

__all__ = ["Meter", "MeterResults", "make_meter", "no_meter", "take"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: Meanings of the registers that show a worm's waits: keys of `InputProbe.waits`, numbered as in `count_sample`.
FLAGS = ("needs_link", "owns", "no_wait", "requests_consumption", "needs_consumption", "token")

#: Rows LINK_WAITS, CONSUMPTION_WAITS of ``Meter.counts``: worms or branches waiting for links, consumption channels.
#: Rows LINKS_OWNED, CONSUMPTION_OWNED: virtual channels of links, and consumption channels, that worms own.
#: Row TOKEN_WAITS: worms that wait for a token. Row TOKENS_HELD: tokens that a switch holds. Row TAKEN: tokens taken.
#: Row TOKENS_WALK: tokens on their way while a worm waits for them, counted at the first switch of the token's group.
LINK_WAITS, CONSUMPTION_WAITS, LINKS_OWNED, CONSUMPTION_OWNED, TOKEN_WAITS, TOKENS_HELD, TOKENS_WALK, TAKEN = range(8)


class Meter(NamedTuple):
    """Counters of a network, as arrays for the compiled `run_cycles`. `take` sets all counters to zero.

    Flits, worms and taken tokens are counted in every cycle. A flit is counted in the cycle in which it is on the link,
    a worm with its last flit, and a taken token in the cycle before a switch holds it. Waits and owned channels are
    counted in one cycle of 64 (`sampled`), at the start of the cycle.
    """

    # In the array of all outputs, a port has consecutive uint64. Each uint64 has the marks of 8 instances, a byte each.
    # Column 0 of ``ports`` is the index of the port's first uint64 in the array of all outputs.
    # Column 2 of ``ports`` is the number of uint64 that the port has.
    # Column 1 of ``ports`` is the number of the tail bit in a byte.
    # Column 3 of ``ports`` is the port's first index in ``flits_of_late``.
    ports: Words  # [driving ports, 4]
    flits: Integers  # [8 x words]: for each port, number of flits that each instance has sent on it
    worms: Integers  # [8 x words]: for each port, number of worms that each instance has sent on it
    flits_of_late: Words  # [words]: flits that are not yet added to ``flits``, a byte for each instance
    worms_of_late: Words  # [words]: worms that are not yet added to ``worms``, a byte for each instance
    links: Integers  # [links, lanes]: index of each link in ``flits``
    # columns of ``kinds``: first byte of the state, number of tiles, bytes per tile, routers per tile, first router
    kinds: Integers  # [kinds of routers, 5]
    channels: Integers  # [waits of input virtual channels, 3]: kind of routers, and the range of rows in ``flags``
    flags: Integers  # [flags, 2]: index of the meaning in `FLAGS`, first byte of the register in a tile
    owners: Integers  # [output virtual channels and tokens, 3]: kind, byte of the flag in a tile, row of ``counts``
    # columns 0 and 1 of ``stations``: kind of routers with tokens, index of its first uint64 of incoming token lines
    # columns 2 and 3 of ``stations``: range of the rows in ``flags`` that are requests of tokens
    stations: Integers  # [kinds with tokens, 4]
    rings: Integers  # [routers of all kinds]: number of the first router in the router's token group
    asked: Integers  # [routers of all kinds]: scratch memory for the requests of tokens in one cycle
    counts: Integers  # [8, routers of all kinds]: sums for each router; the 8 rows are `LINK_WAITS` to `TAKEN`
    switches: Integers  # [lanes, switches]: index of each switch in the last axis of ``counts``
    counters: Integers


@dataclass(frozen=True)
class MeterResults:
    """Results of a meter.

    Parameters
    ----------
    flits, worms : int64 array [links, lanes]
        Number of flits, and of worms, on each link, in the order of the network's `Fabric`.
    sampled : int64 array [7, lanes, switches]
        Sums over ``samples`` cycles for each switch, in the rows `LINK_WAITS` to `TOKENS_WALK`.
    taken : int64 array [lanes, switches]
        Number of times that the token was taken in each switch.
    samples : int
    """

    flits: Integers
    worms: Integers
    sampled: Integers
    taken: Integers
    samples: int


def no_meter() -> Meter:
    """Return a meter that counts nothing."""
    nothing = np.zeros((0, 0), np.int64)
    return _meter(np.zeros((0, 4), np.uint64), nothing, np.zeros((0, 5), np.int64), np.zeros((0, 3), np.int64),
                  np.zeros((0, 2), np.int64), np.zeros((0, 3), np.int64), np.zeros((0, 4), np.int64),
                  np.zeros(0, np.int64), nothing)


def _meter(ports: Words, links: Integers, kinds: Integers, channels: Integers, flags: Integers, owners: Integers,
           stations: Integers, rings: Integers, switches: Integers) -> Meter:
    """Return a meter with all counters zero."""
    words = int(ports[:, 2].sum())
    flits, worms = np.zeros((2, 8 * words), np.int64)
    of_late = np.zeros((2, words), np.uint64)
    return Meter(ports, flits, worms, of_late[0], of_late[1], links, kinds, channels, flags, owners, stations, rings,
                 np.zeros(len(rings), np.int64), np.zeros((TAKEN + 1, len(rings)), np.int64), switches,
                 np.zeros(2, np.int64))


def make_meter(network: Network, kernels: Mapping[str, Kernel], starts: Mapping[tuple[str, str], int],
               lines: Mapping[str, int], padded: Mapping[str, int], states: Mapping[str, int]) -> Meter:
    """Make the meter of a network.

    Parameters
    ----------
    starts : mapping of (kind of component, port) to int
        Byte at which the marks of the port begin in the array of all outputs.
    lines : mapping of kind of routers to int
        For each kind with tokens: byte at which its incoming token lines begin in the array of all inputs.
    padded : mapping of kind to int
        Number of instances in the state of a kind, including unused ones that fill the last tile.
    states : mapping of kind of routers to int
        Byte at which the state of a kind begins.
    """
    ports: list[tuple[int, int, int, int]] = []
    links = np.zeros((len(network.fabric.links), network.lanes), np.int64)
    words = 0
    for (kind, port), rows in network.fabric.driven.items():
        count, there = network.count(kind), rows >= 0
        tail = kernels[kind].output(port).ports[f"{port}.flit.tail"][0]
        ports.append((starts[kind, port] // 8, tail, -(-count * network.lanes // 8), words))
        links[rows[there]] = 8 * words + np.flatnonzero(there)[:, None] + count * np.arange(network.lanes)
        words += ports[-1][2]
    kinds: list[tuple[int, ...]] = []
    channels: list[tuple[int, int, int]] = []
    flags: list[tuple[int, int]] = []
    owners: list[tuple[int, int, int]] = []
    stations: list[tuple[int, int, int, int]] = []
    switches = np.zeros((network.lanes, network.topology.switches), np.int64)
    routers = 0
    for number, (name, router) in enumerate(network.routers.items()):
        kernel = kernels[name]
        width = kernel.vector_width
        kinds.append((states[name], padded[name] // width, kernel.tile_bytes, width, routers))
        members = network.switch_kinds[name].members
        switches[:, members] = routers + np.arange(network.lanes * len(members)).reshape(network.lanes, -1)
        routers += padded[name]
        for entry in range(len(router.inputs)):
            for vc in range(network.configuration.vcs):
                for wait in network.probe(name, entry, vc).waits():
                    first = len(flags)
                    for what, register in wait.items():
                        flags += [(FLAGS.index(what), byte) for byte in kernel.flags(register)]
                    channels.append((number, first, len(flags)))
        for output, spec in enumerate(router.outputs):
            row = LINKS_OWNED if output < router.ejection else CONSUMPTION_OWNED
            owners += [(number, kernel.flags(register)[0], row) for register in owner_flags(spec)]
        if router.has_tokens:
            owners.append((number, kernel.flags("token.in_use")[0], TOKENS_HELD))
            asking = [(FLAGS.index("token"), byte) for entry in range(len(router.inputs))
                      for vc in range(network.configuration.vcs) for wait in network.probe(name, entry, vc).waits()
                      if "token" in wait for byte in kernel.flags(wait["token"])]
            stations.append((number, lines[name] // 8, len(flags), len(flags) + len(asking)))
            flags += asking
    rings = np.arange(routers)
    for ring in network.rings.values():
        rings[switches[:, ring]] = switches[:, ring[:1]]
    return _meter(np.array(ports, np.uint64), links, np.array(kinds), np.array(channels),
                  np.array(flags, np.int64).reshape(-1, 2), np.array(owners),
                  np.array(stations, np.int64).reshape(-1, 4), rings, switches)


def take(meter: Meter) -> MeterResults:
    """Return the counts since the last call of `take`, and set the counters to zero."""
    widen(meter.flits_of_late, meter.flits)
    widen(meter.worms_of_late, meter.worms)
    counts = meter.counts[:, meter.switches]
    measured = MeterResults(meter.flits[meter.links], meter.worms[meter.links], counts[:TAKEN], counts[TAKEN],
                        int(meter.counters[SAMPLES]))
    for array in (meter.flits, meter.worms, meter.counts, meter.counters):
        array[...] = 0
    return measured
