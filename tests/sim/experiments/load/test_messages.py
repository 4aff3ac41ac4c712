"""The table of messages has each message that is through once, with its own events, in one order on any threads."""

import csv
import tempfile
from pathlib import Path

import numpy as np
import pytest
from cases import slow
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.engines.packet_tracker import BUFFER, CONSUMPTION, INJECTION, LINK
from wormcast.sim.experiments.load import Experiment, MessageTable, Traffic, load, shared
from wormcast.sim.experiments.load.messages import COLUMNS
from wormcast.sim.experiments.load.source import Source

from ....algorithms import reference
from ... import zero_load
from .windows import through

TRAFFIC = Traffic(0.04, destinations_mean=3, multicast_fraction=0.5, length=12)
#: Schemes, and behind a blank what is another setting of one.
SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},  # a receipt may be noted earlier than one of a tail before it
    "dual-path fast": {"consumption": 2, "consumption_links": "separate", "delays": "fast", "t_ns": 3, "t_nr": 2},
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
}
CYCLES = 5000
WAITS = ("injection_wait", "buffer_wait", "link_wait", "consumption_wait")


def scheme_of(setting):
    return SCHEMES[setting.partition(" ")[0]]


def table_of(scheme, seeds, workers, path, pause=None, cycles=CYCLES, warmup=0):
    """Rows of an experiment as text, which may be paused every so many cycles."""
    experiment = Experiment(topology("mesh:4x4"), scheme_of(scheme), TRAFFIC, cycles=cycles, warmup=warmup,
                            configuration=Configuration(**SETTINGS[scheme]), parts=shared(seeds, workers))
    table = MessageTable(experiment)
    while not experiment.finished:
        experiment.run(experiment.now + pause if pause else None)
    table.write(path, parquet=path.suffix == ".parquet", warmup=experiment.result().warmup)
    return path


def expected(scheme, seed):
    """The same rows, message by message, of a network that has kept all it knows."""
    network = Network(topology("mesh:4x4"), scheme_of(scheme), Configuration(**SETTINGS[scheme]))
    _, window, grants = through(network, [Source(TRAFFIC, network.topology, seed)], CYCLES, CYCLES, keep=True)
    host, rows = window.host, []
    for number, message in enumerate(window.messages):
        end = window.messages["worm"][number + 1] if number + 1 < len(window.messages) else len(host.worms)
        worms = host.worms[message["worm"]:end]
        sent = [worm["injected"] for worm in worms for _ in range(worm["delivery"], worm["delivery_end"])]
        visits = [visit for worm in worms for visit in host.deliveries[worm["delivery"]:worm["delivery_end"]]]
        if any(visit["received"] < 0 for visit in visits):
            continue
        last = max(visits, key=lambda visit: visit["received"])  # the first of several
        source, created = worms[0]["source"], worms[0]["ready"]
        injected = min(worm["injected"] for worm in worms)
        handed = max(worm["handed"] for worm in worms if worm["source"] == source)
        tail = max(visit["tail"] for visit in visits)
        row = {"seed": seed, "message": number, "source": source,
               "destinations": " ".join(str(visit["node"]) for visit in visits),
               "multicast": "true" if len(visits) > 1 else "false", "length": message["length"], "worms": len(worms),
               "created": created, "injected": injected, "handed": handed, "last": last["node"],
               "tail": tail, "received": last["received"], "latency": last["received"] - created,
               "queue_latency": injected - created, "injection_latency": handed - injected,
               "transit_latency": tail - handed, "network_latency": tail - injected,
               "reception_latency": last["received"] - tail,
               "last_sent": sent[visits.index(last)], "last_head": last["head"], "last_tail": last["tail"]}
        row |= {"before_worm": row["last_sent"] - created, "header": last["head"] - row["last_sent"],
                "serialisation": message["length"] - 1, "noting": last["received"] - last["tail"],
                "tail_stretch": last["tail"] - last["head"] - message["length"] + 1}
        row |= at_sender(host, host.worms[last["worm"]], created)
        mine = grants[(grants["worm"] == last["worm"]) & (grants["packet"] == last["first"])]
        row |= on_its_way(network, mine, last["node"])
        row["header_moves"] = row["header"] - sum(row[name] for name in WAITS)
        row |= {"reply_to": "", "counted": "true"}
        rows.append({name: str(value) for name, value in row.items()})
    return rows


