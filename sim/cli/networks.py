"""``topology``: nodes, switches and links of a network."""

import dataclasses
from itertools import repeat
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import WormcastError, to_toml
from wormcast.algorithms import topology as build_topology

from ..api.description import describe
from ..common.atomic_write import whole_file
from ..common.figure_file import draw_file
from ..common.path_conflicts import require_apart
from .app import Json, TopologyName, emit_result, say, table
from .commands import command
from .named import user_files
from .options import PICTURE, Given, picture_options, picture_paths, say_files, takes

__all__: list[str] = []


@command("topology")
@takes("look", PICTURE)
def topology_(
    name: TopologyName,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw nodes, coordinates, labels and links. Formats: .svg, .pdf, .png, .eps.")] = None,
    *,
    look: Given,
    toml: Annotated[Path | None, typer.Option(
        metavar="FILE.toml", help="Write a network file, which other commands accept as TOPOLOGY.")] = None,
    tokens: Annotated[int | None, typer.Option(
        metavar="CHANNELS", min=1, max=16,
        help="Print and draw the groups of switches that share a token, in a multistage network with this number of "
             "consumption channels per node.")] = None,
    headers: Annotated[int | None, typer.Option(
        metavar="FLIT_WIDTH", min=1,
        help="Print the bits and flits of each header format, in a network with this format only and in networks with "
             "several formats. FLIT_WIDTH is the width of a flit in bits.")] = None,
    json: Json = False,
) -> None:
    options = picture_options(look, plot)
    network = build_topology(name)
    if toml and toml.suffix != ".toml":
        raise WormcastError(f"toml: {toml} is not valid. Allowed: names that end in .toml.")
    require_apart(user_files(None, topology=name), {**picture_paths(plot, options), "--toml": toml})
    result = describe(network, tokens=tokens, headers=headers)
    groups = result.groups
    if plot:
        from ..drawing import require_drawable

        require_drawable(network, plot)
        draw_file(plot, result.figure, options)
    if toml:
        with whole_file(toml) as unfinished:
            unfinished.write_text(to_toml(network), encoding="utf-8")
    description, switches = result.description, [*map(network.switch_title, range(network.switches))]
    if json:
        files = {"plot": None if plot is None else str(plot), "toml": None if toml is None else str(toml)}
        emit_result(dataclasses.replace(result, files=files))
        return
    say(repr(result))
    apart = any("consumes" in node for node in description["nodes"])
    table(
        ["id", "coordinates", "label", "switch", "port", *(["consumes at", "port"] if apart else [])],
        [[node["id"], network.node_name(node["id"]), node["label"], switches[node["switch"]], node["port"],
          *([switches[end["switch"]], end["port"]] if apart and (end := node.get("consumes", node)) else [])]
         for node in description["nodes"]],
    )
    up = result.up
    directions = [] if up is None else [["up" if one else "down"] for one in up]
    if up is not None:
        say("up*/down*: " + "; ".join(
            f"level {level}{' (root)' * (level == 0)}: "
            + " ".join(name for name, at in zip(switches, result.levels, strict=True) if at == level)
            for level in sorted({*result.levels})))
    table(
        ["from", "output", "to", "input", *(["direction"] if directions else [])],
        [[switches[link["from"]], link["out"], switches[link["to"]], link["in"], *direction]
         for link, direction in zip(description["links"], directions or repeat([]), strict=False)],
    )
    if groups:
        table(["stage", "group", "switches that share a token"], [
            [stage, group, " ".join(switches[one] for one in ring)] for (stage, group), ring in groups.rings().items()])
    if result.headers:
        table(["header", "formats in the network", "bits of the form", "bits", "flits"],
              [[f"{row['format']} (pair)" if row["format"].startswith("multi-drop") else row["format"], row["formats"],
                row["form_bits"], row["bits"], row["flits"]] for row in result.headers])
    if plot:
        say_files(plot, options)
    if toml:
        say(f"network file: {toml}")
