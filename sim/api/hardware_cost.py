"""Verilog of components and networks, and their cost on an FPGA."""

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from wormcast.algorithms import WormcastError
from wormcast.algorithms.typecheck import checked, require_kind

from ..build.configuration import HOST_FIELDS, INTERFACE_FIELDS
from ..build.host_port import HostPort
from ..build.setup import DEFAULTS, HARDWARE, Origin, Setup
from ..common.atomic_write import whole_file
from ..common.option import options_of
from ..common.progress import watched
from ..common.text import count
from .arguments import known, require_at_least
from .option_types import ExportOptions, PathLike, RelationLike, SchemeLike, TopologyLike
from .results import CommandResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..build.network import Network
    from ..experiments.option_grid import Sweep
    from ..export.synthesis import Breakdown, Synthesis, SynthesisPoint
    from ..export.verilog import Export

__all__ = ["SynthesisResult", "SynthesisSweepResult", "VerilogResult", "require_checkers", "require_tables",
           "synth", "synth_sweep", "verilog"]

#: Options that change components: hardware options, and options of the port to the host.
#: `HOST_FIELDS` are excluded, because only the software of hosts reads them.
BUILT = HARDWARE - {*HOST_FIELDS} | {*options_of(HostPort)}

#: Keys of the files of `verilog`.
FILES = ("file", "document", "tables", "sdc", "checks", "bind", "formal")

