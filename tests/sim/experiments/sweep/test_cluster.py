"""A sweep on the workers of a cluster comes to what it comes to here, and says what is wrong in the same words."""

import os
import signal
import sys

import distributed
import pytest
from sweeps import SWEEP

import wormcast
from wormcast.algorithms import WormcastError
from wormcast.sim.common.csv_file import write_csv
from wormcast.sim.common.requirements import ToolMissing
from wormcast.sim.experiments.sweep import (
    ResultStore,
    cluster,
    missing,
    points,
    read,
    row,
    run_missing,
    run_on_cluster,
)

LONG = SWEEP.replace("2000", "4000")


@pytest.fixture
def sweep(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(LONG)
    return read(file)


@pytest.fixture(scope="module")
def workers():
    """Two processes with a slot each; whoever loses a point's worker once loses the point."""
    import dask

    with (dask.config.set({"distributed.scheduler.allowed-failures": 1}),
          distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as started):
        yield started


def table(sweep, store, file):
    every = points(sweep)
    write_csv([row(sweep, point, store[point.key]) for point in every], file)
    return file.read_bytes()


def test_two_workers_of_which_one_is_killed_come_to_the_same_table(workers, sweep, tmp_path, capfd):
    with ResultStore(tmp_path / "here.sqlite") as store:
        assert len(list(run_missing(points(sweep), store))) == 6
        here = table(sweep, store, tmp_path / "here.csv")
    with distributed.Client(workers.scheduler_address, set_as_default=False) as client:
        killed = next(iter(client.run(os.getpid).values()))
    capfd.readouterr()
    with ResultStore(tmp_path / "there.sqlite") as store:
        running = run_on_cluster(points(sweep), store, workers.scheduler_address)
        done = [next(running)]
        os.kill(killed, signal.SIGKILL)
        done += running
        assert sorted(point.name for point in done) == sorted(point.name for point in points(sweep))
        assert table(sweep, store, tmp_path / "there.csv") == here
        assert missing(points(sweep), store) == []
    assert capfd.readouterr().out == ""


@pytest.mark.slow  # the one above loses a worker, too
def test_point_that_loses_its_workers_is_named_or_one_that_was_next_there(workers, sweep, tmp_path):
    own = tmp_path / "own.py"
    own.write_text("import multiprocessing, os\nfrom wormcast.algorithms import E_CUBE\n"
                   "if multiprocessing.parent_process():\n    os._exit(1)\nown = E_CUBE\n")
    file = tmp_path / "deadly.toml"
    file.write_text(LONG.replace('"dual-path", "multipath"', '"individual"') + f'relation = ["e-cube", "{own}:own"]\n')
    with ResultStore(tmp_path / "some.sqlite") as store:
        begun = run_on_cluster(points(read(file)), store, workers.scheduler_address)
        with pytest.raises(WormcastError, match=r"2 workers that ran the point, or would have run it next, were lost"):
            list(begun)


def test_workers_of_another_version_are_refused_before_anything_is_run(workers, sweep, tmp_path, monkeypatch):
    monkeypatch.setattr(wormcast, "__version__", "9.9")
    with ResultStore(tmp_path / "there.sqlite") as store:
        with pytest.raises(WormcastError, match=r"^scheduler: worker .* has wormcast .*\. Needed: wormcast 9\.9"):
            list(run_on_cluster(points(sweep), store, workers.scheduler_address))
        assert len(missing(points(sweep), store)) == 6


def test_relation_travels_with_its_point(tmp_path):
    text = b"from wormcast.algorithms import E_CUBE\nown = E_CUBE\n"
    options = {"topology": "mesh:3x3", "rate": 0.02, "cycles": 300, "seeds": 1, "destinations_mean": 2.0}
    given = options | {"scheme": "individual", "relation": "/nowhere/own.py:own"}
    result = cluster._run(given, "", {"relation": ("/nowhere/own.py", text)}, cluster._digest())
    assert result == cluster._run(options | {"scheme": "individual"}, "", {}, cluster._digest())
    (tmp_path / "own.py").write_bytes(text + b"#" * 2**20)
    file = tmp_path / "small.toml"
    file.write_text(f'topology = "mesh:3x3"\nscheme = "individual"\nrate = 0.01\ndestinations_mean = 2\n'
                    f'relation = "{tmp_path}/own.py:own"\n')
    refused = pytest.raises(WormcastError, match=r"own\.py cannot be sent .* at most 1048576")
    with ResultStore(tmp_path / "some.sqlite") as store, refused:
        list(run_on_cluster(points(read(file)), store, "tcp://127.0.0.1:1"))


def test_what_is_refused_on_a_worker_is_told_as_here():
    given = {"topology": "mesh:3x3", "scheme": "dual-path", "rate": 0.02, "vcs": 17, "destinations_mean": 2.0}
    with pytest.raises(WormcastError, match=r"^vcs: 17 is not valid. Allowed: 1 to 16. Point: vcs 17"):
        cluster._run(given, "vcs 17", {}, cluster._digest())
    with pytest.raises(WormcastError, match="has different source files of wormcast than this machine"):
        cluster._run(given, "vcs 17", {}, "other")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "tcp://127.0.0.1:99999", "x://127.0.0.1:1"])
