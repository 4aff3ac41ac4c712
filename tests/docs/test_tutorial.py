"""Files and commands of the tutorial are those of the examples and the demo."""

from pathlib import Path

import nbclient
import nbformat
import pytest
from command import NOTICE

from wormcast.sim.cli.demo import GIVEN

from .steps import WrittenFile, steps

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WRITTEN = [step for step in steps((ROOT / "docs" / "tutorial.md").read_text()) if isinstance(step, WrittenFile)]


@pytest.mark.parametrize("step", WRITTEN, ids=lambda step: step.name)
def test_files_are_those_of_the_examples(step):
    assert step.text == (ROOT / "examples" / step.name).read_text()


def test_the_demo_runs_into_the_same_deadlock():
    assert GIVEN["figure4.jsonl"] == (ROOT / "examples" / "figure4.jsonl").read_text()
    assert {"figure4.jsonl", "short_paths.py", "hypercube.py", "compare.toml", "mine.toml"} == {
        step.name for step in WRITTEN}


def test_an_own_scheme_takes_less_than_thirty_lines():
    [text] = [step.text for step in WRITTEN if step.name == "short_paths.py"]
    assert len(text.splitlines()) < 30


def cells(name):
    """Cells of a notebook with code."""
    notebook = nbformat.read(DOCS / f"{name}.ipynb", 4)
    nbformat.validate(notebook)
    return notebook, [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell, kind):
    """List a cell's outputs of one format."""
    return ["".join(output.data[kind]) for output in cell.outputs if kind in output.get("data", {})]


def executed(name, folder):
    notebook, code = cells(name)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in code:
        errors = [output.text for output in cell.outputs if output.output_type == "stream" and output.name == "stderr"]
        assert NOTICE.sub("", "".join(errors)) == ""
        assert len(shown(cell, "image/png")) == cell.source.rstrip().endswith(".plot()")
    return code


@pytest.mark.slow
def test_the_notebook_shows_a_deadlock_and_its_cure(tmp_path):
    """Its steps are those of the page, whose commands are run with every test."""
    stuck, why, replay, _, proof, _, cured, hunted = executed("deadlock", tmp_path)
    assert shown(stuck, "text/plain")[0].startswith("dual-path on mesh:1x4: deadlock, proved in cycle 1024")
    assert why.outputs[0].text.startswith(
        "worm 0 holds link:0.0>0.1:0, cons:0.1:0, link:0.1>0.2:0; waits for cons:0.2:0\n")
    assert shown(replay, "text/html")[0].startswith("<iframe srcdoc=")
    assert ["free of deadlock" in line for line in proof.outputs[0].text.splitlines()] == [False, True]
    assert "delivered in cycle 141" in shown(cured, "text/plain")[0]
    assert "a deadlock of 3 messages, minimal" in shown(hunted, "text/plain")[-1]


@pytest.mark.slow
def test_the_notebook_compares_a_scheme_of_ones_own(tmp_path):
    _, planned, _, checked, compared, _ = executed("own_scheme", tmp_path)
    assert "worms 4, hops 33" in shown(planned, "text/plain")[0]
    assert shown(checked, "text/plain")[0].endswith("free of deadlock")
    rows = [line.split() for line in shown(compared, "text/plain")[-1].splitlines()[1:]]
    latency = {(ports, scheme): float(mean) for _, scheme, ports, mean, _ in rows}
    assert latency["one", "short-paths"] > latency["one", "dual-path"]
    assert latency["all", "multipath"] < latency["all", "short-paths"] < latency["all", "dual-path"]


@pytest.mark.parametrize("name", ["deadlock", "own_scheme"])
def test_notebooks_have_no_outputs(name):
    assert all(not cell.outputs for cell in cells(name)[1])


def test_the_notebook_has_the_scheme_of_the_tutorial():
    own = [cell.source for cell in cells("own_scheme")[1]]
    assert (ROOT / "examples" / "short_paths.py").read_text().strip() in own
