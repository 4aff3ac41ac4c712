"""All statements on the worms of some schemes: of [Boppana98], [Varavithya] or [Sivaram98], as they are copied."""

from collections.abc import Sequence
from dataclasses import replace

from ..consumption import ConsumptionClasses
from ..deadlock.channel_use import find_channel_use
from ..errors import WormcastError
from ..routing import Relation
from ..schemes import Scheme
from ..schemes.chain_tree import ChainTree
from ..schemes.multi_drop import MultiDropScheme
from ..token_groups import all_consumed
from ..topologies import Topology
from .acyclic_partitions import dans
from .bounds import bounds
from .class_bounds import need
from .minimal import minimal
from .minimal_links import minimal_by_links
from .packet_trees import pipelined
from .path_worm_bounds import chained
from .problem import Problem
from .statement import TheoremCheck
from .theorem1 import theorem1
from .trees import Copies, trees
from .unicasts import unicasts
from .up_down import Buffered, buffered

__all__ = ["explain"]


def explain(
    topology: Topology,
    scheme: Scheme,
    *,
    relation: Relation | None = None,
    classes: ConsumptionClasses | None = None,
    others: Sequence[tuple[Scheme, Relation | None]] = (),
    vcs: int = 2,
    ejection: str = "one",
    consumption: int | None = None,
    tokens: bool | None = None,
    seed: int = 0,
) -> list[TheoremCheck]:
    """Decide the statements of [Boppana98], sections 2 and 3, for what `check` takes; parameters and errors as there.

    Of worms that are copied where their ways part, those of [Varavithya], section 3: of one scheme alone, whatever
    ``tokens`` says, as all are of circles that tokens are there to break. Of those that are copied out of buffers,
    those of [Sivaram98], section 5, whether these hold whole worms or not, and of worms along chains what ``seed``
    draws shows of their number and their steps. Of one scheme whose worms network interfaces forward
    along k-binomial trees, those of [Sivaram98], section 4.3, besides.

    Those of section 3 are about consumption channels of a node, with one ejection port. Where a scheme's multicasts
    to two destinations need not show all its ways, what holds of those is not said to hold of all.
    """
    everybody = [(scheme, relation), *others]
    parts = [find_channel_use(one, topology, by, classes, seed) for one, by in everybody]
    copied = [part for part in parts if part.replication is not None]
    if copied:
        if len(parts) > 1:
            raise WormcastError(f"explain: {' and '.join(part.name for part in parts)} are given together, the "
                                f"statements of trees are of one scheme (which sends unicasts, too): {copied[0].name}")
        if copied[0].needs_whole_packet:
            along = chained(topology, scheme, seed) if isinstance(scheme, MultiDropScheme) else []
            return [*buffered(Buffered(copied[0], ejection)), *along]
        enough = all_consumed(topology, channels=consumption or 1, vcs=vcs, ejection=ejection)
        return trees(Copies(copied[0], ejection, enough))
    subject = Problem([one for one, _ in everybody], parts, vcs, ejection)
    rest = [*bounds(subject), *dans(subject), minimal(subject), minimal_by_links(subject), *need(subject)]
    if not subject.complete:
        rest = [replace(one, holds=None if one.holds else one.holds,
                           sentence=f"by multicasts to two destinations alone: {one.sentence}") for one in rest]
    forwarded = pipelined(topology, scheme) if (
        isinstance(scheme, ChainTree) and scheme.forwarded and not others) else []
    return [*forwarded, *unicasts(subject), theorem1(subject), *rest]
