"""Deadlock analysis of schemes on a network."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from wormcast.algorithms import (
    RELATIONS,
    SCHEMES,
    Analysis,
    ConsumptionClasses,
    Dependency,
    Relation,
    Scheme,
    TheoremCheck,
    Topology,
    WormcastError,
    find_scheme,
    load_relation,
    user_file,
)
from wormcast.algorithms import topology as find_topology
from wormcast.algorithms.announcements import announce
from wormcast.algorithms.deadlock.check import check as analyse
from wormcast.algorithms.errors import flag_text, naming
from wormcast.algorithms.routing import as_built
from wormcast.algorithms.theory.explain import explain as evaluate
from wormcast.algorithms.typecheck import checked
from wormcast.hw.options import require_buffers

from ..build.configuration import ANALYSED, Configuration, describe_classes
from ..build.configurations import configured
from ..build.setup import name_of
from ..build.whole_worms import WholeWorms, whole_worms
from ..common.exit_codes import Exit
from ..common.progress import watched
from ..common.text import consumption_text, count, resource_text
from .arguments import known, require_at_least
from .option_types import HardwareOptions, RelationLike, SchemeLike, TopologyLike
from .results import CommandResult, names_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CheckResult", "check", "split_relation"]

#: Sentence that explains the verdict for traffic with replies.
REPLIES = ("replies add no dependency: a reply waits in its host's memory, which is unlimited, and holds no channel "
           "there; the host consumes messages meanwhile")

#: Sentence that explains the verdict for rows that are requested by control packets.
REQUESTS = ("requests for rows add no dependency: control packets are unicasts of the scheme; an interface takes each "
            "control packet without a row or an entry, and has a place for the answer; a refused source releases its "
            "rows")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CheckResult(CommandResult):
    """Result of `check`: whether worms can deadlock.

    Parameters
    ----------
    analysis : Analysis
        Verdict, cycle, worms, and the consumption classes that suffice.
    whole : WholeWorms or None
        Limit of the length of worms that deep buffers hold whole; None if buffers are not deep, or no worms are
        replicated in switches.
    explanation : tuple of TheoremCheck or None
        The papers' theorems for this network and scheme, on request.
    replies : str or None
        Why the verdict also holds if destinations reply to messages, on request.
    requests : str or None
        With ``admission="messages"``: why the verdict also holds with requests for rows.
    """

    analysis: Analysis
    whole: WholeWorms | None
    explanation: tuple[TheoremCheck, ...] | None
    replies: str | None = None
    requests: str | None = None

    @property
    def verdict(self) -> str:
        """``free``, ``deadlock`` or ``undecided``."""
        return self.analysis.verdict

    @property
    def exit_code(self) -> Exit:
        """Exit code of ``wormcast check``."""
        return {"free": Exit.DONE, "deadlock": Exit.DEADLOCK, "undecided": Exit.UNDECIDED}[self.verdict]

    @property
    def free(self) -> bool:
        """No deadlock is possible; if `complete` is False, no cycle was found in a sample, which is no proof."""
        return self.analysis.free

    @property
    def complete(self) -> bool:
        """All destination sets were analysed, so that `free` is a proof."""
        return self.analysis.complete

    @property
    def assumes(self) -> str:
        """Assumptions of the proof that no deadlock is possible, as a clause; empty if there are none.

        The proof may assume something about the hardware, the length of worms, or the direction in which hosts send
        worms where both ways around a ring are equally long.
        """
        if not self.free or self.whole is None or self.whole.payload is not None:
            return self.analysis.assumes
        return ", and ".join(filter(None, [
            self.analysis.assumes, f"no worm has more than {count(self.whole.longest, 'payload flit')}"]))

    @property
    def cycle(self) -> tuple[Dependency, ...]:
        """A shortest cycle of resources, each held by a worm that waits for the next; empty if there is none."""
        return self.analysis.cycle

    @property
    def finding(self) -> str:
        """The verdict in words."""
        analysis = self.analysis
        free = " ".join(filter(None, [self._free_words, self.sample]))
        if self.assumes:
            free += f", if {self.assumes}"
        return {"free": free, "deadlock": self.cycle_text,
                "undecided": f"undecided. {analysis.searched[:1].upper()}{analysis.searched[1:]}"}[self.verdict]

    @property
    def _free_words(self) -> str:
        return "free of deadlock" if self.complete else "no cycle found"

    @property
    def sample(self) -> str:
        """The analysed sample of multicasts as a clause; empty if all destination sets were analysed."""
        if self.complete:
            return ""
        drawn = f"{count(self.analysis.sampled, 'random multicast')} and " if self.analysis.sampled else ""
        return f"in {drawn}all multicasts to two destinations (a sample; no proof)"

    @property
    def cycle_text(self) -> str:
        """The length of the cycle in words."""
        return f"a cycle of {len(self.analysis.cycle)} resources"

    @property
    def subject(self) -> tuple[str, str]:
        """The analysed schemes and network, and the consumption channels, in words."""
        analysis = self.analysis
        maps = dict.fromkeys(map(describe_classes, analysis.classes))
        return (f"{' and '.join(analysis.schemes)} on {analysis.topology.name}",
                f"{consumption_text(analysis.consumption, analysis.ejection)}, {' and '.join(maps)}")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each resource of the cycle: a worm that holds it waits for the resource in the next row."""
        topology = self.analysis.topology
        return [{"resource": resource_text(topology, step.resource), "scheme": step.scheme,
                 "from": topology.node_name(step.source), "next stops": " ".join(map(topology.node_name, step.stops))}
                for step in self.analysis.cycle]

    def _figure(self) -> "Figure":
        """Return a drawing of the network and the cycle."""
        from ..drawing.cycle import cycle_sheet

        return cycle_sheet(*self.picture).figure

    @property
    def picture(self) -> tuple[Topology, list[str], tuple[str, ...], str]:
        """Topology, resources, caption and title of the drawing; see `cycle_sheet`."""
        analysis = self.analysis
        if self.verdict == "undecided" and analysis.cycle:
            title = f"undecided: a cycle of {len(analysis.cycle)}, whose worms can choose other channels"
        elif self.assumes:
            title = f"{self._free_words}, if"
        else:
            title = "" if self.complete or analysis.cycle else self._free_words
        sample = self.sample if self.free else ""
        caption = (*filter(None, [self.assumes, sample]), *self.subject,
                   f"{count(analysis.vcs, 'virtual channel')} a link")
        return analysis.topology, [step.resource for step in analysis.cycle], caption, title

    def _data(self) -> dict[str, Any]:
        return {**self.analysis.to_dict(), "assumes": self.assumes or None,
                "longest_whole": self.whole and self.whole.longest,
                "explanation": None if self.explanation is None else [one.to_dict() for one in self.explanation],
                "replies": self.replies, **({"requests": self.requests} if self.requests else {})}

    def _lines(self) -> list[str]:
        return [f"{', '.join(self.subject)}: {self.finding}", *filter(None, [self.replies, self.requests])]


