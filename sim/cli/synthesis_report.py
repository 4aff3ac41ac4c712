"""Reports of a synthesis and of a sweep of syntheses."""

import dataclasses
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..api.hardware_cost import synth_sweep
from ..common.atomic_write import require_writable, whole_file
from ..common.csv_file import write_csv
from ..common.figure_file import draw_file
from ..common.path_conflicts import require_apart
from ..common.picture_style import PictureOptions, drawn_with
from ..common.text import markdown_table, rounded
from ..experiments.option_grid import Sweep
from ..export.synthesis import (
    TARGETS,
    Breakdown,
    CriticalPath,
    Synthesis,
    SynthesisPoint,
    read_sweep,
    require_drawable,
)
from .app import emit_result, say, stdout_for_results, table
from .hardware import describe_hardware
from .named import user_files
from .options import picture_paths, say_files

__all__ = ["report_point", "show_step", "synthesise_sweep"]


def show_step(step: str) -> None:
    """Print a step on stderr."""
    print(step, file=sys.stderr, flush=True)


def report_point(point: SynthesisPoint, result: Synthesis, blocks: Breakdown | None, markdown: bool) -> None:
    """Print the area, clock and critical path of a component."""
    for line in _describe(point):
        say(line)
    _report(point.what, result, markdown)
    if result.critical:
        _report_path(result.critical, markdown)
    if blocks is not None:
        _report_blocks(blocks, result, markdown)


def _describe(point: SynthesisPoint) -> list[str]:
    """Return two lines: the component with its network and target, and its hardware options."""
    made = point.resolved
    known = made["relations"].split(",")
    area_delay = "" if made["area_delay"] is None else f", area-delay {made['area_delay']} ps"
    clock = ", asynchronous reset" * (made["reset"] == "async") + ", clock enable" * made["clock_enable"]
    host = "" if made["host"] == "links" else f", host {made['host']}"
    made_for = (f"{point.what} for {made['scheme']} on {made['topology']}, relation{'s' if len(known) > 1 else ''} "
                f"{' and '.join(known)}{clock}{host}; {made['target']} ({TARGETS[made['target']].device}){area_delay}")
    return [made_for, describe_hardware(point.blueprint.configuration, point.blueprint.scheme)]


def _table(columns: list[str], rows: list[list[object]], markdown: bool) -> None:
    if not markdown:
        table(columns, rows)
        return
    numeric = [all(isinstance(row[index], int | float | None) for row in rows) for index in range(len(columns))]
    say()
    for line in markdown_table(columns, numeric, rows):
        say(line)


def _say_below(text: str, markdown: bool) -> None:
    """Print a line below a table; Markdown needs a blank line between table and line."""
    if markdown:
        say()
    say(text)


def _report(what: str, result: Synthesis, markdown: bool) -> None:
    """Print area and clock."""
    target = TARGETS[result.target]
    rows: list[list[object]] = [[name, _with_range(result, name, number)] for name, number in result.area.items()]
    if result.packed is not None:
        rows.append([f"{target.logic_cell}, packed, with the test harness", result.packed])
    if result.mhz:
        rows += [["MHz, median of the seeds", _with_range(result, "MHz", rounded(result.median_mhz, 1))],
                 ["MHz, by seed", " ".join(f"{mhz:.1f}" for mhz in result.mhz)]]
    _table(["", what], rows, markdown)
    if result.fits is False:
        _say_below(f"no clock: too large for {target.device}, which has {result.available} {target.logic_cell}",
                   markdown)


def _with_range(result: Synthesis, name: str, number: object) -> object:
    """Return a number of cells, or the clock, with its range if several runs of the synthesis have another result."""
    if not result.runs or name not in result.ranges:
        return number
    ends = [rounded(end, 1) for end in result.ranges[name]]
    return number if ends[0] == ends[-1] else f"{number} ({ends[0]} to {ends[-1]})"


