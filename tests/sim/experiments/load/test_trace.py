"""Traces: read as they are needed, created in their cycles or after receipts, and nothing else random."""

import gzip
import hashlib
import json
import os
import re

import numpy as np
import pytest
from cases import slow
from refused_at import without_place

from wormcast.algorithms import SCHEMES, WormcastError, topology
from wormcast.sim import Configuration, Message, Network, Trace, load, run
from wormcast.sim.engines.amaranth import AmaranthEngine
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.meter import take
from wormcast.sim.experiments.load import load_until_interval
from wormcast.sim.experiments.load.message_window import MessageWindow
from wormcast.sim.experiments.load.trace import TraceSource

from .windows import through

MESH = topology("mesh:4x4")


def line(cycle, source, destinations, length=8, **more):
    return {"cycle": cycle, "source": source, "destinations": destinations, "length": length, **more}


@pytest.fixture
def trace_of(tmp_path):
    def write(lines, name="some.jsonl"):
        text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in lines).encode()
        file = tmp_path / name
        file.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
        return Trace(str(file))
    return write


def random_lines(nodes, lines, cycles, seed, *, chance=0.5, reach=None):
    """Messages of which some wait for receipts of up to three earlier ones, anywhere before or ``reach`` back."""
    random = np.random.default_rng(seed)
    found = []
    for number, cycle in enumerate(np.sort(random.integers(0, cycles, lines)).tolist()):
        source, *destinations = random.permutation(nodes)[:1 + random.integers(1, min(5, nodes))].tolist()
        came = [other for other in range(max(0, number - (reach or number)), number)
                if source in found[other]["destinations"]]
        after = sorted(random.permutation(came)[:random.integers(1, 4)].tolist()) if random.random() < chance else []
        found.append(line(cycle, source, destinations, int(random.integers(1, 30)),
                          **({"after": after if len(after) != 1 else after[0]} if after else {})))
    return found


def created_by_definition(host, window, lines):
    """Cycle of each message: its own, or that of the last receipt by its source that it waits for."""
    message = window.message_of[host.deliveries["worm"]]
    received = {(int(m), int(node)): int(cycle) for m, node, cycle in
                zip(message, host.deliveries["node"], host.received, strict=True)}
    result = []
    for one in lines:
        after = one.get("after", [])
        result.append(max([one["cycle"], *(received[other, one["source"]] for other in
                                           (after if isinstance(after, list) else [after]))]))
    return result