OnStep = Callable[[str], None]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class VerilogResult(CommandResult):
    """Result of `verilog`: a file of synthesisable Verilog, and the table of its ports.

    Parameters
    ----------
    export : Export
        Texts of the files.
    has_tables : bool
        The component is a network with routing tables, which are empty at power-up.
    network : Network or None
        The network, if its hosts write destination sets into tables.
    """

    export: "Export"
    has_tables: bool
    network: "Network | None" = None

    @property
    def text(self) -> str:
        """The Verilog."""
        return self.export.verilog

    @property
    def document(self) -> str:
        """Tables of the ports, in Markdown."""
        return self.export.document

    @property
    def tables(self) -> list[int]:
        """Words of a network's routing tables, for the network's port ``tables_in``.

        Send one word per cycle, and then reset the network for a cycle.
        """
        return self.export.tables

    @property
    def sdc(self) -> str:
        """Timing constraints in SDC. Empty for a component without a clock."""
        return self.export.sdc

    @property
    def checks(self) -> str:
        """Checkers of the links of a router, an interface or a network, in SystemVerilog; empty for other components.
        """
        return self.export.checks

    @property
    def bind(self) -> str:
        """Lines that bind ``checks`` to the modules of ``text``; empty if there are no checkers."""
        return self.export.bind

    @property
    def formal(self) -> str:
        """Module for formal tools, with a router or an interface and its checkers; empty for other components."""
        return self.export.formal

    @checked
    def set_beats(self, number: int, source: int | str,
                  destinations: str | Sequence[int | str]) -> list[tuple[int, int]]:
        """Return the beats that write a destination set into the table of an interface: data and mark of each beat.

        The first beat has the number of the set. The other beats are header flits; the mark is 1 at the last header
        flit of a worm. TLAST is 1 in the last beat.

        Parameters
        ----------
        number : int
            Number of the set.
        source : int or str
            Node that sends to the set.
        destinations : sequence of int or str, or str
            Nodes in any order. In a string the nodes are separated by commas; ``"all"`` is every node but the source.
        """
        from ..build.stream_network import set_beats

        if self.network is None:
            name = "sets" if self.configuration["sets"] else "host"
            raise WormcastError(f"{name}: {self.configuration[name]} is not valid for set_beats. Allowed: sets table, "
                                "with host stream or axis.")
        if not 0 <= number < self.configuration["set_count"]:
            raise WormcastError(f"number: {number} is not valid. Allowed: 0 to {self.configuration['set_count'] - 1}.")
        nodes = self.network.topology
        sender = nodes.node(source, "source")
        return set_beats(self.network, number, sender, nodes.destination_set(destinations, sender))

    def save(self, path: PathLike) -> Path:
        """Write the Verilog to a file, and return its path."""
        with whole_file(Path(path)) as unfinished:
            unfinished.write_text(self.text)
        return Path(path)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: the module, its number of lines, and the version of Yosys."""
        return [{"module": self.export.module, "lines": self.text.count("\n"), "yosys": self.export.yosys}]

    def _data(self) -> dict[str, Any]:
        return {"module": self.export.module, **self.files, "yosys": self.export.yosys}

    def _lines(self) -> list[str]:
        return [f"{self.export.module}: {self.text.count(chr(10))} lines of Verilog, by {self.export.yosys}"]


@checked
def verilog(
    what: str,
    *,
    topology: TopologyLike | None = None,
    scheme: SchemeLike | None = None,
    relation: RelationLike | None = None,
    relations: str | None = None,
    port: str | None = None,
    kind: str | None = None,
    module: str | None = None,
    reset: str = "sync",
    clock_enable: bool = False,
    src: bool = False,
    progress: bool = True,
    on_step: OnStep = lambda step: None,
    **hardware: Unpack[ExportOptions],
) -> VerilogResult:
    """Translate a component, or a whole network, to one file of synthesisable Verilog.

    Parameters
    ----------
    what : str
        ``network``, ``router``, ``interface``, or a part of a router or interface. All names: ``wormcast list
        components``. ``clock-crossing`` is a link between two clock domains.
    topology, scheme, relation : optional
        Network and scheme that the component is built for, by name or objects. Default: ``mesh:8x8``, ``dual-path``
        and the scheme's relation.
    relations : str, optional
        Routing relations that a router decodes, with commas between. Default: the scheme's.
    port, kind : str, optional
        Router port of a part of a router, and kind of router. Default: the first port, and the first kind.
    module : str, optional
        Name of the module, and prefix of the names of its submodules. Default: ``wormcast_`` and ``what``.
    reset : "sync" or "async"
        Reset of all registers, active high.
    clock_enable : bool
        Add an input ``enable``: at a rising edge of the clock with ``enable`` 0, registers keep their values.
    src : bool
        Write an attribute ``src`` with file and line of the source to each signal.
    progress : bool
        Announce long work on a terminal.
    on_step : callable
        Called with a text about each step of the translation.
    **hardware
        Hardware options, for example ``vcs=4``, and options of the port between interface and host: ``host="axis"``.

    Raises
    ------
    ToolMissing
        Yosys, which the extra ``verilog`` installs, is missing.
    """
    from ..build.components import blueprint_of, host_port_of
    from ..build.network import Network
    from ..build.stream_network import resolved
    from ..export.verilog import CROSSING, NETWORK, export, foreign_options

    given = known("verilog", hardware, BUILT)
    of_host = {name: given.pop(name) for name in options_of(HostPort) if name in given}
    host_port = host_port_of(what, of_host)
    for option in foreign_options(what):
        if option in given:
            whole = ("router, interface, their parts" if what == CROSSING else
                     "interface, its parts" if option in INTERFACE_FIELDS else "router, its parts")
            raise WormcastError(f"{option}: {given[option]} is not valid with {what}: it does not change this "
                                f"component. Allowed with these components: {whole}, network.")
    named = _given(topology=topology, scheme=scheme, relation=relation, relations=relations)
    with watched(progress):
        blueprint = blueprint_of(named | given)
        origin = Origin.of({**DEFAULTS, **named, **given})
        texts = named | {"topology": blueprint.topology.origin, "scheme": origin.scheme}
        if origin.relation is not None:
            texts["relation"] = origin.relation
        command = _command(what, **{**DEFAULTS, **texts}, port=port, kind=kind, module=module,
                           reset=None if reset == "sync" else reset, clock_enable=clock_enable or None,
                           src=src or None, **given, **of_host)
        if not all(isinstance(value, str) for value in named.values()):
            command = f"wormcast.verilog({what!r}, ...) in Python, with objects in place of names"
        made = export(blueprint, what, port=port, kind=kind, module=module, reset=reset,
                      clock_enable=clock_enable, src=src, named=given.get("configuration"), host_port=host_port,
                      command=command, progress=on_step)
    setup = Setup(blueprint.topology, blueprint.scheme, blueprint.configuration, origin)
    component = {"port": port, "kind": kind, "reset": reset, "clock_enable": clock_enable,
                 "relations": blueprint.decoded}
    port_to_host = asdict(resolved(host_port, blueprint))
    built = blueprint.topology, blueprint.scheme, blueprint.configuration
    described = {"what": what, **port_to_host, **setup.to_dict(component,
                                                               without=() if relation is not None else ("relation",))}
    return VerilogResult(configuration=described, files=dict.fromkeys(FILES), export=made,
                         has_tables=what == NETWORK and blueprint.tables is not None,
                         network=Network(*built) if port_to_host["sets"] == "table" else None)


def require_checkers(what: str) -> None:
    """Refuse to write checkers for hardware that has none."""
    from ..export.verilog import CHECKED, NETWORK

    if what not in (*CHECKED, NETWORK):
        raise WormcastError(f"--sva is not valid with {what}. Allowed: {', '.join((*CHECKED, NETWORK))}.")


def require_tables(tables: PathLike, what: str, options: Mapping[str, Any]) -> None:
    """Refuse to write routing tables of hardware that has none. ``options`` are the options of `verilog`."""
    from ..build.components import blueprint_of
    from ..export.verilog import NETWORK

    blueprint = blueprint_of({name: value for name, value in options.items() if name not in ("port", "kind")})
    if what != NETWORK or blueprint.tables is None:
        raise WormcastError(f"tables: {tables} is not valid: {what} for {blueprint.topology.name} has no routing "
                            "tables to write. Allowed: network, with a relation that uses tables, for example scheme "
                            "individual with relation up-down.")


def _given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None, by name."""
    return {name: value for name, value in options.items() if value is not None}


