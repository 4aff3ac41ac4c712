import json
from dataclasses import replace

import pytest

from wormcast.algorithms import Plan, WormcastError, topology
from wormcast.algorithms.multicast_plan import plan

from . import reference

MESH = topology("mesh:6x6")
SOURCE = "3.2"
DESTINATIONS = "5.0,3.1,0.4,1.4,0.5,1.5,5.5"


def walk(worm):
    """The path of a worm in coordinates."""
    return " ".join(MESH.node_name(node) for node in [worm.links[0][0], *(end for _, end in worm.links)])


def drawn(worm):
    """The same with a star at each delivery."""
    stops = {MESH.node_name(node) for node in worm.destinations}
    return " ".join(place + "*" * (place in stops) for place in walk(worm).split())


def example(scheme):
    return plan(MESH, scheme, SOURCE, DESTINATIONS)


class TestExampleOfPaper002:
    """The 6x6 mesh of Figs. 2 and 3: source (3, 2), seven destinations."""

    def test_dual_path(self):
        multicast = example("dual-path")
        upward, downward = multicast.worms
        assert [MESH.node_name(node) for node in upward.destinations] == ["3.1", "5.5", "5.0"]
        assert walk(upward) == "3.2 3.1 4.1 4.2 4.3 4.4 4.5 5.5 5.4 5.3 5.2 5.1 5.0"
        assert [MESH.node_name(node) for node in downward.destinations] == ["1.4", "1.5", "0.5", "0.4"]
        assert walk(downward) == "3.2 2.2 1.2 1.3 1.4 1.5 0.5 0.4"
        assert [len(worm.links) for worm in multicast.worms] == [12, 7]
        assert [(worm.rank, worm.classes) for worm in multicast.worms] == [(0, (0, 0, None)), (1, (1, 1, 1, None))]
        assert (multicast.copies, multicast.hops, multicast.channels) == (2, 19, 19)
        assert (multicast.start_ups, multicast.phases) == (2, 1)

    def test_individual(self):
        multicast = example("individual")
        assert [walk(worm) for worm in multicast.worms] == [
            "3.2 3.3 3.4 2.4 1.4 0.4",
            "3.2 3.3 3.4 3.5 2.5 1.5 0.5",
            "3.2 3.3 3.4 2.4 1.4",
            "3.2 3.3 3.4 3.5 2.5 1.5",
            "3.2 3.1",
            "3.2 3.1 3.0 4.0 5.0",
            "3.2 3.3 3.4 3.5 4.5 5.5",
        ]
        assert (multicast.copies, multicast.hops) == (7, 30)
        assert multicast.channels == len({link for worm in multicast.worms for link in worm.links}) == 15
        assert (multicast.start_ups, multicast.phases) == (7, 1)
        assert {worm.classes for worm in multicast.worms} == {(None,)}

    @pytest.mark.parametrize(
        ("scheme", "paths", "hops", "classes"),
        [
            (
                "multipath",
                [
                    "3.2 4.2 4.3 4.4 4.5 5.5*",
                    "3.2 2.2 1.2 1.3 1.4* 1.5* 0.5* 0.4*",
                    "3.2 3.1* 4.1 5.1 5.0*",
                ],
                16,
                [(None,), (1, 1, 1, None), (0, None)],
            ),
            (
                "multipath-lmn",
                [
                    "3.2 3.1* 4.1 5.1 5.0*",
                    "3.2 3.3 2.3 1.3 1.4* 1.5* 0.5* 0.4*",
                    "3.2 4.2 4.3 4.4 4.5 5.5*",
                ],
                16,
                [(0, None), (1, 1, 1, None), (None,)],
            ),
            *(
                (
                    scheme,
                    [
                        "3.2 3.1 3.0 4.0 5.0*",
                        "3.2 3.1*",
                        "3.2 3.3 3.4 2.4 1.4* 0.4*",
                        "3.2 3.3 3.4 3.5 2.5 1.5* 0.5*",
                        "3.2 3.3 3.4 3.5 4.5 5.5*",
                    ],
                    21,
                    [(None,), (None,), (1, None), (1, None), (None,)],
                )
                for scheme in ("column-path", "column-path-literal")
            ),
            (
                "e-mcast",
                [
                    "3.2 3.1* 3.0 4.0 5.0*",
                    "3.2 3.3 3.4 2.4 1.4* 0.4*",
                    "3.2 3.3 3.4 3.5 2.5 1.5* 0.5*",
                    "3.2 3.3 3.4 3.5 4.5 5.5*",
                ],
                20,
                [(1, None), (3, None), (3, None), (None,)],
            ),
        ],
    )
    def test_the_other_path_schemes(self, scheme, paths, hops, classes):
        multicast = example(scheme)
        assert [drawn(worm) for worm in multicast.worms] == paths
        assert (multicast.copies, multicast.hops, multicast.phases) == (len(paths), hops, 1)
        assert multicast.start_ups == multicast.copies
        assert [worm.rank for worm in multicast.worms] == list(range(len(paths)))
        assert {worm.after for worm in multicast.worms} == {None}
        assert [worm.classes for worm in multicast.worms] == classes

    def test_u_mesh(self):
        """Not in the paper: the chain is 5.0, 3.1, 3.2 (the source), 0.4, 1.4, 0.5, 1.5, 5.5."""
        multicast = example("u-mesh")
        assert [(worm.after, worm.rank, drawn(worm)) for worm in multicast.worms] == [
            (None, 0, "3.2 3.3 3.4 2.4 1.4*"),
            (None, 1, "3.2 3.1*"),
            (None, 2, "3.2 3.3 3.4 2.4 1.4 0.4*"),
            (0, 0, "1.4 1.5*"),
            (0, 1, "1.4 1.5 0.5*"),
            (1, 0, "3.1 3.0 4.0 5.0*"),
            (3, 0, "1.5 2.5 3.5 4.5 5.5*"),
        ]
        assert (multicast.copies, multicast.hops, multicast.start_ups, multicast.phases) == (7, 20, 3, 3)


