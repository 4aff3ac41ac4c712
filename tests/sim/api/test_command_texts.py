"""Commands as texts in figures' files: read as the command line reads them, and without outputs."""

import json
import re

import pytest
from command import wormcast

from wormcast.algorithms import WormcastError
from wormcast.sim.api.command_texts import COMMANDS, read_command, require_only_pictures, require_valid_commands
from wormcast.sim.cli.commands import COMMANDS as ALL
from wormcast.sim.cli.commands import find_command
from wormcast.sim.experiments.figure import catalogue, find_figure

#: Results that depend on the time, and the commit, which may change meanwhile.
TIMES = {"cycles_per_second", "planning_ns", "commit"}


@pytest.mark.parametrize("name", catalogue())
def test_all_commands_of_the_catalogue_are_read(name):
    require_valid_commands(find_figure(name))


@pytest.mark.parametrize("command", [
    "plan mesh:6x6 dual-path --source 3.2 --destinations=5.0,3.1 --length 20",
    "plan mesh:4x4 u-mesh --random 8 --destinations-mean 3 --seed 1",
    "check mesh:4x4 dual-path --consumption 1 --with individual --with u-mesh=e-cube",
    "check mesh:4x4 dual-path --explain",
    "run mesh:1x3 dual-path --source 0 --destinations 1,2 --length 4 --contention",
    "run mesh:1x4 dual-path --vcs 1 --consumption 1 --messages {here}/002-figure4.jsonl",
    "load mesh:1x3 dual-path --rate 0.01 --destinations-mean 1 --cycles 1000 --until-interval",
    "topology min:b=2,stages=3 --tokens 1",
])
def test_a_text_is_the_command(command, tmp_path):
    from wormcast.sim.experiments.figure import HERE

    result = read_command(command).result(progress=False)
    code, out, _ = wormcast(*command.replace("{here}", str(HERE)).split(), "--json", cwd=tmp_path)
    told = json.loads(out)
    assert code == result.exit_code
    assert result.to_dict() == {**told, **result.files, **{time: result.to_dict()[time] for time in TIMES & {*told}}}


def test_values_are_those_of_the_command_line():
    call = read_command("load mesh:4x4 dual-path --rate 1e-2 --vcs 2 --ratio 4 --destinations-mean 3 --seeds=2")
    assert call.arguments == {"topology": "mesh:4x4", "scheme": "dual-path", "rate": 0.01, "vcs": 2, "ratio": "4",
                              "destinations_mean": 3.0, "seeds": 2}
    assert read_command("synth router --sweep vcs=1,2 --sweep buffer=4,8 --seeds 0").arguments["sweep"] == [
        "vcs=1,2", "buffer=4,8"]
    assert read_command("load mesh:4x4 dual-path --find-saturation").function.__name__ == "find_saturation"


def outputs(name):
    """Options of a command that name a file to write, and `--scheduler`, which names where to run."""
    words = ("--plot", "--vcd", "--replay", "--output", "-o", "--out", "--toml", "--checkpoint", "--messages-out",
             "--scheduler")
    return [word for one in find_command(name).params for word in one.opts if word in words]


@pytest.mark.parametrize(("command", "sentence"), [
    *((f"{name} x {option} ../victim", f"{option}: '../victim' is not valid: a figure's file must not" if
       option == "--plot" else f"{option} is not an option of {name} in a figure.")
      for name in COMMANDS for option in outputs(name)),
    ("load x --checkpoint=evil.npz", "--checkpoint is not an option of load in a figure."),
    ("synth router -oevil.json", "-oevil.json is not an option of synth in a figure."),
    ("plan x --plot {plot} --plot evil.svg", "--plot: 'evil.svg' is not valid: the option is given twice"),
    ("plan x --plot {plot}/../evil.svg", "--plot: '{plot}/../evil.svg' is not valid"),
    ("plan {plot} --plot", "--plot: the value is missing"),
    ("plan x", "--plot is missing: a figure's file must not"),
    ("plan x --foo 3", "--foo is not an option of plan in a figure. See: wormcast plan --help."),
    ("rm -rf {plot}", "'rm' is not a command that a figure can use. Allowed: check, hunt"),
    ("-- figure x {plot}", "'--' is not a command"),
    *((f"{name} x", f"'{name}' is not a command that a figure can use.") for name in ALL if name not in COMMANDS),
    ("run x --vsc 2", "--vsc is not an option of run in a figure. Nearest: --vcs."),
    ("run x --topology mesh:2x2", "--topology is not an option of run in a figure."),
    ("run x y --contention=false", "--contention: 'false' is not valid: the option has no value. Allowed: --cont"),
    ("load x y --find-saturation=false", "--find-saturation: 'false' is not valid: the option has no value."),
    ("check x y --with_ individual", "--with_ is not an option of check in a figure. Nearest: --with."),
    ("load x y --destinations_mean 3", "--destinations_mean is not an option of load in a figure. Nearest: --d"),
    ("plan x y --random 8 --multicasts 8", "--multicasts is not an option of plan in a figure."),
    ("plan x --progress", "--progress is not an option of plan in a figure."),
    ("run x --vcs two", "vcs: 'two' is not valid. Allowed: a whole number."),
    ("load x --rate much", "rate: 'much' is not valid. Allowed: a number."),
    ("plan mesh:4x4 dual-path 3", "plan: '3' is not valid: there are too many arguments. Allowed: TOPOLOGY SCHEME."),
])
def test_commands_that_are_refused(command, sentence):
    with pytest.raises(WormcastError, match=re.escape(sentence)):
        require_only_pictures(command, drawn=True)


def test_an_argument_is_not_the_nearest_option():
    with pytest.raises(WormcastError) as refused:
        read_command("check mesh:4x4 --scheme dual-path")
    assert "Nearest: --scheme" not in str(refused.value)


def test_a_repeated_option_with_one_value_is_refused():
    with pytest.raises(WormcastError, match="relation: "):
        read_command("plan mesh:4x4 dual-path --relation a --relation b --source 0 --destinations 1").result()


@pytest.mark.parametrize("command", ["plan x --plot {plot}", "plan x --plot={plot}", "run x --messages a.jsonl"])
def test_commands_that_name_their_picture_alone(command):
    drawn = "{plot}" in command
    require_only_pictures(command, drawn=drawn)
    if drawn:
        with pytest.raises(WormcastError, match="Allowed: commands without output files"):
            require_only_pictures(command, drawn=False)