def _command(what: str, **options: object) -> str:
    """Return the command line that prints the same Verilog on stdout."""
    words = ["wormcast", "verilog", what]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return shlex.join(words)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SynthesisResult(CommandResult):
    """Result of `synth`: area, clock and critical path of a component on an FPGA.

    Parameters
    ----------
    point : SynthesisPoint
        The component and its options.
    synthesis : Synthesis
        Area, clock and critical path.
    blocks : Breakdown or None
        Area of each block, on request.
    """

    point: "SynthesisPoint"
    synthesis: "Synthesis"
    blocks: "Breakdown | None"

    @property
    def area(self) -> Mapping[str, int]:
        """Number of cells of each kind."""
        return self.synthesis.area

    @property
    def mhz(self) -> float | None:
        """Median clock over the placements, in MHz; None without placements, or if the component does not fit."""
        return self.synthesis.median_mhz

    def rows(self) -> list[dict[str, Any]]:
        """Return one row: the numbers of cells, and the clock."""
        return [{"component": self.point.what, "target": self.synthesis.target, **self.area, "mhz": self.mhz}]

    def _data(self) -> dict[str, Any]:
        found = self.synthesis.to_dict()
        return found if self.blocks is None else found | {"breakdown": self.blocks.to_dict()}

    def _lines(self) -> list[str]:
        cells = ", ".join(f"{number} {name}" for name, number in self.area.items())
        clock = "" if self.mhz is None else f", {self.mhz:.1f} MHz"
        return [f"{self.point.what} on {self.synthesis.target}: {cells}{clock}"]


