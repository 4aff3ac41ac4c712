"""``plan``: worms of a multicast, without simulation."""

import dataclasses
import inspect
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import Plan, PlannedWorm, Topology, WormcastError
from wormcast.algorithms import topology as build_topology
from wormcast.algorithms.packet_steps import DISCIPLINES
from wormcast.algorithms.phrases import number_text
from wormcast.algorithms.routing import links_up, signed_dimensions
from wormcast.algorithms.theory.conflicts import Conflict
from wormcast.algorithms.theory.contention import Contention, LinkSharing

from ..api.planning import plan, plan_random
from ..build.limits import PARTS
from ..build.traffic import Traffic
from ..common.figure_file import draw_file
from ..common.option import options_of
from ..common.path_conflicts import require_apart
from .app import Json, SchemeName, TopologyName, count, emit_result, say, stdout_for_results, table
from .commands import command
from .hardware import Packet, RelationOption, Ties
from .named import user_files
from .options import PICTURE, Given, as_typer, picture_options, picture_paths, say_files, takes

__all__: list[str] = []

RANDOM = "Random multicasts"

#: Typer annotations for the number of destinations of random multicasts, in the order of --help.
LAW: dict[str, Any] = {
    **{name: as_typer(dataclasses.replace(option, panel=RANDOM)) for name, option in options_of(Traffic).items()
       if name.startswith("destinations")},
    "seed": Annotated[int | None, typer.Option(
        help=f"Seed of the first of the {PARTS} parts that the multicasts are divided into. Default: 0.", min=0,
        show_default=False, rich_help_panel=RANDOM)],
}


@command("plan")
@takes("look", PICTURE)
@takes("law", LAW)
def plan_(
    topology: TopologyName,
    scheme: SchemeName,
    source: Annotated[str | None, typer.Option(
        metavar="NODE", help="Source node: id (11), coordinates (1.3) or label (@12). With --random: the source of all "
        "multicasts. Default with --random: the nodes in turn, in the order of their ids.",
        show_default=False)] = None,
    destinations: Annotated[str | None, typer.Option(
        metavar="NODE,NODE,...|all", help="Destination nodes; all: all other nodes.", show_default=False)] = None,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the worms' paths and visiting orders. Formats: .svg, .pdf, .png, .eps.")] = None,
    *,
    look: Given,
    random: Annotated[int | None, typer.Option(
        metavar="MULTICASTS", help="Number of random multicasts to plan, in place of --destinations. Mean costs are "
        "printed.", show_default=False, rich_help_panel=RANDOM)] = None,
    relation: RelationOption = None,
    ties: Ties = None,
    length: Annotated[int | None, typer.Option(
        min=1, help="Payload flits of the message, which --packet cuts into packets. Schemes whose interfaces forward "
        "packets plan for the number of these packets. Default: one packet.", show_default=False)] = None,
    packet: Packet = None,
    law: Given,
    json: Json = False,
) -> None:
    options = picture_options(look, plot)
    one = {"destinations": destinations, "plot": plot}
    if random is None and law:
        name, value = next(iter(law.items()))
        raise WormcastError(f"{name}: {number_text(value)} is not valid without --random. Needed: --random "
                            "MULTICASTS.")
    if random is None and (source is None or destinations is None):
        missing = [name for name, value in {"source": source, "destinations": destinations}.items() if value is None]
        raise WormcastError(f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. Needed: --source "
                            "and --destinations, or --random.")
    if random is not None and (beside := [name for name, value in one.items() if value is not None]):
        raise WormcastError(f"{beside[0]}: {one[beside[0]]} is not valid with --random, which draws multicasts. "
                            "Allowed: one of the two options.")
    with stdout_for_results():
        network = build_topology(topology)
    if plot:
        from ..drawing import require_drawable

        require_drawable(network, plot)
        require_apart(user_files(scheme, relation, topology), picture_paths(plot, options))
    ways: dict[str, Any] = {"length": length, "packet": packet, "relation": relation, "ties": ties}
    if random is not None:
        with stdout_for_results():
            means = plan_random(network, scheme, random, source=source, **ways, **law)
        if json:
            emit_result(means)
        else:
            say(repr(means).partition("\n")[0])
            table(["", "mean", "+-"], [[row["cost"], f"{row['mean']:.5g}", f"{row['half_width']:.2g}"]
                                       for row in means.rows()])
        return
    assert source is not None
    assert destinations is not None
    with stdout_for_results():
        result = plan(network, scheme, source, destinations, **ways)
    found, shared, met = result.plan, result.contention, result.met
    if plot:
        draw_file(plot, result.figure, options)
    if json:
        emit_result(dataclasses.replace(result, files={"plot": None if plot is None else str(plot)}))
        return
    say(repr(result))
    say("hops: sum of the path lengths; channels: different links; start-ups: worms of the busiest node; "
        "phases: worms of the longest chain in which each waits for the receipt of the one before; "
        "steps: message-passing steps")
    relation = found.scheme.relation_on(network).name
    say(f"relation: {relation}" if found.form == f"by {relation}" else f"form: {found.form}")
    # a scheme in a user's file has no paper: the file is its source
    own = found.scheme.provenance == "own"
    say(f"provenance: {Path(inspect.getfile(type(found.scheme))).name if own else found.scheme.provenance}")
    if shared:
        _show_contention(shared)
    rows: list[list[object]] = []
    signed = bool(signed_dimensions(found.scheme.relation, network))
    up = links_up(found.scheme.relation, network)
    signs = [""] * len(network.links) if up is None else ["↑" if one else "↓" for one in up]
    for worm in found.worms:
        drawn = _drawn(network, worm, found.arrivals(worm), signs)
        visits = " ".join(map(network.node_name, worm.destinations))
        rows.append([worm.id, worm.after, worm.step, *([_signs(worm, network)] if signed else []), visits,
                     len(worm.links), drawn])
    table(["worm", "after", "step", *(["signs"] if signed else []), "visits", "hops",
           "path (* delivery)" if up is None else "path (* delivery, ↑ up, ↓ down)"], rows)
    if found.slots and met is not None:
        _show_slots(network, found.packets, found.slots)
        _show_conflicts(found, met)
    if plot:
        say_files(plot, options)


