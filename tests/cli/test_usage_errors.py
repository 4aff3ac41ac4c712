"""Values of a wrong type, outside of an option's range, or that are no choice are refused in the form of all other refusals."""

import pytest
from command import wormcast


@pytest.mark.parametrize(("command", "sentence"), [
    (["run", "mesh:4x4", "dual-path", "--vcs", "two"], "vcs: 'two' is not valid. Allowed: whole numbers."),
    (["load", "mesh:4x4", "dual-path", "--rate", "x"], "rate: 'x' is not valid. Allowed: numbers."),
    (["load", "mesh:4x4", "dual-path", "--seed", "-1"], "seed: '-1' is not valid. Allowed: 0 or more."),
    (["topology", "mesh:2x2", "--tokens", "17"], "tokens: '17' is not valid. Allowed: 1 to 16."),
    (["run", "mesh:4x4", "dual-path", "--timeout", str(2**41)],
     f"timeout: '{2**41}' is not valid. Allowed: up to {2**40}."),
    (["list", "scheme"], ("what: 'scheme' is not valid. Allowed: schemes, topologies, relations, configurations, "
                          "components, figures.")),
    (["frobnicate"], ("command: 'frobnicate' is not valid. Allowed: check, run, load, continue, demo, doctor, figure, "
                      "hunt, list, topology, plan, sweep, synth, verilog, wave.")),
])
def test_refused_values(command, sentence):
    assert wormcast(*command) == (2, "", f"wormcast: {sentence}\n")
