"""Layouts for waveform viewers: a group of signals per worm, along its path."""

import io
import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from vcd.gtkw import GTKWColor, GTKWSave

from ...build.fabric import FabricLink
from ...build.network import Network
from ...host import Host
from .heading import ABOVE, INTERFACES, PERIOD, ROUTERS, WORMS, RecordingFacts, worm_to_dict
from .trace import LinkTrace

__all__ = ["Group", "groups_of", "write_gtkwave", "write_surfer", "write_translation"]

#: Largest number of worms in a layout. Viewers are slow with thousands of signals.
MOST = 64
COLOURS = (GTKWColor.orange, GTKWColor.yellow, GTKWColor.green, GTKWColor.blue, GTKWColor.indigo, GTKWColor.violet)
#: Width of GTKWave's drawing, and of a time unit in the drawing at zoom 0, in points.
ACROSS, UNIT = 600, 200

ORDER = {"injection": 0, "network": 1, "slots": 2, "consumption": 3}


@dataclass(frozen=True)
class SignalRow:
    """A signal in a viewer: label, full name, number format in GTKWave, and number of bits."""

    label: str
    name: str
    written: str = "ascii"
    bits: int = 1

    @property
    def in_gtkwave(self) -> str:
        """Name in GTKWave; for a signal of several bits, with the range of its bits."""
        return self.name if self.bits == 1 else f"{self.name}[{self.bits - 1}:0]"


@dataclass(frozen=True)
class Group:
    """The signals of a worm; ``name`` consists of letters, digits and underscores."""

    title: str
    name: str
    rows: tuple[SignalRow, ...]


def groups_of(network: Network, host: Host, about: RecordingFacts, links: Sequence[FabricLink], trace: LinkTrace,
              instances: Sequence[tuple[str, int]]) -> list[Group]:
    """Group the virtual channels that each worm holds: injection, links along its path, slots, consumption channels.

    Where a recorded switch replicates the worm, the switch's replication signals follow the input channel: token, chunk
    counters, reports, readers. Worms of a deadlock's cycle come first, then the others by number, up to 64.
    """
    shown = {*instances}
    channels = [(link, vc) for link in links for vc in range(link.vcs)]
    paths: dict[int, list[int]] = defaultdict(list)
    for at in range(len(channels)):
        for worm in np.unique(trace.held[:, at]):
            if worm >= 0:
                paths[int(worm)].append(at)
    stuck = _stuck(about)
    order = [worm for worm in dict.fromkeys(stuck) if worm in paths]
    order += [worm for worm in sorted(paths) if worm not in stuck]
    return [_group(network, host, about, worm, _along([(*channels[at], at) for at in paths[worm]], trace, worm), trace,
                   shown) for worm in order[:MOST]]


def _stuck(about: RecordingFacts) -> list[int]:
    """Return the worms in the deadlock's cycle, by number in the hosts' program, each before the worm it waits for."""
    return [hold["worm"] - about.worms_before for hold in about.deadlock["cycle"]] if about.deadlock else []


def _along(found: list[tuple[FabricLink, int, int]], trace: LinkTrace, worm: int) -> list[tuple[FabricLink, int, int]]:
    """Sort the virtual channels of a worm along its path.

    Where the path branches or has a gap, the channel that the worm held earlier comes first.
    """
    found.sort(key=lambda one: (ORDER[one[0].kind], int(np.argmax(trace.held[:, one[2]] == worm))))
    left = [one for one in found if one[0].kind == "network"]
    entered = {one[0].target for one in left}
    path: list[tuple[FabricLink, int, int]] = []
    while left:
        following = [one for one in left if path and one[0].source == path[-1][0].target]
        starts = [one for one in left if one[0].source not in entered]
        path.append((following or starts or left)[0])
        left.remove(path[-1])
    return [*(one for one in found if one[0].kind == "injection"), *path,
            *(one for one in found if one[0].kind in ("slots", "consumption"))]


def _group(network: Network, host: Host, about: RecordingFacts, worm: int, found: list[tuple[FabricLink, int, int]],
           trace: LinkTrace, shown: set[tuple[str, int]]) -> Group:
    data = worm_to_dict(network, host, about, worm)
    number, source, visits = data["worm"], data["source"], list(map(str, data["destinations"]))
    rows = []
    for link, vc, at in found:
        scope = ".".join((*WORMS, link.scope, f"vc_{vc}"))
        rows += [SignalRow(_label(link, vc), f"{scope}.holder"), SignalRow("flit", f"{scope}.kind")]
        if ((trace.front[:, at] == worm) & (trace.waits[:, at] != 0)).any():
            rows.append(SignalRow("waits", f"{scope}.waits"))
        rows += [row for row in _forwarding(network, about, link, shown) if row not in rows]
        rows += _copying(network, about, link, vc, trace.targets[trace.front[:, at] == worm, at], shown)
    return Group(f"worm {number}: {source} to {' '.join(visits)}",
                 f"worm_{number}_from_{source}_to_{'_'.join(visits)}", tuple(rows))


