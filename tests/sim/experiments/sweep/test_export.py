"""The table as Parquet has what the CSV has, with types."""

import csv

from pyarrow import parquet

from wormcast.sim.common.csv_file import write_csv
from wormcast.sim.experiments.sweep import (
    ResultStore,
    over_same_cycles,
    points,
    read,
    row,
    run_missing,
    write_parquet,
)


def test_parquet_has_the_rows_of_the_csv_with_types(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text('topology = "mesh:3x3"\nscheme = ["individual", "dual-path"]\nrate = [0, 0.04]\n'
                    'cycles = 400\nseeds = 2\ndestinations_mean = 2\n')
    sweep = read(file)
    with ResultStore(tmp_path / "small.sqlite") as store:
        every = points(sweep)
        list(run_missing(every, store))
        results = over_same_cycles(every, [store[point.key] for point in every])
    rows = [row(sweep, point, result) for point, result in zip(every, results, strict=True)]
    write_csv(rows, tmp_path / "csv")
    for name in ("one", "two"):
        write_parquet(rows, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    table = parquet.read_table(tmp_path / "one")
    with (tmp_path / "csv").open(newline="") as opened:
        lines = list(csv.DictReader(opened))
    assert table.column_names == list(lines[0])
    told = {True: "true", False: "false", None: ""}
    assert [{name: told[cell] if cell is None or isinstance(cell, bool) else str(cell) for name, cell in cells.items()}
            for cells in table.to_pylist()] == lines
    types = {name: str(table.schema.field(name).type) for name in table.column_names}
    assert {name: types[name] for name in (
        "scheme", "rate", "cycles", "saturated", "warmup", "configuration", "unicast_latency_mean", "messages")} == {
        "scheme": "string", "rate": "double", "cycles": "int64", "saturated": "bool", "warmup": "int64",
        "configuration": "string", "unicast_latency_mean": "double", "messages": "int64"}
