"""Grants of worms and the worms they waited for, against a trace of the links; and waits of a worm alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import slow

from wormcast.algorithms import SCHEMES, topology
from wormcast.algorithms.compiled import digest
from wormcast.sim import Configuration, Network
from wormcast.sim.engines import channel_grants as grants_module
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.packet_tracker import BUFFER, CONSUMPTION, INJECTION, LINK, NOBODY, TURN, run_tracked
from wormcast.sim.host import lay_out, run_cycles
from wormcast.sim.waves.record.trace import trace_links

ROOT = Path(__file__).parents[2]
CYCLES = 1200
SETTINGS = [
    ("mesh:4x4", "dual-path", {"vcs": 2, "consumption": 2}, 4),
    slow("mesh:4x4", "column-path", {"vcs": 1, "consumption": 2, "readers": "independent", "t_ns": 3,
                                 "consumption_links": "separate"}, 9),
    slow("mesh:3x3", "multipath", {"vcs": 3, "consumption": 2, "ports": "all", "buffer": 2, "delays": "fast"}, 6),
    slow("mesh:3x4", "individual", {"vcs": 1, "buffer": 1, "t_hs": 7}, 30),
    slow("mesh:2x3x3", "u-mesh", {"vcs": 2, "t_hr": 5, "ejection": "all"}, 8),
    slow("torus:4x4", "individual", {"vcs": 4, "queue": 1}, 8),
    slow("mesh:4x4", "e-mcast", {"vcs": 4, "consumption": 4, "consumption_links": "separate", "flit_width": 18}, 6),
]


def engine_of(shape, scheme, options, apart, lanes=1, width=None):
    """Random multicasts and unicasts, one every so many cycles in each lane, that are all sent before the end."""
    mesh, plan = topology(shape), SCHEMES[scheme]
    net = Network(mesh, plan, Configuration(**options).for_headers(mesh, plan, 6), lanes)
    random, count = np.random.default_rng(5), CYCLES // 2 // apart
    picked = [random.permutation(net.nodes)[:random.choice([2, 2, 4, 7])] for _ in range(count)] * lanes
    offsets = np.cumsum([0, *(len(one) - 1 for one in picked)])
    worms = net.scheme.batch(mesh, np.array([one[0] for one in picked]), offsets,
                             np.concatenate([one[1:] for one in picked]))
    number = np.tile(np.arange(count), lanes)
    host = lay_out(net, number * apart, np.tile(random.integers(1, 16, count), lanes), worms,
                   lane=np.repeat(np.arange(lanes), count), numbers=number)
    return BulkEngine(net, host, vector_width=width)


def followed(engine):
    engine.follow()
    engine.run(CYCLES)
    assert (engine.host.received >= 0).all()
    grants = engine.grants.take()
    assert not grants["packet"].any()
    return grants[["worm", "switch", "kind", "wait", "behind"]]


def traced(engine):
    """The same of one lane by another way: rows of (worm, switch, kind, wait, behind), sorted.

    Who waits is what the registers say in each cycle of the trace. Whose channel it gets shows by what owns it then.
    Who had it before is behind whom it waited, if that one was there, or in the buffer that the channel leads to, in
    the third cycle before the first that counts as a wait, or later; for an interface's worm the one that the port has
    sent before comes first, if its tail was not gone two cycles before.
    """
    net, host = engine.network, engine.host
    vcs, links = net.configuration.vcs, [link for link in net.fabric.links if link.kind != "host"]
    trace = trace_links(engine, links, CYCLES)
    channels = [(link, vc) for link in links for vc in range(link.vcs)]
    inputs = {(link.target, 1 + link.input * vcs + vc): at for at, (link, vc) in enumerate(channels)
              if link.input is not None}
    found = []
    for at, (link, _) in enumerate(channels):
        owns, owner = trace.owners[:, at], trace.held[:, at]
        if link.kind != "injection":
            owner = np.array([trace.front[cycle, inputs[link.source, number]] if number else NOBODY
                              for cycle, number in enumerate(owns)])
        there = owner if link.kind == "consumption" else trace.front[:, at]
        if link.input is not None:
            found += fronts(host, trace.held[:, at], trace.front[:, at], link.target)
        before = NOBODY
        for begin in np.flatnonzero(np.diff(owner, prepend=NOBODY)):
            worm, kept_by = owner[begin], before
            if worm == NOBODY:
                continue
            if link.kind == "injection":
                kind, place, asked = INJECTION, link.target, host.injected[worm] + 3 + net.configuration.t_ns
                port = [k for k, (other, _) in enumerate(channels) if other is link]
                ahead = host.worms["previous"][worm]
                there_first = ahead >= 0 and bool((trace.held[asked - 2:begin, port] == ahead).any())
            else:
                kind, place, asked = CONSUMPTION if link.kind == "consumption" else LINK, link.source, begin
                there_first = False
                code = 2 if kind == CONSUMPTION else 1
                while trace.waits[asked - 2, inputs[link.source, owns[begin]]] & 3 == code:
                    asked -= 1
            if there_first:
                kept_by = ahead
            elif asked == begin or before == NOBODY or not (there[asked - 3:] == before).any():
                kept_by = NOBODY
            message = NOBODY if asked == begin or kept_by == NOBODY else host.worms["message"][kept_by]
            found.append((worm, place, kind, begin - asked, message))
            before = worm
    return sorted(tuple(map(int, row)) for row in found)


def fronts(host, held, front, switch):
    """List worms' waits for the front of a buffer, from the second cycle after their first flit, with the blockers."""
    rows, before = [], NOBODY
    for begin in np.flatnonzero(np.diff(front, prepend=NOBODY)):
        if front[begin] != NOBODY:
            comes = int(np.argmax(held == front[begin]))
            kept = before != NOBODY and (front[comes:begin] == before).any()
            wait = begin - comes - 2
            rows.append((front[begin], switch, BUFFER, wait,
                         host.worms["message"][before] if kept and wait else NOBODY))
            before = front[begin]
    return rows


