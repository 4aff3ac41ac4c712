"""The table of messages has each message that is through once, with its own events, in one order on any threads."""

import csv

import pytest
from pyarrow import parquet

from wormcast.algorithms import SCHEMES, topology
from wormcast.sim import Configuration, Network
from wormcast.sim.experiments.load import Experiment, MessageTable, Traffic, load, shared
from wormcast.sim.experiments.load.source import Source

from .windows import through

TRAFFIC = Traffic(0.04, destinations_mean=3, multicast_fraction=0.5, length=12)
SETTINGS = {
    "dual-path": {"consumption": 2},
    "u-mesh": {"t_hs": 20, "t_hr": 10},  # a receipt may be noted earlier than one of a tail before it
    "column-path": {"consumption": 2, "packet": 4, "ports": "all", "readers": "independent"},
}
CYCLES = 5000


def table_of(scheme, seeds, workers, path, pause=None):
    """Rows of an experiment as text, which may be paused every so many cycles."""
    experiment = Experiment(topology("mesh:4x4"), SCHEMES[scheme], TRAFFIC, cycles=CYCLES, warmup=0,
                            configuration=Configuration(**SETTINGS[scheme]), parts=shared(seeds, workers))
    table = MessageTable(experiment)
    while not experiment.finished:
        experiment.run(experiment.now + pause if pause else None)
    table.write(path, parquet=path.suffix == ".parquet")
    return path


def expected(scheme, seed):
    """The same rows, message by message, of a network that has kept all it knows."""
    network = Network(topology("mesh:4x4"), SCHEMES[scheme], Configuration(**SETTINGS[scheme]))
    _, window, _ = through(network, [Source(TRAFFIC, network.topology, seed)], CYCLES, CYCLES, keep=True)
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
        rows.append({name: str(value) for name, value in row.items()})
    return rows


@pytest.mark.parametrize("scheme", SETTINGS)
def test_each_message_that_is_through_has_a_row_of_its_own_events(scheme, tmp_path):
    with table_of(scheme, [1, 4], 1, tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows == [*expected(scheme, 1), *expected(scheme, 4)]
    assert len(rows) > 200
    for row in rows:
        parts = [int(row[name]) for name in ("before_worm", "header", "serialisation", "tail_stretch", "noting")]
        assert sum(parts) == int(row["latency"])
        assert min(parts) >= 0


def test_rows_depend_on_no_threads_and_no_pauses(tmp_path):
    texts = {table_of("dual-path", range(3), workers, tmp_path / "m.csv", pause).read_bytes()
             for workers, pause in [(1, None), (2, 300), (3, 2500)]}
    assert len(texts) == 1


def test_parquet_has_the_rows_of_the_csv_with_types(tmp_path):
    with table_of("u-mesh", [3], 1, tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = parquet.read_table(table_of("u-mesh", [3], 1, tmp_path / "m.parquet"))
    assert {str(one) for one in table.schema.types} == {"int64", "string", "bool"}
    assert [{name: str(value).lower() for name, value in row.items()} for row in table.to_pylist()] == rows


def test_rows_are_those_that_means_are_of(tmp_path):
    with table_of("dual-path", [1], 1, tmp_path / "m.csv").open() as file:
        latencies = [int(row["latency"]) for row in csv.DictReader(file)]
    found = load(topology("mesh:4x4"), SCHEMES["dual-path"], TRAFFIC, cycles=CYCLES, warmup=0, seeds=[1],
                 configuration=Configuration(**SETTINGS["dual-path"]))
    assert found.to_dict()["messages"] == len(latencies)
    assert found.span("latency").mean == pytest.approx(sum(latencies) / len(latencies))
