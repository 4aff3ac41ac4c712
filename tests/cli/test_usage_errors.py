"""Errors in a command line are refused in the form of all other refusals."""

import pytest
from command import wormcast


@pytest.mark.parametrize(("command", "sentence"), [
    (["run", "mesh:4x4", "dual-path", "--vcs", "two"], "vcs: 'two' is not valid. Allowed: a whole number."),
    (["load", "mesh:4x4", "dual-path", "--cycles", "9" * 150 + "8" * 5000],
     f"cycles: '{'9' * 99}...{'8' * 99}' is not valid. Allowed: a whole number with fewer digits."),
    (["load", "mesh:4x4", "dual-path", "--rate", "x"], "rate: 'x' is not valid. Allowed: a number."),
    (["load", "mesh:4x4", "dual-path", "--rate", "0.002,0.004"],
     ("rate: '0.002,0.004' is not valid. Allowed: a number. For several: a file for wormcast sweep with "
      "rate = [0.002,0.004].")),
    (["load", "mesh:4x4", "dual-path", "--seed", "-1"], "seed: -1 is not valid. Allowed: 0 or more."),
    (["topology", "mesh:2x2", "--tokens", "17"], "tokens: 17 is not valid. Allowed: 1 to 16."),
    (["run", "mesh:4x4", "dual-path", "--timeout", str(2**41)],
     f"timeout: {2**41} is not valid. Allowed: up to {2**40}."),
    (["list", "scheme"], ("what: 'scheme' is not valid. Nearest: schemes. Allowed: schemes, topologies, relations, "
                          "configurations, components, figures.")),
    (["list"], ("argument WHAT is missing. Allowed: schemes, topologies, relations, configurations, components, "
                "figures.")),
    (["run", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1", "--length", str(2**32 + 5)],
     "length: 4294967301 is not valid. Allowed: 1 to 1073741824 flits."),
    (["run", "mesh:4x4"], "argument SCHEME is missing. Needed: wormcast run TOPOLOGY SCHEME."),
    (["demo", "mesh:4x4"], "lesson: 'mesh:4x4' is not valid. Allowed: ring, consumption, tokens."),
    (["topology", "mesh:2x2", "a", "b"],
     "topology: 'a b' is not valid: there are too many arguments. Allowed: TOPOLOGY."),
    (["run", "mesh:4x4", "dual-path", "--rate", "1"], "--rate is not an option of run. Allowed with: load."),
    (["load", "mesh:4x4", "dual-path", "--foo", "1"], "--foo is not an option of load. See: wormcast load --help."),
    (["load", "mesh:4x4", "dual-path", "--lenght", "3"], "--lenght is not an option of load. Nearest: --length."),
    (["list", "schemes", "--paper", "002"],
     "--paper is not an option of list. Here: an argument, as in: wormcast list WHAT [PAPER]."),
    (["load", "mesh:4x4", "--scheme", "dual-path"],
     "--scheme is not an option of load. Here: an argument, as in: wormcast load TOPOLOGY SCHEME."),
    (["continue", "x.zip", "--label-of", "a"], "--label-of is not an option of continue. Nearest: --label."),
    (["hunt", "mesh:4x4", "dual-path", "--plot", "x.svg"],
     ("--plot is not an option of hunt. Nearest: --slot. Allowed with: check, run, load, continue, figure, topology, "
      "plan, sweep, synth, wave.")),
    (["run", "mesh:4x4", "dual-path", "--source"], "--source: the value is missing. Needed: --source VALUE."),
    (["run", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "all,1", "--length", "4"],
     "destinations: 'all,1' is not valid: all is listed with other nodes. Allowed: all alone, or nodes."),
    (["run", "mesh:4x4", "dual-path", "--messages", "/dev/null/m.jsonl"],
     "messages: /dev/null/m.jsonl cannot be read: Not a directory"),
    (["load", "mesh:4x4", "dual-path"], "rate is missing. Needed: --rate, --trace or --find-saturation."),
    (["load", "mesh:4x4", "dual-path", "--rate", "0.1", "--multicast-fraction", "2"],
     "multicast-fraction: 2 is not valid. Allowed: 0 to 1."),
    (["load", "mesh:4x4", "dual-path", "--rate", "0.01", "--destinations-mean", "4", "--hot-spots", "0.0"],
     ("hot-spots: '0.0' is not valid with --pattern uniform (the default). Allowed: with --pattern hot-spot and "
      "--hot-spot-share.")),
    (["load", "mesh:4x4", "dual-path", "--rate", "5", "--destinations-mean", "4"],
     ("rate: 5 is not valid: it creates 20 flits to consume per node and cycle, and the node can consume 1. Allowed: "
      "rates up to 0.25.")),
    (["load", "mesh:4x4", "dual-path", "--rate", "0.01", "--energy", "costs.json"],
     "energy: costs.json is not valid. Allowed: a file NAME.toml."),
    (["load", "mesh:4x4", "dual-path", "--rate", "0.01", "--events", "--checkpoint", "c.zip"],
     "--events is not valid with --checkpoint: a checkpoint holds no events. Allowed: one of the two options."),
    (["load", "mesh:4x4", "dual-path", "--find-saturation", "--events"],
     ("--events is not valid with --find-saturation: the search runs several experiments with its own rates. "
      "Allowed: one of the two options.")),
    (["run", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1.1 1.2", "--length", "4"],
     "destinations: '1.1 1.2' is not valid. Allowed: commas between nodes, as in 1.1,1.2."),
    (["run", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1", "--length", "4", "--replay", "r.txt"],
     "replay: r.txt is not valid. Allowed: names that end in .html."),
    (["run", "mesh:4x4", "dual-path", "--source", "0", "--destinations", "1", "--length", "4", "--vcd", "."],
     ". is not valid: it is a folder. Allowed: the name of a file."),
    (["run", "min:b=3,stages=2", "atbm", "--source", "0", "--destinations", "1,2", "--length", "4"],
     ("scheme: atbm is not valid on min:b=3,stages=2: a switch has 3 outputs, and bits of the destination's id select "
      "one of them. Allowed: switches whose number of outputs is a power of two, as with b=2 or b=4.")),
    (["demo", "--out", "/dev/null/x"], "folder /dev/null/x cannot be created: Not a directory"),
    (["frobnicate"], ("command: 'frobnicate' is not valid. Allowed: check, run, load, continue, demo, doctor, figure, "
                      "hunt, list, topology, plan, sweep, synth, verilog, wave.")),
])
def test_refused_values(command, sentence):
    assert wormcast(*command) == (2, "", f"wormcast: {sentence}\n")
