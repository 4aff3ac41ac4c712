"""Checks of the papers' theorems for a scheme or a plan.

The statements of [Boppana98], sections 2 and 3, are decided for any scheme without replication whose deadlocks `check`
can analyse:

    from wormcast.algorithms import SCHEMES, explain, topology

    for statement in explain(topology("mesh:4x4"), SCHEMES["column-path"]):
        print(statement.sentence)

[Boppana98]: ``unicasts`` (shortest paths, trees), ``theorem1``, ``bounds`` (Definition 1, Lemma 1, Corollary 2),
``acyclic_partitions`` (Definition 2, Lemma 2), ``minimal`` and ``minimal_links`` (Definition 3). Also for [Boppana98]:
``class_bounds`` (the fewest consumption classes, and the corollaries), ``ranking`` (orders of channels that a reader
can check), ``boppana98_claims`` (the paper's own claims). [Varavithya]: ``trees``. [Hou], Definition 1 and Theorem 1,
for any plan: ``contention``. [Sivaram98]: ``up_down`` (worms replicated from buffers), ``path_worm_bounds`` (chains of
switches), ``packet_trees`` (packets that interfaces forward), ``conflicts`` (links shared in one step).

``problem`` is the input of the checks, ``statement`` their result. ``explain`` runs all checks except ``contention``
and ``conflicts``, which check a plan.
"""