@pytest.mark.parametrize(("scheme", "options"), [
    ("dual-path", {"consumption": 2}),
    slow("u-mesh", {"t_hs": 20, "t_hr": 10}),
    ("column-path", {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"}),
])
def test_messages_are_created_in_their_cycle_or_by_the_last_receipt_however_time_is_cut(scheme, options, trace_of):
    lines = random_lines(16, 300, 1000, 1, reach=40)
    trace, network = trace_of(lines), Network(MESH, SCHEMES[scheme], Configuration(**options))
    whole, window, _ = through(network, [trace.source(MESH, 0)], 40_000, 40_000, keep=True)
    assert len(whole) == 300
    expected = created_by_definition(window.host, window, lines)
    assert whole["created"].tolist() == expected
    assert sum(at > one["cycle"] for at, one in zip(expected, lines, strict=True)) > 50
    assert (whole["injected"] >= whole["created"]).all()
    cut, *_ = through(network, [trace.source(MESH, 0)], 90, 40_500)
    # messages leave a window in the order of their numbers
    assert np.array_equal(whole, cut)


def test_a_chain_of_receipts_is_as_long_as_its_parts(trace_of):
    """Three unicasts alone, each behind the receipt of the one before: no cycle between them."""
    network = Network(MESH, SCHEMES["individual"], Configuration(t_hr=7))
    trace = trace_of([line(10, 0, [5]), line(10, 5, [2], after=0), line(11, 2, [0], after=[1])])
    done, *_ = through(network, [trace.source(MESH, 0)], 64, 512)
    assert done["created"].tolist() == [10, *done["received"][:2].tolist()]
    for one, message in zip(done, [Message(0, 0, (5,), 8), Message(0, 5, (2,), 8), Message(0, 2, (0,), 8)],
                            strict=True):
        alone = run(MESH, SCHEMES["individual"], [message], Configuration(t_hr=7)).message_to_dict(0)
        assert one["received"] - one["created"] == alone["latency"]


def test_a_cycle_later_than_the_receipt_counts(trace_of):
    network = Network(MESH, SCHEMES["individual"], Configuration())
    lines = [line(0, 0, [5]), line(0, 1, [5, 6]), line(200, 5, [2], after=[0, 1]), line(1000, 6, [2], after=1)]
    for chunk in (100, 2000):
        done, *_ = through(network, [trace_of(lines).source(MESH, 0)], chunk, 2000)
        assert done["created"].tolist() == [0, 0, 200, 1000]


@pytest.mark.slow  # to an engine a trace is messages as any: test_engines_agree
def test_both_engines_agree(trace_of):
    lines, mesh = random_lines(4, 25, 60, 3), topology("mesh:2x2")
    trace, hosts = trace_of(lines), []
    for engine_of in (BulkEngine, AmaranthEngine):
        network = Network(mesh, SCHEMES["individual"], Configuration(vcs=1, t_hr=3))
        window = MessageWindow(network, [trace.source(mesh, 0)], 60)
        engine = engine_of(network, window.host)
        engine.run(1500)
        hosts.append(engine.host)
    assert (hosts[0].received >= 0).all()
    for name in ("received", "head", "tail", "injected"):
        assert np.array_equal(getattr(hosts[0], name), getattr(hosts[1], name)), name
    assert np.array_equal(hosts[0].worms["ready"], hosts[1].worms["ready"])


def test_counts_are_of_messages_that_are_created(trace_of):
    """Flits created are those that are consumed, under way or waiting, at every moment; others do not exist yet."""
    lines = random_lines(16, 200, 800, 5)
    trace, network = trace_of(lines), Network(MESH, SCHEMES["dual-path"], Configuration(consumption=2))
    window = MessageWindow(network, [trace.source(MESH, 0)], 50)
    engine, behind, consumed = BulkEngine(network, window.host, measure=True), 0, 0
    for end in range(50, 3001, 50):
        engine.host = window.host
        engine.run(50, beyond=True)
        window.take_done()
        consumed += int(take(engine.meter).flits[network.fabric.rows("host")].sum())
        counts, host = window.counts(), window.host
        begun = host.worms["waits"][window.messages["worm"]] == 0
        of_worm = begun[window.message_of - window.messages_before]
        due = host.deliveries["due"][of_worm[host.deliveries["worm"]]].sum()
        assert counts["wanted"][0] == consumed + due
        assert window.waiting()[0] == (of_worm & (host.injected < 0)).sum()
        behind += int((~begun).sum())
        window.extend(end + 50)
    assert behind > 0
    assert counts["begun"][0] == 200
    assert counts["created"][0] == sum(one["length"] for one in lines)
    assert window.ended


def test_load_runs_a_trace_until_all_is_received(trace_of):
    lines = random_lines(16, 150, 3000, 2, chance=0)
    trace, configuration = trace_of(lines), Configuration(consumption=2)
    found = load(MESH, SCHEMES["dual-path"], trace, configuration=configuration, cycles=None)
    ran = run(MESH, SCHEMES["dual-path"], [
        Message(one["cycle"], one["source"], tuple(one["destinations"]), one["length"]) for one in lines
    ], configuration)
    latencies = [ran.message_to_dict(index)["latency"] for index in range(150)]
    kinds = [len(one["destinations"]) > 1 for one in lines]
    assert found.span("latency").to_dict() == {"mean": pytest.approx(np.mean(latencies)), "half_width": None}
    assert found.span("multicast_latency").mean == pytest.approx(np.mean(np.array(latencies)[kinds]))
    assert found.totals["messages"].sum() == 150
    assert (found.censored, found.warmup, found.cycles) == (0, 0, ran.cycles)
    flits = sum(one["length"] * len(one["destinations"]) for one in lines)
    assert found.totals["completed"].sum() == found.totals["consumed"].sum() == flits
    assert not found.saturated


def test_load_runs_a_trace_for_so_many_cycles(trace_of):
    lines = random_lines(16, 200, 5000, 2, reach=40)
    trace, options = trace_of(lines), {"configuration": Configuration(consumption=2)}
    whole = load(MESH, SCHEMES["dual-path"], trace, cycles=None, **options)
    longer = load(MESH, SCHEMES["dual-path"], trace, cycles=20_000, **options)
    assert whole.span("latency") == longer.span("latency")
    assert longer.cycles == 20_000 > whole.cycles
    short = load(MESH, SCHEMES["dual-path"], trace, cycles=2500, warmup=1000, **options)
    counted = int(short.totals["begun"].sum())
    assert 0 < counted < 200
    assert counted == short.censored + int(short.totals["messages"].sum())


def test_a_deadlock_of_a_trace_is_found(trace_of):
    lines = [line(0, node, [one for one in range(16) if one != node], 64) for node in range(16)]
    found = load(MESH, SCHEMES["dual-path"], trace_of([*lines, line(5, 0, [3], after=1)]), cycles=None,
                 configuration=Configuration(consumption=1, vcs=1, buffer=2))
    assert found.deadlock is not None
    assert found.deadlock_seed is None
    assert found.cycles == found.deadlock.at


def test_a_compressed_trace_is_the_same(trace_of):
    lines = random_lines(16, 100, 500, 4)
    plain, packed = trace_of(lines), trace_of(lines, "some.jsonl.gz")
    found = [load(MESH, SCHEMES["dual-path"], trace, cycles=None, configuration=Configuration(consumption=2))
             for trace in (plain, packed)]
    assert np.array_equal(found[0].slices, found[1].slices)
    assert plain.facts(MESH) == packed.facts(MESH)
    with open(packed.path, "rb") as opened:
        assert packed.sha256 == hashlib.sha256(opened.read()).hexdigest()


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz"])
def test_a_source_goes_on_from_its_state(name, trace_of):
    trace = trace_of(random_lines(16, 100, 500, 4), name)
    source = TraceSource(trace, MESH)
    for cycle in (100, 100, 300, 600):
        other = TraceSource(trace, MESH)
        other.state = source.state
        one, two = source.until(cycle), other.until(cycle)
        assert all(map(np.array_equal, one, two))
    assert (source.ended, other.ended, len(one.at) > 0) == (True, True, True)
    assert source.state[1] == 100


def test_nodes_may_be_named(trace_of):
    [read] = trace_of([line(3, "1.2", ["@0", 5, "3.3"], 9)]).read(MESH)
    assert (read.cycle, read.source, read.destinations, read.length) == (3, 6, [0, 5, 15], 9)


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz"])
@pytest.mark.parametrize("parts", [
    ["\ufeff", 0, "\n", 1, "\n"], [0, "\n", 1], [0, "\n\n", 1, "\n\n"], ["\n \n", 0, "\r\n\t\n", 1, "\r\n  "],
    ["\ufeff\n", 0, "\n", 1, "\n\n\n"], ["\ufeff", [0, 1]], [" \n", [0, 1], "\n"],
], ids=repr)
def test_marks_of_byte_order_and_blank_lines_are_ignored(parts, name, tmp_path):
    """Lines that wait count messages alone; a reader that goes on from a byte finds the next one."""
    entries = [line(3, 0, [1]), line(7, 1, [0], after=0)]
    in_list = [{"at" if key == "cycle" else key: value for key, value in one.items()} for one in entries]
    text = "".join(part if isinstance(part, str) else json.dumps(in_list) if isinstance(part, list)
                   else json.dumps(entries[part]) for part in parts)
    file = tmp_path / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    trace = Trace(str(file))
    read = list(trace.read(MESH))
    assert [(one.cycle, one.source, one.after) for one in read] == [(3, 0, []), (7, 1, [0])]
    assert list(trace.read(MESH, read[0].end, 1)) == read[1:]


GOOD = line(5, 0, [1, 2])
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(("text", "sentence"), [
    (TEXT.encode("utf-16"), "the line is not JSON (byte 0 is not UTF-8"),
    (TEXT.encode("utf-16-le"),
     "the line is not JSON (it cannot be read from character 2 on"),
    (f"[{TEXT},\n{TEXT},\n]".encode(),
     "begins with [ and is not a JSON list (it cannot be read from character 1 of line 3"),
    (f"[{TEXT},\n".encode(), "begins with [ and is not a JSON list (it ends too early"),
    (b"[" * 100_000, "begins with [ and is not a JSON list (it has too many brackets inside one another"),
    (b"[\xff]", "begins with [ and is not a JSON list (byte 1 is not UTF-8"),
    (b"[1, 2, 3]", "1 is not valid. Allowed: a JSON object with cycle, source"),
    (f"[{TEXT}, {TEXT[:-1]}, \"length\": 3}}]".encode(),
     "the key 'length' is not valid: it occurs twice. Allowed: each key once"),
    (f"[{TEXT[:-1]}, \"at\": 3}}]".encode(), "the keys 'at' and 'cycle' are not valid together"),
])
def test_files_that_are_refused(text, sentence, tmp_path):
    file = tmp_path / "some.jsonl"
    file.write_bytes(text)
    with pytest.raises(WormcastError, match=re.escape(sentence)):
        list(Trace(str(file)).read(MESH))


@pytest.mark.parametrize(("second", "sentence"), [
    ("nonsense", "the line is not JSON (it cannot be read from character 1 on"),
    ("\udcff", "the line is not JSON (byte 0 is not UTF-8"),
    ('{"cycle":', "the line is not JSON (it ends too early"),
    ("{" * 9, "the line is not JSON (it cannot be read from character 2 on"),
    ('{"a":' * 5000, "the line is not JSON (it has too many brackets inside one another"),
    ('{"cycle": ' + "1" * 5000 + "}", "the line is not JSON (a number has too many digits"),
    (TEXT[:-1] + ', "source": 3}', "the key 'source' is not valid: it occurs twice."),
    ("null", "null is not valid. Allowed: a JSON object with cycle"),
    ("[1]",
     "[1] is not valid. Allowed: a JSON object with cycle, source, destinations, length"),
    ({"cycle": 1}, "source, destinations, length are missing. Needed: cycle, source, desti"),
    (line(5, 0, [1], colour=3), "'colour' is not a key of a message. Allowed: cycle, source, destinations, length"),
    (line(-1, 0, [1]), "cycle: -1 is not valid. Allowed: a whole number from 0 to 4294967295"),
    (line(True, 0, [1]), "cycle: true is not valid. Allowed: a whole number"),
    (line(5.0, 0, [1]), "cycle: 5.0 is not valid"),
    (line(4, 0, [1]), "cycle 4 is not valid after a message with cycle 5. Needed: messages in the order of their"),
    (line(5, 0, [1], 0), "length: 0 is not valid. Allowed: a whole number from 1 to 65536"),
    (line(5, 16, [1]), "source: '16' is not in mesh:4x4"),
    (line(5, None, [1]), "source: null is not valid. Allowed: a node, by number or name"),
    (line(5, False, [1]), "source: false is not valid. Allowed: a node"),
    (line(5, 0, []), "destinations: [] is not valid. Allowed: 1 or more entries"),
    (line(5, 0, 3), "destinations: 3 is not valid. Allowed: a list of nodes"),
    (line(5, 0, [0]), "destinations: 0 is not valid: it is the source. Allowed: distinct nodes other than"),
    (line(5, 0, [3, "0.3"]), "destinations: '0.3' is not valid: it occurs twice. Allowed: distinct nodes"),
    (line(5, 1, [3], after=1), "after: 1 is not valid: 1 is not the number of an earlier message."),
    (line(5, 1, [3], after=-1), "after: -1 is not valid. Allowed: the number of an earlier message"),
    (line(5, 1, [3], after=[0, 0]), "after: [0, 0] is not valid"),
    (line(5, 1, [3], after="0"), "after: '0' is not valid. Allowed: the number of an earlier message, or a list"),
    (line(5, 0, [3], after=0), "after: 0 is not valid: message 0 does not go to node 0 (0.0), the source of "),
    (line(5, 5, [3], after=0), "after: 0 is not valid: message 0 does not go to node 5 (1.1), the source of "),
    ("1" * (1 << 20), "the line is too long. Allowed: fewer than 1048576 bytes"),
], ids=lambda case: "" if isinstance(case, str) else json.dumps(case)[:40])
def test_a_line_that_is_no_message_is_refused(second, sentence, tmp_path):
    file = tmp_path / "some.jsonl"
    text = second if isinstance(second, str) else json.dumps(second)
    file.write_bytes(json.dumps(GOOD).encode() + b"\n" + text.encode(errors="surrogateescape") + b"\n")
    with pytest.raises(WormcastError) as refused:
        load(MESH, SCHEMES["dual-path"], Trace(str(file)), configuration=Configuration(consumption=2), cycles=None)
    assert f"message 1 of {file} (the first is 0): " in str(refused.value)
    assert sentence in without_place(str(refused.value))


def test_a_file_that_is_no_trace_is_refused(tmp_path):
    def told(name, content):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(WormcastError) as refused:
            Trace(str(tmp_path / name)).check(MESH, 1)
        return str(refused.value)

    assert told("empty.jsonl", b"").endswith(
        "empty.jsonl is not valid: it has no messages. Allowed: one or more messages.")
    assert "some.gz is not compressed, though its name ends in .gz. Needed: a file " in told("some.gz", b"plain")
    packed = gzip.compress(json.dumps(GOOD).encode() + b"\n")
    assert "half.gz is cut off or damaged. Needed: a whole gzip file." in told("half.gz", packed[:-12])
    assert "bad.gz is cut off or damaged. Needed: a" in told("bad.gz", packed[:12] + b"\xff\xff\xff" + packed[15:])
    with pytest.raises(WormcastError, match="nowhere cannot be read: No such file"):
        Trace(str(tmp_path / "nowhere"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(WormcastError, match=r"pipe is not valid\. Allowed: a regular file"):
        Trace(str(tmp_path / "pipe"))


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz"])
def test_a_file_that_changes_is_told(name, trace_of):
    trace = trace_of([GOOD], name)
    source = trace.source(MESH, 0)
    trace.check(MESH, 1)
    trace_of([GOOD, GOOD], name)
    with pytest.raises(WormcastError, match="has changed while it was used"):
        trace.source(MESH, 0)
    if name == "some.jsonl":
        with pytest.raises(WormcastError, match="has changed while it was used"):
            source.until(10)
    assert Trace(trace.path) != trace


def test_what_has_no_meaning_with_a_trace_is_refused(trace_of):
    trace, options = trace_of([GOOD]), {"configuration": Configuration(consumption=2)}
    with pytest.raises(WormcastError, match="seeds: 2 seeds are not valid: a trace"):
        load(MESH, SCHEMES["dual-path"], trace, seeds=(1, 2), **options)
    with pytest.raises(WormcastError, match=r"warmup: 6 is not valid with 6 cycles\. Allowed: 0 to 5"):
        load(MESH, SCHEMES["dual-path"], trace, cycles=None, warmup=6, **options)
    with pytest.raises(WormcastError, match="until_interval=True is not valid with a trace, whose "):
        load_until_interval(MESH, SCHEMES["dual-path"], trace, **options)