Other = SchemeLike | tuple[SchemeLike, RelationLike | None]
"""Further scheme of `check`: ``SCHEME[=RELATION]``, a scheme, or a scheme and its relation."""


@checked
def check(
    topology: TopologyLike,
    scheme: SchemeLike,
    *,
    with_: str | Scheme | Sequence[Other] = (),
    relation: RelationLike | None = None,
    length: int | None = None,
    explain: bool = False,
    replies: bool = False,
    seed: int = 0,
    progress: bool = True,
    **hardware: Unpack[HardwareOptions],
) -> CheckResult:
    """Prove that a scheme cannot deadlock, or find a cycle of channels whose worms wait for one another.

    Parameters
    ----------
    topology, scheme, relation
        By name, as on the command line, or objects. Default relation: the scheme's.
    with_ : sequence
        Further schemes whose worms share the network: ``"SCHEME"``, ``"SCHEME=RELATION"``, a Scheme, or a pair of
        scheme and relation.
    length : int, optional
        Payload flits of the longest message. Default: no limit.
    explain : bool
        Evaluate the papers' theorems for this network and scheme.
    replies : bool
        Destinations reply to messages by unicasts of the scheme. The result then explains why its verdict holds with
        replies, too.
    seed : int
        Seed of the random multicasts that test the scheme's model, and of a sample that is analysed.
    progress : bool
        Announce long work on a terminal.
    **hardware
        Hardware options that affect a deadlock analysis, for example ``consumption=1``.
    """
    given = known("check", hardware, ("configuration", *ANALYSED))
    require_at_least(1, length=length)
    require_at_least(0, seed=seed)
    others: tuple[Other, ...] = (with_,) if isinstance(with_, str | Scheme) else tuple(with_)
    network = find_topology(topology)
    configuration, options = configured(given)
    built = _Built(network, configuration)
    if explain and configuration.absorb != "off":
        raise WormcastError(f"absorb: {configuration.absorb} is not valid with {flag_text('explain')}: the theorems "
                            "are about worms that are not absorbed on their way. Allowed: off.")
    found = find_scheme(scheme, network)
    if explain and configuration.deep and found.replication is not None and not found.needs_whole_packet:
        raise WormcastError(f"buffer_kind: deep is not valid with {flag_text('explain')}: the theorems about "
                            f"{found.name} assume shallow buffers. Allowed: shallow.")
    besides = [built.other(one) for one in others]
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
    with watched(progress), announce(f"checking {found.name} on {network.name}"):
        analysis = analyse(network, configuration.as_sent(found), consumption=consumption, slots=configuration.slots,
                           fits=None if whole is None else whole.fits, places=places, **worms)
        explanation = tuple(evaluate(network, found, consumption=consumption, **worms)) if explain else None
    named = names_of(network, scheme, relation or found.relation, **{"with": [_text(one) for one in others]},
                   length=length, named=given.get("configuration"),
                   **{name: vars(configuration)[name] for name in ANALYSED})
    named |= {"consumption": analysis.consumption, "classes": [str(one) for one in analysis.classes]}
    return CheckResult(configuration=named, seed=seed, files={"plot": None}, analysis=analysis, whole=whole,
                       explanation=explanation, replies=REPLIES if replies else None,
                       requests=REQUESTS if configuration.requests_rows else None)