def _show_slots(network: Topology, packets: int, slots: Mapping[str, list[dict[str, int]]]) -> None:
    """Print the packets that each interface sends in each step."""
    took = ", ".join(f"{sends[-1]['step']} steps {DISCIPLINES[name]} ({name})" for name, sends in slots.items())
    say(f"{count(packets, 'packet')}, each interface sends one packet per step: {took}")
    rows: dict[int, dict[str, list[str]]] = {}
    for name, sends in slots.items():
        for one in sends:
            cells = rows.setdefault(one["step"], {name: [] for name in slots})
            cells[name].append(">".join(map(network.node_name, (one["node"], one["to"])))
                               + f" ({one['packet']})" * (packets > 1))
    table(["step", *(f"{name}: from > to" + " (packet)" * (packets > 1) for name in slots)],
          [[step, *(", ".join(cells[name]) or None for name in slots)] for step, cells in sorted(rows.items())])


def _show_conflicts(found: Plan, met: Mapping[str, list[Conflict]]) -> None:
    """Print the number of pairs of packets that share a link in a step, and the first of these pairs."""
    for name, pairs in met.items():
        named = []
        for pair in pairs[:MOST_PAIRS]:
            first, second = (f"{worm} (packet {packet})" for worm, packet in zip(pair.worms, pair.packets, strict=True))
            named.append(f"step {pair.step}, worms {first} and {second} on {pair.to_dict(found)['link']}")
        say(f"packets of one step that share a link, {name}: {count(len(pairs), 'pair')}"
            + (f": {'; '.join(named)}" if named else "") + ("; ..." if len(pairs) > MOST_PAIRS else ""))


def _drawn(network: Topology, worm: PlannedWorm, arrivals: Collection[int | None], signs: Sequence[str]) -> str:
    """Return the switches on a worm's way as text, each after the sign of the link to it.

    Branches in parentheses follow the switch that replicates.
    """
    onwards: dict[int | None, list[int]] = {}
    for hop, before in enumerate(worm.before):
        onwards.setdefault(before, []).append(hop)

    def along(hop: int | None) -> str:
        """Return the switches from the end of a hop on, as text."""
        words: list[str] = []
        while True:
            switch = int(network.injections[worm.source, 0]) if hop is None else worm.links[hop][1]
            sign = "" if hop is None else signs[worm.link_rows[hop]]
            words.append(sign + network.switch_title(switch) + ("*" if hop in arrivals else ""))
            following = onwards.get(hop, [])
            if len(following) != 1:
                return " ".join([*words, *(f"({along(one)})" for one in following)])
            hop = following[0]

    return along(None)


def _signs(worm: PlannedWorm, network: Topology) -> str | None:
    """Return the signs of ties in a worm's header, ``+`` or ``-`` per dimension; None for the default signs.

    A tie is a pair of equally long ways around a ring.
    """
    if worm.signs is None:
        return None
    return " ".join("".join("-" if signs >> dimension & 1 else "+" for dimension in range(len(network.shape)))
                    for signs in worm.signs)


#: Largest number of pairs of worms that are printed by name. Further pairs are only counted.
MOST_PAIRS = 5

DEFINITION = {1: "another node than the source sends in step 1", 2: "a node sends before the step after its receipt",
              3: "a node sends two worms by one link in a step"}

#: Conditions of Theorem 1 of [Hou] (`Contention.conditions`) for a pair of worms that share a link.
CONDITIONS = {1: "the later worm's sender has received the message by way of the earlier worm",
              3: "both worms have the same sender and first link",
              4: "the later worm's sender has received the message by way of a third worm, sent after the earlier worm "
                 "by the same sender over the same first link"}


def _show_contention(shared: Contention) -> None:
    """Print the pairs of worms that share a link, and the result of Theorem 1 of [Hou]."""
    say(f"worms that share a link: {count(shared.shared, 'pair')}, {len(shared.stepwise)} of them in one step")
    if shared.stepwise:
        say(f"  in one step: {_named(shared, shared.stepwise)}")
    for number, pairs in shared.conditions.items():
        if pairs:
            say(f"  {count(pairs, 'pair')}: {CONDITIONS[number]} (condition {number} of Theorem 1 of [Hou])")
    if shared.violations:
        say(f"  {count(len(shared.violations), 'pair')}: the theorem does not exclude that the later worm waits for "
            f"the earlier one: {_named(shared, shared.violations)}")
    broken = [text for number, text in DEFINITION.items() if not shared.definition[number]]
    say(("depth contention-free: no worm waits for a worm of another sender" if shared.free else
         "not shown to be depth contention-free: a worm may wait for a worm of another sender")
        + " (Definition 1 and Theorem 1 of [Hou])" + (f", as {'; '.join(broken)}" if broken else ""))


def _named(shared: Contention, pairs: Sequence[LinkSharing]) -> str:
    """Return the first pairs of worms and their links as text."""
    named = [f"{first} and {second} on {link}" for first, second, link in map(shared.named, pairs[:MOST_PAIRS])]
    return "worms " + "; ".join(named) + ("; ..." if len(pairs) > MOST_PAIRS else "")
