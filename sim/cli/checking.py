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
    Statement,
    Topology,
    WormcastError,
    check,
    explain,
    load_relation,
    user_file,
)
from wormcast.algorithms import topology as build_topology
from wormcast.algorithms.routing import as_built

from ..build.configuration import Configuration, is_on
from ..common.apart import require_apart
from ..common.figure_file import whole_picture
from ..common.text import consumption_text, resource_text
from ..drawing import draw_cycle, require_drawable
from .app import (
    Exit,
    Json,
    SchemeName,
    TopologyName,
    app,
    count,
    emit,
    find_scheme,
    say,
    stdout_for_results,
    table,
    user_files,
)
from .hardware import (
    Absorb,
    Classes,
    Consumption,
    Ejection,
    RelationOption,
    Ties,
    Tokens,
    VcClasses,
    chosen,
    describe_classes,
)

__all__ = ["report", "report_explanation"]


@app.command("check")
def check_(
    topology: TopologyName,
    scheme: SchemeName,
    consumption: Consumption = None,
    classes: Classes = None,
    ejection: Ejection = None,
    with_: Annotated[list[str] | None, typer.Option(
        "--with", metavar="SCHEME[=RELATION]", help="Worms of this scheme are in the network too; may be repeated.",
    )] = None,
    relation: RelationOption = None,
    vc_classes: VcClasses = None,
    ties: Ties = None,
    absorb: Absorb = None,
    tokens: Tokens = None,
    fits: Annotated[str | None, typer.Option(
        metavar="on|off", help="Whether a switch's buffers hold a whole worm (on, default), or a part of it (off); of "
        "path worms and trees in networks with up and down links.", show_default=False)] = None,
    explain_: Annotated[bool, typer.Option(
        "--explain", help="Say what the statements of Boppana et al. 1998, sections 2 and 3, come to here, beside the "
        "paper; of trees those of Varavithya and Mohapatra, section 3; of worms in networks with up and down links "
        "those of Sivaram et al. 1998, section 5.",
    )] = False,
    plot: Annotated[Path | None, typer.Option(
        help="Draw the network, and the cycle, into this .svg or .png.")] = None,
    vcs: Annotated[int, typer.Option(
        help="Virtual channels of each link; the answer is the same for all that its classes can share.")] = 2,
    seed: Annotated[int, typer.Option(help="Of the multicasts that a scheme's legs are tested with.", min=0)] = 0,
    json: Json = False,
) -> int:
    """Look for a cycle among the links and consumption channels that worms hold and ask for.

    Exit code 3 and a shortest cycle if there is one; 0 if no deadlock is possible; 6 if worms have a choice of channels
    and neither is found. Schemes whose worms stop on their way: for networks of up to 256 nodes; those whose worms are
    copied where ways part: up to 1024.
    """
    network = build_topology(topology)
    if plot:
        require_drawable(network, plot)
    ejection = chosen("ejection", ejection)
    built = _Built(network, ties=chosen("ties", ties), vc_classes=chosen("vc_classes", vc_classes),
                   configuration=Configuration(ejection=ejection, classes=classes, absorb=chosen("absorb", absorb)))
    if plot:
        others = {text: user_files(*_parted(text)) for text in with_ or ()}
        require_apart({**user_files(scheme, relation, topology),
                       **{f"{word} of --with {text}": file for text in others
                          for word, file in others[text].items()}}, {"--plot": plot})
    if explain_ and built.configuration.absorb != "off":
        raise WormcastError(f"explain: --absorb {built.configuration.absorb} is given, the statements are of worms "
                            "that go on while they are consumed")
    found = find_scheme(scheme, network)
    with stdout_for_results():
        worms: _Worms = {
            "relation": built.relation(found, relation),
            "classes": None if classes is None else ConsumptionClasses.parse(classes),
            "others": [built.other(text) for text in with_ or ()],
            "vcs": vcs, "ejection": ejection, "seed": seed,
            "tokens": None if chosen("tokens", tokens) is None else tokens == "on",
        }
        analysis = check(network, built.configuration.as_sent(found), consumption=consumption,
                         slots=built.configuration.slots, fits=None if fits is None else is_on("fits", fits), **worms)
        explanation = explain(network, found, consumption=consumption, **worms) if explain_ else None
    if plot:
        with whole_picture(plot) as target:
            draw_cycle(network, [step.resource for step in analysis.cycle], *target,
                       caption=(*filter(None, [analysis.assumes]), *_subject(analysis),
                                f"{count(vcs, 'virtual channel')} a link"), title=_title(analysis))
    if json:
        emit(
            analysis.to_dict() | {
                "explanation": None if explanation is None else [one.to_dict() for one in explanation],
                "plot": plot and str(plot),
            },
            {
                "topology": network.origin, "scheme": scheme, "relation": relation or found.relation.name,
                "with": with_ or [],
                "consumption": analysis.consumption, "classes": [str(one) for one in analysis.classes],
                "vcs": vcs, "vc_classes": built.vc_classes, "ties": built.ties, "ejection": analysis.ejection,
                "absorb": built.configuration.absorb, "tokens": tokens, "fits": fits,
            },
            seed,
        )
    else:
        report(analysis)
        report_explanation(explanation or ())
        if plot:
            say(f"picture: {plot}")
    return {"free": Exit.DONE, "deadlock": Exit.DEADLOCK, "undecided": Exit.UNDECIDED}[analysis.verdict]