def _text(other: Other) -> str:
    """Return a further scheme as the command line writes it."""
    if not isinstance(other, tuple):
        return name_of(other)
    scheme, relation = name_of(other[0]), name_of(other[1])
    return scheme if relation is None else f"{scheme}={relation}"


class _Worms(TypedDict):
    """Arguments that the functions `check` and `explain` of the algorithms share."""

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

    def relation(self, scheme: Scheme, name: RelationLike | None) -> Relation:
        """Return the relation with this name, for a scheme's worms; without a name, the scheme's own relation."""
        found = scheme.relation if name is None else name if isinstance(name, Relation) else load_relation(name)
        return as_built(found, self.network, self.configuration.ties, self.configuration.vc_classes)

    def other(self, one: Other) -> tuple[Scheme, Relation]:
        """Return a further scheme and its relation."""
        if isinstance(one, tuple) and len(one) != 2:
            raise WormcastError(f"with: {one!r} is not valid. Allowed: a scheme, or a pair of scheme and relation, "
                                "for example ('dual-path', 'hamiltonian').")
        name, relation = one if isinstance(one, tuple) else split_relation(one) if isinstance(one, str) else (one, None)
        with naming("--with"):
            scheme = find_scheme(name, self.network)
            return self.configuration.as_sent(scheme), self.relation(scheme, relation)

    def whole(self, scheme: Scheme, others: Iterable[tuple[Scheme, Relation]], length: int | None) -> WholeWorms | None:
        """Return the limit of the length of worms that deep buffers hold whole; see `CheckResult.whole`."""
        schemes = [scheme, *(one for one, _ in others)]
        for one in schemes:
            require_buffers(one, deep=self.configuration.deep)
        return whole_worms(self.network, schemes, self.configuration, length)


def split_relation(text: str) -> tuple[str, str | None]:
    """Split ``SCHEME[=RELATION]``. The scheme may have parameters: ``k-binomial:k=2``."""
    name, equals, relation = text.rpartition("=")
    known = relation in RELATIONS or user_file(relation) is not None
    if not equals or (name.partition(":")[0] in SCHEMES and ":" in name and not known):
        return text, None
    return name, relation
