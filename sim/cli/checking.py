"""``check``: deadlock analysis of schemes on a network."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import typer

from wormcast.algorithms import (
    RELATIONS,
    SCHEMES,
    Analysis,
    ConsumptionClasses,
    Dependency,
    HeldWorm,
    Relation,
    Scheme,
    TheoremCheck,
    Topology,
    WormcastError,
    check,
    explain,
    load_relation,
    user_file,
)
from wormcast.algorithms import topology as build_topology
from wormcast.algorithms.announcements import announce
from wormcast.algorithms.routing import as_built
from wormcast.hw.options import require_buffers

from ..build.configuration import Configuration
from ..build.configurations import completed
from ..build.whole_worms import WholeWorms, whole_worms
from ..common.figure_file import whole_picture
from ..common.path_conflicts import require_apart
from ..common.text import consumption_text, resource_text
from ..drawing import draw_cycle, require_drawable
from .app import Exit, Json, SchemeName, TopologyName, count, emit, say, stdout_for_results, table
from .commands import command
from .hardware import ANALYSED, RelationOption, describe_classes, takes_analysed
from .named import find_scheme, user_files
from .options import Given

__all__ = ["report", "report_explanation"]


@command("check")
@takes_analysed
def check_(
    topology: TopologyName,
    scheme: SchemeName,
    with_: Annotated[list[str] | None, typer.Option(
        "--with", metavar="SCHEME[=RELATION]", help="Second scheme whose worms share the network, with its routing "
        "relation. Repeat it for more schemes.",
    )] = None,
    relation: RelationOption = None,
    length: Annotated[int | None, typer.Option(
        help="Payload flits of the longest message. The length decides whether a deep buffer holds a whole worm, "
        "and whether a smart interface holds all packets of a message. Default: no limit.", min=1,
        show_default=False)] = None,
    explain_: Annotated[bool, typer.Option(
        "--explain", help="Evaluate the papers' theorems for this network and scheme: Boppana et al. 1998, sections 2 "
        "and 3; for trees Varavithya and Mohapatra, section 3; for networks with up and down links Sivaram et al. "
        "1998, section 5; for smart interfaces its section 4.3.",
    )] = False,
    plot: Annotated[Path | None, typer.Option(
        metavar="FILE", help="Draw the network and the cycle. Formats: .svg, .png.")] = None,
    seed: Annotated[int, typer.Option(
        help="Seed of the random multicasts by which the scheme's model is tested, and of those of --explain. "
        "Default: 0.", min=0, show_default=False)] = 0,
    *,
    given: Given,
    json: Json = False,
) -> int:
    """Exit code 0: no deadlock is possible. 3: a shortest cycle is printed. 6: undecided, because worms choose between
    channels and neither a proof nor a deadlock was found.

    Limits: 256 nodes for worms that deliver at several nodes on their way, 1024 nodes for trees.
    """
    network = build_topology(topology)
    if plot:
        require_drawable(network, plot)
    options = completed(given)
    configuration = Configuration(**options)
    built = _Built(network, configuration)
    if plot:
        others = {text: user_files(*_split_relation(text)) for text in with_ or ()}
        require_apart({**user_files(scheme, relation, topology),
                       **{f"{word} of --with {text}": file for text in others
                          for word, file in others[text].items()}}, {"--plot": plot})
    if explain_ and configuration.absorb != "off":
        raise WormcastError(f"absorb: {configuration.absorb} is not valid with --explain: the theorems are about worms "
                            "that are not absorbed on their way. Allowed: off.")
    found = find_scheme(scheme, network)
    if explain_ and configuration.deep and found.replication is not None and not found.needs_whole_packet:
        raise WormcastError(f"buffer-kind: deep is not valid with --explain: the theorems about {found.name} assume "
                            "shallow buffers. Allowed: shallow.")
    with stdout_for_results():
        besides = [built.other(text) for text in with_ or ()]
        whole = built.whole(found, besides, length)
        consumption, classes, tokens = (options.get(name) for name in ("consumption", "classes", "tokens"))
        worms: _Worms = {
            "relation": built.relation(found, relation),
            "classes": None if classes is None else ConsumptionClasses.parse(classes),
            "others": besides, "vcs": configuration.vcs, "ejection": configuration.ejection, "seed": seed,
            "tokens": None if tokens is None else tokens == "on",
        }
        places = configuration.holds_messages(length) if any(one.forwarded for one in (found, *(
            other for other, _ in besides))) else None
        with announce(f"checking {found.name} on {network.name}"):
            analysis = check(network, configuration.as_sent(found), consumption=consumption, slots=configuration.slots,
                             fits=None if whole is None else whole.fits, places=places, **worms)
            explanation = explain(network, found, consumption=consumption, **worms) if explain_ else None
    if plot:
        with whole_picture(plot) as target:
            draw_cycle(network, [step.resource for step in analysis.cycle], *target,
                       caption=(*filter(None, [_assumes(analysis, whole)]), *_subject(analysis),
                                f"{count(configuration.vcs, 'virtual channel')} a link"),
                       title=_title(analysis, whole))
    if json:
        emit(
            analysis.to_dict() | {
                "assumes": _assumes(analysis, whole) or None,
                "longest_whole": whole and whole.longest,
                "explanation": None if explanation is None else [one.to_dict() for one in explanation],
                "plot": plot and str(plot),
            },
            {
                "topology": network.origin, "scheme": scheme, "relation": relation or found.relation.name,
                "with": with_ or [],
                "length": length, "named": given.get("configuration"),
                **{name: getattr(configuration, name) for name in ANALYSED},
                "consumption": analysis.consumption, "classes": [str(one) for one in analysis.classes],
            },
            seed,
        )
    else:
        report(analysis, whole)
        report_explanation(explanation or ())
        if plot:
            say(f"picture: {plot}")
    return {"free": Exit.DONE, "deadlock": Exit.DEADLOCK, "undecided": Exit.UNDECIDED}[analysis.verdict]


def _assumes(analysis: Analysis, whole: WholeWorms | None) -> str:
    """Return, in words, the assumptions of a proof on the hardware, the signs of ties and the length of worms."""
    if not analysis.free or whole is None or whole.payload is not None:
        return analysis.assumes
    return ", and ".join(filter(None, [
        analysis.assumes, f"no worm has more than {count(whole.longest, 'payload flit')}"]))


def _title(analysis: Analysis, whole: WholeWorms | None) -> str:
    """Return the title of the picture of a cycle; an empty text stands for the standard title."""
    if analysis.verdict == "undecided" and analysis.cycle:
        return f"undecided: a cycle of {len(analysis.cycle)}, whose worms can choose other channels"
    return "free of deadlock, if" if _assumes(analysis, whole) else ""


class _Worms(TypedDict):
    """Arguments that `check` and `explain` share."""

    relation: Relation
    classes: ConsumptionClasses | None
    others: list[tuple[Scheme, Relation]]
    vcs: int
    ejection: str
    seed: int
    tokens: bool | None


@dataclass(frozen=True)
class _Built:
    """Routing relations as built into routers with these hardware options."""

    network: Topology
    configuration: Configuration

    def relation(self, scheme: Scheme, name: str | None) -> Relation:
        """Return the relation that routes a scheme's worms. Without a name: the scheme's own."""
        return as_built(scheme.relation if name is None else load_relation(name), self.network,
                        self.configuration.ties, self.configuration.vc_classes)

    def other(self, text: str) -> tuple[Scheme, Relation]:
        """Return a scheme of ``--with`` and its relation."""
        name, relation = _split_relation(text)
        scheme = find_scheme(name, self.network)
        return self.configuration.as_sent(scheme), self.relation(scheme, relation)

    def whole(self, scheme: Scheme, others: Iterable[tuple[Scheme, Relation]], length: int | None) -> WholeWorms | None:
        """Return the limit of worms that deep buffers hold whole; None without replication or deep buffers."""
        schemes = [scheme, *(one for one, _ in others)]
        for one in schemes:
            require_buffers(one, deep=self.configuration.deep)
        return whole_worms(self.network, schemes, self.configuration, length)


def _split_relation(text: str) -> tuple[str, str | None]:
    """Split ``SCHEME[=RELATION]``. The scheme may have parameters: ``k-binomial:k=2``."""
    name, equals, relation = text.rpartition("=")
    known = relation in RELATIONS or user_file(relation) is not None
    if not equals or (name.partition(":")[0] in SCHEMES and ":" in name and not known):
        return text, None
    return name, relation


def report(analysis: Analysis, whole: WholeWorms | None = None) -> None:
    """Print an analysis as text."""
    def named(resources: Iterable[str]) -> str:
        return " ".join(resource_text(analysis.topology, one) for one in resources)

    free = "free of deadlock" if analysis.complete else "no cycle found"
    assumes = _assumes(analysis, whole)
    if assumes:
        free += f", if {assumes}"
    if not analysis.complete:
        free += (". This is not a proof: only multicasts to two destinations and a sample of larger multicasts were "
                 "analysed")
    cycle = f"a cycle of {len(analysis.cycle)} resources"
    found = {"free": free, "deadlock": cycle,
             "undecided": f"undecided. {analysis.searched[:1].upper()}{analysis.searched[1:]}"}[analysis.verdict]
    say(f"{', '.join(_subject(analysis))}: {found}")
    if analysis.verdict == "undecided" and analysis.cycle:
        say(f"{cycle}, whose worms can choose other channels:")
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
    least = "no number suffices"
    if analysis.dans is not None:
        found = str(analysis.dans) if len(analysis.dans) else "any channel for every worm"
        least = f"{max(1, len(analysis.dans))} {'suffices' if len(analysis.dans) < 2 else 'suffice'} ({found})"
        if analysis.classes_minimal is None:
            least += "; fewer may suffice"
    if analysis.slots:
        say(f"retransmission slots: the result for {analysis.slots} is valid for any number, because messages can "
            "occupy all slots")
    else:
        say(f"consumption classes: the scheme has {analysis.classes_required}. {least[0].upper()}{least[1:]}")
    if analysis.lemma1 is not None and analysis.ejection == "all":
        say(f"consumption channels that suffice without classes: {analysis.lemma1} at each ejection port, because it "
            "serves one link (Lemma 1, Boppana et al. 1998)")
    elif analysis.lemma1 is not None and analysis.corollary2 is None:
        say("consumption channels that suffice without classes, if each serves one virtual channel only: "
            f"{analysis.lemma1} by Lemma 1 (Boppana et al. 1998, 3.2.1; with one virtual channel of each class)")
    elif analysis.lemma1 is not None:
        say(f"consumption channels that suffice without classes, if each serves one link only: {analysis.lemma1} by "
            f"Lemma 1, {analysis.corollary2} by Corollary 2 (Boppana et al. 1998; with one virtual channel)")
    number, one = (("number", "a link") if analysis.vc_classes == 1
                  else (f"multiple of {analysis.vc_classes}", "its class on a link"))
    say(f"virtual channels: the result for {analysis.vcs} is valid for any {number}, because a worm takes any free "
        f"channel of {one}")


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
        "enough for all worms that can arrive at a node at the same time. So no worm waits for one"
        if analysis.consumed else
        "fewer than the worms that can arrive at a node at the same time. The result is valid for any such number"))


def report_explanation(explanation: Iterable[TheoremCheck]) -> None:
    """Print the statements of papers, one line each."""
    for one in explanation:
        paper = ""
        if one.paper is not None:
            paper = f" The paper: {one.paper}{' (differs)' if one.agrees is False else ''}."
        say(f"{one.statement} ([{one.source}], {one.place}): {one.sentence}.{paper}")


def _subject(analysis: Analysis) -> tuple[str, str]:
    """Return the analysed schemes and network, and the consumption channels, in words."""
    maps = dict.fromkeys(map(describe_classes, analysis.classes))
    return (f"{' and '.join(analysis.schemes)} on {analysis.topology.name}",
            f"{consumption_text(analysis.consumption, analysis.ejection)}, {' and '.join(maps)}")


def _journey(network: Topology, step: Dependency | HeldWorm) -> list[object]:
    return [network.node_name(step.source), " ".join(map(network.node_name, step.stops))]