def _forwarding(network: Network, about: RecordingFacts, link: FabricLink,
                shown: set[tuple[str, int]]) -> list[SignalRow]:
    """Return the signals of the smart interface at an injection or consumption link."""
    if link.node is None or not network.interface_probe.forwards:
        return []
    instance = about.lane * network.nodes + link.node
    if ("interface", instance) not in shown:
        return []
    inside = ".".join((*INTERFACES, network.kinds["interface"].instances[instance]))
    name = network.topology.node_name(link.node)
    return [SignalRow(f"{name} {what}", f"{inside}.{what}") for what in ("receives", "holds", "copies")]


def _copying(network: Network, about: RecordingFacts, link: FabricLink, vc: int, targets: npt.NDArray[np.int64],
             shown: set[tuple[str, int]]) -> list[SignalRow]:
    """Return the replication signals of the switch at the end of a link, if the worm takes several outputs there."""
    if link.input is None or not len(targets):
        return []
    home, probe = network.home(link.target), network.probe(link.far.kind, link.input, vc)
    instance = about.lane * network.count(home.kind) + home.instance
    # all outputs that the worm uses in any cycle
    links, ejection_ports = probe.ways(int(np.bitwise_or.reduce(targets)))
    if not home.router.copies or len(links + ejection_ports) < 2 or (home.kind, instance) not in shown:
        return []
    name, port = network.kinds[home.kind].instances[instance], home.router.inputs[link.input].name
    inside, where = ".".join((*ABOVE, name)), home.router.outputs
    rows = [SignalRow(f"{network.topology.switch_names[link.target]} copies",
                      ".".join((*ROUTERS, name, f"{port}_in", f"vc_{vc}", "state")))]
    if home.router.has_tokens:
        rows += [SignalRow("token comes", f"{inside}.token.here", "bin"),
                 SignalRow("token held", f"{inside}.token.in_use", "bin")]
    if home.router.has_rows:
        words = ".".join((*ROUTERS, name))
        rows += [SignalRow("rows", f"{words}.{port}_in.vc_{vc}.rows"),
                 *(SignalRow(f"{port} {what}", f"{words}.{port}_out.vc_0.{what}")
                   for port in (where[o].name for o in links + ejection_ports) for what in ("fetches", "reads"))]
    elif probe.readers > 1:
        rows += [SignalRow(f"chunk {k}", f"{inside}.{port}_input.buffer.vc{vc}_pending{k}", "dec",
                           probe.readers.bit_length())
                 for k in range(home.router.inputs[link.input].depth)]
    if home.router.has_reports:
        rows += [SignalRow(f"{where[o].name} reports", f"{inside}.{where[o].name}_out__arrived", "bin") for o in links]
    return rows


def _label(link: FabricLink, vc: int) -> str:
    """Return the name of a virtual channel as in JSON."""
    if link.kind == "consumption":
        return f"cons:{link.node}:{link.first + vc}"
    return f"{link.name}:{vc}"


def write_gtkwave(groups: Sequence[Group], about: RecordingFacts, trace: LinkTrace, first: int) -> str:
    """Return the text of a save file for GTKWave 3.3 or later.

    GTKWave opens the waveform at the cycles with flits on the links. The save file does not name its waveform, so open
    both files together: ``gtkwave FILE.vcd FILE.vcd.gtkw``.
    """
    text = io.StringIO()
    save = GTKWSave(text)
    busy = np.flatnonzero(trace.marks.any(axis=1))
    start, end = (int(busy[0]), int(busy[-1]) + 1) if len(busy) else (0, len(trace.marks))
    save.timestart(max(0, first + start - 1) * PERIOD)
    zoom = math.log2(max(1, end - start + 2) * PERIOD * UNIT / ACROSS)
    save.zoom_markers(-zoom)
    # show the deadlock only if all its worms wait in the last recorded cycle
    if about.deadlock and {*_stuck(about)} <= {*trace.front[-1][trace.waits[-1] != 0].tolist()}:
        save.blank("deadlock: each waits for the next")
        for hold in about.deadlock["cycle"]:
            save.blank(f"worm {hold['worm']} waits for {' or '.join(hold['waits'])}")
    for number, group in enumerate(groups):
        with save.group(group.title):
            for row in group.rows:
                save.trace(row.in_gtkwave, alias=row.label, datafmt=row.written, color=COLOURS[number % len(COLOURS)])
    return text.getvalue()


def write_surfer(groups: Sequence[Group]) -> str:
    """Return the text of a command file for Surfer: ``surfer -c FILE.vcd.sucl FILE.vcd``.

    Surfer's commands are stable over its versions, its state files are not.
    """
    lines = []
    for group in groups:
        lines.append(f"divider_add {group.name}")
        lines += [f"variable_add {row.name}" for row in group.rows]
    return "".join(f"{line}\n" for line in [*lines, "zoom_fit"])


def write_translation(waits: Sequence[str]) -> str:
    """Return the text of a translate filter file of GTKWave: a line ``NUMBER TEXT`` for each number of ``waits_id``.

    The numbers are decimal, so the filter needs GTKWave's data format *Decimal*.
    """
    return "".join(f"{number} {text or '-'}\n" for number, text in enumerate(waits))
