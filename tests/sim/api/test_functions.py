"""Functions of `import wormcast`: the numbers and sentences of the command line, as objects."""

import ast
import functools
import html
import inspect
import json
import pickle
import re
import subprocess
import sys
import typing
from dataclasses import dataclass, fields
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from command import wormcast as command_line

import wormcast as wc
from wormcast.algorithms import HAMILTONIAN, SCHEMES, PlainScheme
from wormcast.sim.api.option_types import ExportOptions, HardwareOptions, TrafficOptions
from wormcast.sim.api.results import LINES, CommandResult
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.build.host_port import HostPort
from wormcast.sim.build.traffic import Traffic
from wormcast.sim.cli.commands import find_function

PAGE = (Path(__file__).parents[3] / "docs" / "python.md").read_text()

#: Results that depend on the time, and the commit, which may change meanwhile: they are compared by presence alone.
TIMES = ("cycles_per_second", "planning_ns", "seconds", "commit")

#: A call for each command, and the words of the command line.
CALLS = {
    "plan": (lambda: wc.plan("mesh:4x4", "dual-path", "1.2", ["0.0", "3.3"], relation="hamiltonian"),
             "plan mesh:4x4 dual-path --source 1.2 --destinations 0.0,3.3 --relation hamiltonian"),
    "forwarded": (lambda: wc.plan("irregular:seed=1", "k-binomial", 0, [1, 2, 3, 4], length=64, packet=16),
                  "plan irregular:seed=1 k-binomial --source 0 --destinations 1,2,3,4 --length 64 --packet 16"),
    "random": (lambda: wc.plan_random("mesh:4x4", "multipath", 16, destinations_mean=3.0, seed=2),
               "plan mesh:4x4 multipath --random 16 --destinations-mean 3 --seed 2"),
    "check": (lambda: wc.check("mesh:3x3", "dual-path", with_=["individual=e-cube"], consumption=1, explain=True),
              "check mesh:3x3 dual-path --with individual=e-cube --consumption 1 --explain"),
    "run": (lambda: wc.run("mesh:4x4", "dual-path", 0, "5,9", 8, vcs=1, contention=True),
            "run mesh:4x4 dual-path --source 0 --destinations 5,9 --length 8 --vcs 1 --contention"),
    "formula": (lambda: wc.run("torus:4x4", "dcf", 0, "all", 16, ports="all", t_hs=3),
                "run torus:4x4 dcf --source 0 --destinations all --length 16 --ports all --t-hs 3"),
    "load": (lambda: wc.load("mesh:3x3", "dual-path", 0.02, destinations_mean=3.0, cycles=2000, seeds=2, buffer=5),
             "load mesh:3x3 dual-path --rate 0.02 --destinations-mean 3 --cycles 2000 --seeds 2 --buffer 5"),
    "interval": (lambda: wc.load("mesh:3x3", "dual-path", 0.02, destinations_mean=3.0, cycles=8000, seeds=2, buffer=5,
                                 until_interval=True, precision=0.2),
                 ("load mesh:3x3 dual-path --rate 0.02 --destinations-mean 3 --cycles 8000 --seeds 2 --buffer 5 "
                  "--until-interval --precision 0.2")),
    "saturation": (lambda: wc.find_saturation("mesh:3x3", "dual-path", destinations_mean=3.0, cycles=2000, seeds=2,
                                              buffer=5, precision=0.2),
                   ("load mesh:3x3 dual-path --find-saturation --destinations-mean 3 --cycles 2000 --seeds 2 "
                    "--buffer 5 --precision 0.2")),
    "hunt": (lambda: wc.hunt("mesh:1x4", "dual-path", cycles=2000, seed=3, length=(2, 9)),
             "hunt mesh:1x4 dual-path --cycles 2000 --seed 3 --length 2:9"),
    "verilog": (lambda: wc.verilog("output-unit", vcs=1, topology="mesh:3x3"),
                "verilog output-unit --vcs 1 --topology mesh:3x3 -o FILE --json"),
    "synth": (lambda: wc.synth("allocator", seeds=0, vcs=1, topology="mesh:3x3"),
              "synth allocator --seeds 0 --vcs 1 --topology mesh:3x3"),
    "synth_sweep": (lambda: wc.synth_sweep("allocator", "vcs=1,2", topology="mesh:3x3"),
                    "synth allocator --sweep vcs=1,2 --topology mesh:3x3"),
    "describe": (lambda: wc.describe("min:b=2,stages=2", tokens=2, headers=8),
                 "topology min:b=2,stages=2 --tokens 2 --headers 8"),
    "figure": (lambda: wc.figure("002-fig3", quick=True), "figure 002-fig3 --quick --out FILE"),
    "names": (lambda: wc.names("figures", "boppana"), "list figures boppana"),
}