@pytest.mark.parametrize(("shape", "scheme", "options", "apart"), SETTINGS)
def test_grants_are_those_of_a_trace_of_the_links(shape, scheme, options, apart):
    found = sorted(followed(engine_of(shape, scheme, options, apart)).tolist())
    expected = traced(engine_of(shape, scheme, options, apart))
    assert found == expected
    waits = [row for row in found if row[3]]
    assert LINK in {row[2] for row in waits}
    assert any(row[4] != NOBODY for row in waits)


#: Files that are compiled into the program; of each, a line and a replacement that behaves differently.
CHANGES = [("sim/engines/packet_tracker.py", "    if fronts.turns:\n        _look",
            "    if not fronts.turns:\n        _look"),
           ("sim/host/program.py", "    counters[NOW] += 1", "    counters[NOW] += 2"),
           ("sim/host/constants.py", "RECEIPT = -2", "RECEIPT = -3"),
           ("sim/lowering/call.py", "ir.IntType(64)", "ir.IntType(32)")]
TELL = """
from wormcast.algorithms.compiled import digest
from wormcast.sim.engines.packet_tracker import run_tracked
from wormcast.sim.host import run_cycles
print(digest(run_cycles.py_func), digest(run_tracked.py_func))
"""


def test_the_program_is_compiled_again_when_that_of_the_hosts_has_changed(tmp_path):
    """It is known on disk by all that is compiled into it, wherever the package lies, and by nothing else."""
    for folder in ("algorithms", "hw", "sim", "src"):
        shutil.copytree(ROOT / folder, tmp_path / folder, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {"PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"}

    def told():
        return subprocess.run([sys.executable, "-c", TELL], cwd=tmp_path, env=environment, capture_output=True,
                              text=True, check=True).stdout.strip()

    found = [f"{digest(run_cycles.py_func)} {digest(run_tracked.py_func)}"]
    for name, before, after in CHANGES:
        file = tmp_path / name
        text = file.read_text()
        assert before in text
        file.write_text("# a comment above\n" + text)
        assert told() == found[0]
        file.write_text(text.replace(before, after))
        found.append(told())
        file.write_text(text)
    assert len(set(found)) == 1 + len(CHANGES)


def test_a_log_that_is_full_again_and_again_loses_nothing(monkeypatch):
    """It has room for two cycles: what is written behind it would be lost, or worse."""
    whole = followed(engine_of(*SETTINGS[0]))
    monkeypatch.setattr(grants_module, "ROOM", 1)
    engine = engine_of(*SETTINGS[0])
    engine.follow()
    log = engine.grants.tracking.log
    room = len(log) - len(log) // 2  # as many entries as a cycle may bring
    assert len(whole) > 3 * room
    engine.grants.tracking = engine.grants.tracking._replace(log=log[:room])
    log[room:] = -7
    engine.run(CYCLES)
    found = engine.grants.take()
    assert found[["worm", "switch", "kind", "wait", "behind"]].tolist() == whole.tolist()
    assert (log[room:] == -7).all()


@pytest.mark.parametrize("width", [slow(16), 64, slow(512)])
def test_lanes_know_nothing_of_each_other_however_kernels_are_packed(width):
    """Two lanes of the same traffic, in kernels of so many instances, get the same; the numbers of messages too."""
    _, scheme, options, _ = SETTINGS[0]
    one = followed(engine_of("mesh:3x3", scheme, options, 4))
    two = followed(engine_of("mesh:3x3", scheme, options, 4, lanes=2, width=width))
    half = len(one["worm"]) and int(one["worm"].max()) + 1
    for lane in range(2):
        mine = two[two["worm"] // half == lane]
        mine["worm"] -= lane * half
        assert sorted(mine.tolist()) == sorted(one.tolist())


@pytest.mark.parametrize("length", [8, 30])
def test_flits_of_two_worms_on_a_link_take_turns(length):
    """Of two virtual channels of a link each flit that could go and did not is noted, behind the other worm.

    Both streams are without a gap and meet on one link: each tail is as late as its worm's waits there add up to.
    """
    mesh, plan = topology("mesh:1x5"), SCHEMES["individual"]
    net = Network(mesh, plan, Configuration(vcs=2, consumption=2, buffer=8))
    worms = net.scheme.batch(mesh, [0, 1], [0, 1, 2], [2, 3])
    tails = []
    for at in ([0, 1000], [0, 3]):
        engine = BulkEngine(net, lay_out(net, np.array(at), np.full(2, length), worms))
        engine.follow(turns=True)
        engine.run(3000)
        tails.append(engine.host.tail - at)
        grants = engine.grants.take()
    alone, together = tails
    slots = grants[grants["kind"] == TURN]
    # behind the link the flits come one by one, and those that wait there for their input's turn delay none
    turns = np.bincount(slots["worm"][slots["switch"] == 1], minlength=2)
    headers = np.bincount(grants["worm"], np.where(grants["kind"] == TURN, 0, grants["wait"]), 2)
    assert len(slots) >= length
    assert set(zip(slots["behind"].tolist(), slots["sender"].tolist(), slots["worm"].tolist(), strict=True)) == {
        (0, 0, 1), (1, 1, 0)}
    late = together - alone
    assert (turns > 0).all()
    assert (turns <= late).all()
    assert (late <= turns + headers).all()
    assert headers.max() <= 2
