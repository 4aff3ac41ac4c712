"""Timing diagrams of docs/ports.md: simulations of a router, drawn by WaveDrom (``make ports``).

Each scene drives the ports of the exported router in Amaranth's simulator, and records all ports in each cycle. The
diagram is made from the record. The element ``desc`` of an SVG file contains the diagram's WaveJSON.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

from amaranth.hdl import ResetInserter, Signal
from amaranth.lib import wiring

from wormcast.algorithms import WormcastError
from wormcast.algorithms.headers import AddressList
from wormcast.hw.router import Blueprint
from wormcast.sim.build.components import blueprint_of, build_component
from wormcast.sim.common.atomic_write import whole_file
from wormcast.sim.export.verilog.links import links
from wormcast.sim.export.verilog.ports import ports
from wormcast.sim.lowering.elaboration import make_simulator

__all__ = ["Flit", "Stimulus", "TimingScene", "draw", "main", "record", "records", "scenes", "stored", "wave_json"]

TOPOLOGY, ROUTER = "mesh:8x8", "2.2"
"""Network, and the router in it that the diagrams show."""

HEAD, TAIL = 1, 2
"""Marks of a flit: values of its bits 0 and 1."""


@dataclass(frozen=True)
class Flit:
    """A flit on a link: ``marks`` (bit 0 head, bit 1 tail), ``data``, and its virtual channel."""

    marks: int
    data: int
    vc: int = 0


Record = dict[str, list[int]]
"""Values of ``rst`` and of all ports by their names in Verilog, cycle by cycle."""


@dataclass(frozen=True)
class Stimulus:
    """Inputs of a component over time, and the receivers of its outgoing links.

    Parameters
    ----------
    cycles : int
    sends : dict of link to dict of cycle to Flit
        Flits on the incoming links.
    credit_after : dict of link to int or None
        Cycles from a flit on an outgoing link to its credit; None: no credit. Default: 1.
    held : dict of link to int
        Cycle before which an outgoing link gets no credit. From the cycle in `held` on, the withheld credits come one
        per cycle.
    drives : dict of port to dict of cycle to int
        Values of further inputs. Bits that are set in a link's ``credit`` are added to the credits of the link's
        receiver.
    resets : tuple of int
        Cycles in which ``rst`` is 1.
    """

    cycles: int
    sends: Mapping[str, Mapping[int, Flit]] = field(default_factory=dict)
    credit_after: Mapping[str, int | None] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    drives: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    resets: tuple[int, ...] = ()


def record(component: wiring.Component, runs: Sequence[Stimulus],
           straps: Mapping[str, int] | None = None) -> list[Record]:
    """Simulate a component, and return its record of each run. Each run begins after a reset.

    Parameters
    ----------
    straps : dict of port to int, optional
        Values of static inputs.
    """
    rst = Signal()
    listed = {port.name: port for port in ports(component)}
    outgoing = [name for name in links(component) if not listed[f"{name}_valid"].inward]
    constant = {name: 0 for name, port in listed.items() if port.inward} | {
        name: value for name, value in (straps or {}).items() if name in listed}
    found: list[Record] = []

    async def bench(context: Any) -> None:
        def value(name: str) -> int:
            return int(context.get(listed[name].value)) if name in listed else 0

        for run in runs:
            context.set(rst, 1)
            await context.tick()
            seen: Record = {name: [] for name in ("rst", *listed)}
            owed: dict[str, dict[int, int]] = {name: {} for name in outgoing}
            free = dict(run.held)
            for cycle in range(run.cycles):
                inputs = dict(constant)
                for link, flits in run.sends.items():
                    if (flit := flits.get(cycle)) is not None:
                        inputs |= {f"{link}_valid": 1, f"{link}_vc": flit.vc,
                                   f"{link}_flit": flit.data << 2 | flit.marks}
                for link, due in owed.items():
                    after = run.credit_after.get(link, 1)
                    if after is not None and value(f"{link}_valid"):
                        at = max(cycle + after, free.get(link, 0))
                        free |= {link: at + 1} if link in free else {}
                        due[at] = due.get(at, 0) | 1 << value(f"{link}_vc")
                    inputs[f"{link}_credit"] = due.get(cycle, 0)
                for name, given in run.drives.items():
                    inputs[name] |= given.get(cycle, 0)
                context.set(rst, int(cycle in run.resets))
                for name, given_value in inputs.items():
                    if name in listed:
                        context.set(listed[name].value, given_value)
                seen["rst"].append(int(cycle in run.resets))
                for name in listed:
                    seen[name].append(value(name))
                await context.tick()
                if cycle in run.resets:  # the receivers are reset, too
                    owed = {name: {} for name in outgoing}
            found.append(seen)

    simulator = make_simulator(ResetInserter({"sync": rst})(component))
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    return found


# scenes -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class TimingScene:
    """A timing diagram.

    Parameters
    ----------
    name : str
        Part of the file's name.
    run : Stimulus
    shown : tuple of str
        Links in the diagram, from top to bottom; with ``rst`` also the reset.
    """

    name: str
    run: Stimulus
    shown: tuple[str, ...]

    @property
    def file(self) -> str:
        """Name of the SVG file in docs/."""
        return f"timing_{self.name}.svg"


@cache
def shown_router() -> tuple[Blueprint, wiring.Component]:
    """Return the network's parameters and the router of the diagrams."""
    blueprint = blueprint_of({"topology": TOPOLOGY})
    return blueprint, build_component(blueprint, "router")


