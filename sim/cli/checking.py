"""``check``: deadlock analysis of schemes on a network."""

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from wormcast.algorithms import Analysis, Dependency, HeldWorm, TheoremCheck, Topology
from wormcast.algorithms import topology as build_topology

from ..api.checking import CheckResult, check, split_relation
from ..build.whole_worms import WholeWorms
from ..common.figure_file import draw_file
from ..common.path_conflicts import require_apart
from ..common.text import resource_text
from ..drawing import require_drawable
from .app import Json, SchemeName, TopologyName, count, emit_result, say, stdout_for_results, table
from .commands import command
from .hardware import RelationOption, takes_analysed
from .named import user_files
from .options import PICTURE, Given, picture_options, picture_paths, say_files, takes

__all__ = ["report", "report_explanation"]


@command("check")
@takes("look", PICTURE)
@takes_analysed
def check_(
    topology: TopologyName,
    scheme: SchemeName,
    with_: Annotated[list[str] | None, typer.Option(
        "--with", metavar="SCHEME[=RELATION]", help="Second scheme whose worms share the network, with its routing "
        "relation. Repeat --with for more schemes.",
    )] = None,
    relation: RelationOption = None,
    length: Annotated[int | None, typer.Option(
        help="Payload flits of the longest message. The length decides whether a deep buffer holds a whole worm, "
        "and whether a smart interface holds all packets of a message. Default: no limit.", min=1,
        show_default=False)] = None,
    explain_: Annotated[bool, typer.Option(
        "--explain", help="Evaluate the papers' theorems for this network and scheme: [Boppana98], sections 2 and 3; "
        "for schemes with routing function R also [Amnah], section 2; for trees [Varavithya], section 3; for networks "
        "with up and down links [Sivaram98], section 5; for smart interfaces [Sivaram98], section 4.3.",
    )] = False,
    replies: Annotated[bool, typer.Option(
        "--replies", help="Destinations reply to messages by unicasts of the scheme (load --reply): also print why "
        "the result holds with replies.")] = False,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the network and the cycle. Formats: .svg, .pdf, .png, .eps.")] = None,
    *,
    look: Given,
    seed: Annotated[int, typer.Option(
        help="Seed of the random multicasts that test the scheme's model, of a sample that is analysed, and of "
        "--explain. Default: 0.", min=0, show_default=False)] = 0,
    given: Given,
    json: Json = False,
) -> int:
    """Exit code 0: free of deadlock; conditions are printed, if there are any. For a scheme of which only a sample of
    multicasts is analysed, exit code 0 means that no cycle was found, which is no proof. Exit code 3: a cycle of
    dependencies is printed, or, if worms choose between channels, the worms of a deadlock. Exit code 6: undecided,
    because neither a proof nor a deadlock was found.

    Limits: 256 nodes for path worms, 1024 nodes for trees.
    """
    options = picture_options(look, plot)
    with stdout_for_results():
        network = build_topology(topology)
    if plot:
        require_drawable(network, plot)
        others = {text: user_files(*split_relation(text)) for text in with_ or ()}
        require_apart({**user_files(scheme, relation, topology),
                       **{f"{word} of --with {text}": file for text in others
                          for word, file in others[text].items()}}, picture_paths(plot, options))
    with stdout_for_results():
        result = check(network, scheme, with_=with_ or (), relation=relation, length=length, explain=explain_,
                       replies=replies, seed=seed, **given)
    if plot:
        draw_file(plot, result.figure, options)
    if json:
        emit_result(dataclasses.replace(result, files={"plot": None if plot is None else str(plot)}))
    else:
        report(result)
        report_explanation(result.explanation or ())
        if plot:
            say_files(plot, options)
    return result.exit_code