def _report_path(path: CriticalPath, markdown: bool) -> None:
    """Print the critical path from its start to its end."""
    _say_below(f"critical path, {path.ns:.2f} ns; each signal with its delay from the previous signal:", markdown)
    if markdown:
        _table(["ns", "signal"], [[f"{step.ns:.2f}", f"`{step.signal}`"] for step in path.steps], markdown)
        return
    for step in path.steps:
        say(f"  {step.ns:5.2f}  {step.signal}")


def _report_blocks(blocks: Breakdown, result: Synthesis, markdown: bool) -> None:
    """Print the area of each block, their sum, and the area of the flattened component."""
    total, indent = blocks.total, "&emsp;" if markdown else "  "
    names = list({**result.area, **total})  # block memories are named only where there are some
    rows: list[list[object]] = []
    for group in blocks.groups():
        spread = f"{group.least}" if group.least == group.most else f"{group.least} to {group.most}"
        rows.append([indent * (len(group.kinds) - 1) + group.kinds[-1], group.instances, spread,
                     *(group.area.get(name, 0) for name in names)])
    rows += [[name, None, None, *(area.get(cell, 0) for cell in names)]
             for name, area in (("sum", total), ("flattened", result.area))]
    _table(["block", "instances", "LUT4 of one", *names], rows, markdown)
    _say_below("A block's numbers do not include the blocks inside it. Each block is optimised by itself, so the sum "
               "differs from the flattened component.", markdown)


def synthesise_sweep(what: str, port: str | None, kind: str | None, texts: Sequence[str], fixed: Mapping[str, Any],
                     seeds: int, runs: int, output: Path | None, plot: Path | None, options: PictureOptions, json: bool,
                     markdown: bool) -> None:
    """Synthesise all points, and write, draw and print the results. ``texts``: the options ``--sweep``."""
    sweep = read_sweep(texts, fixed)
    if plot:
        with drawn_with(options):
            require_drawable(sweep, seeds, plot)
    pictures = picture_paths(plot, options)
    named = (sweep.swept.get(name, [sweep.fixed.get(name)]) for name in ("scheme", "relation", "topology"))
    for scheme, relation, topology in itertools.product(*named):
        require_apart(user_files(scheme, relation, topology), {"--output": output, **pictures})
    for file in filter(None, (output, *pictures.values())):
        require_writable(file)
    with stdout_for_results():
        result = synth_sweep(what, texts, port=port, kind=kind, seeds=seeds, runs=runs, on_step=show_step, **fixed)
    if output:
        with whole_file(output) as unfinished:
            write_csv(result.rows(), unfinished)
    if plot:
        draw_file(plot, result.figure, options)
    if json:
        files = {name: None if path is None else str(path) for name, path in (("output", output), ("plot", plot))}
        emit_result(dataclasses.replace(result, files=files))
        return
    _report_sweep(sweep, result.points, result.results, markdown)
    if output and not markdown:
        say(f"table: {output}")
    if plot and not markdown:
        say_files(plot, options)


def _report_sweep(sweep: Sweep, all_points: Sequence[SynthesisPoint], results: Sequence[Synthesis],
                  markdown: bool) -> None:
    """Print a table of the swept options, the cells and the clock."""
    cells = list(dict.fromkeys(name for result in results for name in result.area))
    packed = list(dict.fromkeys(TARGETS[result.target].logic_cell for result in results if result.packed))
    columns = [*(name.replace("_", "-") for name in sweep.swept), *cells, *packed, *(["MHz"] if packed else [])]
    rows: list[list[Any]] = []
    for point, result in zip(all_points, results, strict=True):
        clock = [result.packed if TARGETS[result.target].logic_cell == name else None for name in packed]
        swept = (str(value).lower() if isinstance(value, bool) else value
                 for value in (point.given[name] for name in sweep.swept))
        rows.append([*swept, *(_with_range(result, name, result.area.get(name)) for name in cells), *clock,
                     *([_with_range(result, "MHz", rounded(result.median_mhz, 1))] if packed else [])])
    _table(columns, rows, markdown)
