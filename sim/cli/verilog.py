"""``verilog``: Verilog of components and networks."""

import contextlib
import dataclasses
import json as json_module
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wormcast.algorithms import WormcastError

from ..api.hardware_cost import require_tables
from ..api.hardware_cost import verilog as translate
from ..build.host_port import HostPort
from ..common.atomic_write import require_writable, whole_file
from ..common.option import options_of
from ..common.path_conflicts import require_apart
from .app import Json, emit_result, put, say, stdout_for_results
from .commands import command
from .hardware import takes_component
from .named import user_files
from .options import Given, as_typer, takes

if TYPE_CHECKING:
    from ..export.verilog import Export

__all__: list[str] = []


@command("verilog")
@takes_component
@takes("host_port", {name: as_typer(declared) for name, declared in options_of(HostPort).items()})
def verilog(
    what: Annotated[str, typer.Argument(
        metavar="WHAT", help="network, router, interface, or a part of them. All names: wormcast list components.")],
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="FILE", help="Output file. Default: stdout.")] = None,
    doc: Annotated[bool, typer.Option(
        "--doc", help="Also write a table of the ports to FILE.md, with -o FILE.")] = False,
    tables: Annotated[Path | None, typer.Option(
        metavar="FILE.json", help="Write the routing tables of a network as a list of words for the port tables_in: "
        "one word per cycle, then a reset for a cycle.")] = None,
    module: Annotated[str | None, typer.Option(
        metavar="NAME", help="Name of the module, and prefix of the names of its submodules. Default: "
        "wormcast_WHAT.")] = None,
    *,
    built_for: Given,
    given: Given,
    host_port: Given,
    json: Json = False,
) -> None:
    """The Verilog behaves like the simulation of run and load in every cycle. Repeated exports of the same
    hardware have the same names.
    """
    if output is None and (doc or json):
        raise WormcastError(f"{'doc' if doc else 'json'}: on is not valid without -o. Needed: -o FILE.")
    table = output.with_name(output.name + ".md") if output and doc else None
    require_apart(user_files(built_for.get("scheme"), built_for.get("relation"), built_for.get("topology")),
                  {"--output": output, "--doc": table, "--tables": tables})
    for file in filter(None, (output, table, tables)):
        require_writable(file)
    with stdout_for_results():
        if tables:
            require_tables(tables, what, {**built_for, **given})
        result = translate(what, module=module, on_step=lambda line: print(line, file=sys.stderr), **built_for, **given,
                           **host_port)
    made = result.export
    _write(made, output, table, tables)
    if output is None:
        put(made.verilog)
        return
    if json:
        emit_result(dataclasses.replace(result, files={name: None if file is None else str(file) for name, file in (
            ("file", output), ("document", table), ("tables", tables))}))
        return
    say(f"{made.module}: {output}" + (f", ports in {table}" if table else "") + (
        f", tables in {tables}" if tables else "; its routing tables are empty after reset: --tables FILE.json writes "
        "their contents" if result.has_tables else ""))


def _write(made: "Export", output: Path | None, table: Path | None, tables: Path | None) -> None:
    """Write all requested files, or none."""
    texts = {output: made.verilog, table: made.document, tables: f"{json_module.dumps(made.tables)}\n"}
    with contextlib.ExitStack() as stack:
        for file, text in texts.items():
            if file is not None:
                stack.enter_context(whole_file(file)).write_text(text)
