"""Checks that all commands make before they use a network, a scheme and hardware together."""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest
from cases import slow
from command import wormcast

from wormcast.algorithms import E_CUBE, SCHEMES, Relation, Scheme, WormcastError, find_scheme, topology
from wormcast.algorithms.registry import Registry
from wormcast.sim.build.compatibility import known_to_fit, require_sendable
from wormcast.sim.build.configuration import Configuration
from wormcast.sim.cli.run_report import report
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.experiments import run as run_module
from wormcast.sim.host import NOW, Message

RING = "switches = 4\nnodes = [0, 1, 2, 3]\nlinks = [[0, 0, 1, 1], [1, 0, 2, 1], [2, 0, 3, 1], [3, 0, 0, 1]]\n"

COLUMNS = '''"""A worm for each column, in an order of no use, under e-cube."""
from wormcast.algorithms import E_CUBE, ConsumptionClasses, PlainScheme


class Columns(PlainScheme):
    name = "columns"
    relation = E_CUBE

    def classes_on(self, topology):
        return ConsumptionClasses.parse("0+/0-/1+/1-:last")

    def visits(self, topology, source, destinations):
        columns = {}
        for node in destinations:
            columns.setdefault(int(topology.coordinates[node, 1]), []).append(node)
        return [sorted(nodes, key=lambda node: node * 7 % 13) for nodes in columns.values()]
'''

DEAD_END = '''"""E-cube, but for one pair."""
from wormcast.algorithms import E_CUBE, Relation


class DeadEnd(Relation):
    name = "dead-end"

    def table(self, topology):
        table = E_CUBE.on(topology).table.copy()
        table[0, 15] = -1
        return table
'''

