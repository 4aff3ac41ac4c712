"""No command writes to what it reads, nor two things to one file."""

import json
import os
from pathlib import Path

import pytest
from command import wormcast

from wormcast.algorithms import WormcastError, to_toml, topology
from wormcast.sim.common.path_conflicts import require_apart

SHORT_PATHS = Path(__file__).parents[2] / "examples" / "short_paths.py"
RUN = ["run", "mesh:3x3", "dual-path", "--source", 0, "--destinations", 1, "--length", 4]
LOAD = ["load", "mesh:3x3", "dual-path", "--cycles", 300]
OWN = ["mine.py" if word == "dual-path" else word for word in RUN]
RANDOM = [*LOAD, "--rate", "0.01", "--destinations-mean", 2]


@pytest.fixture
def folder(tmp_path):
    """Files that commands read, and links to them."""
    texts = {
        "mine.py": SHORT_PATHS.read_text(), "x.svg": SHORT_PATHS.read_text(),
        "m.json": json.dumps([{"at": 0, "source": 0, "destinations": [1], "length": 4}]),
        "t.jsonl": json.dumps({"cycle": 0, "source": 0, "destinations": [1], "length": 4}) + "\n",
        "s.toml": 'topology = "mesh:3x3"\nscheme = "dual-path"\nrate = [0.01, 0.02]\n'
                  'destinations_mean = 2\ncycles = 300\n',
        "good.vcd": "$comment x $end\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "net.toml").write_text(to_toml(topology("ring:4")))
    (tmp_path / "link.vcd").symlink_to("mine.py")
    os.link(tmp_path / "mine.py", tmp_path / "hard.vcd")
    (tmp_path / "x.csv").symlink_to("x.svg.py")
    (tmp_path / "x.svg.py").write_text(SHORT_PATHS.read_text())
    (tmp_path / "p.svg").symlink_to("mine.py")
    (tmp_path / "trace.csv").symlink_to("t.jsonl")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "s.csv").symlink_to("../s.toml")
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["topology", "net.toml", "--toml", "./net.toml"],
     "--toml: net.toml is not valid: it is the file of the topology too"),
    (["run", "net.toml", "individual", *RUN[3:], "--vcd", "net.toml"],
     "--vcd: net.toml is not valid: it is the file of the topology too"),
    (["load", "net.toml", "individual", "--rate", "0.01", "--checkpoint", "net.toml"],
     "--checkpoint: net.toml is not valid: it is the file of the topology too"),
    (["verilog", "router", "--topology", "net.toml", "-o", "net.toml"],
     "--output: net.toml is not valid: it is the file of the topology too"),
    ([*OWN, "--vcd", "mine.py"], "--vcd: mine.py is not valid: it is the file of the scheme too"),
    ([*OWN, "--vcd", "link.vcd"], "--vcd: link.vcd is not valid: it is the file of the scheme too"),
    ([*OWN, "--vcd", "hard.vcd"], "--vcd: hard.vcd is not valid: it is the file of the scheme too"),
    ([*RUN, "--vcd", "same", "--replay", "same"], "--replay: same is not valid: it is the file of --vcd too"),
    ([*RUN, "--vcd", "a", "--replay", "a.gtkw"], "--replay: a.gtkw is not valid: it is the file of --vcd ("),
    ([*RUN, "--replay", "wormcast-deadlock.vcd"], "it is the file of the waveform of a deadlock too"),
    ([*RUN, "--relation", "mine.py:X", "--vcd", "mine.py"], "--vcd: mine.py is not valid: it is the file of the "),
    (["run", "mesh:3x3", "dual-path", "--messages", "m.json", "--vcd", "./m.json"],
     "--vcd: m.json is not valid: it is the file of --messages too"),
    ([*LOAD, "--trace", "t.jsonl", "--checkpoint", "t.jsonl"],
     "--checkpoint: t.jsonl is not valid: it is the file of --trace too"),
    ([*RANDOM, "--checkpoint", "x.png", "--plot", "x.png"],
     "--plot: x.png is not valid: it is the file of --checkpoint too"),
    ([*RANDOM, "--checkpoint", "x", "--vcd", "x"], "--vcd: x is not valid: it is the file of --checkpoint too"),
    (["plan", "mesh:3x3", "mine.py", *RUN[3:7], "--plot", "p.svg"], "--plot: p.svg is not valid: it is the file of"),
    (["check", "mesh:3x3", "dual-path", "--with", "mine.py", "--plot", "p.svg"],
     "--plot: p.svg is not valid: it is the file of the scheme of --with mine.py too"),
    (["wave", "good.vcd", "--replay", "good.vcd"],
     "--replay: good.vcd is not valid: it is the file of FILE good.vcd too"),
    (["sweep", "s.toml"], "the table: out/s.csv is not valid: it is the file of FILE too"),
    (["verilog", "router", "--scheme", "mine.py", "-o", "mine.py"],
     "--output: mine.py is not valid: it is the file of the scheme too"),
    (["synth", "router", "--scheme", "x.svg.py", "--sweep", "vcs=1,2", "-o", "x.csv"],
     "--output: x.csv is not valid: it is the file of the scheme too"),
])
def test_what_would_be_lost_is_refused(arguments, sentence, folder):
    before = contents(folder)
    code, out, err = wormcast(*arguments, cwd=folder)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert sentence in err
    assert contents(folder) == before


def test_a_checkpoint_may_be_written_again_by_what_goes_on_from_it(folder):
    """And by nothing else; nor may the files be written that it names."""
    assert wormcast(*LOAD, "--trace", "t.jsonl", "--checkpoint", "k.svg", cwd=folder)[0] == 0
    before = contents(folder)
    for more, sentence in (
        (["--vcd", "k.svg"], "--vcd: k.svg is not valid: it is the file of FILE too"),
        (["--plot", "./k.svg"], "--plot: k.svg is not valid: it is the file of FILE too"),
        (["--checkpoint", "t.jsonl"], "--checkpoint: t.jsonl is not valid: it is the file of the trace too"),
    ):
        code, out, err = wormcast("continue", "k.svg", *more, cwd=folder)
        assert (code, out, err.count("\n")) == (2, "", 1), err
        assert sentence in err
        assert contents(folder) == before
    code, _, err = wormcast("continue", "k.svg", "--cycles", 600, "--checkpoint", "k.svg", cwd=folder)
    assert (code, err) == (0, "")
    assert contents(folder).keys() == before.keys()


def test_names_of_one_file(tmp_path):
    (tmp_path / "a").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    for other in ("a", "sub/../a"):
        with pytest.raises(WormcastError, match=r"^--two: .*a is not valid: it is the file of --one too"):
            require_apart({"--one": tmp_path / "a"}, {"--two": tmp_path / other})
    require_apart({"--one": tmp_path / "a", "--none": None}, {"--two": tmp_path / "b", "--three": None})
    require_apart({"--one": tmp_path / "a", "--again": tmp_path / "a"}, {"--two": tmp_path / "loop"})
