"""Figures 1 and 2 of [Varavithya] on the routers: deadlocks without tokens, proved; delivered with them."""

import json
from pathlib import Path

import pytest
from cases import slow
from command import wormcast

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.channels import Resource, link_rows
from wormcast.algorithms.deadlock.channel_use import find_channel_use
from wormcast.algorithms.multicast_plan import plan
from wormcast.algorithms.theory.trees import overlapped_networks
from wormcast.algorithms.topologies.min import stage_of_switch
from wormcast.sim.experiments import figure

CATALOGUE = Path(figure.__file__).parent / "catalogue"

#: Stages of the network, consumption channels, worms of the circle, and what they wait for.
FIGURES = {
    "1a": (3, 2, 2, {"link:s0>s4:0", "link:s0>s6:0"}),
    "1b": (3, 1, 2, {"cons:2:0", "cons:3:0"}),
    "2a": (4, 2, 2, {"link:s16>s24:0", "link:s20>s28:0"}),
    "2b": (4, 2, 3, {"link:s16>s24:0", "link:s12>s22:0", "link:s20>s28:0"}),
}


def run(name, scheme, tokens, *others, cwd=None):
    """Run a figure's messages, one virtual channel a link; exit code and what is printed as JSON."""
    stages, consumption, _, _ = FIGURES[name]
    code, out, err = wormcast(
        "run", f"min:b=2,stages={stages}", scheme, "--messages", CATALOGUE / f"000-fig{name}.jsonl", "--vcs", 1,
        "--consumption", consumption, "--header", "ideal", "--tokens", tokens, *others, "--json", cwd=cwd)
    assert err == ""
    return code, json.loads(out)


# Figure 2b is run below; copies in turn wait as those do that go at their own pace
@pytest.mark.parametrize(("name", "scheme"), [
    (name, scheme) if (name, scheme) == ("2a", "tree-synchronous") else slow(name, scheme)
    for name in FIGURES for scheme in ("atbm", "tree-serial", "tree-synchronous")])
def test_without_tokens_they_deadlock_and_with_them_all_is_delivered(name, scheme, tmp_path):
    """All outputs of a switch at once cure Figure 1, and not Figure 2."""
    code, told = run(name, scheme, "off", cwd=tmp_path)
    assert code == (0 if name in ("1a", "1b") and scheme == "tree-synchronous" else 3)
    if code == 3:
        _, _, count, waits = FIGURES[name]
        cycle = told["deadlock"]["cycle"]
        assert len({one["worm"] for one in cycle}) == count
        assert {wait for one in cycle for wait in one["waits"]} == waits
        assert (lemma1(name, told), lemma2(name, told)) == (True, True)
    assert run(name, scheme, "on", cwd=tmp_path)[0] == 0


def lemma1(name, told):
    """Return whether all links that the worms of a deadlock wait for belong to one overlapped network."""
    network = topology(f"min:b=2,stages={FIGURES[name][0]}")
    sets, rows = overlapped_networks(find_channel_use(SCHEMES["atbm"], network)), link_rows(network)
    links = [Resource.parse(wait) for one in told["deadlock"]["cycle"] for wait in one["waits"]]
    return len({sets[rows[link.where]] for link in links if link.kind == "link"}) <= 1


def lemma2(name, told):
    """Return whether two worms of a deadlock are replicated in the same stage."""
    network = topology(f"min:b=2,stages={FIGURES[name][0]}")
    stage, copied = stage_of_switch(network), []
    for worm in {one["worm"] for one in told["deadlock"]["cycle"]}:
        message = told["configuration"]["messages"][worm]
        found = plan(network, SCHEMES["atbm"], message["source"], message["destinations"])
        outputs = [start for start, _ in found.worms[0].links]
        outputs += network.consumptions[message["destinations"], 0].tolist()
        copied += {int(stage[switch]) for switch in outputs if outputs.count(switch) > 1}
    return len(copied) > len(set(copied))


