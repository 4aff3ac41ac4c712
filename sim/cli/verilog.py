"""``verilog``: Verilog of components and networks."""

import contextlib
import dataclasses
import json as json_module
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from ..api.hardware_cost import require_checkers, require_tables
from ..api.hardware_cost import verilog as translate
from ..common.atomic_write import require_writable, whole_file
from ..common.path_conflicts import require_apart
from .app import Json, emit_result, put, say, stdout_for_results
from .commands import command
from .hardware import RESET, ClockEnable, takes_component, takes_host_port
from .named import user_files
from .options import Given

__all__: list[str] = []


@command("verilog")
@takes_component
@takes_host_port
def verilog(
    what: Annotated[str, typer.Argument(
        metavar="WHAT", help="network, router, interface, or a part of them. All names: wormcast list components. "
        "clock-crossing: a link between two clocks.")],
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="FILE", help="Output file. Default: stdout.")] = None,
    doc: Annotated[bool, typer.Option(
        "--doc", help="Also write a table of the ports to FILE.md, with -o FILE.")] = False,
    tables: Annotated[Path | None, typer.Option(
        metavar="FILE.json", help="Write the routing tables of a network as a list of words for the port tables_in: "
        "one word per cycle, then a reset for a cycle.")] = None,
    sva: Annotated[bool, typer.Option(
        "--sva", help="Also write assertions on the links of a router, an interface or a network, with -o FILE.v: "
        "FILE_checks.sv, FILE_bind.sv and, for a component, FILE_formal.sv.")] = False,
    module: Annotated[str | None, typer.Option(
        metavar="NAME", help="Name of the module, and prefix of the names of its submodules. Default: "
        "wormcast_WHAT.")] = None,
    reset: Annotated[str, RESET] = "sync",
    clock_enable: ClockEnable = False,
    sdc: Annotated[Path | None, typer.Option(
        metavar="FILE.sdc", help="Write timing constraints: clock, static inputs, reset.")] = None,
    src: Annotated[bool, typer.Option(
        "--src", help="Write an attribute src with file and line of the source to each signal.")] = False,
    *,
    built_for: Given,
    given: Given,
    host_port: Given,
    json: Json = False,
) -> None:
    """The Verilog behaves like the simulation of run and load in every cycle. Repeated exports of the same
    hardware have the same names.
    """
    if output is None and (doc or sva or json):
        raise WormcastError(f"--{'doc' if doc else 'sva' if sva else 'json'} is not valid without -o. Needed: -o "
                            "FILE.")
    if sva:
        require_checkers(what)
    table = output.with_name(output.name + ".md") if output and doc else None
    assertions = {part: output.with_name(f"{output.stem}_{part}.sv") for part in ("checks", "bind", "formal")
                  if (part, what) != ("formal", "network")} if output and sva else {}
    require_apart(user_files(built_for.get("scheme"), built_for.get("relation"), built_for.get("topology")),
                  {"--output": output, "--doc": table, "--tables": tables, "--sdc": sdc,
                   **{f"--sva ({part})": file for part, file in assertions.items()}})
    for file in filter(None, (output, table, tables, sdc, *assertions.values())):
        require_writable(file)
    with stdout_for_results():
        if tables:
            require_tables(tables, what, {**built_for, **given})
        result = translate(what, module=module, reset=reset, clock_enable=clock_enable, src=src,
                           on_step=lambda line: print(line, file=sys.stderr),
                           **built_for, **given, **host_port)
    made = result.export
    if sdc and not made.sdc:
        raise WormcastError(f"sdc: {sdc} is not valid: {what} has no clock. Allowed: with components that "
                            "have one, for example router.")
    texts = {"checks": made.checks, "bind": made.bind, "formal": made.formal}
    _write({output: made.verilog, table: made.document, tables: f"{json_module.dumps(made.tables)}\n", sdc: made.sdc,
            **{file: texts[part] for part, file in assertions.items()}})
    if output is None:
        put(made.verilog)
        return
    if json:
        emit_result(dataclasses.replace(result, files={name: None if file is None else str(file) for name, file in (
            ("file", output), ("document", table), ("tables", tables), ("sdc", sdc),
            *((part, assertions.get(part)) for part in ("checks", "bind", "formal")))}))
        return
    say(f"{made.module}: {output}" + (f", ports in {table}" if table else "") + (
        f", constraints in {sdc}" if sdc else "") + (
        f", assertions in {', '.join(map(str, assertions.values()))}" if assertions else "") + (
        f", tables in {tables}" if tables else "; its routing tables are empty after reset: --tables FILE.json writes "
        "their contents" if result.has_tables else ""))


def _write(texts: Mapping[Path | None, str]) -> None:
    """Write all requested files, or none."""
    with contextlib.ExitStack() as stack:
        for file, text in texts.items():
            if file is not None:
                stack.enter_context(whole_file(file)).write_text(text)
