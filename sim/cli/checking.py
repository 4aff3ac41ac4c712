"""``check``: can worms of these schemes deadlock at all?"""

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
        "--with", metavar="SCHEME[=RELATION]", help="Worms of this scheme are in the network too; may be repeated.",
    )] = None,
    relation: RelationOption = None,
    length: Annotated[int | None, typer.Option(
        help="Payload flits of the longest message: whether deep buffers hold whole worms, and interfaces that forward "
        "all packets of it, depends on that; default: as long as they may be.", min=1, show_default=False)] = None,
    explain_: Annotated[bool, typer.Option(
        "--explain", help="Say what the statements of Boppana et al. 1998, sections 2 and 3, come to here, beside the "
        "paper; of trees those of Varavithya and Mohapatra, section 3; of worms in networks with up and down links "
        "those of Sivaram et al. 1998, section 5, of packets that network interfaces forward those of its section 4.3.",
    )] = False,
    plot: Annotated[Path | None, typer.Option(
        help="Draw the network, and the cycle, into this .svg or .png.")] = None,
    seed: Annotated[int, typer.Option(
        help="Of the random multicasts that test a scheme's visit triples, and of those of --explain.", min=0)] = 0,
    *,
    given: Given,
    json: Json = False,
) -> int:
    """Exit code 3 and a shortest cycle if there is one; 0 if no deadlock is possible; 6 if worms have a choice of
    channels and neither is found. Schemes whose worms stop on their way: for networks of up to 256 nodes; those whose
    worms are copied where ways part: up to 1024.
    """
    network = build_topology(topology)
    if plot:
        require_drawable(network, plot)
    options = completed(given)
    configuration = Configuration(**options)
    built = _Built(network, configuration)
    if plot:
        others = {text: user_files(*_parted(text)) for text in with_ or ()}
        require_apart({**user_files(scheme, relation, topology),
                       **{f"{word} of --with {text}": file for text in others
                          for word, file in others[text].items()}}, {"--plot": plot})
    if explain_ and configuration.absorb != "off":
        raise WormcastError(f"explain: --absorb {configuration.absorb} is given, the statements are of worms "
                            "that go on while they are consumed")
    found = find_scheme(scheme, network)
    if explain_ and configuration.deep and found.replication is not None and not found.needs_whole_packet:
        raise WormcastError(f"explain: buffer-kind deep is given, the statements on {found.name} are of small buffers: "
                            "allowed is shallow")
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
    """Say what a proof assumes: of the hardware, of signs of ties, of the length of worms."""
    if not analysis.free or whole is None or whole.payload is not None:
        return analysis.assumes
    return ", and ".join(filter(None, [
        analysis.assumes, f"no worm has more than {count(whole.longest, 'payload flit')}"]))


def _title(analysis: Analysis, whole: WholeWorms | None) -> str:
    """Title of the picture, where there is more to say than that there is a cycle, or none."""
    if analysis.verdict == "undecided" and analysis.cycle:
        return f"undecided: a cycle of {len(analysis.cycle)}, which worms may leave by other ways"
    return "free of deadlock, if" if _assumes(analysis, whole) else ""


class _Worms(TypedDict):
    """What `check` and `explain` are told alike."""

    relation: Relation
    classes: ConsumptionClasses | None
    others: list[tuple[Scheme, Relation]]
    vcs: int
    ejection: str
    seed: int
    tokens: bool | None


@dataclass(frozen=True)
class _Built:
    """What routers make of relations: the hardware options on which they depend."""

    network: Topology
    configuration: Configuration

    def relation(self, scheme: Scheme, name: str | None) -> Relation:
        """Find the relation that routes a scheme's worms; without a name the scheme's own."""
        return as_built(scheme.relation if name is None else load_relation(name), self.network,
                        self.configuration.ties, self.configuration.vc_classes)

    def other(self, text: str) -> tuple[Scheme, Relation]:
        """Find a scheme of ``--with``, and its relation."""
        name, relation = _parted(text)
        scheme = find_scheme(name, self.network)
        return self.configuration.as_sent(scheme), self.relation(scheme, relation)

    def whole(self, scheme: Scheme, others: Iterable[tuple[Scheme, Relation]], length: int | None) -> WholeWorms | None:
        """Find which worms the switches' buffers hold whole, where they are copied out of deep ones."""
        schemes = [scheme, *(one for one, _ in others)]
        for one in schemes:
            require_buffers(one, deep=self.configuration.deep)
        return whole_worms(self.network, schemes, self.configuration, length)


def _parted(text: str) -> tuple[str, str | None]:
    """Part ``SCHEME[=RELATION]``; the scheme may have parameters, ``k-binomial:k=2``."""
    name, equals, relation = text.rpartition("=")
    known = relation in RELATIONS or user_file(relation) is not None
    if not equals or (name.partition(":")[0] in SCHEMES and ":" in name and not known):
        return text, None
    return name, relation


