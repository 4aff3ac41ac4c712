"""What theorems of the papers come to for a scheme or a plan.

Sections 2 and 3 of [Boppana98], statement by statement, decided for any scheme whose deadlocks `check` can analyse:

    from wormcast.algorithms import SCHEMES, explain, topology

    for statement in explain(topology("mesh:4x4"), SCHEMES["column-path"]):
        print(statement.sentence)

One concept a file: ``statement`` (what is said), ``subject`` (of which worms), ``paper`` (what the paper says of them),
``unicasts`` (shortest ways, trees), ``theorem1``, ``bounds`` (Definition 1, Lemma 1, Corollary 2), ``dans``
(Definition 2, Lemma 2), ``minimal`` and ``minimal_links`` (Definition 3), ``need`` (the fewest classes that the
dependencies allow, and the corollaries), ``ranking`` (orders of channels that a reader can check), ``explain`` (all of
it). Beside it Definition 1 and Theorem 1 of [Hou], on trees of unicasts whose worms do not wait for each other, decided
for any plan: ``contention``. What [Sivaram98] says of worms that are copied out of buffers is ``up_down``, and of
chains ``chained``; of packets that network interfaces forward ``packets``, and of links that packets of one step share
``conflicts``.
"""