def test_the_plan_as_json():
    line = topology("mesh:1x4")
    document = json.loads(json.dumps(plan(line, "dual-path", 1, [3, 0, 2]).to_dict()))
    assert document == {
        "topology": "mesh:1x4",
        "scheme": "dual-path",
        "form": "2-D, as printed",
        "provenance": "[Boppana98], section 2.1 (order of sending: ours)",
        "source": 1,
        "worms": [
            {
                "id": 0,
                "source": 1,
                "destinations": [2, 3],
                "links": [[1, 2], [2, 3]],
                "after": None,
                "rank": 0,
                "tier": "host",
                "class": 0,
                "classes": [0, None],
                "step": 1,
                "signs": None,
                "vc_classes": None,
                "header": ["2", "3"],
            },
            {
                "id": 1,
                "source": 1,
                "destinations": [0],
                "links": [[1, 0]],
                "after": None,
                "rank": 1,
                "tier": "host",
                "class": None,
                "classes": [None],
                "step": 2,
                "signs": None,
                "vc_classes": None,
                "header": ["0"],
            },
        ],
        "copies": 2,
        "hops": 3,
        "channels": 3,
        "start_ups": 2,
        "phases": 1,
        "steps": 2,
        "by_step": [{"step": 1, "worms": 1, "hops": 2, "channels": 2},
                    {"step": 2, "worms": 1, "hops": 1, "channels": 1}],
        "packets": 1,
        "slots": None,
    }


@pytest.mark.parametrize(("name", "source", "target", "classes"), [
    ("torus:8x8", "0.6", "0.1", "p p l/h"), ("torus:8x8", "0.1", "0.6", "p p l/h"),
    ("torus:8x8", "0.1", "2.4", "l/h l/h l/h l/h l/h"), ("torus:8x8", "6.2", "0.2", "p p"),
    ("torus:5x5", "0.4", "4.1", "p l/h p"), ("ring:7", "5", "1", "p p l/h")])
def test_classes_of_virtual_channels_along_a_worm_on_a_torus(name, source, target, classes):
    """[Hou], figure 2: p up to the hop over the ring's edge and with it, l or h behind it and without one."""
    (worm,) = plan(topology(name), "individual", source, target).worms
    assert worm.vc_classes == tuple(classes.split())


