"""Results of a sweep: those of load, without times, and of a deadlock only that it is one."""

from wormcast.algorithms import topology
from wormcast.sim import load
from wormcast.sim.common.csv_file import write_csv
from wormcast.sim.experiments.sweep import ResultStore, missing, over_same_cycles, points, read, row, run_missing


def test_only_missing_points_are_run_and_the_table_has_what_load_says(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text('topology = "mesh:3x3"\nscheme = "individual"\nrate = [0.02, 0.04]\nseed = [3]\nlength = 4\n'
                    'cycles = 500\nseeds = 2\ndestinations_mean = 2\nunicast_length = 8\nmulticast_fraction = 0.5\n')
    sweep = read(file)
    both = points(sweep)
    with ResultStore(tmp_path / "small.sqlite") as store:
        assert missing(both, store) == both
        assert list(run_missing(both[1:], store)) == both[1:]
        assert missing(both, store) == both[:1]
        assert missing([*both, *points(sweep)], store) == both[:1]
        list(run_missing(both[:1], store))
        results = over_same_cycles(both, [store[point.key] for point in both])
    rows = [row(sweep, point, result) for point, result in zip(both, results, strict=True)]
    result = load(topology("mesh:3x3"), both[0].scheme, both[0].traffic, configuration=both[0].configuration,
                  cycles=500, seeds=(3, 4)).to_dict()
    assert list(rows[0])[:4] == ["rate", "seed", "topology", "scheme"]
    assert rows[0]["latency_mean"] == result["latency"]["mean"]
    assert rows[0]["unicast_latency_half_width"] == result["unicast_latency"]["half_width"]
    assert rows[0]["messages"] == result["messages"] > 0
    assert "cycles_per_second" not in rows[0]
    table = tmp_path / "small.csv"
    write_csv(rows, table)
    lines = table.read_bytes().decode().split("\n")
    assert [line.count(",") for line in lines] == [len(rows[0]) - 1] * 3 + [0]
    assert [line.split(",")[0] for line in lines] == ["rate", "0.02", "0.04", ""]


def test_deadlock_is_a_result_without_measurements(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text('topology = "mesh:3x3"\nscheme = "dual-path"\nrate = 0.1\ndestinations_mean = 6\n'
                    'consumption = 1\nvcs = 1\ncycles = 60000\nseeds = 2\n')
    sweep = read(file)
    [point] = points(sweep)
    result = point.run()
    cells = row(sweep, point, *over_same_cycles([point], [result]))
    assert cells["deadlock"] is True
    assert cells["cycles_simulated"] < cells["cycles"] == 60_000
    assert cells["latency_mean"] is None
    assert cells["saturated"] is None
    assert result == points(sweep)[0].run()