#: Commands that take any multicast, with what they need besides network, scheme and hardware.
ANY = {"load": ["--rate", "0.01", "--destinations-mean", "1", "--cycles", "2000"], "hunt": ["--cycles", "10000"]}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in (("ring.toml", RING), ("columns.py", COLUMNS), ("dead_end.py", DEAD_END)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusals(folder, network, scheme, *options):
    """Return what each command prints for these arguments: load, hunt, sweep, verilog and synth."""
    found = {}
    for command, more in ANY.items():
        found[command] = wormcast(command, network, scheme, *more, *options, cwd=folder)
    entries = {"topology": network, "scheme": scheme, "rate": 0.01, "destinations_mean": 1.0, "cycles": 2000,
               **dict(zip([name.strip("-") for name in options[::2]], options[1::2], strict=True))}
    (folder / "sweep.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in entries.items()))
    found["sweep"] = wormcast("sweep", "sweep.toml", "--out", "out", cwd=folder)
    for command in ("verilog", "synth"):
        found[command] = wormcast(command, "router", "--topology", network, "--scheme", scheme, *options, cwd=folder)
    return found


@pytest.mark.parametrize(("given", "sentence"), [
    (("ring.toml", "individual"), "relation up-down: it does not lead from switch 0 to node 3 in ring.toml"),
    (("mesh:4x4", "columns.py"), "scheme columns: a worm comes from "),
    (("mesh:4x4", "path-lg"), "scheme: path-lg is not valid with buffer_kind shallow (the default): its"),
    (("mesh:4x4", "individual", "--relation", "dead_end.py"), "relation dead-end: it does not lead from "),
    (("mesh:4x4", "dual-path", "--classes", "1+"), "classes: 1+ is not valid: it has no class for a worm"),
    (("mesh:4x4", "individual", "--relation", "spiral"), "relation: 'spiral' is unknown"),
    (("mesh:4x4", "dual-path", "--classes", "2+"), "classes: '2+' is "),
])
def test_all_commands_refuse_in_one_sentence(given, sentence, folder):
    found = refusals(folder, *given)
    assert {code for code, _, _ in found.values()} == {2}
    # a file has keys in place of options
    said = {told.partition(": ")[2].removeprefix("sweep.toml: ").removeprefix("point : ").replace(
        "--buffer-kind", "buffer_kind").replace("--classes", "classes") for _, _, told in found.values()}
    assert len(said) == 1
    assert said.pop().startswith(sentence)
    assert not list(folder.glob("out/*.csv"))


@pytest.mark.parametrize("changes", [
    ("**{name: vars(worms)[name][:0] for name in ROWS}, destination_offsets=NONE, "
    "message_offsets=0 * messages[1].destination_offsets"),
    "after=worms.after + 10**9", "destinations=worms.destinations * 0", "source=worms.source + 1",
    "destinations=worms.destinations.tolist()",
])
def test_worms_of_a_user_are_checked_by_all_commands(changes, folder):
    """Before compiled code uses them: an array that is too short ends the program there."""
    (folder / "own.py").write_text(
        "from dataclasses import replace\nimport numpy as np\nfrom wormcast.algorithms import SCHEMES, Scheme\n\n"
        "ROWS, NONE = ('source', 'rank', 'after', 'tier', 'destinations'), np.zeros(1, int)\n"
        "OURS = SCHEMES['individual']\n\n\n"
        "class Own(Scheme):\n    name = 'own'\n    kinds, classes_on = ('mesh',), OURS.classes_on\n"
        "    relation, header = OURS.relation, OURS.header\n\n    def worms(self, *messages):\n"
        f"        worms = OURS.worms(*messages)\n        return replace(worms, {changes})\n")
    sent = ("--source", "0", "--destinations", "1,5")
    for command, more in (("plan", sent), ("run", (*sent, "--length", "4")), ("load", ANY["load"]), ("check", ())):
        code, out, told = wormcast(command, "mesh:4x4", "own.py", *more, cwd=folder)
        assert (code, out, told.count("\n")) == (2, "", 1)
        assert told.startswith("wormcast: scheme own")


def test_check_refuses_in_the_words_of_the_others(folder):
    found = {wormcast(command, "ring.toml", "individual", *ANY.get(command, ()), cwd=folder)
             for command in ("check", "load")}
    sentence = "relation up-down: it does not lead from switch 0 to node 3 in ring.toml. Needed: a path to each node."
    assert found == {(2, "", f"wormcast: {sentence}\n")}


@pytest.mark.parametrize(("scheme", "options"), [
    ("path-g", []), ("path-lg", []), ("tree", []), ("dual-path", ["--buffer-kind", "deep"]),
])
def test_messages_are_refused_alike_in_a_run_and_as_a_trace(scheme, options, folder):
    """A scheme's requirements on switches are checked before the turns of its worms."""
    message = {"cycle": 0, "source": 3, "destinations": [2, 6, 0, 4, 7], "length": 4}
    (folder / "m.jsonl").write_text(json.dumps(message) + "\n")
    run, load = (wormcast(command, "mesh:4x2", scheme, option, "m.jsonl", *options, cwd=folder)
                 for command, option in (("run", "--messages"), ("load", "--trace")))
    assert run == load
    assert run[0] == 2
    assert re.search("(Allowed|Needed): ", run[2])


def test_sets_that_are_given_are_asked_alone(folder):
    """By a relation that leads nowhere for one pair, others are sent."""
    given = ("mesh:4x4", "individual", "--relation", "dead_end.py", "--source", "0")
    for command, more in (("plan", []), ("run", ["--length", "4"])):
        assert wormcast(command, *given, "--destinations", "14", *more, cwd=folder)[0] == 0
        code, _, told = wormcast(command, *given, "--destinations", "14,15", *more, cwd=folder)
        assert code == 2
        assert "relation dead-end: it does not lead from switch 0 to node 15 in mesh:4x4" in told
    for command, more in (("plan", []), ("run", ["--length", "4"])):
        sent = (command, "mesh:4x4", "columns.py", "--source", "0", "--destinations")
        assert wormcast(*sent, "5", *more, cwd=folder)[0] == 0
        code, _, told = wormcast(*sent, "5,9,13,1", *more, cwd=folder)
        assert code == 2
        assert "continues to 9 (2.1); routers for relation e-cube do not have this turn in mesh:4x4" in told


@pytest.mark.parametrize(("given", "sentence"), [
    (("ring.toml", "individual"), "relation up-down: it does not lead from switch 0 to node 3 in ring.toml"),
    (("mesh:4x4", "columns.py"), "routers for relation e-cube do not have this turn in mesh:4x4"),
    (("mesh:4x4", "individual", "--relation", "dead_end.py"), "relation dead-end: it does not lead from "),
])
def test_plans_of_random_multicasts_are_refused_as_loads_are(given, sentence, folder):
    code, _, told = wormcast("plan", *given, "--random", "100", "--destinations-mean", "2", cwd=folder)
    assert code == 2
    assert sentence in told
    assert len(told.splitlines()) == 1


def test_a_trace_is_asked_for_its_own_pairs(folder):
    trace = folder / "trace.jsonl"
    for destination, code in ((2, 0), (3, 2)):
        trace.write_text(json.dumps({"cycle": 0, "source": 0, "destinations": [destination], "length": 4}) + "\n")
        ended, _, told = wormcast("load", "ring.toml", "individual", "--trace", trace, "--cycles", "2000", cwd=folder)
        assert (ended, "does not lead from switch 0 to node 3" in told) == (code, code == 2)


def test_an_error_that_hardware_finds_is_said_as_what_it_is(monkeypatch, capsys):
    """A relation that passes the door, and asks for what routers do not do: exit code 1, with the worm."""
    class Stray(Relation):
        name = "stray"

        def table(self, shape):
            return E_CUBE.on(shape).table

    monkeypatch.setattr(run_module, "require_sent", lambda *given: None)
    mesh = topology("mesh:4x4")
    scheme = find_scheme("individual", mesh, None).routed_by(Stray())
    before = BulkEngine.run

    def spoil(engine, cycles, *, beyond=False):
        if engine.host.counters[NOW] == 0:
            before(engine, 12)
            engine.blocks["router"].output("east_out")[1] = 1 | 1 << 3  # a tail that belongs to no worm
        before(engine, cycles, beyond=beyond)

    monkeypatch.setattr(BulkEngine, "run", spoil)
    result = run_module.run(mesh, scheme, [Message(0, 0, (3,), 40)], Configuration(), timeout=3000)
    assert result.outcome == "error"
    report(result)
    told = capsys.readouterr().out
    assert "an error on the wire, after " in told
    assert "worm 0 (from 0.0 to 0.3) did not arrive" in told


@pytest.mark.parametrize(("name", "scheme", "relation"), [
    ("mesh:8x8", "dual-path", None), ("torus:4x4", "u-torus", None), ("min:b=2,stages=3", "atbm", None),
    ("irregular:switches=8,ports=8,nodes=32,seed=1", "k-binomial:k=2", None),
])
def test_parts_of_this_package_need_no_proof(name, scheme, relation):
    network = topology(name)
    assert known_to_fit(network, find_scheme(scheme, network, relation), Configuration())


@pytest.mark.parametrize(("scheme", "other"), [("dual-path", "e-cube"), ("k-binomial:k=2", "hamiltonian")])
def test_parts_of_this_package_need_no_proof_where_hosts_absorb_worms(scheme, other):
    mesh, hardware = topology("mesh:4x4"), Configuration(absorb="host")
    for relation in (None, other):
        sent = hardware.as_sent(find_scheme(scheme, mesh, relation))
        assert known_to_fit(mesh, sent, hardware) == (relation is None)


def test_what_is_put_together_by_a_user_is_proved(folder):
    mesh = topology("mesh:4x4")
    individual = SCHEMES["individual"]
    for scheme, configuration in ((find_scheme("individual", mesh, "hamiltonian"), Configuration()),
                                  (find_scheme("columns.py", mesh, None), Configuration()),
                                  (SCHEMES["dual-path"], Configuration(classes="up/down"))):
        assert not known_to_fit(mesh, scheme, configuration)
    assert not known_to_fit(topology("ring.toml"), individual, Configuration())
    require_sendable(mesh, find_scheme("individual", mesh, "hamiltonian"), Configuration())
    require_sendable(mesh, SCHEMES["dual-path"], Configuration(classes="up/down", consumption=2))


def test_worms_that_slots_send_again_need_no_turn_where_they_stop(folder):
    """A user's scheme asks for a turn that routers lack. It is refused, unless worms end at each stop."""
    mesh = topology("mesh:4x4")
    columns = find_scheme("columns.py", mesh, None)
    with pytest.raises(WormcastError, match="routers for relation e-cube do not have this turn in mesh:4x4"):
        require_sendable(mesh, columns, Configuration())
    for absorb in ("2", "host"):
        require_sendable(mesh, columns, Configuration(absorb=absorb))
    assert wormcast("run", "mesh:4x4", "columns.py", "--source", "0", "--destinations", "5,9,13,1", "--length", "8",
                    "--absorb", "2", cwd=folder)[0] == 0


@pytest.mark.parametrize("ports", [
    ["tables", "token", "local", "n"], slow(["strap", "n_0", "n0", "n"]), ["x+", "x_plus", "xplus", "n"],
    slow(["port", "port_0", "port0", "n"]), ["n_in", "n_out", "n_0_out", "n"],
    slow(["allocator", "order", "fault", "n"]),
])
@pytest.mark.parametrize("options", [slow({}), {"consumption": 2, "consumption_links": "separate"}],
                         ids=["", "separate"])
def test_names_of_ports_do_not_decide_what_hardware_is(ports, options, folder):
    """Three switches in a row; the same messages arrive in the same cycles, whatever ports are called."""
    def told(names):
        links = [[0, 0, 1, 1], [1, 1, 0, 0], [1, 2, 2, 0], [2, 0, 1, 2]]
        (folder / "net.toml").write_text(
            f"name = 'row'\nswitches = 3\nports = {json.dumps(names)}\nnodes = [[0, 3], [1, 3], [2, 3]]\n"
            f"links = {links}\n")
        given = [part for name, value in options.items() for part in (f"--{name.replace('_', '-')}", value)]
        code, out, _ = wormcast("run", "net.toml", "individual", "--source", "0", "--destinations", "1,2", "--length",
                                "6", *given, "--json", cwd=folder)
        assert code == 0
        found = json.loads(out)
        return [message["deliveries"] for message in found["messages"]]

    assert told(ports) == told(["a", "b", "c", "d"])


@pytest.mark.parametrize("command", ["load", "hunt"])
def test_a_scheme_that_another_package_announces_is_checked(command, folder):
    """Its name is in the registry as ours are."""
    dist = folder / "columns-1.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: columns\nVersion: 1\n")
    (dist / "entry_points.txt").write_text("[wormcast.schemes]\ncolumns = columns:Columns\n")
    paths = os.pathsep.join([str(folder), *sys.path])
    more = ANY[command] if command == "hunt" else ["--rate", "0.02", "--destinations-mean", "3", "--cycles", "2000"]
    done = subprocess.run([sys.executable, "-m", "wormcast", command, "mesh:4x4", "columns", *more], cwd=folder,
                          env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "routers for relation e-cube do not have this turn in mesh:4x4" in done.stderr


def test_parts_that_are_announced_are_not_those_of_this_package(monkeypatch):
    points = [EntryPoint("theirs", "wormcast.algorithms.schemes.individual:Individual", "group")]
    registry = Registry("scheme", Scheme, "group")
    monkeypatch.setattr("wormcast.algorithms.registry.entry_points", lambda group: points)
    registry.add("ours", SCHEMES["individual"])
    assert registry["theirs"].name == "individual"
    assert list(registry.own) == ["ours"]