@functools.cache
def result_of(name):
    """Return a call's result. All tests share it."""
    return CALLS[name][0]()


def without_times(data):
    return {key: key if key in TIMES else value for key, value in data.items()}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_and_its_command_give_the_same(name, tmp_path):
    _, words = CALLS[name]
    code, out, err = command_line(*words.replace("FILE", str(tmp_path / "out.v")).split(), "--json", cwd=tmp_path)
    assert code in (0, 3), err
    told, result = json.loads(out), result_of(name)
    found = json.loads(json.dumps(result.to_dict()))
    if name == "verilog":
        assert (tmp_path / "out.v").read_text() == result.text
        told["file"] = None
    if name == "figure":
        told["files"] = []  # without a folder the function writes none
    assert without_times(found) == without_times(told)
    assert list(found) == list(told)


@pytest.mark.parametrize("name", CALLS)
def test_results_are_short_in_words_and_have_a_table(name):
    result = result_of(name)
    assert 1 <= len(repr(result).splitlines()) <= LINES
    assert all(len(line) < 160 for line in repr(result).splitlines())
    shown = result._repr_html_()
    assert shown.startswith("<p>")
    rows = result.rows()
    if rows:
        assert shown.count("<tr>") == 1 + min(len(rows), 12)
        assert list(result.to_dataframe().columns) == list(rows[0]) == result.to_arrow().column_names
        assert len(result.to_dataframe()) == len(rows)
    require_pickled(result)


def require_pickled(result):
    again = pickle.loads(pickle.dumps(result))
    assert (type(again), repr(again), again.to_dict()) == (type(result), repr(result), result.to_dict())
    assert again.rows() == result.rows()


@pytest.mark.parametrize("name", ["plan", "check", "run", "load", "synth_sweep", "describe"])
def test_pictures_are_axes_in_their_own_style(name):
    before = dict(matplotlib.rcParams)
    axes = result_of(name).plot()
    assert isinstance(axes, matplotlib.axes.Axes)
    assert dict(matplotlib.rcParams) == before


def test_a_result_without_a_picture_says_so():
    with pytest.raises(wc.WormcastError, match=r"^plot: a VerilogResult has no picture\. Allowed: results with"):
        result_of("verilog").plot()
    with pytest.raises(wc.WormcastError, match=r"^plot: no deadlock was found"):
        result_of("hunt").plot()


class Own(PlainScheme):
    """Dual-path in one direction at a time, with a worm for each destination."""

    name = "own"
    relation = HAMILTONIAN

    def classes_on(self, topology):
        return SCHEMES["dual-path"].classes_on(topology)

    def visits(self, topology, source, destinations):
        return [[node] for node in destinations]


def test_objects_stand_in_place_of_names():
    mesh, scheme = wc.topology("mesh:3x3"), Own()
    assert wc.topology(mesh) is mesh
    run = wc.run(mesh, scheme, 0, [4, 8], 6, relation=HAMILTONIAN)
    assert run.outcome == "delivered"
    assert [run.configuration[key] for key in ("topology", "scheme", "relation")] == ["mesh:3x3", "own", "hamiltonian"]
    assert wc.plan(mesh, scheme, 0, [4, 8]).plan.copies == 2
    mixed = [wc.check(mesh, scheme, with_=[other]) for other in (
        "individual=hamiltonian", ("individual", HAMILTONIAN), (SCHEMES["individual"], "hamiltonian"))]
    assert mixed[0].free
    assert mixed[0].to_dict() == mixed[1].to_dict() == mixed[2].to_dict()
    assert wc.check(mesh, scheme, with_=[SCHEMES["individual"]]).configuration["with"] == ["individual"]
    assert "rate 0.01" in repr(wc.load(mesh, scheme, 0.01, destinations_mean=2.0, cycles=1000, seeds=1))