@checked
def synth(
    what: str,
    *,
    topology: TopologyLike | None = None,
    scheme: SchemeLike | None = None,
    relation: RelationLike | None = None,
    relations: str | None = None,
    port: str | None = None,
    kind: str | None = None,
    target: str | None = None,
    seeds: int | None = None,
    runs: int = 1,
    area_delay: int | None = None,
    reset: str | None = None,
    clock_enable: bool = False,
    breakdown: bool = False,
    progress: bool = True,
    on_step: OnStep = lambda step: None,
    **hardware: Unpack[ExportOptions],
) -> SynthesisResult:
    """Synthesise a component for an FPGA, and place and route it.

    Parameters
    ----------
    what : str
        ``router``, ``interface``, or a part of a router or interface. All names: ``wormcast list components``.
    topology, scheme, relation, relations, port, kind, reset, clock_enable, hardware
        As for `verilog`.
    target : str, optional
        FPGA family. Default: ``ecp5``.
    seeds : int, optional
        Number of placements; the clock is their median. 0: synthesis only, without a clock. Default: 5.
    runs : int
        Number of syntheses for the area. With 2 or more, each synthesis has new names of cells and wires. If
        ``area_delay`` is given, the syntheses have clock periods from 10 % below it to 10 % above it. The area is the
        median of the syntheses, with its range.
    area_delay : int, optional
        Clock period that Yosys aims at, in ps. Default: the shortest period.
    breakdown : bool
        Also synthesise block by block.
    progress : bool
        Announce long work on a terminal.
    on_step : callable
        Called with a text about each step.

    Raises
    ------
    ToolMissing
        Yosys or nextpnr, which the extra ``synth`` installs, is missing.
    """
    from ..export.synthesis.point import build
    from ..export.synthesis.targets import SEEDS

    require_at_least(0, seeds=seeds)
    require_at_least(1, runs=runs)
    given = _given(target=target, area_delay=area_delay, reset=reset, clock_enable=clock_enable or None,
                   topology=topology, scheme=scheme, relation=relation,
                   relations=relations) | known("synth", hardware, BUILT)
    placements = SEEDS if seeds is None else range(1, seeds + 1)
    with watched(progress):
        point = build(what, port, given, kind=kind)
        found = point.synthesise(placements, on_step, os.cpu_count() or 1, runs)
        blocks = point.breakdown(on_step) if breakdown else None
    resolved = {"what": what, "port": port, "kind": kind, **point.resolved, "seeds": len(placements),
                "runs": runs}
    return SynthesisResult(configuration=resolved, point=point, synthesis=found, blocks=blocks)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SynthesisSweepResult(CommandResult):
    """Result of `synth_sweep`: area and clock of a component for each combination of option values.

    Parameters
    ----------
    sweep : Sweep
        Options with one value, and options with several values.
    points : list of SynthesisPoint
        The component with each combination.
    results : list of Synthesis
        Area and clock of each point.
    """

    sweep: "Sweep"
    points: "list[SynthesisPoint]"
    results: "list[Synthesis]"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each point: its options, its cells and its clock."""
        from ..export.synthesis import row

        return [row(self.sweep, point, result) for point, result in zip(self.points, self.results, strict=True)]

    def _figure(self) -> "Figure":
        """Return curves of the cells and the clock over a swept option."""
        from ..export.synthesis import costs_figure

        return costs_figure(self.sweep, self.points, self.results)

    def _data(self) -> dict[str, Any]:
        return {"points": [{"options": point.resolved, "given": point.given, "result": result.to_dict()}
                           for point, result in zip(self.points, self.results, strict=True)]}

    def _lines(self) -> list[str]:
        swept = " x ".join(f"{len(values)} {name}" for name, values in self.sweep.swept.items())
        return [f"{self.configuration['what']}: {count(len(self.points), 'point')} ({swept})"]


@checked
def synth_sweep(
    what: str,
    sweep: str | Sequence[str],
    *,
    topology: str | None = None,
    scheme: str | None = None,
    relation: str | None = None,
    relations: str | None = None,
    port: str | None = None,
    kind: str | None = None,
    target: str | None = None,
    seeds: int = 0,
    runs: int = 1,
    area_delay: int | None = None,
    reset: str | None = None,
    clock_enable: bool = False,
    progress: bool = True,
    on_step: OnStep = lambda step: None,
    **hardware: Unpack[ExportOptions],
) -> SynthesisSweepResult:
    """Synthesise a component for all combinations of option values.

    Parameters
    ----------
    sweep : str or sequence of str
        ``OPTION=VALUE,VALUE``, as for ``--sweep`` of ``wormcast synth``.
    seeds : int
        Number of placements. 0: synthesis only, without a clock.
    what, topology, scheme, relation, relations, port, kind, target, runs, area_delay, reset, clock_enable, progress,
    on_step, hardware
        As for `synth`.

    Raises
    ------
    ToolMissing
        Yosys or nextpnr, which the extra ``synth`` installs, is missing.
    """
    from ..export.synthesis import points, read_sweep, run

    require_at_least(0, seeds=seeds)
    require_at_least(1, runs=runs)
    fixed = _given(target=target, area_delay=area_delay, reset=reset, clock_enable=clock_enable or None,
                   topology=topology, scheme=scheme, relation=relation,
                   relations=relations) | known("synth", hardware, BUILT)
    texts = [sweep] if isinstance(sweep, str) else sweep
    for text in texts:
        require_kind("sweep", text, str)
    found = read_sweep(texts, fixed)
    with watched(progress):
        every = points(what, port, found, kind)
        results = list(run(every, range(1, seeds + 1), on_step, runs))
    resolved = {"what": what, "port": port, "kind": kind, **found.fixed, **found.swept, "seeds": seeds, "runs": runs}
    return SynthesisSweepResult(configuration=resolved, files=dict.fromkeys(("output", "plot")), sweep=found,
                                points=every, results=results)
