"""``wormcast doctor``: what works, what is missing, and what is said of it."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from wormcast.sim.cli import doctor, installation
from wormcast.sim.cli.app import Exit, app
from wormcast.sim.common.requirements import ToolMissing

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """The measurement alone takes seconds: here it is a tenth of one."""
    monkeypatch.setattr(installation, "CYCLES", 2000)


def ask(capsys, *words):
    code = app(["doctor", *words], standalone_mode=False)
    return code, capsys.readouterr().out


@pytest.mark.slow  # what is printed says the same, but for the engines: test_engines_agree
def test_all_works_here(capsys):
    code, out = ask(capsys, "--json")
    found = json.loads(out)
    assert code == Exit.DONE
    assert found["engines"] == [{"name": "bulk", "error": None}, {"name": "amaranth", "error": None}]
    assert found["processor"]["vector_bytes"] in (16, 32, 64)
    assert found["processor"]["cores"] >= 1
    assert found["speed"]["cycles_per_second"] > 1000
    assert set(found["versions"]) == {"wormcast", "python", "numpy", "numba", "llvmlite", "amaranth"}
    assert found["kernels"]["writable"]
    assert found["kernels"]["kernels"] >= 2
    assert found["kernels"]["bytes"] > 10_000
    assert not any(extra["missing"] for extra in found["extras"])


def test_what_is_printed(capsys, monkeypatch):
    """The same as in JSON, in words; the engines are tried above."""
    monkeypatch.setattr(installation, "engines", lambda: [
        installation.Engine(name, None) for name in installation.ENGINES])
    code, out = ask(capsys)
    found = json.loads(ask(capsys, "--json")[1])
    lines = out.splitlines()
    assert "  bulk      works" in lines
    assert "  amaranth  works, same delivery cycles as bulk" in lines
    assert code == Exit.DONE
    versions, processor, kernels = (found[name] for name in ("versions", "processor", "kernels"))
    assert lines[0].startswith(f"wormcast {versions['wormcast']}")
    assert " with Python {python}, numpy {numpy}".format(**versions) in lines[0]
    assert f"processor: {processor['name']}, {processor['cores']} core" in lines[1]
    assert f"{8 * processor['vector_bytes']}-bit vectors" in lines[1]
    assert any(re.fullmatch(r"speed: [\d ]+ cycles/s with one seed on one core, by: wormcast load mesh:8x8 .*", line)
               for line in lines)
    assert any(kernels["folder"] in line for line in lines)
    assert [line.split()[0] for line in lines[lines.index("extras:") + 1:]][:len(found["extras"])] == [
        extra["name"] for extra in found["extras"]]


def broken(*arguments, engine, **options):
    if engine == "amaranth":
        raise RuntimeError("the engines disagree on the deliveries of this run")
    return doctor_run(*arguments, engine=engine, **options)


doctor_run = installation.run


def test_an_engine_that_does_not_work_is_an_error(capsys, monkeypatch):
    monkeypatch.setattr(installation, "run", broken)
    code, out = ask(capsys)
    assert code == Exit.INTERNAL
    assert "  bulk      works\n" in out
    assert "  amaranth  does not work: RuntimeError: the engines disagree" in out
    assert "speed" not in out


def nothing_there(monkeypatch):
    def missing(name, extra):
        raise ToolMissing(name, extra)

    monkeypatch.setattr(installation, "find_tool", missing)
    monkeypatch.setattr(installation.importlib.util, "find_spec", lambda name: None)


def test_extras_may_be_missing(capsys, monkeypatch):
    monkeypatch.setattr("wormcast.sim.cli.installation.engines", list)
    nothing_there(monkeypatch)
    code, out = ask(capsys)
    assert code == Exit.DONE
    assert '  synth     yosys, nextpnr-ecp5, nextpnr-ice40 missing: pip install "wormcast[synth]"\n' in out
    assert '  parquet   pyarrow missing: pip install "wormcast[parquet]"\n' in out
    assert out.count(" missing: ") == len(installation.EXTRAS)


def test_all_extras_are_looked_for():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(installation.EXTRAS) == set(declared) - {"test", "docs"}


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORMCAST_CACHE", str(tmp_path / "file" / "kernels"))
    assert installation.kernel_cache() == installation.Cache(str(tmp_path / "file" / "kernels"), 0, 0, writable=False)
    monkeypatch.setenv("WORMCAST_CACHE", str(tmp_path / "new"))
    assert installation.kernel_cache() == installation.Cache(str(tmp_path / "new"), 0, 0, writable=True)


def test_a_cache_that_others_can_write_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("WORMCAST_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    found = installation.kernel_cache()
    assert not found.ours
    assert "where other users can write: kernels are not read from there" in doctor._cache(found)
