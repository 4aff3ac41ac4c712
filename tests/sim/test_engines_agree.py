"""The two engines drive the same word on every link in every cycle."""

import random
from dataclasses import dataclass
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Value
from cases import slow

from wormcast.algorithms import topology
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.engines.bulk import BulkEngine, whole_words
from wormcast.sim.lowering import emit, operators

from .bench import host_of, network, send

# mesh, scheme, hardware: what needs a kernel of its own is from this list, the rest is drawn
HARDWARE = [
    ("mesh:1x2", "dual-path", {"vcs": 1, "buffer": 1, "consumption": 2, "flit_width": 7}),
    ("mesh:1x2", "individual", {"vcs": 2, "buffer": 5, "consumption": 1, "flit_width": 130}),
    ("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "consumption": 1, "delays": "fast"}),
    ("mesh:3x1", "dual-path", {"vcs": 1, "buffer": 3, "readers": "independent", "flit_width": 67}),
    ("mesh:1x3", "dual-path", {"vcs": 3, "buffer": 2, "readers": "independent", "consumption": 3, "flit_width": 3,
                               "ejected_header": "strip"}),
    ("mesh:2x2", "dual-path", {"vcs": 1, "buffer": 4, "flit_width": 3, "storage": "registers"}),
    ("mesh:2x2", "individual", {"vcs": 1, "buffer": 8, "consumption": 1, "delays": "fast", "flit_width": 64}),
    ("mesh:1x2", "dual-path", {"vcs": 1, "buffer": 16, "readers": "independent", "consumption": 1}),
    # slow to elaborate
    ("mesh:2x3", "dual-path", {"vcs": 1, "buffer": 2, "readers": "independent", "delays": "fast"}),
    ("mesh:3x2", "dual-path", {"vcs": 2, "buffer": 3, "flit_width": 7, "consumption": 4}),
    ("mesh:3x3", "dual-path", {"vcs": 1, "buffer": 1, "flit_width": 16, "consumption": 2}),
    ("mesh:3x3", "individual", {"vcs": 2, "buffer": 2}),
]
QUICK = HARDWARE[:8]
# interfaces and hosts with something to do
WAITING = [
    ("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "packet": 3, "t_ns": 2, "t_nr": 3, "t_hs": 1, "t_hr": 4}),
    ("mesh:1x2", "individual", {"vcs": 2, "buffer": 1, "consumption": 1, "flit_width": 20, "packet": 1, "queue": 1}),
    ("mesh:2x2", "dual-path", {"vcs": 2, "buffer": 4, "consumption": 3, "flit_width": 66, "packet": 4, "queue": 7,
                               "t_nr": 1, "injection_delay": 3}),
    ("mesh:2x2", "dual-path", {"vcs": 1, "buffer": 3, "flit_width": 20, "t_ns": 5, "packet": 2,
                               "readers": "independent"}),
    ("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "packet": 3, "t_nr": 3, "t_hr": 4, "receive_queue": 1}),
    ("mesh:1x2", "individual", {"vcs": 1, "buffer": 1, "consumption": 1, "flit_width": 20, "packet": 1,
                                "receive_queue": 3}),
    ("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "packet": 3, "t_ns": 2, "send_queue": 2}),
    ("mesh:2x2", "dual-path", {"vcs": 2, "buffer": 4, "packet": 4, "t_ns": 3, "t_nr": 5, "send_queue": 3,
                               "receive_queue": 2, "ni_processors": "one"}),
    ("mesh:1x2", "individual", {"vcs": 1, "buffer": 1, "consumption": 1, "flit_width": 20, "packet": 1,
                                "send_queue": 1, "receive_queue": 1, "ni_processors": "one",
                                "ni_order": "send-first"}),
    ("mesh:1x2", "individual", {"vcs": 1, "buffer": 2, "consumption": 1, "packet": 2, "t_ns": 3, "t_nr": 9,
                                "send_queue": "never-full", "receive_queue": "never-full"}),
]
# the other schemes, and several ports and links
OTHERS = [
    ("mesh:1x3", "u-mesh", {"vcs": 1, "buffer": 2, "consumption": 1, "ports": "all", "t_hr": 2}),
    ("mesh:1x3", "e-mcast", {"vcs": 1, "buffer": 1, "consumption": 3, "consumption_links": "separate"}),
    ("mesh:3x2", "column-path", {"vcs": 1, "buffer": 2, "flit_width": 7}),
    ("mesh:2x2", "multipath", {"vcs": 1, "buffer": 3, "ports": "all", "consumption_links": "separate", "flit_width": 8,
                               "readers": "independent"}),
]
ALL_SCHEMES = [
    *OTHERS,
    ("mesh:2x2x2", "dual-path", {"vcs": 1, "buffer": 2, "flit_width": 16}),
    ("mesh:2x1x3", "dual-path", {"vcs": 2, "buffer": 1, "readers": "independent", "consumption": 3}),
    ("mesh:3x3", "e-mcast", {"vcs": 1, "buffer": 2, "consumption": 4, "flit_width": 9}),
    ("mesh:3x2", "column-path-literal", {"vcs": 2, "buffer": 2, "ports": "all", "delays": "fast"}),
    ("mesh:2x3", "multipath-lmn", {"vcs": 1, "buffer": 4, "consumption": 4, "consumption_links": "separate",
                                   "packet": 3, "t_nr": 2, "flit_width": 20}),
    ("mesh:2x2x2", "u-mesh", {"vcs": 1, "buffer": 1, "consumption": 2, "t_hs": 1, "ports": "all"}),
    ("mesh:2x2x2", "e-mcast", {"vcs": 1, "buffer": 2, "consumption": 6, "readers": "independent"}),
]
LONG = [*QUICK, *QUICK, *HARDWARE[8:], *WAITING, *ALL_SCHEMES, *ALL_SCHEMES]


@dataclass
class Draw:
    mesh: str
    scheme: str
    options: dict[str, Any]
    messages: list[Any]
    stall: float
    seed: int
    relation: str | None = None

    def network(self):
        return network(self.mesh, self.scheme, tuple(sorted(self.options.items())), self.relation)

    def host(self):
        return host_of(self.network(), self.messages, stall=self.stall, seed=self.seed)


def draw(number, hardware):
    """A random case, the same whatever else runs: on each hardware in turn."""
    rng = random.Random(number)
    mesh, scheme, options = hardware[number % len(hardware)]
    nodes = range(topology(mesh).nodes)

    def message():
        source = rng.choice(nodes)
        others = [node for node in nodes if node != source]
        destinations = rng.sample(others, rng.randint(1, len(others)))
        return send(source, *destinations, length=rng.randint(1, 12), at=rng.randint(0, 12))

    # a host tells its worms, at most as many a message as there are destinations, apart by the bits of a flit
    most = min(2 * len(nodes), 2 ** options.get("flit_width", 32) // (len(nodes) - 1))
    messages = [message() for _ in range(rng.randint((most + 1) // 2, most))]
    return Draw(mesh, scheme, options, messages, rng.choice([0.0, 0.3, 0.9]), rng.randrange(100))


class Whole:
    """Looks like a link whose whole word is some other value: a link's credits, or a fault."""

    class Flit:
        def as_value(self):
            return Const(0, 1)

    vc, flit = (), Flit()

    def __init__(self, value):
        self.valid = Value.cast(value)


def is_link(word, words):
    return f"{word}.data" in words


def read_word(engine, kind, name):
    """The whole word of a link (with its data), or its credits, or a fault, in every instance."""
    if not is_link(name, engine.kernels[kind].outputs):
        block = engine.blocks[kind]
        return whole_words(block.output(name), block.n).tolist()
    return engine.output(kind, name).tolist()


def bulk_words(net, host, cycles):
    """Words of all outputs, {(kind, word): [instances]} per cycle."""
    engine = BulkEngine(net, host)
    seen = []
    # tables are filled before the first cycle: over a bus in the one engine, at once in the other
    names = [(kind, name) for kind, kernel in engine.kernels.items() for name in kernel.outputs
             if ".data" not in name and not name.startswith("tables_out")]
    for _ in range(cycles):
        seen.append({(kind, name): read_word(engine, kind, name) for kind, name in names})
        engine.run(1, beyond=True)
    return seen


def whole(value, part):
    """Return the word of a port's part: credits together with reports, a token line, or a field of its own."""
    if not part:
        return getattr(value, "token", value)
    return Cat(value.credit, value.arrived) if part == "credit" and hasattr(value, "arrived") else getattr(value, part)


def amaranth_words(net, host, cycles, names):
    seen = []

    def observe(cycle, look):
        assert cycle == len(seen)
        seen.append({(kind, word): [look(kind, instance, looked_up[kind, word])
                                    for instance in range(len(net.kinds[kind].instances))] for kind, word in names})

    engine = AmaranthEngine(net, host, observe=observe)
    looked_up = {}
    for kind, word in names:
        for component in engine.components[kind]:
            port, _, part = word.partition(".")
            value = getattr(component, port)
            looked_up[kind, word] = word
            if part or not hasattr(value, "flit"):
                looked_up[kind, word] = f"{word} whole"
                setattr(component, f"{word} whole", Whole(whole(value, part)))
    engine.run(cycles, beyond=True)
    return seen


def differences(ours, theirs):
    """Every (cycle, kind, word) in which two records are not the same."""
    assert len(ours) == len(theirs)
    return [(cycle, *name) for cycle, (mine, other) in enumerate(zip(ours, theirs, strict=True))
            for name in other if mine[name] != other[name]]


def compare(case, cycles):
    net, hosts = case.network(), [case.host(), case.host()]
    ours = bulk_words(net, hosts[0], cycles)
    theirs = amaranth_words(net, hosts[1], cycles, list(ours[0]))
    assert differences(ours, theirs) == []
    for name, mine, other in zip(hosts[0]._fields, *hosts, strict=True):
        assert (mine == other).all(), f"the hosts disagree on {name}"
    return ours


def check_draws(numbers, cycles, hardware):
    moved = 0
    for number in numbers:
        words = compare(draw(number, hardware), cycles)
        moved += sum(word & 1 for seen in words for values in seen.values() for word in values)
    assert moved > 50 * len(numbers), "next to nothing was sent: the comparison says little"


def test_engines_agree_on_every_word_in_every_cycle():
    """All flits and credits of all routers and interfaces are the same in both engines, in every cycle."""
    check_draws((3, 4), 60, QUICK)  # three nodes, of several depths and widths; the case of the mutants has others


def test_engines_agree_on_packets_and_overheads():
    """The same where interfaces cut packets and wait, and the hosts' processors take their time."""
    check_draws((0, 1), 60, WAITING)


# trees by receipts and all ports; worms by columns in test_adaptive_multicast
@pytest.mark.parametrize(("mesh", "scheme", "options"), [
    OTHERS[0], *(slow(*one) for one in OTHERS[1:]), slow("mesh:2x2", *OTHERS[0][1:])])
def test_engines_agree_on_other_schemes(mesh, scheme, options):
    """The same for worms of classes, trees by receipts, all ports and separate consumption links."""
    nodes = range(topology(mesh).nodes)
    messages = [send(source, *(node for node in nodes if node != source and (source + node) % 4), length=3 + source,
                     at=source % 3) for source in nodes]
    compare(Draw(mesh, scheme, options, messages, 0.2, 5), 45)


ABSORBING = [
    ("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "consumption": 1, "absorb": "1", "slot": 9, "flit_width": 16}),
    ("mesh:2x3", "column-path", {"vcs": 2, "buffer": 3, "consumption": 2, "absorb": "3", "slot": 12, "flit_width": 20,
                                 "packet": 3, "t_ns": 2, "t_nr": 1, "readers": "independent"}),
    ("mesh:2x2", "multipath", {"vcs": 1, "buffer": 4, "absorb": "host", "flit_width": 16, "t_hs": 3}),
]


@pytest.mark.parametrize(("mesh", "scheme", "options"), [ABSORBING[0], *(slow(*one) for one in ABSORBING[1:])])
def test_engines_agree_on_worms_that_are_absorbed(mesh, scheme, options):
    """The same where worms end at each destination, and are sent on from slots, or by hosts."""
    nodes = range(topology(mesh).nodes)
    messages = [send(source, *(node for node in nodes if node != source), length=3 + source, at=source % 3)
                for source in nodes]
    compare(Draw(mesh, scheme, options, messages, 0.2, 5), 90)


THIN = ("mesh:2x1x3", "dual-path", {"vcs": 1, "buffer": 1, "readers": "independent", "consumption": 2})


@pytest.mark.slow  # decoders of three coordinates are tried alone: test_decoders
@pytest.mark.parametrize("one", [THIN, ALL_SCHEMES[4], ALL_SCHEMES[5]], ids=lambda one: one[0])
def test_engines_agree_in_three_dimensions(one):
    """The same where routers compare three coordinates: worms up and down with stops on the way."""
    last = topology(one[0]).nodes - 1
    messages = [send(0, 1, 3, last, length=4), send(last, 4, 1, length=3), send(2, 0, 4, 3, length=5, at=4)]
    compare(Draw(*one, messages, 0.2, 1), 60)


@pytest.mark.slow  # headers of several flits, and packets, are in the draws above
def test_engines_agree_on_headers_that_are_kept():
    """The same for headers of two flits, four addresses to a flit, before each packet of two."""
    options = {"vcs": 1, "buffer": 2, "flit_width": 20, "packet": 2, "consumption": 2}
    compare(Draw("mesh:1x9", "dual-path", options, [send(0, *range(1, 9), length=7), send(8, 4, 2, length=5)], 0.2, 3),
            90)


@pytest.mark.slow
def test_engines_agree_on_a_3x3_mesh():
    """The same for all nodes of a 3x3 mesh that send at once."""
    compare(Draw(*HARDWARE[10], [send(node, *(other for other in (0, 4, 7) if other != node), length=4)
                                 for node in range(9)], 0.3, 5), 60)


@pytest.mark.slow
def test_engines_agree_in_200_draws():
    """The same, over 200 draws and longer runs."""
    check_draws(range(200), 80, LONG)


CASE = Draw("mesh:1x3", "dual-path", {"vcs": 1, "buffer": 2, "consumption": 1, "delays": "fast"},
            [send(0, 1, 2, length=6), send(2, 1, length=3), send(1, 0, 2, length=4, at=3)], 0.3, 1)


def test_case_of_the_mutants_agrees():
    compare(CASE, 40)


@pytest.mark.parametrize("mutant", [
    pytest.param((operators.OPERATORS, "&", "|"), marks=pytest.mark.slow),
    (emit.INSTRUCTIONS, "and", "or"),
    pytest.param((operators.OPERATORS, "|", "^"), marks=pytest.mark.slow),
    pytest.param((operators.OPERATORS, "==", "!="), marks=pytest.mark.slow),
], ids=lambda mutant: f"{mutant[1]} becomes {mutant[2]}")
def test_an_operator_lowered_as_another_is_noticed(mutant, monkeypatch, tmp_path):
    """With one operator of the lowering replaced by another, the engines no longer agree."""
    table, right, wrong = mutant
    monkeypatch.setenv("WORMCAST_CACHE", str(tmp_path))
    monkeypatch.setitem(table, right, table[wrong])
    with pytest.raises(AssertionError):
        compare(CASE, 40)
    assert list(tmp_path.iterdir()), "the kernels were not made anew"