def report(analysis: Analysis, whole: WholeWorms | None = None) -> None:
    """Print an analysis for people."""
    def named(resources: Iterable[str]) -> str:
        return " ".join(resource_text(analysis.topology, one) for one in resources)

    free = "free of deadlock" if analysis.complete else (
        "no cycle, in multicasts to two destinations and some larger ones; no proof, as others may differ")
    assumes = _assumes(analysis, whole)
    if assumes:
        free += f", if {assumes}"
    cycle = f"a cycle of {len(analysis.cycle)} resources"
    found = {"free": free, "deadlock": cycle, "undecided": f"undecided; {analysis.searched}"}[analysis.verdict]
    say(f"{', '.join(_subject(analysis))}: {found}")
    if analysis.verdict == "undecided" and analysis.cycle:
        say(f"there is {cycle}, that worms may leave by other ways:")
    if analysis.worms:
        say(f"its worms have a choice, but all that they may take is held, by {count(len(analysis.worms), 'worm')}:")
        table(["holds", "waits for any of", "a worm of", "from", "that goes on to"],
              [[named(worm.holds), named(worm.waits), worm.scheme, *_journey(analysis.topology, worm)]
               for worm in analysis.worms])
    if analysis.cycle:
        say("each is held by a worm that asks for the next one, the last for the first:")
        table(["resource", "held by a worm of", "from", "that goes on to"],
              [[named([step.resource]), step.scheme, *_journey(analysis.topology, step)]
               for step in analysis.cycle])
    if analysis.tokens is not None or analysis.fits is not None:
        _report_copies(analysis, whole)
        return
    least = "no number will do"
    if analysis.dans is not None:
        found = str(analysis.dans) if len(analysis.dans) else "any channel for every worm"
        least = f"{max(1, len(analysis.dans))} will do ({found})"
        if analysis.classes_minimal is None:
            least += ", whether fewer do is not known"
    if analysis.slots:
        say(f"retransmission slots: the same for {analysis.slots} as for any number, as messages hold all of them")
    else:
        say(f"consumption classes: {analysis.classes_required} stated, {least}")
    if analysis.lemma1 is not None and analysis.ejection == "all":
        say(f"consumption channels that suffice without classes: {analysis.lemma1} at each ejection port, as it serves "
            "one link alone (Lemma 1, Boppana et al. 1998)")
    elif analysis.lemma1 is not None and analysis.corollary2 is None:
        say("consumption channels that suffice without classes, if each serves one virtual channel alone: "
            f"{analysis.lemma1} by Lemma 1 (Boppana et al. 1998, 3.2.1; with one virtual channel of each class)")
    elif analysis.lemma1 is not None:
        say(f"consumption channels that suffice without classes, if each serves one link alone: {analysis.lemma1} by "
            f"Lemma 1, {analysis.corollary2} by Corollary 2 (Boppana et al. 1998; with one virtual channel)")
    number, one = (("number", "a link") if analysis.vc_classes == 1
                  else (f"multiple of {analysis.vc_classes}", "its class on a link"))
    say(f"virtual channels: the same for {analysis.vcs} as for any {number}, as a worm takes any one of {one}")


def _report_copies(analysis: Analysis, whole: WholeWorms | None) -> None:
    """Print what it depends on where worms are copied on their way."""
    if whole is not None:
        room = f"{count(whole.buffer // whole.chunk, 'row')} of {count(whole.chunk, 'flit')}"
        worm = f"up to {count(whole.header, 'header flit')}"
        if whole.payload is not None:
            worm += f" and {count(whole.payload, 'payload flit')}, {count(whole.rows or 0, 'row')}"
        say(f"buffers: {room} hold " + (
            f"a whole worm ({worm}), so that no copy waits for another one" if whole.fits else
            f"a part of a worm ({worm}), so that each copy keeps what it has while another waits"))
    elif analysis.tokens:
        say(f"tokens: {analysis.tokens}, of which each is shared by the switches of a group; who is copied at one of "
            "them holds it until the headers of all copies have arrived")
    else:
        say("tokens: none, so that a worm is copied wherever it finds a channel")
    say("consumption channels: " + (
        "the same for any number of them" if analysis.fits else
        "enough for all worms that may come to a node, so that none waits for one" if analysis.consumed else
        "fewer than worms that may come to a node; the same for any number of them that is too few"))


def report_explanation(explanation: Iterable[TheoremCheck]) -> None:
    """Print statements of the paper for people, a line each."""
    for one in explanation:
        paper = ""
        if one.paper is not None:
            paper = f"; the paper: {one.paper}{', which differs' if one.agrees is False else ''}"
        say(f"{one.statement} ([{one.source}], {one.place}): {one.sentence}{paper}")


def _subject(analysis: Analysis) -> tuple[str, str]:
    """Say what was analysed, and with which consumption channels."""
    maps = dict.fromkeys(map(describe_classes, analysis.classes))
    return (f"{' and '.join(analysis.schemes)} on {analysis.topology.name}",
            f"{consumption_text(analysis.consumption, analysis.ejection)}, {' and '.join(maps)}")


def _journey(network: Topology, step: Dependency | HeldWorm) -> list[object]:
    return [network.node_name(step.source), " ".join(map(network.node_name, step.stops))]