def _title(analysis: Analysis) -> str:
    """Title of the picture, where there is more to say than that there is a cycle, or none."""
    if analysis.verdict == "undecided":
        return f"undecided: a cycle of {len(analysis.cycle)}, which worms may leave by other ways"
    return "free of deadlock, if" if analysis.assumes else ""


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
    ties: str
    vc_classes: str
    configuration: Configuration

    def relation(self, scheme: Scheme, name: str | None) -> Relation:
        """Find the relation that routes a scheme's worms; without a name the scheme's own."""
        return as_built(scheme.relation if name is None else load_relation(name), self.network, self.ties,
                        self.vc_classes)

    def other(self, text: str) -> tuple[Scheme, Relation]:
        """Find a scheme of ``--with``, and its relation."""
        name, relation = _parted(text)
        scheme = find_scheme(name, self.network)
        return self.configuration.as_sent(scheme), self.relation(scheme, relation)


def _parted(text: str) -> tuple[str, str | None]:
    """Part ``SCHEME[=RELATION]``; the scheme may have parameters, ``k-binomial:k=2``."""
    name, equals, relation = text.rpartition("=")
    known = relation in RELATIONS or user_file(relation) is not None
    if not equals or (name.partition(":")[0] in SCHEMES and ":" in name and not known):
        return text, None
    return name, relation


def report(analysis: Analysis) -> None:
    """Print an analysis for people."""
    def named(resources: Iterable[str]) -> str:
        return " ".join(resource_text(analysis.topology, one) for one in resources)

    free = "free of deadlock" if analysis.complete else (
        "no cycle, in multicasts to two destinations and some larger ones; no proof, as others may differ")
    if analysis.assumes:
        free += f", if {analysis.assumes}"
    cycle = f"a cycle of {len(analysis.cycle)} resources"
    found = {"free": free, "deadlock": cycle, "undecided": f"undecided; {analysis.searched}"}[analysis.verdict]
    say(f"{', '.join(_subject(analysis))}: {found}")
    if analysis.verdict == "undecided":
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
        _report_copies(analysis)
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


def _report_copies(analysis: Analysis) -> None:
    """Print what it depends on where worms are copied on their way."""
    if analysis.fits is not None:
        say("buffers: " + ("a switch holds a whole worm, so that no copy waits for another one" if analysis.fits else
                           "a switch holds a part of a worm, so that each copy keeps what it has while another waits"))
    elif analysis.tokens:
        say(f"tokens: {analysis.tokens}, of which each is shared by the switches of a group; who is copied at one of "
            "them holds it until the headers of all copies have arrived")
    else:
        say("tokens: none, so that a worm is copied wherever it finds a channel")
    say("consumption channels: " + (
        "the same for any number of them" if analysis.fits else
        "enough for all worms that may come to a node, so that none waits for one" if analysis.consumed else
        "fewer than worms that may come to a node; the same for any number of them that is too few"))


def report_explanation(explanation: Iterable[Statement]) -> None:
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
