"""Worms that are copied on their way: they come to each destination once, and with tokens they never deadlock."""

import numpy as np
import pytest
from cases import slow, some

from wormcast.algorithms import find_scheme, topology
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.network import Network
from wormcast.sim.engines import bulk as bulk_engine
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.deadlock import find_deadlock
from wormcast.sim.engines.faults import find_faults
from wormcast.sim.engines.port_packing import data_word
from wormcast.sim.engines.token_meter import require_tokens, token_counts
from wormcast.sim.host import lay_out

from ..proofs.mutants import Mutant
from .bench import bulk, check_receipts, finish, left_over, send
from .test_deadlock_free import Full, keep_full
from .test_engines_agree import Draw, compare


def mixed(nodes, count, random, *, longest=40, within=200, unicasts=0.5):
    """Draw unicasts and multicasts to any number of nodes, in the order of their times."""
    found = []
    for at in sorted(random.integers(0, within, count).tolist()):
        source, *others = random.permutation(nodes).tolist()
        few = 1 if random.random() < unicasts else int(random.integers(1, nodes))
        found.append(send(source, *others[:few], length=int(random.integers(1, longest + 1)), at=at))
    return found


def run_with_one_token(engine, cycles):
    """Run so many cycles; in each of them every ring has one token, which one of a switch holds, or none."""
    network = engine.network
    for _ in range(cycles):
        require_tokens(engine)
        for kind, router in network.routers.items():
            if router.has_tokens:
                held, taken = (engine.register(kind, f"token.{name}") for name in ("holder", "in_use"))
                assert [one.bit_count() for one in held.tolist()] == taken.tolist()
        engine.run(1, beyond=True)


def test_a_token_that_is_lost_or_doubled_is_noticed():
    engine = bulk("min:b=2,stages=2", "atbm", [send(0, 1, 2, length=5)], vcs=1, consumption=1, buffer=4, flit_width=16)
    engine.run(30, beyond=True)
    require_tokens(engine)
    ring = engine.network.rings[0, 0]
    assert token_counts(engine)[0, 0].tolist() == [1]
    kind = engine.network.home(ring[0]).kind
    kernel, block = engine.kernels[kind], engine.blocks[kind]
    for taken, count in ((1, len(ring)), (0, 0)):
        kernel.write(block, "token.in_use", taken)
        kernel.write(block, "token.token_out__token", 0)
        with pytest.raises(RuntimeError, match=rf"^token:0:0: {count} tokens are not valid in lane 0$"):
            require_tokens(engine)


# once to each destination --------------------------------------------------------------------------------------

MODES = ("atbm", "tree-synchronous", "tree-serial")
OPTIONS = [
    {"vcs": 1, "consumption": 1, "buffer": 1}, {"vcs": 2, "consumption": 1, "buffer": 3, "headers": 2},
    {"vcs": 1, "consumption": 4, "buffer": 2}, {"vcs": 3, "consumption": 12, "buffer": 4, "delays": "fast"},
    {"vcs": 2, "consumption": 2, "buffer": 8, "consumption_links": "separate", "ejection": "all"},
    {"vcs": 1, "consumption": 1, "buffer": 4, "headers": 4, "storage": "registers"},
]
NETWORKS = [f"min:b=2,stages={stages}" for stages in (3, 4, 5, 6)] + ["min:b=4,stages=2", "min:b=4,stages=3"] + [
    f"min:b=2,stages=4,kind={kind}" for kind in ("cube", "omega", "butterfly")]
QUICK = [("min:b=2,stages=3", "atbm", 4), ("min:b=2,stages=3", "tree-serial", 0),
         ("min:b=2,stages=3", "atbm:unicasts=tag", 5)]
#: Unicasts by routing tag beside bit strings.
TAGS = [("min:b=2,stages=2", "tree-serial:unicasts=tag", 1), ("min:b=2,stages=3", "tree-synchronous:unicasts=tag", 1),
        ("min:b=4,stages=2", "atbm:unicasts=tag", 3), ("min:b=2,stages=4,kind=omega", "tree-serial:unicasts=tag", 4),
        ("min:b=2,stages=4,kind=cube", "atbm:unicasts=tag", 5), ("min:b=4,stages=3", "atbm:unicasts=tag", 4)]
ALL = [(name, mode, (3 * n + m) % 6) for n, name in enumerate(NETWORKS) for m, mode in enumerate(MODES)]