def test_links_of_a_step():
    steps = plan(topology("torus:4x4"), "dcf", 0, "all").by_step
    assert steps == [{"step": 1, "worms": 4, "hops": 8, "channels": 8},
                     {"step": 2, "worms": 11, "hops": 11, "channels": 11}]
    tied = plan(topology("torus:8x8"), "edn", 0, "all").by_step  # ties upwards: two of the source's worms share links
    assert tied[0]["channels"] < tied[0]["hops"]


@pytest.mark.parametrize(
    ("source", "destinations", "sentence"),
    [
        ("3.2", "1,20", r"destinations: node 20 \(3\.2\) is not valid: it is the source. Allowed: other nodes"),
        ("3.2", "1,7,0.1", r"destinations: node 1 \(0\.1\) is not valid: it occurs twice. Allowed: once"),
        ("3.2", "", r"destinations: a multicast has no destinations. Needed: 1 or more"),
        ("3.2", [], r"destinations: a multicast has no destinations. Needed: 1 or more"),
        ("3.2", "1,36", r"destinations: '36' is not in mesh:6x6. Allowed: an id \(up to 35\), coordinates"),
        ("6.2", "1", r"source: '6\.2' is not in mesh:6x6"),
    ],
)
@pytest.mark.parametrize("scheme", [name for name in reference.SCHEMES if name not in {"sp", "gtdmpm"}])
def test_what_is_no_multicast_is_refused_in_a_sentence(scheme, source, destinations, sentence):
    with pytest.raises(WormcastError, match=sentence):
        plan(MESH, scheme, source, destinations)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(WormcastError, match="scheme: 'quad-path' is unknown"):
        plan(MESH, "quad-path", 0, [1])


def test_a_plan_of_several_phases_as_json():
    document = plan(topology("mesh:1x4"), "u-mesh", 1, [3, 0, 2]).to_dict()
    assert [(worm["source"], worm["destinations"], worm["after"]) for worm in document["worms"]] == [
        (1, [2], None), (1, [0], None), (2, [3], 0),
    ]  # fmt: skip
    assert (document["start_ups"], document["phases"]) == (2, 2)
    assert document["form"] == "2-D, the chain sorted by column, then row"


def test_a_plan_that_interfaces_forward_as_json():
    document = plan(topology("mesh:1x4"), "k-binomial", 0, "all", packets=2).to_dict()
    assert [(worm["source"], worm["destinations"], worm["tier"]) for worm in document["worms"]] == [
        (0, [1], "host"), (1, [2], "ni"), (2, [3], "ni")]
    assert (document["packets"], document["steps"], document["form"]) == (
        2, 3, "2-D, the best k for 2 packets, order dimension, by e-cube")
    told = [(1, 0, 1, 1), (2, 0, 1, 2), (2, 1, 2, 1), (3, 1, 2, 2), (3, 2, 3, 1), (4, 2, 3, 2)]
    sends = [dict(zip(("step", "node", "to", "packet"), one, strict=True)) for one in told]
    assert document["slots"] == {"fpfs": sends, "fcfs": sends}


def test_packets_are_those_of_the_scheme_or_those_that_are_given():
    mesh = topology("mesh:4x4")
    assert plan(mesh, "k-binomial:packets=9", 0, "all").packets == 9
    both = plan(mesh, "k-binomial:packets=9", 0, "all", packets=1)
    assert (both.packets, both.form) == (1, "2-D, the best k for 9 packets, order dimension, by e-cube")
    assert plan(mesh, "k-binomial", 0, "all", packets=100).phases == 15
    assert plan(mesh, "individual", 0, "all", packets=3).packets == 3
    with pytest.raises(WormcastError, match=r"^packets: 0 is not valid. Allowed: whole numbers from 1\.$"):
        plan(mesh, "k-binomial", 0, "all", packets=0)


def test_arrays_say_who_sends():
    good = plan(topology("mesh:1x8"), "k-binomial:k=3", 0, "all")
    assert good.arrays.tier.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert example("u-mesh").arrays.tier.tolist() == [0] * 7


def tampered(scheme="dual-path", place=0, **changes):
    """The example of a scheme with one worm changed."""
    good = example(scheme)
    worms = list(good.worms)
    worms[place] = replace(worms[place], **changes)
    return make(good, worms)


