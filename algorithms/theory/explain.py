"""Theorem checks for a scheme. The kind of the scheme's worms selects the papers: [Boppana98] and [Amnah],
[Varavithya], or [Sivaram98]."""

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
from .trees import TreeDependencies, trees
from .unicasts import networks_of_labels, unicasts
from .up_down import BufferedDependencies, buffered

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
    """Decide the papers' statements for schemes on a topology. The parameters mean the same as in `check`.

    - Worms without replication: [Boppana98], sections 2 and 3. With the relation R, also [Amnah], section 2.
    - Worms that switches replicate without deep buffers: [Varavithya], section 3, for a single scheme. ``tokens`` has
      no effect, as the statements of [Varavithya] are about the cycles that tokens break.
    - Worms that switches replicate from deep buffers: [Sivaram98], section 5, for buffers that store whole worms. If
      worms from deep buffers have no choice of channels, also [Sivaram98], section 3.4.2, for buffers that store parts
      of worms. For worms along chains of switches, also the numbers of worms and of steps, for random multicasts drawn
      by ``seed``.
    - A single scheme with k-binomial trees whose worms are forwarded by interfaces: also [Sivaram98], section 4.3.

    Section 3 of [Boppana98] is about the consumption channels of a node with one ejection port. If multicasts to two
    destinations are not known to cover all larger multicasts of a scheme, a statement of [Boppana98], section 3.2, that
    is true of multicasts to two destinations is reported as undecided.
    """
    pairs = [(scheme, relation), *others]
    parts = [find_channel_use(one, topology, by, classes, seed) for one, by in pairs]
    copied = [part for part in parts if part.replication is not None]
    if copied:
        if len(parts) > 1:
            raise WormcastError(f"explain: {' and '.join(part.name for part in parts)} are not valid together: the "
                                f"theorems about replicated worms are about one scheme. Allowed: {copied[0].name} "
                                "only.")
        if copied[0].needs_whole_packet:
            along = chained(topology, scheme, seed) if isinstance(scheme, MultiDropScheme) else []
            return [*buffered(BufferedDependencies(copied[0], ejection)), *along]
        enough = all_consumed(topology, channels=consumption or 1, vcs=vcs, ejection=ejection)
        return trees(TreeDependencies(copied[0], ejection, enough))
    subject = Problem([one for one, _ in pairs], parts, vcs, ejection)
    rest = [*bounds(subject), *dans(subject), minimal(subject), minimal_by_links(subject), *need(subject)]
    if not subject.complete:
        rest = [replace(one, holds=None if one.holds else one.holds,
                           sentence=f"for multicasts to two destinations only: {one.sentence}") for one in rest]
    forwarded = pipelined(topology, scheme) if (
        isinstance(scheme, ChainTree) and scheme.forwarded and not others) else []
    return [*forwarded, *unicasts(subject), theorem1(subject), *rest, *networks_of_labels(subject)]