def at_sender(host, worm, created):
    """Count the cycles before a worm's first flit, by the worm that the port was sending in each cycle."""
    beside = [other for other in host.worms if other["stream"] == worm["stream"] and other["injected"] >= 0]
    sending = [max((other for other in beside if other["injected"] <= cycle), key=lambda other: other["injected"],
                   default=None) for cycle in range(worm["posted"], worm["injected"])]
    copies = sum(other is not None and other["message"] == worm["message"] for other in sending)
    work = sum(other["cost"] for other in host.worms if other["message"] == worm["message"]
               and other["source"] == worm["source"] and 0 <= other["posted"] <= worm["posted"])
    return {"relayed": worm["ready"] - created, "preparation": work, "earlier_copies": copies,
            "queue": worm["injected"] - worm["ready"] - work - copies}


def on_its_way(network, grants, node):
    """Sum a worm's waits up to a node, and with coupled readers for the link behind it."""
    end = next(k for k, grant in enumerate(grants) if grant["kind"] == CONSUMPTION and grant["switch"] == node)
    hops = sum(grant["kind"] == LINK for grant in grants[:end])
    more = end + 1 < len(grants) and network.configuration.readers == "coupled"
    grants = grants[:end + 1 + more]
    row = {name: sum(grant["wait"] for grant in grants if grant["kind"] == kind)
           for name, kind in zip(WAITS, (INJECTION, BUFFER, LINK, CONSUMPTION), strict=True)}
    return row | {"hops": hops, "behind": " ".join(
        f"{('inj', 'link', 'cons', 'buffer')[grant['kind']]}@{grant['switch']}:"
        f"{'-' if grant['behind'] < 0 else grant['behind']}:{grant['wait']}" for grant in grants if grant["wait"])}


