"""``topology``: nodes, switches and links of a network."""

from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import WormcastError, to_toml
from wormcast.algorithms import topology as build_topology
from wormcast.algorithms.token_groups import all_consumed, require_one_or_all, token_groups

from ..common.atomic_write import whole_file
from ..common.figure_file import draw_file
from ..common.path_conflicts import require_apart
from .app import Json, TopologyName, emit, say, table
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
    json: Json = False,
) -> None:
    options = picture_options(look, plot)
    network = build_topology(name)
    if toml and toml.suffix != ".toml":
        raise WormcastError(f"toml: {toml} is not valid. Allowed: names that end in .toml.")
    require_apart(user_files(None, topology=name), {**picture_paths(plot, options), "--toml": toml})
    groups = None
    if tokens is not None:
        single: dict[str, Any] = {"channels": tokens, "vcs": 1, "ejection": "one"}
        require_one_or_all(network, **single)
        groups = token_groups(network, consumed=all_consumed(network, **single))
    if plot:
        from ..drawing import require_drawable, topology_sheet

        require_drawable(network, plot)
        draw_file(plot, lambda: topology_sheet(network, groups).figure, options)
    if toml:
        with whole_file(toml) as unfinished:
            unfinished.write_text(to_toml(network), encoding="utf-8")
    description, switches = network.describe(), [*map(network.switch_title, range(network.switches))]
    if json:
        told: dict[int, list[list[int]]] = {}
        for (stage, _), ring in (groups.rings() if groups else {}).items():
            told.setdefault(stage, []).append(ring)
        emit(description | {"tokens": groups and [{"stage": stage, "groups": rings} for stage, rings in told.items()],
                            "plot": plot and str(plot), "toml": toml and str(toml)}, {"topology": network.origin})
        return
    say(f"{network.name}: {network.nodes} nodes, {network.switches} switches, {len(network.links)} links")
    apart = any("consumes" in node for node in description["nodes"])
    table(
        ["id", "coordinates", "label", "switch", "port", *(["consumes at", "port"] if apart else [])],
        [[node["id"], network.node_name(node["id"]), node["label"], switches[node["switch"]], node["port"],
          *([switches[end["switch"]], end["port"]] if apart and (end := node.get("consumes", node)) else [])]
         for node in description["nodes"]],
    )
    table(
        ["from", "output", "to", "input"],
        [[switches[link["from"]], link["out"], switches[link["to"]], link["in"]] for link in description["links"]],
    )
    if groups:
        table(["stage", "group", "switches that share a token"], [
            [stage, group, " ".join(switches[one] for one in ring)] for (stage, group), ring in groups.rings().items()])
    if plot:
        say_files(plot, options)
    if toml:
        say(f"network file: {toml}")
