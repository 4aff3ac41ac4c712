"""Worms of schemes: each fault is refused in a sentence, before anything uses the arrays."""

import textwrap

import numpy as np
import pytest

from wormcast.algorithms import SCHEMES, WormcastError, load_scheme, topology
from wormcast.algorithms.host_retransmission import AbsorbedByHosts
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.schemes import base
from wormcast.sim import Configuration, Message, run

MESH = topology("mesh:3x3")

SCHEME = """
    import numpy as np
    from wormcast.algorithms import SCHEMES, Scheme, Worms

    OURS = SCHEMES["u-mesh"]

    class Mine(Scheme):
        name = "mine"
        kinds = ("mesh",)
        relation, header = OURS.relation, OURS.header

        def classes_on(self, topology):
            return OURS.classes_on(topology)

        def worms(self, topology, messages):
            sources, destination_offsets, destinations = messages
            worms = OURS.worms(topology, messages)
            f = {{name: array if array is None else array.copy() for name, array in vars(worms).items()}}
            {change}
            return Worms(**f)
"""


def load(folder, change):
    path = folder / "mine.py"
    path.write_text(textwrap.dedent(SCHEME).format(change=change))
    return load_scheme(str(path))


#: Two multicasts, of 0 to 1, 2, 3 and of 4 to 8. The worms of u-mesh: 0 to 1, 0 to 3, 1 to 2; 4 to 8.
MESSAGES = [0, 4], [0, 3, 4], [1, 2, 3, 8]

WHOLE = "^scheme mine: the array "
FIRST, SECOND = (rf"^scheme mine, a multicast from {nodes}: " for nodes in (
    r"0 \(0.0\) to 1 \(0.1\), 2 \(0.2\), 3 \(1.0\)", r"4 \(1.1\) to 8 \(2.2\)"))
NONE_YET = ("f = {k: f[k][:0] for k in ('source', 'rank', 'after', 'destinations')} | "
            "{'message_offsets': np.zeros(3, np.int64), 'destination_offsets': np.zeros(1, np.int64)}")

FAULTS = [
    ("f['destinations'] = f['destinations'].astype(float)", WHOLE + r"destinations .* float64 \[4\]. Needed: int32"),
    ("f['source'] = f['source'].tolist()", WHOLE + r"source of its worms is of type list. Needed: int32 \[worms\]"),
    ("f['source'] = f['source'].astype(object)", WHOLE + r"source of its worms is object \[4\]. Needed: int32 \[w"),
    ("f['source'] = f['source'][None]", WHOLE + r"source of its worms is int32 \[1, 4\]. Needed: int32 \[worms\]"),
    ("f['rank'] = None", WHOLE + r"rank of its worms is of type NoneType. Needed: int32 \[4\]"),
    ("f['after'] = f['after'].astype(np.uint64)", WHOLE + r"after of its worms is uint64 \[4\]. Needed: int64 \[4\]"),
    ("f['steps'] = np.ones(1, np.int32)", WHOLE + r"steps of its worms is int32 \[1\]. Needed: int32 \[4\]"),
    ("f['signs'] = np.ones(1, np.int64)", WHOLE + r"signs of its worms is int64 \[1\]. Needed: int64 \[4\]"),
    ("f['message_offsets'] = f['message_offsets'][:-1]", WHOLE + r"message_offsets .* int64 \[2\]. Needed: int64 \[3"),
    ("f['message_offsets'][-1] -= 1", WHOLE + "message_offsets .* Needed: numbers from 0 to 4 that never fall"),
    ("f['destination_offsets'][1] = 9", WHOLE + "destination_offsets .* Needed: numbers from 0 to .* that never fall"),
    ("f['source'][0] = 5000", FIRST + "worm 0 is sent by node 5000 .array source.. Allowed: 0 to 8"),
    ("f['destinations'][0] = -1", FIRST + "worm 0 visits node -1 .array destinations.. Allowed: 0 to 8"),
    ("f['signs'] = np.full(4, 4)", FIRST + "worm 0 has signs 4 .array signs.. Allowed: 0 to 3"),
    ("f['steps'] = np.zeros(4, np.int32)", FIRST + "worm 0 has step 0 .array steps.. Allowed: 1 to "),
    ("f['tier'][3] = 9", SECOND + "worm 0 has tier 9 .array tier.. Allowed: 0 .sent by a host., 1 "),
    (NONE_YET, FIRST + "node 1 is visited 0 times. Needed: 1 visit"),
    ("f['destinations'][1] = f['destinations'][0]", FIRST + r"node \d is visited \d times?. Needed: 1"),
    ("f['destinations'][-1] = 4", SECOND + "node 4 is visited 1 time. Needed: no visit, as it is not a destination"),
    ("f['message_offsets'][1] -= 1", FIRST + r"node \d is visited 0 times. Needed: 1"),
    ("f['destination_offsets'][1] = 0", FIRST + "worm 0 has no destination. Needed: 1 or more"),
    ("f['tier'][0] = 1", FIRST + "worm 0 is forwarded by a network interface, and depends on no worm"),
    ("f['source'][-1] = 5", SECOND + "worm 0 waits for no other worm, and has source 5. Needed: 4"),
    ("f['after'][-1] = 0", SECOND + "worm 0 depends on worm -3 .array after.. Allowed: an earlier worm"),
    ("f['after'][0] = 0", FIRST + "worm 0 depends on worm 0 .array after.. Allowed: an earlier worm"),
    ("f['after'][0] = 2", FIRST + "worm 0 depends on worm 2 .array after.. Allowed: an earlier worm"),
    ("f['after'][0] = 10**9", FIRST + "worm 0 depends on worm 1000000000 .array after.. Allowed: an earlier worm"),
    ("f['after'][0] = -7", FIRST + "worm 0 depends on worm -7 .array after.. Allowed: an earlier worm"),
    ("f['after'][1] = 0", FIRST + "worm 1 is sent by node 0, and depends on worm 0, which does not reach node 0"),
    ("f['rank'][:] = 0", FIRST + "node 0 sends 2 worms of rank 0. Allowed: one"),
    ("f['rank'] -= 5", FIRST + "worm 0 has rank -5 .array rank.. Allowed: 0 to 1, as node 0 sends 2 worms"),
    ("return worms.source", "^scheme mine: worms returns a value of type ndarray. Needed: Worms"),
]