def _worm(start: int, destinations: str, payload: int) -> dict[int, Flit]:
    """Return the flits of a worm by cycle, from ``start`` on, one in each cycle."""
    blueprint, _ = shown_router()
    assert isinstance(blueprint.header, AddressList)
    nodes = [blueprint.topology.node(name) for name in destinations.split()]
    flits = [Flit(HEAD, flit) for flit in blueprint.header.encode(nodes)]
    flits += [Flit(TAIL if k == payload - 1 else 0, k) for k in range(payload)]
    return dict(enumerate(flits, start))


def scenes() -> list[TimingScene]:
    """Return the scenes, in the order of docs/ports.md."""
    near = dict.fromkeys(("east_out", "local_out"), 2)  # credits come as early as from a router or an interface
    stalled = _worm(1, "2.3", 10)
    blocked = {cycle: flit for cycle, flit in stalled.items() if cycle < 9}
    late = dict(zip((16, 17, 18), list(stalled.values())[8:], strict=True))
    through, last = ("west_in", "east_out"), ("west_in", "local_out")
    cut_off = _worm(1, "2.3", 5) | {6: Flit(0, 4)} | _worm(8, "2.3", 2)
    return [
        TimingScene("unicast", Stimulus(11, {"west_in": _worm(1, "2.3", 3)}, near), through),
        TimingScene("last_stop", Stimulus(11, {"west_in": _worm(1, "2.2", 3)}, near), last),
        TimingScene("stop", Stimulus(12, {"west_in": _worm(1, "2.2 2.3", 3)}, near), (*last, "east_out")),
        TimingScene("back_pressure", Stimulus(24, {"west_in": blocked | late}, near, {"east_out": 13}), through),
        TimingScene("credit", Stimulus(11, {"west_in": _worm(1, "2.3", 3)}, near | {"east_out": 0}), through),
        TimingScene("reset", Stimulus(15, {"west_in": cut_off}, near, resets=(6,)), ("rst", *through)),
    ]


def records() -> dict[str, Record]:
    """Simulate all scenes, and return their records by name.

    Raises
    ------
    WormcastError
        The router has reported an error: the stimulus breaks the rules of the links.
    """
    _, router = shown_router()
    row, column = ROUTER.split(".")
    listed = scenes()
    found = record(router, [scene.run for scene in listed],
                   {"strap_coordinate_0": int(row), "strap_coordinate_1": int(column)})
    for scene, seen in zip(listed, found, strict=True):
        if max(seen["fault"]):
            raise WormcastError(f"timing: scene {scene.name} breaks the rules of the links: fault {max(seen['fault'])}")
    return {scene.name: seen for scene, seen in zip(listed, found, strict=True)}