@pytest.mark.slow  # waveforms of trees: test_trees of records
def test_each_comes_with_a_waveform_a_picture_and_a_replay(tmp_path):
    code, told = run("2b", "atbm", "off", "--vcd", "fig.vcd", "--plot", "fig.svg", "--replay", "fig.html", cwd=tmp_path)
    assert code == 3
    assert told["waveform"] == "fig.vcd"
    code, out, err = wormcast("wave", "fig.vcd", "--plot", "wave.svg", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert "worm 1 waits for link:s16>s24:0, held by worm 3" in out
    for file in ("fig.svg", "fig.html", "wave.svg"):
        assert (tmp_path / file).stat().st_size > 1000


def test_check_says_it_without_a_run(tmp_path):
    code, out, err = wormcast("check", "min:b=2,stages=3", "atbm", "--tokens", "off", "--plot", "cycle.svg",
                              cwd=tmp_path)
    assert (code, err) == (3, "")
    assert "tokens: none. A switch replicates a worm without waiting for a token" in out
    picture = (tmp_path / "cycle.svg").read_text()
    assert 'id="step-1"' in picture
    assert 'id="step-2"' in picture
    code, out, err = wormcast("check", "min:b=2,stages=3", "atbm", "--with", "individual", "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert (told["free"], told["tokens"], told["cycle"]) == (True, 7, None)


def test_explain_prints_what_the_paper_says_of_trees():
    code, out, err = wormcast("check", "min:b=2,stages=4", "atbm", "--explain")
    assert (code, err) == (0, "")
    assert "Lemma 2 ([Varavithya], section 3.1): in every cycle of waiting worms, two worms are replicated" in out
    assert "8, 4, 2, 1 switches" in out


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["check", "mesh:3x3", "individual", "--tokens", "on"],
     "tokens: on is not valid: worms of individual are not replicated from shallow buffers"),
    (["check", "min:b=2,stages=3", "atbm", "--classes", "0+:last"], "classes: 0+:last is not valid: worms of atbm"),
    (["run", "min:b=2,stages=3", "atbm", "--source", 0, "--destinations", "1,2", "--length", 8, "--readers",
      "independent"], "readers: independent is not valid: the scheme determines the replication"),
    (["run", "min:b=2,stages=3", "atbm", "--source", 0, "--destinations", "1,2", "--length", 8, "--classes", "0+:last"],
     "classes: 0+:last is not valid: worms of atbm"),
    (["check", "min:b=2,stages=3", "atbm", "--explain", "--with", "individual"], "explain: atbm and individual"),
    (["run", "min:b=2,stages=3", "atbm", "--source", "0", "--destinations", "1,3", "--length", "4", "--contention"],
     "--contention is not valid with atbm, whose worms branch"),
])
def test_what_does_not_apply_to_trees_is_refused_in_a_sentence(arguments, sentence):
    code, out, err = wormcast(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"wormcast: {sentence}")
    assert err.count("\n") == 1


def test_a_hunt_finds_a_deadlock_of_two_trees_without_tokens(tmp_path):
    code, out, err = wormcast("hunt", "min:b=2,stages=2", "atbm", "--tokens", "off", "--vcs", 1, "--header", "ideal",
                              "--cycles", 2_000_000, "--out", ".", "--json", cwd=tmp_path)
    assert (code, err) == (3, "")
    told = json.loads(out)
    assert len(told["deadlock"]["cycle"]) == 2
    assert told["minimal"]


@pytest.mark.slow  # of these ports on routers that copy worms: test_trees
def test_with_an_ejection_port_for_each_way_in_channels_may_still_be_too_few(tmp_path):
    """Worms of one way in share them: with as many as virtual channels there is no token in the last stage."""
    messages = tmp_path / "messages.jsonl"
    messages.write_text('''{"cycle": 0, "source": "3", "destinations": ["1"], "length": 14}
{"cycle": 15, "source": "2", "destinations": ["0", "1"], "length": 4}
{"cycle": 0, "source": "3", "destinations": ["1", "0"], "length": 4}
''')
    command = ["run", "min:b=2,stages=2", "atbm", "--vcs", 4, "--consumption", 1, "--header", "ideal", "--ejection",
               "all", "--messages", messages]
    assert wormcast(*command, cwd=tmp_path)[0] == 0
    assert wormcast(*command, "--tokens", "off", cwd=tmp_path)[0] == 3