@pytest.mark.parametrize(("change", "sentence"), FAULTS)
def test_worms_that_are_not_valid_are_refused(change, sentence, tmp_path):
    scheme = load(tmp_path, change)
    for one, packets in ((scheme, None), (scheme, [1, 2]), (AbsorbedByHosts(scheme), None)):
        with pytest.raises(WormcastError, match=sentence):
            one.batch(MESH, *MESSAGES, packets=packets)


def test_valid_worms_have_the_types_of_the_documentation(tmp_path):
    """Also where the scheme has others, and writes to the messages that it is given."""
    scheme = load(tmp_path, "f['source'] = f['source'].astype(np.int64); destinations[:] = 0; sources[:] = 7")
    found, ours = scheme.batch(MESH, *MESSAGES), SCHEMES["u-mesh"].batch(MESH, *MESSAGES)
    for name, array in vars(ours).items():
        assert array is getattr(found, name) is None or (
            array.dtype == getattr(found, name).dtype and np.array_equal(array, getattr(found, name)))
    assert plan(MESH, scheme, 0, [1, 2, 3]).copies == 3


def test_no_message_is_valid(tmp_path):
    assert len(load(tmp_path, "pass").batch(MESH, [], [0], [])) == 0


@pytest.fixture
def own_scheme(tmp_path, monkeypatch):
    """Make a scheme as `load` does, as if its file were in algorithms/schemes."""
    def make(change):
        scheme = load(tmp_path, change)
        monkeypatch.setattr(type(scheme), "__module__", f"{base.__package__}.mine")
        return scheme
    return make


#: Faults in the destinations. Some change the number of destinations of a message, the others do not.
WRONG_VISITS = [case for case in FAULTS if " is visited " in case[1]]


@pytest.mark.parametrize(("change", "sentence"), WRONG_VISITS)
def test_wrong_destinations_of_schemes_of_this_package_are_refused_in_loads(change, sentence, own_scheme):
    for packets in (None, [1, 2]):
        with pytest.raises(WormcastError, match=sentence):
            own_scheme(change).batch(MESH, *MESSAGES, packets=packets)


@pytest.mark.parametrize(("change", "sentence"), FAULTS)
def test_wrong_worms_of_schemes_of_this_package_are_refused_in_runs(change, sentence, own_scheme):
    messages = [Message(0, source, tuple(MESSAGES[2][slice(*MESSAGES[1][k:k + 2])]), 4)
                for k, source in enumerate(MESSAGES[0])]
    with pytest.raises(WormcastError, match=sentence):
        run(MESH, own_scheme(change), messages, Configuration())


@pytest.mark.parametrize("change", ["f['source'][0] = 5000", "f['after'][1] = 0", "f['rank'][:] = 0"])
def test_wrong_worms_of_schemes_of_this_package_are_refused_in_plans(change, own_scheme):
    with pytest.raises(WormcastError, match=dict(FAULTS)[change]):
        plan(MESH, own_scheme(change), 0, [1, 2, 3])


def test_worms_of_this_package_are_not_checked_again(monkeypatch):
    def checked(*_):
        raise AssertionError

    monkeypatch.setattr(base, "validate_worms", checked)
    dual_path = SCHEMES["dual-path"]
    for scheme in (dual_path, AbsorbedByHosts(dual_path), dual_path.routed_by(SCHEMES["individual"].relation),
                   SCHEMES["k-binomial"].with_parameters("k=2")):
        assert scheme.batch(MESH, *MESSAGES).messages == 2
