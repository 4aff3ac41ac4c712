"""What is counted while a network runs: flits and worms on every link, worms that wait in the routers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..build.network import Network
from ..host import SAMPLES, widen
from ..lowering import Kernel

__all__ = ["Measured", "Meter", "links_of", "make_meter", "no_meter", "take"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

#: Registers of an input virtual channel that say what its worm waits for, in the order of the compiled program.
REGISTERS = ("links", "owns_link", "done_0", "wants_consumption")
#: Those of them that are not everywhere: with one reader; where the node's own worms come in.
PERHAPS = ("done_0", "wants_consumption")


class Meter(NamedTuple):
    """Counters of a network, as arrays for the compiled `run_cycles`; all zero after `take`.

    A flit is counted in the cycle in which it lies on the link, a worm with its last flit; both in every cycle. Worms
    that wait are counted in one cycle of 64 (`sampled`), at the start of the cycle.
    """

    links: Words  # [links, 2], place of the marks of eight instances, the bit of the tail mark
    flits: Integers  # [links, instances, to the next multiple of 8]
    worms: Integers  # the same
    flits_of_late: Words  # [links, instances / 8], what is to be added to ``flits``: a byte for each instance
    worms_of_late: Words  # the same for ``worms``
    tiles: Integers  # tiles of the routers' state, bytes of one, instances in it
    channels: Integers  # [input virtual channels, 2], first of its flags and the one behind the last
    flags: Integers  # [flags, 2], number in `REGISTERS`, first byte in a tile
    waiting: Integers  # [2, instances in all tiles], worms that waited for a link, for a consumption channel
    counters: Integers


@dataclass(frozen=True)
class Measured:
    """What was counted.

    Parameters
    ----------
    flits, worms : int64 array [links of a node, lanes, nodes]
        Links in the order of `links_of`.
    waiting : int64 array [2, lanes, nodes]
        Worms at the front of a router's input virtual channels that wait for a link (a virtual channel of it), and for
        a consumption channel; the sum over ``samples`` cycles.
    samples : int
    """

    flits: Integers
    worms: Integers
    waiting: Integers
    samples: int


def links_of(network: Network) -> dict[str, list[tuple[str, str]]]:
    """Links of a node by kind: which kind of component drives each, and by which port.

    ``network``: a router's outputs to other routers, in the topology's order; ``injection`` and ``consumption``:
    between interface and router; ``host``: from the interface to the host, where there is payload alone.
    """
    return {
        "network": [("router", f"{name}_out") for name in network.router_outputs],
        "injection": [("interface", f"network_out_{p}") for p in range(len(network.injection_ports))],
        "consumption": [("router", f"{name}_out") for name in network.consumption_ports],
        "host": [("interface", f"host_out_{c}") for c in range(len(network.consumption_ports))],
    }


def no_meter() -> Meter:
    """Make a meter that counts nothing."""
    return _meter(np.zeros((0, 2), np.uint64), 0, np.zeros(3, np.int64), np.zeros((0, 2), np.int64),
                  np.zeros((0, 2), np.int64))


def _meter(links: Words, instances: int, tiles: Integers, channels: Integers, flags: Integers) -> Meter:
    """A meter that has counted nothing yet."""
    words = -(-instances // 8)
    counts, bytes_ = (len(links), 8 * words), (len(links), words)
    return Meter(links, np.zeros(counts, np.int64), np.zeros(counts, np.int64), np.zeros(bytes_, np.uint64),
                 np.zeros(bytes_, np.uint64), tiles, channels, flags, np.zeros((2, tiles[0] * tiles[2]), np.int64),
                 np.zeros(2, np.int64))


def make_meter(network: Network, kernels: Mapping[str, Kernel], starts: Mapping[tuple[str, str], int],
               padded: int) -> Meter:
    """Make the meter of a network.

    Parameters
    ----------
    starts : mapping of (kind of component, port) to int
        Byte at which the marks of the port begin in the array of all outputs.
    padded : int
        Routers, with those that fill the last tile of their state.
    """
    ports = [link for links in links_of(network).values() for link in links]
    tails = [kernels[kind].output(port).ports[f"{port}.flit.tail"][0] for kind, port in ports]
    router = kernels["router"]
    channels: list[tuple[int, int]] = []
    flags: list[tuple[int, int]] = []
    for name in network.router_inputs:
        for vc in range(network.configuration.vcs):
            first = len(flags)
            flags += [(number, byte) for number, register in enumerate(REGISTERS)
                      for byte in _flags(router, f"{name}_input.channel_{vc}.{register}")]
            channels.append((first, len(flags)))
    return _meter(
        np.array([(starts[link] // 8, tail) for link, tail in zip(ports, tails, strict=True)], np.uint64),
        network.instances,
        np.array([padded // router.vector_width, router.tile_bytes, router.vector_width]),
        np.array(channels),
        np.array(flags),
    )


def _flags(kernel: Kernel, register: str) -> list[int]:
    """Where the bits of a register lie, each packed as a flag; none of one that the router is built without."""
    if register not in kernel.state and register.endswith(PERHAPS):
        return []
    places = [piece.places[0] for piece in kernel.state[register].pieces]
    if any(place.bits != 1 for place in places):
        raise RuntimeError(f"{kernel.name}: the bits of {register} are not packed as flags")
    return [place.offset for place in places]


def take(meter: Meter, network: Network) -> Measured:
    """Take what has been counted since this was last done."""
    widen(meter.flits_of_late, meter.flits)
    widen(meter.worms_of_late, meter.worms)
    counts = (meter.flits, meter.worms, meter.waiting)
    shape = -1, network.lanes, network.nodes
    flits, worms, waiting = (array[:, :network.instances].copy().reshape(shape) for array in counts)
    measured = Measured(flits, worms, waiting, int(meter.counters[SAMPLES]))
    for array in (*counts, meter.counters):
        array[...] = 0
    return measured