def test_a_list_of_rates_is_a_curve_with_the_points_of_a_sweep(tmp_path):
    options = {"topology": "mesh:3x3", "scheme": "dual-path", "destinations_mean": 3.0, "cycles": 2000, "buffer": 5}
    curve = wc.load(options["topology"], options["scheme"], rate=[0.02, 0.04], destinations_mean=3.0, cycles=2000,
                    buffer=5)
    swept = wc.sweep({**options, "rate": [0.02, 0.04]}, out=tmp_path)
    assert curve.rows() == swept.rows()
    assert [row["rate"] for row in curve.rows()] == [0.02, 0.04]
    assert (swept.new, wc.sweep({**options, "rate": [0.02, 0.04]}, out=tmp_path).new) == (2, 0)
    assert len(curve.plot().figure.axes) == 2
    file = tmp_path / "same.toml"
    given = {**options, "rate": [0.02, 0.04]}
    file.write_text("\n".join(f"{name} = {json.dumps(value)}" for name, value in given.items()))
    code, out, err = command_line("sweep", file, "--out", tmp_path / "out", "--json", cwd=tmp_path)
    assert code == 0, err
    assert json.loads(out)["points"] == json.loads(json.dumps(wc.sweep(file).to_dict()["points"]))


def test_numbers_and_arrays_of_numpy_are_those_of_python():
    plain = wc.load("mesh:3x3", "dual-path", [0.02, 0.04], destinations_mean=3.0, cycles=2000, seeds=2, buffer=5)
    arrays = wc.load("mesh:3x3", "dual-path", np.linspace(0.02, 0.04, 2), destinations_mean=np.int64(3),
                     cycles=np.int64(2000), seeds=np.int8(2), buffer=np.int64(5))
    assert arrays.rows() == plain.rows()
    assert len(arrays) == 2
    assert wc.load("mesh:3x3", "dual-path", pd.Series([0.02, 0.04]), destinations_mean=3.0, cycles=2000, seeds=2,
                   buffer=5).rows() == plain.rows()
    run = wc.run("mesh:4x4", "dual-path", np.int64(0), np.array([5, 9]), np.int64(8), vcs=np.int64(1))
    assert json.dumps(run.to_dict()) == json.dumps(wc.run("mesh:4x4", "dual-path", 0, [5, 9], 8, vcs=1).to_dict())
    assert wc.plan("mesh:4x4", "dual-path", 0, 5).rows() == wc.plan("mesh:4x4", "dual-path", 0, [5]).rows()
    assert wc.run("mesh:4x4", "dual-path", 0, 5, 8, vcs=1).delivered


def test_a_deadlock_has_rows_with_the_names_of_printed_tables():
    ends = [wc.Message(at=0, source=0, destinations=(1, 2), length=64),
            wc.Message(at=0, source=3, destinations=(2, 1), length=64)]
    stuck, done = (wc.run("mesh:1x4", "dual-path", messages=ends, vcs=1, consumption=number) for number in (1, 2))
    rows = stuck.deadlock_rows()
    assert {row["worm"]: row["waits for"] for row in rows} == {"worm 0": "cons:0.2:0", "worm 1": "cons:0.1:0"}
    assert ["cons:0.1:0" in row["holds"].split(", ") for row in rows] == [row["worm"] == "worm 0" for row in rows]
    assert done.deadlock_rows() == []


def test_after_a_deadlock_nothing_is_saturated_or_precise():
    stuck = wc.load("mesh:3x3", "dual-path", 0.2, vcs=1, consumption=1, destinations_mean=4.0, cycles=4000, seeds=2)
    assert (stuck.deadlock, stuck.saturated, stuck.precise, stuck.latency) == (True, None, None, None)
    [row] = stuck.rows()
    assert (row["deadlock"], row["saturated"], row["latency_mean"]) == (True, None, None)
    with pytest.raises(wc.WormcastError, match=r"^plot: the experiment ended in a deadlock in cycle \d+"):
        stuck.plot()


def test_a_load_has_its_links_and_a_notebook_its_latency():
    load = result_of("load")
    links = load.link_rows()
    assert {row["kind"] for row in links} == {"network", "injection", "consumption"}
    assert len(links) == 24 + 9 + 9
    assert "<th>latency_mean</th>" in load._repr_html_()
    assert load._repr_html_().count("<th>") < 12
    assert (load.rate, load.rows()[0]["scheme"], load.rows()[0]["topology"]) == (0.02, "dual-path", "mesh:3x3")