def test_scheduler_that_does_not_answer_is_told(address, sweep, tmp_path, capfd):
    with ResultStore(tmp_path / "some.sqlite") as store, pytest.raises(
            WormcastError, match=f"scheduler: {address} is not valid: no scheduler answered within 0.5 seconds"):
        list(run_on_cluster(points(sweep), store, address, patience=0.5))
    assert capfd.readouterr() == ("", "")


def test_scheduler_without_workers_and_scheduler_that_is_lost_are_told(sweep, tmp_path):
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", processes=False) as started:
        address = started.scheduler_address
        with ResultStore(tmp_path / "some.sqlite") as store:
            with pytest.raises(WormcastError, match=r"no worker has joined it within 0\.5 seconds"):
                list(run_on_cluster(points(sweep), store, address, patience=0.5))
            started.scale(1)
            running = run_on_cluster(points(sweep), store, address)
            first = next(running)
            started.close()
            with pytest.raises(WormcastError, match=r"has stopped answering\. Finished points are stored"):
                list(running)
            assert first.key in store


class Other:
    """A client of a cluster whose workers have something else."""

    def __init__(self, version, digest, scheduler=None):
        self.answers = iter([version, digest])
        self.scheduler = scheduler

    def run(self, *_, **__):
        return {"tcp://far": next(self.answers)}

    def run_on_scheduler(self, _):
        if self.scheduler:
            raise self.scheduler


@pytest.mark.parametrize(("client", "sentence"), [
    (Other("0.0.1", ""), f"worker tcp://far of tcp://s has wormcast 0.0.1. Needed: wormcast {wormcast.__version__}"),
    (Other(ImportError(), ""), "worker tcp://far of tcp://s has no wormcast. Needed: wormcast"),
    (Other(wormcast.__version__, "0"), "worker tcp://far of tcp://s has different source files of wormcast"),
    (Other(wormcast.__version__, cluster._digest(), ImportError()), "scheduler: tcp://s has no wormcast"),
], ids=["version", "none", "files", "scheduler"])
def test_another_wormcast_is_refused(client, sentence):
    with pytest.raises(WormcastError, match=sentence):
        cluster._require_same(client, "tcp://s")


def test_missing_package_is_told_with_the_line_that_installs_it(sweep, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with ResultStore(tmp_path / "some.sqlite") as store, pytest.raises(
            ToolMissing, match=r'^distributed is not installed: pip install "wormcast\[cluster\]"$'):
        next(run_on_cluster(points(sweep), store, "tcp://127.0.0.1:1"))