def report(result: CheckResult) -> None:
    """Print an analysis as text."""
    analysis, whole = result.analysis, result.whole

    def named(resources: Iterable[str]) -> str:
        return " ".join(resource_text(analysis.topology, one) for one in resources)

    say(repr(result))
    if analysis.verdict == "undecided" and analysis.cycle:
        say(f"{result.cycle_text}, whose worms can choose other channels:")
    if analysis.worms:
        say(f"{count(len(analysis.worms), 'worm')} in deadlock. Each worm waits for any one of several channels, and "
            "other worms hold all of them:")
        table(["holds", "waits for any of", "scheme of the worm", "from", "next stops"],
              [[named(worm.holds), named(worm.waits), worm.scheme, *_journey(analysis.topology, worm)]
               for worm in analysis.worms])
    if analysis.cycle:
        say("the worm that holds a resource waits for the next resource, and the last worm waits for the first "
            "resource:")
        table(["resource", "held by a worm of", "from", "next stops"],
              [[named([step.resource]), step.scheme, *_journey(analysis.topology, step)]
               for step in analysis.cycle])
    if analysis.tokens is not None or analysis.fits is not None:
        _report_copies(analysis, whole)
        return
    if analysis.slots:
        say(f"retransmission slots: the result for {analysis.slots} is valid for any number, because messages can "
            "occupy all slots")
    else:
        say(f"consumption classes: {_classes_text(analysis)}")
    if analysis.lemma1 is not None and analysis.ejection == "all":
        say(f"without classes: {count(analysis.lemma1, 'consumption channel')} at each ejection port suffices, because "
            "the port serves one link ([Boppana98], Lemma 1)")
    elif analysis.lemma1 is not None and len(analysis.dans or ()) > 1:
        need = f"without classes: {analysis.lemma1} consumption channels suffice by Lemma 1"
        if analysis.corollary2 is None:
            say(f"{need}, if each serves one virtual channel only ([Boppana98], 3.2.1; with one virtual channel of "
                "each class)")
        else:
            also = " and" if analysis.corollary2 == analysis.lemma1 else f", {analysis.corollary2} by"
            say(f"{need}{also} Corollary 2, if each serves one link only ([Boppana98]; with one virtual channel a "
                "link)")
    number, one = (("number", "a link") if analysis.vc_classes == 1
                  else (f"multiple of {analysis.vc_classes}", "its class on a link"))
    say(f"virtual channels: the result for {analysis.vcs} is valid for any {number}, because a worm takes any free "
        f"channel of {one}")


def _classes_text(analysis: Analysis) -> str:
    """Return the fewest consumption classes that suffice, and the number that the scheme has if it differs."""
    if analysis.dans is None:
        return f"no number suffices. The scheme has {analysis.classes_required}"
    needed = len(analysis.dans)
    sample = "" if analysis.complete else " in the sample"
    least = f"{needed} suffice{sample} ({analysis.dans})"
    if needed < 2:  # the only class may use any channel
        needed, least = 1, f"none needed{sample}"
    elif analysis.classes_minimal is None:
        least += "; fewer may suffice"
    elif not analysis.choices:  # with choices, not every cycle is a deadlock
        least += ", fewer do not"
    return least if needed == analysis.classes_required else f"{least}. The scheme has {analysis.classes_required}"


def _report_copies(analysis: Analysis, whole: WholeWorms | None) -> None:
    """Print the buffers, tokens and consumption channels on which the result depends, for replicated worms."""
    if whole is not None:
        room = f"{count(whole.buffer // whole.chunk, 'row')} of {count(whole.chunk, 'flit')}"
        worm = f"up to {count(whole.header, 'header flit')}"
        if whole.payload is not None:
            worm += f" and {count(whole.payload, 'payload flit')}, {count(whole.rows or 0, 'row')}"
        say(f"buffers: {room} hold " + (
            f"a whole worm ({worm}). So no branch waits for another branch" if whole.fits else
            f"a part of a worm ({worm}). So each branch holds its channels while another branch waits"))
    elif analysis.tokens:
        say(f"tokens: {analysis.tokens}, each shared by the switches of a group. A worm that a switch replicates holds "
            "the token until the headers of all branches have arrived")
    else:
        say("tokens: none. A switch replicates a worm without waiting for a token")
    say("consumption channels: " + (
        "the result is valid for any number" if analysis.fits else
        "enough for all worms that can arrive at a node at the same time. So no worm waits for a consumption channel"
        if analysis.consumed else
        "fewer than the worms that can arrive at a node at the same time. The result is valid for any such number"))


def report_explanation(explanation: Iterable[TheoremCheck]) -> None:
    """Print the statements of papers, one line each."""
    for one in explanation:
        paper = ""
        if one.paper is not None:
            paper = f" The paper: {one.paper}{' (differs)' if one.agrees is False else ''}."
        say(f"{one.statement} ([{one.source}], {one.place}): {one.sentence}.{paper}")


def _journey(network: Topology, step: Dependency | HeldWorm) -> list[object]:
    return [network.node_name(step.source), " ".join(map(network.node_name, step.stops))]
