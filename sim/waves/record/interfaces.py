"""Text signals of smart interfaces in a waveform."""

from collections.abc import Sequence

import numpy as np

from ...build.network import Network
from ...engines.forwarded import NONE, Forwarded
from ...host import Host
from .columns import Columns
from .heading import INTERFACES, RecordingFacts

__all__ = ["declare_interfaces", "interfaces_at"]


def interfaces_at(network: Network, instances: Sequence[tuple[str, int]]) -> list[int]:
    """Return the instance numbers of the smart interfaces among these instances, in increasing order."""
    if not network.interface_probe.forwards:
        return []
    return sorted({number for kind, number in instances if kind == "interface"})


def declare_interfaces(columns: Columns, network: Network, host: Host, instances: Sequence[tuple[str, int]],
                       about: RecordingFacts, found: Forwarded, first: int, cycles: int) -> None:
    """Declare the signals of smart interfaces, in the scope `INTERFACES`.

    ``holds``: the stored packets, by child table row and packet buffer entry; ``+`` marks a packet that is still
    arriving. ``receives``: the interface holds back a packet's last flit for t_nr cycles. ``copies``: the packet that
    the interface copies, the copy's destination, and the copy's state: ``waits`` or ``sends``.
    """
    names = network.kinds["interface"].instances
    for node in interfaces_at(network, instances):
        scope = (*INTERFACES, names[node])
        held: list[set[str]] = [set() for _ in range(cycles)]
        copies, delays = [""] * cycles, [""] * cycles
        for one in found.stored:
            if one.node == node:
                whose = f"{one.row}.{one.place} {_packet(one.worm, one.packet, about)}"
                for c in _during(one.begun, one.whole, first, cycles):
                    held[c].add(f"{whose}+")
                if one.whole != NONE:
                    for c in _during(one.whole, one.freed, first, cycles):
                        held[c].add(whose)
        for copy in found.copied:
            if copy.node == node:
                child = int(host.deliveries["node"][host.worms["delivery"][copy.worm]]) % network.nodes
                to = network.topology.node_name(child)
                what = f"{copy.row}.{copy.place} {_packet(copy.worm, copy.packet, about)} to {to}"
                for c in _during(copy.begun, copy.first, first, cycles):
                    copies[c] = f"waits {what}"
                if copy.first != NONE:
                    for c in _during(copy.first, NONE if copy.last == NONE else copy.last + 1, first, cycles):
                        copies[c] = f"sends {what}"
        for at, begin, end in found.delays:
            if at == node:
                for c in _during(begin, end, first, cycles):
                    delays[c] = "waits t_nr"
        for name, texts in (("holds", [", ".join(sorted(some)) for some in held]), ("receives", delays),
                            ("copies", copies)):
            known = {"": 0}
            codes = np.array([known.setdefault(text, len(known)) for text in texts])
            columns.add(scope, name, "string", 1, codes, list(known).__getitem__)


def _during(begin: int, end: int, first: int, cycles: int) -> range:
    """Return the recorded cycles from ``begin`` to ``end`` - 1, counted from the first recorded cycle."""
    return range(max(begin - first, 0), cycles if end == NONE else end - first)


def _packet(worm: int, packet: int, about: RecordingFacts) -> str:
    return "?" if worm == NONE else f"worm_{worm + about.worms_before}.{packet}"
