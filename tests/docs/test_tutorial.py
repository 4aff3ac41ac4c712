"""What the tutorial has its reader write is what the examples and the demo have."""

from pathlib import Path

import nbclient
import nbformat
import pytest

from wormcast.sim.cli.demo import GIVEN

from .steps import WrittenFile, steps

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
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


@pytest.mark.slow
def test_the_notebook_runs_and_shows_what_it_says(tmp_path):
    """Its steps are those of the page, whose commands are run with every test."""
    notebook = nbformat.read(NOTEBOOK, 4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = ["".join(output.text for output in cell.outputs if output.output_type == "stream")
               for cell in notebook.cells if cell.cell_type == "code"]
    stuck, cured, planned = printed[0], printed[3], printed[5]
    assert stuck.startswith("deadlock\nworm 0 holds link:0>1:0, cons:1:0, link:1>2:0; waits for cons:2:0\n")
    assert "2 free of deadlock\ndelivered in cycle 141\n" in cured
    assert planned == "4 worms, 33 hops; free of deadlock: True\n"
    latency = {tuple(line.split()[:2]): float(line.split()[2]) for line in printed[-1].splitlines()}
    assert latency["one", "short-paths"] > latency["one", "dual-path"]
    assert latency["all", "multipath"] < latency["all", "short-paths"] < latency["all", "dual-path"]
    assert (tmp_path / "deadlock.html").exists()


def test_the_notebook_has_the_scheme_of_the_tutorial_and_no_outputs():
    notebook = nbformat.read(NOTEBOOK, 4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert (ROOT / "examples" / "short_paths.py").read_text().strip() in [cell.source for cell in cells]
    assert all(not cell.outputs for cell in cells)
