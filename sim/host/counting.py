"""Counting of flits, waiting worms and tokens in a running network, compiled."""

import numpy as np

from wormcast.algorithms.compiled import compiled

from ..lowering.native import native
from .constants import NARROW, NOW, SAMPLES

__all__ = ["count_cycle", "count_grants", "count_sample", "sampled", "samples", "widen"]


@compiled
def sampled(cycle):
    """Return whether waiting worms are counted in a cycle.

    A hash chooses one cycle of each 64, so the mean is right for traffic of any period.
    """
    mixed = (np.uint64(cycle >> 6) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    return mixed >> np.uint64(58) == np.uint64(cycle & 63)


@compiled
def samples(first, end):
    """Return the number of cycles from ``first`` to ``end`` - 1 in which waiting worms are counted."""
    begin = min(end, first + 63 & ~63)
    last = max(begin, end & ~63)
    count = last - begin >> 6
    for cycle in range(first, begin):
        count += sampled(cycle)
    for cycle in range(last, end):
        count += sampled(cycle)
    return count


@compiled
def _count_links(ports, flits, tails, outputs):
    """Count flits and tails on the links that ports of components drive; a word holds eight instances of a port."""
    ones = np.uint64(0x0101010101010101)
    for k in range(np.uint64(len(ports))):
        start, tail, words, first = ports[k, 0], ports[k, 1], ports[k, 2], ports[k, 3]
        for j in range(words):  # ``words`` is unsigned, so that LLVM vectorises the loop
            marks = outputs[start + j]
            flits[first + j] += marks & ones
            tails[first + j] += marks & marks >> tail & ones


@compiled
def widen(narrow, wide):
    """Add counts in the bytes of ``narrow``, uint64 [words], to ``wide``, int64 [8 x words], and clear ``narrow``."""
    for j in range(narrow.shape[0]):
        for lane in range(8):
            wide[8 * j + lane] += np.int64(narrow[j] >> np.uint64(8 * lane) & np.uint64(255))
        narrow[j] = 0


@compiled
def count_sample(meter, state):
    """Count in each router worms that wait for a link, a consumption channel or a token, owned channels, and tokens.

    Parameters
    ----------
    meter : Meter
    state : uint8 [bytes]
        The routers' state, kind after kind.
    """
    for channel in range(len(meter.channels)):
        kind, begin, end = meter.channels[channel]
        start, tiles, tile_bytes, lanes, first = meter.kinds[kind]
        for tile in range(tiles):
            for byte in range(lanes // 8):  # each byte has the flags of eight instances
                asked, owned, through, for_channel, leaves, for_token = 0, 0, 0, 0, 0, 0
                for k in range(begin, end):
                    register = meter.flags[k, 0]
                    bits = np.int64(state[start + tile * tile_bytes + meter.flags[k, 1] + byte])
                    asked |= bits * (register == 0)
                    owned |= bits * (register == 1)
                    through |= bits * (register == 2)
                    for_channel |= bits * (register == 3)
                    leaves |= bits * (register == 4)
                    for_token |= bits * (register == 5)
                for_link = asked & ~(owned | through | for_channel)
                for_channel |= leaves & ~(owned | through)
                instance = first + tile * lanes + 8 * byte
                while for_link | for_channel | for_token:
                    meter.counts[0, instance] += for_link & 1
                    meter.counts[1, instance] += for_channel & 1
                    if for_token & 1:
                        meter.counts[4, instance] += 1
                        meter.asked[meter.rings[instance]] = 1
                    for_link >>= 1
                    for_channel >>= 1
                    for_token >>= 1
                    instance += 1
    for row in range(len(meter.owners)):
        kind, at, what = meter.owners[row]
        start, tiles, tile_bytes, lanes, first = meter.kinds[kind]
        for tile in range(tiles):
            for byte in range(lanes // 8):
                instance = first + tile * lanes + 8 * byte
                flags = np.int64(state[start + tile * tile_bytes + at + byte])
                while flags:
                    meter.counts[what, instance] += flags & 1
                    if what == 5 and flags & 1:
                        meter.asked[meter.rings[instance]] = 0
                    flags >>= 1
                    instance += 1
    for instance in range(len(meter.asked)):
        meter.counts[6, instance] += meter.asked[instance]
        meter.asked[instance] = 0
    meter.counters[SAMPLES] += 1


@native()
def count_cycle(meter, counters, outputs, state):
    """Count flits and worms on links at the start of a cycle, and in `sampled` cycles also waits and owned channels.

    Parameters
    ----------
    meter : Meter
    counters : int64 [counters]
        ``Host.counters``.
    outputs : uint64 [words]
        Words that the components drive.
    state : uint8 [bytes]
        The routers' state, kind after kind.
    """
    _count_links(meter.ports, meter.flits_of_late, meter.worms_of_late, outputs)
    meter.counters[NARROW] += 1
    if meter.counters[NARROW] == 255:
        widen(meter.flits_of_late, meter.flits)
        widen(meter.worms_of_late, meter.worms)
        meter.counters[NARROW] = 0
    if sampled(counters[NOW]):
        count_sample(meter, state)


@native()
def count_grants(meter, inputs, state):
    """Count the tokens that worms take in this cycle: a token arrives at a switch, and a worm there requests it."""
    ones, gathered = np.uint64(0x0101010101010101), np.uint64(0x0102040810204080)
    for row in range(len(meter.stations)):
        kind, at, begin, end = meter.stations[row]
        start, tiles, tile_bytes, lanes, first = meter.kinds[kind]
        for tile in range(tiles):
            for byte in range(lanes // 8):  # each byte has the flags of eight instances
                here = np.int64((inputs[at + tile * lanes // 8 + byte] & ones) * gathered >> np.uint64(56))
                if here:
                    asks = np.int64(0)
                    for k in range(begin, end):
                        asks |= np.int64(state[start + tile * tile_bytes + meter.flags[k, 1] + byte])
                    taken, instance = here & asks, first + tile * lanes + 8 * byte
                    while taken:
                        meter.counts[7, instance] += taken & 1
                        taken >>= 1
                        instance += 1