def hardware(name, number):
    """Options by their number, with a width for their header flits."""
    options = dict(OPTIONS[number])
    headers = options.pop("headers", 1)
    return {**options, "flit_width": -(-(topology(name).nodes + 1) // headers)}


@pytest.mark.parametrize(("name", "mode", "number"), [
    *QUICK, *(slow(*case) for case in [("min:b=2,stages=3", "atbm", 1), *ALL, *TAGS] if case not in QUICK)])
def test_every_destination_gets_each_message_once(name, mode, number):
    """Whole, in any mix with unicasts, with hosts that stall; then the network is empty, each ring with its token."""
    random = np.random.default_rng(number)
    for stall in (0.0, 0.3):
        messages = mixed(topology(name).nodes, 120, random)
        engine = bulk(name, mode, messages, stall=stall, seed=number, **hardware(name, number))
        finish(engine, 200_000)
        assert not left_over(engine)
        require_tokens(engine)
        assert not find_faults(engine)


# the same for the engines --------------------------------------------------------------------------------------

AGREE = [("min:b=2,stages=2", "atbm", 0), ("min:b=2,stages=2", "tree-serial", 2),
         ("min:b=2,stages=2", "tree-synchronous", 1)]


@pytest.mark.parametrize(("name", "mode", "number"), [
    AGREE[0], ("min:b=2,stages=2", "atbm:unicasts=tag", 1), *(slow(*case) for case in [*AGREE[1:], *TAGS[:-1]]),
    *(slow(name, mode, number) for name, mode, number in ALL if topology(name).nodes <= 16)])
def test_engines_agree_on_trees(name, mode, number):
    """The same word on every link, credit, report and token line in every cycle."""
    random = np.random.default_rng(7)
    messages = mixed(topology(name).nodes, 20, random, longest=6, within=20)
    seen = compare(Draw(name, mode, hardware(name, number), messages, 0.2, 3), 90)
    words = {word for _, word in seen[0]}
    assert any(word.startswith("token_out") for word in words)
    assert any(word.endswith("_in.credit") for word in words)
    assert sum(word & 1 for cycle in seen for values in cycle.values() for word in values) > 150


# one token -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mode"), [("min:b=2,stages=3", "atbm"), slow("min:b=2,stages=4", "tree-serial"),
                                            slow("min:b=4,stages=2", "tree-synchronous")])
def test_each_ring_has_one_token_in_every_cycle(name, mode):
    messages = mixed(topology(name).nodes, 60, np.random.default_rng(3), within=100)
    engine = bulk(name, mode, messages, **hardware(name, 0))
    run_with_one_token(engine, 700)
    finish(engine, 100_000)


def spoil(engine, kind, port, instance, random, what):
    """Change a flit that is on a link, if one is there; whether it was."""
    block = engine.blocks[kind]
    word, data = block.output(f"{port}_out"), block.output(data_word(f"{port}_out"))
    if not word[instance] & 1:
        return False
    marks = engine.network.routers[kind].outputs[0].vcs  # one virtual channel: head, then tail
    assert marks == 1
    if what == "data":
        data[instance] ^= 1 << int(random.integers(1, engine.network.configuration.flit_width))
    else:
        word[instance] ^= {"head": 2, "tail": 4}[what]
    return True


@pytest.mark.slow  # garbage at a switch with tokens: test_tree_switch
@pytest.mark.parametrize("mode", ["atbm", slow("tree-synchronous"), slow("tree-serial")])
def test_a_token_outlives_errors_on_the_wire(mode):
    """Marks and bits of destinations change on links between switches: each ring keeps its one token in every cycle.

    Worms that were hit are lost, and with them no credit. The report bit of a header stays as it is: like the wires of
    tokens and reports it is trusted.
    """
    name, options = "min:b=2,stages=3", {"vcs": 1, "consumption": 1, "buffer": 4, "flit_width": 16}
    hit = 0
    for seed in range(6):
        random = np.random.default_rng(seed)
        engine = bulk(name, mode, mixed(8, 60, random, within=150), **options)
        kinds = [kind for kind, router in engine.network.routers.items() if router.ejection]
        for _ in range(40):
            run_with_one_token(engine, int(random.integers(1, 12)))
            kind = kinds[int(random.integers(len(kinds)))]
            port = engine.network.routers[kind].outputs[int(random.integers(2))].name
            hit += spoil(engine, kind, port, int(random.integers(engine.network.count(kind))), random,
                         ("head", "tail", "data")[int(random.integers(3))])
        run_with_one_token(engine, 400)
        assert find_faults(engine)
    assert hit > 40


# never a deadlock ----------------------------------------------------------------------------------------------

