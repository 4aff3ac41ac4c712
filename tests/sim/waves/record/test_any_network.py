"""Worms in waveforms of networks of every kind, against the flits in the signals of the hardware beside them."""

import pytest
import waves
from cases import some

from wormcast.algorithms import SCHEMES, find_scheme, topology
from wormcast.algorithms.routing import E_CUBE, without_classes
from wormcast.sim import Configuration, run

from ...bench import send
from .test_worms import NETWORK, ROUTERS, heading, numbers, stays, words

#: Network, relation where it is not the usual one, hardware.
CASES = {
    "min": ("min:b=2,stages=3", None, {"vcs": 2, "buffer": 2, "consumption": 2}),
    "irregular": ("irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=1", None,
                  {"vcs": 1, "buffer": 2, "consumption": 1}),
    "adaptive": ("irregular:switches=4,ports=5,nodes=6,connectivity=0.8,seed=1", "up-down-adaptive",
                 {"vcs": 1, "buffer": 2, "consumption": 1, "ejection": "all"}),
    "torus": ("torus:3x3", None, {"vcs": 2, "buffer": 2, "consumption": 1}),
}


def sent(case, path, **options):
    name, relation, hardware = CASES[case]
    network = topology(name)
    nodes = network.nodes
    messages = [send(node, (node + step) % nodes, length=5 + node % 3) for step in (1, nodes // 2, nodes - 1)
                for node in range(nodes)]
    done = run(network, find_scheme("individual", network, relation), messages, Configuration(**hardware), vcd=path,
               **options)
    assert done.outcome == "delivered"
    return done


def on_the_link(found, network, link, cycles):
    """The flits on a link, as the signals of the component that drives it show them: see `Flits`."""
    inside = f"{NETWORK}{network.kinds[link.near.kind].instances[link.near.instance]}."
    valid, vc = found[f"{inside}{link.near.port}__valid"], found.get(f"{inside}{link.near.port}__vc")
    head, tail, data = (found[f"{inside}\\{link.near.port}__flit.{name}"] for name in ("head", "tail", "data"))
    return [(cycle, numbers(vc, cycle) if link.vcs > 1 else 0, numbers(head, cycle), numbers(tail, cycle),
             numbers(data, cycle)) for cycle in range(cycles) if numbers(valid, cycle)]


@pytest.mark.parametrize("case", some(CASES, "irregular"))
def test_worms_have_what_their_flits_go_over(case, tmp_path):
    """From the first flit to the tail on every link; what waits, waits for something that leads from there."""
    path = tmp_path / "w.vcd"
    done = sent(case, path)
    network, cycles = done.network, done.cycles
    found, told = waves.read(path), heading(path)
    tags = {int(row["tag"]): worm for worm, row in enumerate(done.host.worms)}
    mask, passed = (1 << 16) - 1, 0
    named = {link.name: link for link in network.fabric.links if link.kind != "host"}
    assert {link["name"] for link in told["links"]} == set(named)
    for shown in told["links"]:
        link = named[shown["name"]]
        flits = on_the_link(found, network, link, cycles)
        for vc in range(link.vcs):
            worm = found[f"{shown['scope']}.vc_{vc}.worm"]
            everyone = [tags.get(tag) for tag in range(mask + 1)]
            expected = dict.fromkeys(range(cycles))
            for number, first, last in stays(flits, vc, everyone, link.kind == "consumption"):
                begin = first
                while link.kind == "consumption" and numbers(worm, begin - 1) == number:
                    begin -= 1
                expected |= dict.fromkeys(range(begin, last + 1), number)
                passed += 1
            assert [numbers(worm, cycle) for cycle in range(cycles)] == list(expected.values()), (link.name, vc)
            if link.input is not None:
                front = found[f"{shown['scope']}.vc_{vc}.front"]
                came = {worm for worm in expected.values() if worm is not None}
                assert {numbers(front, cycle) for cycle in range(cycles)} - {None} == came, (link.name, vc)
    assert passed > 3 * len(done.messages)
    wanted = {word for name, wave in found.items() if name.startswith(ROUTERS) and name.endswith(".waits")
              for cycle in range(cycles) for word in words(wave, cycle).split("|") if word}
    resources = {f"{link.name}:{vc}" for link in network.fabric.of_kind("network") for vc in range(link.vcs)}
    resources |= {f"cons:{link.node}:{link.first + vc}" for link in network.fabric.of_kind("consumption")
                  for vc in range(link.vcs)}
    assert wanted
    assert wanted <= resources


def test_a_window_at_switches_shows_what_the_whole_shows(tmp_path):
    """Named as text and JSON name them; the routers and links of no other switch are there."""
    sent("irregular", tmp_path / "whole.vcd")
    sent("irregular", tmp_path / "w.vcd", window=(12, 40), instances="s1,s3")
    whole, window = (waves.read(tmp_path / name) for name in ("whole.vcd", "w.vcd"))
    assert {name.split(".")[3] for name in window if name.startswith(ROUTERS)} == {"router_s1", "router_s3"}
    names = {name for name in window if not name.endswith(".waits_id")}  # numbers of requests are those of a file
    assert waves.differences(window, whole, range(12, 40), names) == []


def test_a_deadlock_is_in_the_heading(tmp_path):
    """Under the names of the links that are beside it."""
    network = topology("ring:6")
    done = run(network, SCHEMES["individual"].routed_by(without_classes(E_CUBE)),
               [send(node, (node + 3) % 6, length=40) for node in range(6)],
               Configuration(vcs=2, buffer=2, consumption=1), vcd=tmp_path / "w.vcd")
    assert done.outcome == "deadlock"
    told = heading(tmp_path / "w.vcd")
    links = {link["name"] for link in told["links"]}
    assert {one.rpartition(":")[0] for hold in told["deadlock"]["cycle"] for one in hold["holds"]} <= links
