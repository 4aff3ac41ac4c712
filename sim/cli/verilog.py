"""``verilog``: components and networks as Verilog."""

import contextlib
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError

from ..build.components import DEFAULTS, blueprint_of
from ..build.configuration import INTERFACE_FIELDS
from ..build.setup import Origin, Setup
from ..common.apart import require_apart
from ..common.whole_file import require_writable, whole_file
from ..export.verilog import Export, export, foreign_options
from .app import Json, app, emit, put, say, stdout_for_results, user_files
from .hardware import takes_component
from .options import Given

__all__: list[str] = []


@app.command("verilog")
@takes_component
def verilog(
    what: Annotated[str, typer.Argument(
        metavar="WHAT", help="network, router, interface, or a part of them; see: wormcast list components.")],
    output: Annotated[Path | None, typer.Option(
        "--output", "-o", metavar="FILE", help="Write to this file; default: to stdout.")] = None,
    doc: Annotated[bool, typer.Option(
        "--doc", help="With -o: write a table of the ports beside it, to FILE.md.")] = False,
    module: Annotated[str | None, typer.Option(
        metavar="NAME", help="Name of the module; those of its parts begin with it. Default: wormcast_WHAT.")] = None,
    *,
    built_for: Given,
    given: Given,
    json: Json = False,
) -> None:
    """Write a component, or a whole network, as one file of synthesisable Verilog.

    It is the hardware that run and load simulate, cycle by cycle. Its names do not change from one export to the next.
    """
    if output is None and (doc or json):
        raise WormcastError(f"verilog: {'--doc' if doc else '--json'} is given without a file, it needs -o FILE")
    for option in foreign_options(what):
        if option in given:
            raise WormcastError(f"{what}: --{option.replace('_', '-')} is given, it changes nothing there, allowed for "
                                f"{'interface' if option in INTERFACE_FIELDS else 'router'}, its parts and network")
    table = output.with_name(output.name + ".md") if output and doc else None
    require_apart(user_files(built_for.get("scheme"), built_for.get("relation")), {"--output": output, "--doc": table})
    for file in filter(None, (output, table)):
        require_writable(file)
    port = built_for.pop("port", None)
    with stdout_for_results():
        blueprint = blueprint_of(built_for | given)
        command = _command(what, **{**DEFAULTS, **built_for, "topology": blueprint.topology.name}, port=port,
                           module=module, **given)
        made = export(blueprint, what, port=port, module=module, named=given.get("configuration"), command=command,
                      progress=lambda line: print(line, file=sys.stderr))
    if output is None:
        put(made.verilog)
        return
    _write(made, output, table)
    if json:
        setup = Setup(blueprint.topology, blueprint.scheme, blueprint.configuration,
                      Origin.of({**DEFAULTS, **built_for, **given}))
        resolved = {"what": what, **setup.to_dict({"port": port, "relations": blueprint.decoded},
                                                  without=() if "relation" in built_for else ("relation",))}
        emit({"module": made.module, "file": str(output), "document": None if table is None else str(table),
              "yosys": made.yosys}, resolved)
        return
    say(f"{made.module}: {output}" + (f", ports in {table}" if table else ""))


def _command(what: str, **options: object) -> str:
    """The command that makes the same file."""
    words = ["wormcast", "verilog", what]
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _write(made: Export, output: Path, table: Path | None) -> None:
    """Write both files, or none."""
    with whole_file(output) as verilog, whole_file(table) if table else contextlib.nullcontext() as document:
        verilog.write_text(made.verilog)
        if document is not None:
            document.write_text(made.document)