#: Somewhat more than each can carry: multicasts wait for tokens.
FULL = {
    "atbm, 64 nodes": Full("atbm", 500, {"vcs": 1, "buffer": 1, "consumption": 1, "flit_width": 65},
                           "min:b=2,stages=6", most=63, unicasts=0.8, busy=0.1),
    "atbm, a channel for each input": Full("atbm", 900, {"vcs": 2, "buffer": 3, "consumption": 4, "flit_width": 33},
                                           "min:b=2,stages=6", most=63, unicasts=0.8, busy=0.1),
    "tree-synchronous": Full("tree-synchronous", 900, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 65},
                             "min:b=4,stages=3", most=63, unicasts=0.8, busy=0.1),
    "tree-serial, omega": Full("tree-serial", 400, {"vcs": 2, "buffer": 4, "consumption": 1, "flit_width": 17},
                               "min:b=2,stages=4,kind=omega", most=15, unicasts=0.5, busy=0.1),
    "atbm, tags": Full("atbm:unicasts=tag", 500, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 22},
                       "min:b=2,stages=6", most=63, unicasts=0.8, busy=0.1),
    "atbm, 256 nodes of 2x2": Full("atbm", 420, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 257},
                                   "min:b=2,stages=8", most=128, unicasts=0.8, busy=0.1),
    "atbm, 256 nodes of 4x4": Full("atbm", 700, {"vcs": 1, "buffer": 4, "consumption": 1, "flit_width": 257},
                                   "min:b=4,stages=4", most=128, unicasts=0.8, busy=0.1),
}


@pytest.mark.parametrize("name", some(FULL, "tree-serial, omega"))
def test_with_tokens_trees_never_deadlock(name):
    """200 000 cycles, near saturation and beyond it: everything is delivered, and nothing is left in the networks."""
    assert keep_full(FULL[name], cycles=200_000 // 16, batches=1, seed=1) >= 200_000


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_with_tokens_trees_never_deadlock_in_ten_million_cycles(name):
    """The same, all together: 16 networks for 110 000 cycles in each of six batches, empty after each; what the hosts
    know of a batch is forgotten before the next."""
    assert keep_full(FULL[name], cycles=110_000, batches=6, seed=2) >= 10_000_000


# deadlocks -----------------------------------------------------------------------------------------------------


def jam(mode, seed, **options):
    """Run multicasts that all begin at once on eight nodes: the engine, or the deadlock if not all are delivered."""
    built = topology("min:b=2,stages=3")
    net = Network(built, find_scheme(mode, built), Configuration(**{
        "vcs": 1, "consumption": 1, "buffer": 4, "flit_width": 25} | options))
    random = np.random.default_rng(seed)
    source, ends, destinations = random.integers(0, 8, 60), [0], []
    for one in source.tolist():
        others = random.permutation([node for node in range(8) if node != one])[:random.integers(2, 7)]
        destinations += others.tolist()
        ends.append(len(destinations))
    worms = net.scheme.batch(built, source, np.array(ends), np.array(destinations))
    engine = BulkEngine(net, lay_out(net, np.zeros(60, np.int64), np.full(60, 30), worms))
    engine.run(20_000)
    check_receipts(engine.host)
    return engine if not engine.host.left.any() else find_deadlock(engine)


#: The token is given back when the worm's own copies are under way, before their headers have arrived below.
EARLY = Mutant("tree.worm.TreeWorm._report", "self.splits & ~awaited.any()",
               "self.splits & Cat(~self.targets[o] | owned[o] for o in range(len(self.targets))).all()")


def test_a_token_that_is_released_early_does_not_keep_trees_from_deadlock(monkeypatch):
    """With the token free when all headers have arrived, the same is delivered."""
    seeds = range(6)
    assert all(isinstance(jam("atbm", seed), BulkEngine) for seed in seeds)
    sources = bulk_engine._sources()
    monkeypatch.setattr(bulk_engine, "_sources", lambda: f"{sources} early")  # kernels of their own
    with EARLY.applied():
        assert not all(isinstance(jam("atbm", seed), BulkEngine) for seed in seeds)


@pytest.mark.parametrize("mode", ["atbm", slow("tree-synchronous"), slow("tree-serial")])
def test_without_tokens_trees_deadlock_and_with_them_none_does(mode):
    without = [jam(mode, seed, tokens="off") for seed in range(6)]
    assert any(getattr(found, "cycle", None) for found in without)
    assert all(isinstance(jam(mode, seed), BulkEngine) for seed in range(6))
