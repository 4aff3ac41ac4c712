"""Counters of a running network: flits and worms on links, waiting worms in routers, owned channels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wormcast.hw.front import owner_flags

from ..build.network import Network
from ..host import SAMPLES, widen
from ..lowering import Kernel

__all__ = ["Measured", "Meter", "make_meter", "no_meter", "take"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: Meaning of a front's bits for a waiting worm (`Front.waits`), in the order of the compiled program.
FLAGS = ("asks", "owns", "through", "claims", "leaves", "token")

#: Rows of ``Meter.counts``: worms, or their branches, that wait for a link and for a consumption channel; owned virtual
#: channels of links, and owned consumption channels; worms that wait for a token; tokens held; tokens on their way
#: while a worm waits for them, at the first switch of their group; tokens taken.
LINK_WAITS, CONSUMPTION_WAITS, LINKS_OWNED, CONSUMPTION_OWNED, TOKEN_WAITS, TOKENS_HELD, TOKENS_WALK, TAKEN = range(8)


class Meter(NamedTuple):
    """Counters of a network, as arrays for the compiled `run_cycles`. All are zero after `take`.

    These are counted in every cycle: a flit in the cycle in which it is on the link, a worm with its last flit, and a
    taken token in the cycle before it is held. Waits and owned channels are counted in one cycle of 64 (`sampled`), at
    the start of the cycle.
    """

    ports: Words  # [ports of kinds], word of the marks of eight instances, bit of the tail mark, words, first one below
    flits: Integers  # [8 x words], of each instance of each port
    worms: Integers  # the same
    flits_of_late: Words  # [words], increments of ``flits``: a byte for each instance
    worms_of_late: Words  # the same for ``worms``
    links: Integers  # [links, lanes], place of each in ``flits``
    kinds: Integers  # [kinds of routers], first byte of state, tiles, bytes and instances of one, first of ``counts``
    channels: Integers  # [waits of input virtual channels], its kind, first of its flags and the one behind the last
    flags: Integers  # [flags], number in `FLAGS`, first byte in a tile
    owners: Integers  # [virtual channels of outputs], its kind, byte of its flag in a tile, row of ``counts``
    stations: Integers  # [kinds with tokens], kind, word of eight token lines, first of its asking flags, one behind
    rings: Integers  # [instances of all kinds], first instance of its group
    asked: Integers  # [instances of all kinds], scratch memory
    counts: Integers  # [8, instances of all kinds], sums: `LINK_WAITS` and so on
    switches: Integers  # [lanes, switches], index of each switch in the last axis of ``counts``
    counters: Integers


@dataclass(frozen=True)
class Measured:
    """Results of a meter.

    Parameters
    ----------
    flits, worms : int64 array [links, lanes]
        Links in the order of the network's `Fabric`.
    sampled : int64 array [7, lanes, switches]
        Sums over ``samples`` cycles: worms at the front of a router's input virtual channels, or their branches, that
        wait for a link (a virtual channel of it), and for a consumption channel; virtual channels of the router's
        links, and consumption channels, that a worm owns; worms that wait for the token; 1 if the token is held here;
        at the first switch of a group, 1 if the token is on its way and a worm of the group waits.
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
        Byte at which the token lines into it begin in the array of all inputs, for kinds with tokens.
    padded : mapping of kind to int
        Instances of a kind, including those that fill the last tile of its state.
    states : mapping of kind of routers to int
        Byte at which its state begins.
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
                for wait in network.front(name, entry, vc).waits():
                    first = len(flags)
                    for what, register in wait.items():
                        flags += [(FLAGS.index(what), byte) for byte in kernel.flags(register)]
                    channels.append((number, first, len(flags)))
        for output, spec in enumerate(router.outputs):
            row = LINKS_OWNED if output < router.ejection else CONSUMPTION_OWNED
            owners += [(number, kernel.flags(register)[0], row) for register in owner_flags(spec)]
        if router.has_tokens:
            owners.append((number, kernel.flags("token.taken")[0], TOKENS_HELD))
            asking = [(FLAGS.index("token"), byte) for entry in range(len(router.inputs))
                      for vc in range(network.configuration.vcs) for wait in network.front(name, entry, vc).waits()
                      if "token" in wait for byte in kernel.flags(wait["token"])]
            stations.append((number, lines[name] // 8, len(flags), len(flags) + len(asking)))
            flags += asking
    rings = np.arange(routers)
    for ring in network.rings.values():
        rings[switches[:, ring]] = switches[:, ring[:1]]
    return _meter(np.array(ports, np.uint64), links, np.array(kinds), np.array(channels),
                  np.array(flags, np.int64).reshape(-1, 2), np.array(owners),
                  np.array(stations, np.int64).reshape(-1, 4), rings, switches)


def take(meter: Meter) -> Measured:
    """Return the counts since the last call, and set the counters to zero."""
    widen(meter.flits_of_late, meter.flits)
    widen(meter.worms_of_late, meter.worms)
    counts = meter.counts[:, meter.switches]
    measured = Measured(meter.flits[meter.links], meter.worms[meter.links], counts[:TAKEN], counts[TAKEN],
                        int(meter.counters[SAMPLES]))
    for array in (meter.flits, meter.worms, meter.counts, meter.counters):
        array[...] = 0
    return measured