@pytest.mark.parametrize("scheme", SETTINGS)
def test_each_message_that_is_through_has_a_row_of_its_own_events(scheme, tmp_path):
    with table_of(scheme, [1, 4], 1, tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows == [*expected(scheme, 1), *expected(scheme, 4)]
    assert len(rows) > 200
    for row in rows:
        require_sums(row)


PARTS = ("relayed", "queue", "preparation", "earlier_copies", *WAITS, "header_moves", "serialisation", "tail_stretch",
         "noting")


def require_sums(row):
    """The parts of a latency are none below 0, and add up to it, each wait to a message that it was behind."""
    parts = {name: int(row[name]) for name in PARTS}
    assert min(parts.values()) >= 0, row
    assert sum(parts.values()) == int(row["latency"]), row
    assert sum(parts[name] for name in PARTS[:4]) == int(row["before_worm"])
    waits = dict.fromkeys(WAITS, 0)
    for wait in row["behind"].split():
        place, _, cycles = wait.split(":")
        what = place.split("@")[0]
        waits[{"inj": "injection", "cons": "consumption"}.get(what, what) + "_wait"] += int(cycles)
        assert int(cycles) > 0
    assert waits == {name: parts[name] for name in WAITS}


@pytest.mark.slow  # those of each scheme do: test_utilisation
@given(st.sampled_from(sorted(SETTINGS)), st.floats(0.005, 0.8), st.integers(1, 40), st.floats(0, 1),
       st.floats(1, 12), st.integers(0, 30), st.integers(0, 30), st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_parts_of_any_loads_latencies_add_up(scheme, consumed, length, multicasts, mean, t_hs, t_hr, seed):
    """Near and beyond saturation, whatever the hosts take: every message of every seed, exactly."""
    traffic = Traffic(consumed / (1 + multicasts * (mean - 1)), length=length, multicast_fraction=multicasts,
                      destinations_mean=mean)
    hosts = Configuration(**{**SETTINGS[scheme], "t_hs": t_hs, "t_hr": t_hr, "injection_delay": seed})
    experiment = Experiment(topology("mesh:4x4"), scheme_of(scheme), traffic, cycles=3000, warmup=0,
                            configuration=hosts, parts=[[seed, seed + 1]])
    with tempfile.TemporaryDirectory() as folder:
        table, path = MessageTable(experiment), Path(folder, "m.csv")
        experiment.run()
        assume(experiment.deadlocked is None)
        table.write(path, parquet=False, warmup=0)
        rows = list(csv.DictReader(path.open()))
    assert len(rows) == sum(int(total.table["messages"].sum()) for total in (
        group.all_totals() for group in experiment.groups))
    for row in rows:
        require_sums(row)


@pytest.mark.parametrize(("scheme", "options"), [
    ("dual-path", {"vcs": 1, "consumption": 2}),
    slow("multipath", {"vcs": 1, "consumption": 2, "readers": "independent", "ports": "all"}),
    slow("individual", {"vcs": 1, "delays": "fast", "buffer": 5}),
    slow("dual-path", {"vcs": 4, "consumption": 2}),
])
def test_a_header_moves_as_if_it_were_alone(scheme, options):
    """A header's time minus its waits is the time of a worm alone, by the recurrence.

    It is more where the first payload flit waits for a credit or its turn: seldom where there is one virtual channel.
    """
    net = Network(topology("mesh:4x4"), SCHEMES[scheme], Configuration(**options))
    _, window, grants = through(net, [Source(TRAFFIC, net.topology, 3)], CYCLES, CYCLES, keep=True)
    waits = np.bincount(grants["worm"], grants["wait"], len(window.host.worms)).astype(int)
    step, later = reference.e_cube_step if scheme == "individual" else reference.hamiltonian_step, []
    for number, worm in enumerate(window.host.worms):
        if worm["injected"] < 0 or worm["left"]:
            continue
        visits = window.host.deliveries[worm["delivery"]:worm["delivery_end"]]
        stops = visits["node"].tolist()
        path = reference.path(step, (4, 4), int(worm["source"]), stops)
        alone, _ = zero_load.deliveries(
            zero_load.roles(path, stops, net.header.capacity), worm["headers"], worm["length"],
            net.configuration.buffer, coupled=net.configuration.readers == "coupled",
            fast=net.configuration.delays == "fast")[-1]
        later.append(visits[-1]["head"] - worm["injected"] - waits[number] - alone)
    assert len(later) > 200
    assert min(later) >= 0
    assert np.mean(np.array(later) == 0) > (0.95 if options["vcs"] == 1 else 0.5)


def test_rows_depend_on_no_threads_and_no_pauses(tmp_path):
    texts = {table_of("dual-path", range(3), workers, tmp_path / "m.csv", pause).read_bytes()
             for workers, pause in [(1, None), (2, 300), (3, 2500)]}
    assert len(texts) == 1


def test_parquet_has_the_rows_of_the_csv_with_types(tmp_path):
    with table_of("u-mesh", [3], 1, tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = parquet.read_table(table_of("u-mesh", [3], 1, tmp_path / "m.parquet"))
    assert {str(one) for one in table.schema.types} == {"int64", "string", "bool"}
    assert [{name: "" if value is None else str(value).lower() for name, value in row.items()}
            for row in table.to_pylist()] == rows


@pytest.mark.parametrize("warmup", [0, 1000, None])
def test_rows_that_count_are_those_that_means_are_of(warmup, tmp_path):
    """The warm-up may be found in the end; messages of it are there, and do not count."""
    with table_of("dual-path", [1], 1, tmp_path / "m.csv", warmup=warmup).open() as file:
        rows = list(csv.DictReader(file))
    latencies = [int(row["latency"]) for row in rows if row["counted"] == "true"]
    found = load(topology("mesh:4x4"), SCHEMES["dual-path"], TRAFFIC, cycles=CYCLES, warmup=warmup, seeds=[1],
                 configuration=Configuration(**SETTINGS["dual-path"]))
    assert found.to_dict()["messages"] == len(latencies)
    assert found.span("latency").mean == pytest.approx(sum(latencies) / len(latencies))
    assert {row["counted"] for row in rows} == {"true"} | ({"false"} if found.warmup else set())


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_without_messages_has_its_columns(ending, tmp_path):
    path = table_of("dual-path", [1], 1, tmp_path / f"m.{ending}", cycles=10)
    names = parquet.read_table(path).column_names if ending == "parquet" else path.read_text().strip().split(",")
    assert names == list(COLUMNS)


def test_nothing_lies_in_the_folder_of_temporary_files(tmp_path, monkeypatch):
    """Whenever the process is killed: what has no name is gone with it. Rows are there all the same."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    experiment = Experiment(topology("mesh:4x4"), SCHEMES["dual-path"], TRAFFIC, cycles=CYCLES, warmup=0,
                            configuration=Configuration(**SETTINGS["dual-path"]), parts=[[1], [2]])
    table, seen = MessageTable(experiment), []

    def watching(on_received):
        def watch(through):
            on_received(through)
            seen.append(list(tmp_path.iterdir()))
        return watch

    experiment.on_received = [watching(callback) for callback in experiment.on_received]
    experiment.run()
    assert len(seen) > 2
    assert not any(seen)
    table.write(tmp_path / "m.csv", parquet=False, warmup=0)
    assert len((tmp_path / "m.csv").read_text().splitlines()) > 300