def test_pictures_keep_their_style_in_files(tmp_path):
    """Whatever the settings are when they are saved: journals refuse fonts of Type 3."""
    axes = result_of("run").plot()
    axes.figure.savefig(tmp_path / "a.pdf")
    assert b"/Type3" not in (tmp_path / "a.pdf").read_bytes()
    axes.figure.savefig(tmp_path / "a.png")
    width = int.from_bytes((tmp_path / "a.png").read_bytes()[16:20], "big")
    assert width == round(300 * axes.figure.get_figwidth())


def test_a_sweep_over_objects_is_that_over_their_names():
    options = {"topology": "mesh:3x3", "rate": 0.02, "destinations_mean": 3.0, "cycles": 1000, "buffer": 5}
    named = wc.sweep({**options, "scheme": ["dual-path", "multipath"]})
    objects = wc.sweep({**options, "topology": wc.topology("mesh:3x3"),
                        "scheme": [SCHEMES["dual-path"], SCHEMES["multipath"]]})
    assert named.rows() == objects.rows()


OWN = """from wormcast.algorithms import SCHEMES
mine = SCHEMES["individual"]
"""


def test_a_changed_file_is_read_again_by_the_next_sweep(tmp_path):
    """A notebook runs many sweeps in a process, and its user edits the file meanwhile."""
    file = tmp_path / "own.py"
    options = {"topology": "mesh:3x3", "scheme": f"{file}:mine", "rate": 0.02, "destinations_mean": 3.0, "cycles": 1000,
               "buffer": 5, "seeds": 1}
    file.write_text(OWN)
    before = wc.sweep(options, out=tmp_path / "out")
    file.write_text(OWN.replace("individual", "dual-path"))
    after = wc.sweep(options, out=tmp_path / "out")
    named = wc.sweep({**options, "scheme": "dual-path"})
    assert (before.new, after.new) == (1, 1)
    assert after.rows()[0]["latency_mean"] == named.rows()[0]["latency_mean"] != before.rows()[0]["latency_mean"]


@dataclass(eq=False)
class Parametrised(Own):
    """A scheme with a parameter."""

    name: str = "parametrised"
    size: int = 1


@dataclass
class Compared(Parametrised):
    """A dataclass that compares by value has no hash."""


def test_a_scheme_may_be_a_dataclass_with_a_hash():
    options = {"destinations_mean": 2.0, "cycles": 1000, "seeds": 1, "buffer": 5}
    curve = wc.load("mesh:3x3", Parametrised(), rate=[0.01], **options)
    assert curve.rows()[0]["scheme"] == "parametrised"
    for call in (lambda: wc.run("mesh:3x3", Compared(), 0, [1], 8),
                 lambda: wc.load("mesh:3x3", Compared(), rate=[0.01], **options)):
        with pytest.raises(wc.WormcastError, match=r"scheme: class Compared has no hash, .* @dataclass\(eq=False\)"):
            call()


def test_a_window_of_a_waveform_is_drawn_whole(tmp_path):
    wc.run("mesh:1x4", "dual-path", 0, [1, 3], 8, vcd=tmp_path / "run.vcd")
    read = wc.read_waveform(tmp_path / "run.vcd", window=np.array([0, 24]), worms=(0,))
    assert (read.drawn.first, read.drawn.end) == (0, 24)
    whole = wc.read_waveform(tmp_path / "run.vcd")
    assert whole.drawn.end - whole.drawn.first < whole.history.end - whole.history.first


def test_verilog_of_objects_names_no_command():
    made = wc.verilog("output-unit", vcs=1, topology=wc.topology("mesh:3x3"))
    assert "wormcast.verilog('output-unit', ...) in Python" in made.text
    assert "wormcast verilog" not in made.text
    assert "wormcast verilog output-unit --topology mesh:3x3" in result_of("verilog").text


def test_a_waveform_is_read_as_by_the_command(tmp_path):
    wc.run("mesh:1x4", "dual-path", 0, [1, 3], 8, vcd=tmp_path / "run.vcd", window=(0, 27))
    code, out, err = command_line("wave", tmp_path / "run.vcd", "--json", cwd=tmp_path)
    assert code == 0, err
    read = wc.read_waveform(tmp_path / "run.vcd")
    assert without_times(json.loads(json.dumps(read.to_dict()))) == without_times(json.loads(out))
    assert len(repr(read).splitlines()) <= LINES
    assert len(read.rows()) == 1
    require_pickled(read)
    assert read.plot().lines or read.plot().patches or read.plot().collections
    assert read.replay(tmp_path / "run.html").path.read_text().startswith("<!DOCTYPE html>")
    assert read.replay().path is None
    with pytest.raises(wc.WormcastError, match=r"^replay: .*run\.htm is not valid\. Allowed: names that end in \.html"):
        read.replay(tmp_path / "run.htm")