# diagrams ---------------------------------------------------------------------------------------------------------

LONG = 16
"""Largest number of cycles of a diagram with wide cycles; longer diagrams have narrow cycles."""

#: Colours of WaveDrom for a flit, by its marks.
COLOURS = {0: "=", HEAD: "4", TAIL: "5", HEAD | TAIL: "9"}


def wave_json(scene: TimingScene, seen: Record) -> dict[str, Any]:
    """Return a scene's diagram in WaveJSON, from its record."""
    lanes: list[Any] = [{"name": "clk", "wave": "P" + "." * (scene.run.cycles - 1)}]
    for link in scene.shown:
        lanes.append(_bits("rst", seen["rst"]) if link == "rst" else
                     [link, *(_lane(member, link, seen) for member in ("valid", "vc", "flit", "credit")
                              if f"{link}_{member}" in seen)])
    # a long diagram is narrower, so that a page can show it
    return {"signal": lanes, "head": {"tick": 0}, "config": {"hscale": 1 if scene.run.cycles > LONG else 2}}


def _lane(member: str, link: str, seen: Record) -> dict[str, Any]:
    """Return the lane of WaveJSON for a link's member. ``vc`` and ``flit`` have no meaning while ``valid`` is 0."""
    values, valid = seen[f"{link}_{member}"], seen[f"{link}_valid"]
    if member == "valid":
        return _bits(member, values)
    if member == "credit":
        return _words(member, [None if not value else ("=", f"vc {value.bit_length() - 1}") for value in values], "0")
    if member == "vc":
        return _words(member, [("=", str(vc)) if there else None for vc, there in zip(values, valid, strict=True)])
    return _words(member, [(COLOURS[flit & 3], _label(flit)) if there else None
                           for flit, there in zip(values, valid, strict=True)])


def _label(flit: int) -> str:
    """Return the text of a flit: destinations of a header flit, or number of a payload flit."""
    blueprint, _ = shown_router()
    if flit & HEAD:
        return "H " + " ".join(map(blueprint.topology.node_name, blueprint.header.decode([flit >> 2])))
    return f"{flit >> 2}" + (" T" if flit & TAIL else "")


def _bits(name: str, values: Sequence[int]) -> dict[str, Any]:
    """Return the lane of WaveJSON for a signal of one bit."""
    return {"name": name, "wave": _runs([str(value) for value in values])}


def _words(name: str, values: Sequence[tuple[str, str] | None], idle: str = "x") -> dict[str, Any]:
    """Return the lane of WaveJSON for a signal of several bits; None: no value."""
    wave = "".join(idle if value is None else value[0] for value in values)
    return {"name": name, "wave": re.sub(f"(?<={idle}){idle}", ".", wave),
            "data": [value[1] for value in values if value]}


def _runs(values: Sequence[str]) -> str:
    """Return a wave in which repeated values are dots."""
    return "".join("." if k and value == values[k - 1] else value for k, value in enumerate(values))


def draw(diagram: Mapping[str, Any]) -> str:
    """Return the SVG of a diagram, with the WaveJSON in the element ``desc``."""
    from yowasp_wavedrom import render

    text: str = render(dict(diagram))
    return re.sub(r"(<svg [^>]*>)", lambda found: f"{found[1]}<desc>{escape(json.dumps(diagram), quote=False)}</desc>",
                  text, count=1) + "\n"


def stored(svg: str) -> Any:
    """Return the diagram that an SVG file of `draw` contains."""
    [found] = re.findall(r"<desc>(.*?)</desc>", svg, re.DOTALL)
    return json.loads(unescape(found))


def main(folder: Path) -> None:
    """Write all diagrams into a folder."""
    found = records()
    for scene in scenes():
        with whole_file(folder / scene.file) as unfinished:
            unfinished.write_text(draw(wave_json(scene, found[scene.name])))