def make(good, worms):
    worms = tuple(worms)
    return Plan(good.topology, good.scheme, good.source, good.destinations, worms)


UPWARD = example("dual-path").worms[0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"destinations": (19, 35)},
            r"plan of dual-path on mesh:6x6: node 30 is visited 0 times. Needed: 1",
        ),
        ({"destinations": (19, 35, 30, 19)}, r"node 19 is visited 2 times. Needed: 1"),
        ({"destinations": (19, 35, 30, 31)}, r"node 31 is visited 1 time. Needed: no visit"),
        ({"rank": 1}, r"node 20 sends 2 worms of rank 1. Allowed: one"),
        ({"source": 21}, r"worm 0 waits for no other worm, and has source 21. Needed: 20"),
        ({"tier": 2}, r"worm 0 has tier 2 .array tier.. Allowed: 0 .sent by a host., 1 "),
        ({"tier": 1}, r"worm 0 is forwarded by a network interface, and depends on no worm"),
        ({"id": 1}, r"worm 1 has index 0 in the plan. Needed: index 1"),
        ({"classes": (0, 2, None)}, r"worm 0 has consumption class 2. Allowed: 0, 1, or None"),
        ({"classes": (0, -1, None)}, r"worm 0 has consumption class -1. Allowed: 0, 1, or None"),
        ({"classes": (0, None)}, r"worm 0 has consumption classes \(0, None\) for 3 destinations. Needed: one"),
        ({"classes": (0, 0, 0)}, r"for 3 destinations. Needed: one for each, and None for the last"),
        (
            {"links": ((20, 18), *UPWARD.links[1:])},
            r"worm 0 takes 20 to 18 at switch 20, which is not a link there",
        ),
        ({"links": ((21, 19), *UPWARD.links[1:])}, r"worm 0 takes 21 to 19 at switch 20, which is not a link"),
        ({"links": UPWARD.links[1:]}, r"worm 0 takes 19 to 25 at switch 20, which is not a link there"),
        (
            {"links": ((20, 26), *UPWARD.links[1:])},
            r"from switch 20 to 26, which is not the next hop of hamilt",
        ),
        ({"links": UPWARD.links[:-1]}, r"worm 0 ends at switch 31, before it reaches node 30"),
        (
            {"links": (*UPWARD.links, (30, 31))},
            r"from switch 30 to 31, which is not the next hop of hamiltonian",
        ),
    ],
)
def test_a_plan_that_does_something_else_is_refused(changes, sentence):
    with pytest.raises(WormcastError, match=sentence):
        tampered(**changes)


@pytest.mark.parametrize(
    ("place", "changes", "sentence"),
    [
        (3, {"after": None}, r"plan of u-mesh on mesh:6x6: worm 3 waits for no other worm, and has source 10"),
        (3, {"after": 1}, r"worm 3 is sent by node 10, and depends on worm 1, which does not reach node 10"),
        (3, {"after": 3}, r"worm 3 depends on worm 3 \(array after\). Allowed: an earlier worm"),
        (0, {"after": 6}, r"worm 0 depends on worm 6 \(array after\). Allowed: an earlier worm"),
        (6, {"after": -2}, r"worm 6 depends on worm -2 \(array after\). Allowed: an earlier worm"),
        (4, {"rank": 0}, r"node 10 sends 2 worms of rank 0. Allowed: one"),
        (6, {"source": 10, "rank": 2}, r"is sent by node 10, and depends on worm 3, which does not reach node 10"),
        (1, {"destinations": ()}, r"node 19 is visited 0 times. Needed: 1"),
    ],
)
def test_a_plan_whose_senders_do_not_have_the_message_is_refused(place, changes, sentence):
    with pytest.raises(WormcastError, match=sentence):
        tampered("u-mesh", place, **changes)


def test_a_worm_without_destinations_is_refused():
    good = example("u-mesh")
    empty = replace(good.worms[0], id=7, rank=7, destinations=(), links=(), classes=())
    with pytest.raises(WormcastError, match=r"worm 7 has no destination\. Needed: 1 or more"):
        make(good, [*good.worms, empty])