def test_a_notebook_shows_the_replay_of_a_run():
    replay = result_of("run").replay()
    shown = replay._repr_html_()
    assert shown.startswith('<iframe srcdoc="')
    assert html.unescape(re.search('srcdoc="(.*?)"', shown, re.DOTALL)[1]) == replay.page
    assert len(repr(replay)) < 100


ON = ("mesh:4x4", "dual-path")


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: wc.run(*ON, 0, [1], 8, vc=3), "'vc' is not an option of run. Nearest: vcs."),
    (lambda: wc.run(*ON, 0, [1]),
     "run: length is missing. Needed: source, destinations and length together, or messages alone."),
    (lambda: wc.run(*ON, 0, [1], 8, messages="x.jsonl"),
     "source: 0 is not valid with messages. Allowed: messages, or source, destinations, length."),
    (lambda: wc.check(*ON, explain=True, absorb="host"), "absorb: host is not valid with explain=True: the theorems"),
    (lambda: wc.load("mesh:4x4"), "load: scheme is missing. Needed: topology, scheme."),
    (lambda: wc.sweep({}, outs="x"), "sweep: 'outs' is not a parameter. Nearest: out. Allowed: options, out,"),
    (lambda: wc.figure("002-fig99"), "figure: '002-fig99' is unknown. Nearest: 002-fig9."),
    (lambda: wc.names("scheme"), "kind: 'scheme' is not valid. Nearest: schemes. Allowed: schemes, topologies"),
    (lambda: wc.run("mesh:4x4", "dual-pth", 0, [1], 8), "scheme: 'dual-pth' is unknown"),
    (lambda: wc.run("mesh:4x4", 3, 0, [1], 8), "scheme: 3 is not valid. Allowed: text or a Scheme."),
    (lambda: wc.topology(3), "topology: 3 is not valid. Allowed: text or a Topology."),
    (lambda: wc.check(*ON, t_hs=3), "'t_hs' is not an option of check. See: help(wormcast.check)."),
    (lambda: wc.load(*ON), "load: rate is missing. Needed: rate or trace."),
    (lambda: wc.load(*ON, 0.01, mean=3), "'mean' is not an option of load."),
    (lambda: wc.load(*ON, rates=[0.01]), "'rates' is not an option of load. Nearest: rate"),
    (lambda: wc.sweep({"topology": "mesh:3x3", "scheme": [Own(), Own()], "rate": 0.1}),
     "scheme: 'own' is not valid: two objects have this name. Allowed: different names."),
    (lambda: wc.sweep({"topology": wc.topology("mesh:3x3"), "scheme": "dual-path", "rate": 0.1}, out="out"),
     "out: out is not valid with objects in place of names."),
    (lambda: wc.hunt("mesh:1x4", "dual-path", length="2:x"), "length: '2:x' is not valid."),
    (lambda: wc.hunt("mesh:1x4", "dual-path", length=0), "length: 0 is not valid. Allowed: A:B with 1 <= A <= B <= "),
    (lambda: wc.check(*ON, with_=[1]), "scheme in with_: 1 is not valid."),
    (lambda: wc.synth_sweep("router", [1]), "sweep: 1 is not valid. Allowed: text."),
    (lambda: wc.verilog("interface", delays="fast"), "delays: fast is not valid with interface: it does not change"),
    (lambda: wc.synth("router", seeds=-1), "seeds: -1 is not valid. Allowed: 0 or more."),
    (lambda: wc.load(*ON, [0.01], trace="none.jsonl"), "trace: none.jsonl is not valid with a list"),
    (lambda: wc.load(*ON, [0.01, None]), "rate[1]: null is not valid. Allowed: a number."),
    (lambda: wc.load(*ON, 0.01, seed="a"), "seed: 'a' is not valid. Allowed: a whole number or None."),
    (lambda: wc.load(*ON, 0.01, seeds=[1, 2]), "seeds: [1, 2] is not valid. Allowed: a whole number"),
    (lambda: wc.load(*ON, 0.01, trace=3), "trace: 3 is not valid. Allowed: text or a path or"),
    (lambda: wc.check(*ON, length=-1), "length: -1 is not valid. Allowed: 1 or more."),
    (lambda: wc.check(*ON, length="8"), "length: '8' is not valid. Allowed: a whole number or None."),
    (lambda: wc.check(*ON, seed=-1), "seed: -1 is not valid. Allowed: 0 or more."),
    (lambda: wc.check(*ON, with_=None), "with: None is not valid. Allowed: text or a Scheme or"),
    (lambda: wc.check(*ON, with_=[("multipath",)]), "with: ('multipath',) is not valid. Allowed: a"),
    (lambda: wc.check(*ON, explain="yes"), "explain: 'yes' is not valid. Allowed: a bool."),
    (lambda: wc.plan(*ON, 0, None), "destinations: None is not valid. Allowed: a whole number or text"),
    (lambda: wc.plan(*ON, 0, [1], length=0), "length: 0 is not valid. Allowed: 1 or more."),
    (lambda: wc.plan_random(*ON, "10"), "multicasts: '10' is not valid. Allowed: a whole number."),
    (lambda: wc.plan_random(*ON, 16, destination_mean=4),
     "'destination_mean' is not an option of plan_random. Nearest: destinations_mean."),
    (lambda: wc.run(*ON, 0, [1], 8, seed=-1), "seed: -1 is not valid. Allowed: 0 or more."),
    (lambda: wc.run(*ON, 0, [1], 8, window=(0,)), "window: (0,) is not valid. Allowed: A:B"),
    (lambda: wc.run(*ON, 0, [1], 8, vcd=3), "vcd: 3 is not valid. Allowed: text or a path"),
    (lambda: wc.hunt("mesh:1x4", "dual-path", length=()), "length: () is not valid. Allowed: A:B"),
    (lambda: wc.sweep({3: 4}), "option: 3 is not valid. Allowed: text."),
    (lambda: wc.hunt("mesh:1x4", "dual-path", length=(2, 5, 6)), "length: (2, 5, 6) is not valid. Allowed: A:B"),
    (lambda: wc.sweep(None), "options: None is not valid. Allowed: a dict or text or a path."),
    (lambda: wc.read_waveform(None), "path: None is not valid. Allowed: text or a path."),
    (lambda: wc.read_waveform("w.vcd", worms=0), "worms: 0 is not valid. Allowed: a list or None."),
    (lambda: wc.verilog(None), "what: None is not valid. Allowed: text."),
    (lambda: wc.verilog("router", relations=["e-cube"]), "relations: ['e-cube'] is not valid. Allowed: text or None."),
])
def test_refusals_are_sentences(call, sentence):
    with pytest.raises(wc.WormcastError, match=f"^{re.escape(sentence)}"):
        call()


