import json
from dataclasses import replace

import pytest

from wormcast.algorithms import Plan, WormcastError, plan, topology

MESH = topology("mesh:6x6")
SOURCE = "3.2"
DESTINATIONS = "5.0,3.1,0.4,1.4,0.5,1.5,5.5"


def walk(worm):
    """The path of a worm in coordinates."""
    return " ".join(MESH.node_name(node) for node in [worm.links[0][0], *(end for _, end in worm.links)])


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
        assert [(worm.rank, worm.consumption_class) for worm in multicast.worms] == [(0, 0), (1, 1)]
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
        assert {worm.consumption_class for worm in multicast.worms} == {None}


def test_the_plan_as_json():
    line = topology("mesh:1x4")
    document = json.loads(json.dumps(plan(line, "dual-path", 1, [3, 0, 2]).to_dict()))
    assert document == {
        "topology": "mesh:1x4",
        "scheme": "dual-path",
        "provenance": "paper 002 2.1",
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
            },
            {
                "id": 1,
                "source": 1,
                "destinations": [0],
                "links": [[1, 0]],
                "after": None,
                "rank": 1,
                "tier": "host",
                "class": 1,
            },
        ],
        "copies": 2,
        "hops": 3,
        "channels": 3,
        "start_ups": 2,
        "phases": 1,
    }


@pytest.mark.parametrize(
    ("source", "destinations", "sentence"),
    [
        ("3.2", "1,20", r"plan: node 20 \(3\.2\) is the source and among the destinations, it must not be"),
        ("3.2", "1,7,0.1", r"plan: node 1 \(0\.1\) is twice among the destinations, once is allowed"),
        ("3.2", "", r"plan: no destination is given, a multicast has from one"),
        ("3.2", [], r"plan: no destination is given, a multicast has from one"),
        ("3.2", "1,36", r"node: '36' is outside mesh:6x6, ids go from 0 to 35"),
        ("6.2", "1", r"node: '6\.2' is outside mesh:6x6"),
    ],
)
@pytest.mark.parametrize("scheme", ["individual", "dual-path"])
def test_what_is_no_multicast_is_refused_in_a_sentence(scheme, source, destinations, sentence):
    with pytest.raises(WormcastError, match=sentence):
        plan(MESH, scheme, source, destinations)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(WormcastError, match="scheme: 'quad-path' is unknown"):
        plan(MESH, "quad-path", 0, [1])


def tampered(**changes):
    """The dual-path example with its first worm changed."""
    good = example("dual-path")
    worms = (replace(good.worms[0], **changes), *good.worms[1:])
    return Plan(good.topology, good.scheme, good.source, good.destinations, worms)


UPWARD = example("dual-path").worms[0]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"destinations": (19, 35)},
            r"plan of dual-path on mesh:6x6: node 30 is visited 0 times instead of 1",
        ),
        ({"destinations": (19, 35, 30, 19)}, r"node 19 is visited 2 times instead of 1"),
        ({"destinations": (19, 35, 30, 31)}, r"node 31 is visited 1 times instead of 0"),
        ({"rank": 1}, r"node 20 sends 2 worms of rank 1 instead of one"),
        ({"source": 21}, r"worm 0 is sent by node 21 instead of 20"),
        ({"consumption_class": 2}, r"worm 0 has consumption class 2, the scheme states 2"),
        (
            {"links": ((20, 18), *UPWARD.links[1:])},
            r"worm 0 takes 20 to 18 at switch 20, which is no link there",
        ),
        ({"links": ((21, 19), *UPWARD.links[1:])}, r"worm 0 takes 21 to 19 at switch 20, which is no link"),
        ({"links": UPWARD.links[1:]}, r"worm 0 takes 19 to 25 at switch 20, which is no link there"),
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
