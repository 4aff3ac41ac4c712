"""``verilog``: Verilog of components and networks."""

import contextlib
import json as json_module
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wormcast.algorithms import WormcastError

from ..build.configuration import INTERFACE_FIELDS
from ..build.setup import DEFAULTS, Origin, Setup
from ..common.atomic_write import require_writable, whole_file
from ..common.path_conflicts import require_apart
from .app import Json, emit, put, say, stdout_for_results
from .commands import command
from .hardware import takes_component
from .named import user_files
from .options import Given

if TYPE_CHECKING:
    from ..export.verilog import Export

__all__: list[str] = []


@command("verilog")
@takes_component
def verilog(
    what: Annotated[str, typer.Argument(
        metavar="WHAT", help="network, router, interface, or a part of them. All names: wormcast list components.")],
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="FILE", help="Output file. Default: stdout.")] = None,
    doc: Annotated[bool, typer.Option(
        "--doc", help="Also write a table of the ports to FILE.md, with -o FILE.")] = False,
    tables: Annotated[Path | None, typer.Option(
        metavar="FILE.json", help="Write the routing tables of a network as a list of words, to be sent to the port "
        "tables_in before its first cycle.")] = None,
    module: Annotated[str | None, typer.Option(
        metavar="NAME", help="Name of the module, and prefix of the names of its submodules. Default: "
        "wormcast_WHAT.")] = None,
    *,
    built_for: Given,
    given: Given,
    json: Json = False,
) -> None:
    """The Verilog behaves like the simulation of run and load in every cycle. Repeated exports of the same
    hardware have the same names.
    """
    from ..build.components import blueprint_of
    from ..export.verilog import NETWORK, export, foreign_options

    if output is None and (doc or json):
        raise WormcastError(f"{'doc' if doc else 'json'}: on is not valid without -o. Needed: -o FILE.")
    for option in foreign_options(what):
        if option in given:
            raise WormcastError(f"{option}: {given[option]} is not valid with {what}: it does not "
                                "change this component. Allowed: with "
                                f"{'interface' if option in INTERFACE_FIELDS else 'router'}, its parts and network.")
    table = output.with_name(output.name + ".md") if output and doc else None
    require_apart(user_files(built_for.get("scheme"), built_for.get("relation"), built_for.get("topology")),
                  {"--output": output, "--doc": table, "--tables": tables})
    for file in filter(None, (output, table, tables)):
        require_writable(file)
    port, kind = built_for.pop("port", None), built_for.pop("kind", None)
    with stdout_for_results():
        blueprint = blueprint_of(built_for | given)
        command = _command(what, **{**DEFAULTS, **built_for, "topology": blueprint.topology.origin}, port=port,
                           kind=kind, module=module, **given)
        if tables and (what != NETWORK or blueprint.tables is None):
            raise WormcastError(f"tables: {tables} is not valid: {what} for {blueprint.topology.name} has no routing "
                                "tables to write. Allowed: network, with a relation that uses tables, for example "
                                "scheme individual with relation up-down.")
        made = export(blueprint, what, port=port, kind=kind, module=module, named=given.get("configuration"),
                      command=command, progress=lambda line: print(line, file=sys.stderr))
    _write(made, output, table, tables)
    if output is None:
        put(made.verilog)
        return
    if json:
        setup = Setup(blueprint.topology, blueprint.scheme, blueprint.configuration,
                      Origin.of({**DEFAULTS, **built_for, **given}))
        resolved = {"what": what, **setup.to_dict({"port": port, "kind": kind, "relations": blueprint.decoded},
                                                  without=() if "relation" in built_for else ("relation",))}
        emit({"module": made.module, "file": str(output), "document": None if table is None else str(table),
              "tables": None if tables is None else str(tables), "yosys": made.yosys}, resolved)
        return
    say(f"{made.module}: {output}" + (f", ports in {table}" if table else "") + (
        f", tables in {tables}" if tables else "; its routing tables are empty after reset: --tables FILE.json writes "
        "their contents" if what == NETWORK and blueprint.tables is not None else ""))


def _command(what: str, **options: object) -> str:
    """Return the command line that prints the same Verilog on stdout."""
    words = ["wormcast", "verilog", what]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _write(made: "Export", output: Path | None, table: Path | None, tables: Path | None) -> None:
    """Write all requested files, or none."""
    texts = {output: made.verilog, table: made.document, tables: f"{json_module.dumps(made.tables)}\n"}
    with contextlib.ExitStack() as stack:
        for file, text in texts.items():
            if file is not None:
                stack.enter_context(whole_file(file)).write_text(text)