def test_the_command_line_names_options(tmp_path):
    command = f"check {' '.join(ON)} --explain --absorb host"
    assert "absorb: host is not valid with --explain" in command_line(*command.split(), cwd=tmp_path)[2]


def test_pictures_are_pickled():
    figure = wc.plan("mesh:4x4", "dual-path", "1.2", ["0.0", "3.3"]).figure()
    assert type(pickle.loads(pickle.dumps(figure))) is type(figure)


def test_the_package_imports_nothing():
    heavy = ("numpy", "numba", "amaranth", "matplotlib", "pandas", "typer", "wormcast.algorithms", "wormcast.sim")
    code = (f"import sys, wormcast as wc; loaded = [name for name in {heavy} if name in sys.modules]; "
            "print(loaded, dir(wc) == wc.__all__); wc.check; print('numba' in sys.modules, 'amaranth' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "[] True\nFalse False\n"


def test_all_public_names_are_there():
    stub = ast.parse(Path(wc.__file__).with_suffix(".pyi").read_text())
    typed = {name.name for one in stub.body if isinstance(one, ast.ImportFrom) for name in one.names}
    assert typed | {"__commit__", "__version__"} == set(wc.__all__)
    assert all(getattr(wc, name) is not None for name in wc.__all__ if name != "__commit__")
    with pytest.raises(AttributeError, match="has no attribute 'unknown'"):
        wc.unknown  # noqa: B018


@pytest.mark.parametrize(("options", "declared", "others"), [
    (HardwareOptions, [Configuration], {"configuration"}), (TrafficOptions, [Traffic], set()),
    (ExportOptions, [Configuration, HostPort], {"configuration"})])
def test_types_of_options_are_those_that_are_declared(options, declared, others):
    named = {field.name: typing.get_type_hints(one)[field.name] for one in declared for field in fields(one)
             if field.name != "rate"}
    assert {**dict.fromkeys(others, str), **named} == typing.get_type_hints(options)


#: Options of commands that print or write something, or that are parameters of the function by another name.
OUTPUTS = {"json", "plot", "style", "width", "panel", "label", "replay", "out", "links", "csv", "messages_out",
           "checkpoint", "checkpoint_every", "around_worst", "output", "doc", "tables", "markdown", "saturation",
           "random", "parquet", "name", "toml", "tokens", "zero_load_multiple", "sva", "sdc"}
#: Names of parameters of the command line, which avoid those of functions.
SAME = {"explain_": "explain", "by_block": "breakdown"}
#: Defaults of functions that differ from those of the command, where they are None.
OTHER_DEFAULTS = {("plan", "source"): inspect.Parameter.empty, ("plan", "destinations"): inspect.Parameter.empty,
                  ("check", "with_"): ()}


@pytest.mark.parametrize(("command", "function"), [
    ("plan", wc.plan), ("check", wc.check), ("run", wc.run), ("load", wc.load), ("hunt", wc.hunt),
    ("verilog", wc.verilog), ("synth", wc.synth)])
def test_options_and_defaults_are_those_of_the_command(command, function):
    parameters = inspect.signature(function).parameters
    law = {"destinations_mean", "destinations_distribution", "destinations_deviation", "destinations_counts", "seed"}
    for name, one in inspect.signature(find_function(command)).parameters.items():
        name = SAME.get(name, name)
        if name in OUTPUTS or (command == "plan" and name in law):
            continue
        if command == "load" and name in ("vcd", "window", "instances"):
            continue  # waveforms of a load experiment need its past states
        if command == "synth" and name == "sweep":
            continue
        if name in parameters:
            assert parameters[name].default == OTHER_DEFAULTS.get((command, name), one.default), name
        else:
            assert name in {**ExportOptions.__annotations__, **TrafficOptions.__annotations__}, name


def declaration(text):
    return ast.unparse(ast.parse(text)).replace("'", "")


DECLARED = {node.name: ast.unparse(node) for block in re.findall(r"```pyi\n(.*?)```", PAGE, re.DOTALL)
            for node in ast.parse(block).body}


def test_the_page_declares_all_functions():
    assert set(DECLARED) == {name for name in wc.__all__ if inspect.isfunction(getattr(wc, name))}


@pytest.mark.parametrize("name", DECLARED)
def test_signatures_of_the_page_are_those_of_the_code(name):
    node = ast.parse(inspect.getsource(getattr(wc, name))).body[0]
    text = f"def {name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}: ..."
    assert declaration(DECLARED[name]) == declaration(text)


def test_results_are_of_one_family():
    results = [getattr(wc, name) for name in wc.__all__ if name.endswith("Result")]
    assert len(results) == 15
    assert all(issubclass(one, CommandResult) for one in results)


USED = '''import wormcast as wc

result = wc.load("mesh:8x8", "dual-path", 0.01, vcs=2, destinations_mean=8.0)
latency: float | None = result.latency
curve: wc.SweepResult = wc.load("mesh:8x8", "dual-path", [0.01, 0.02])
wc.run("mesh:8x8", "dual-path", 0, [1, 2], 20, vcs="two")
wc.check("mesh:8x8", "dual-path", consumptoin=1)
text: str = wc.topology("mesh:8x8")
'''


# mypy reads all of numpy and pandas first; `make types` reads the declarations, and tests above compare them with the
# options and with the signatures of the page
@pytest.mark.slow
def test_a_users_file_is_checked_by_mypy(tmp_path):
    """Its right lines have no error, its wrong ones have one each."""
    file = tmp_path / "used.py"
    file.write_text(USED)
    source = Path(wc.__file__).parents[1]
    done = subprocess.run([sys.executable, "-m", "mypy", "--python-version", "3.11", "--follow-imports=silent",
                           "--cache-dir", tmp_path / "cache", "--config-file", "", file],
                          env={"MYPYPATH": str(source), "PATH": "/usr/bin:/bin"}, cwd=tmp_path, check=False,
                          stdout=subprocess.PIPE, text=True)
    lines = re.findall(r"used\.py:(\d+): error", done.stdout)
    assert lines == ["6", "7", "8"], done.stdout
