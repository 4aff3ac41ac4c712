"""All commands of the README and of docs/ are run, page by page, and print what is shown."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import slow
from command import wormcast

from wormcast.sim.cli.app import Exit

from .steps import Command, Python, WrittenFile, steps

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]

#: What takes long, by how its text begins, and why it is `slow`, or never run here: the first that fits.
SLOW = {
    "wormcast verilog": "Yosys takes seconds for each file",
    "wormcast run irregular:switches=4,ports=16": "half a minute of compiling",
    "wormcast run irregular:switches=2,ports=32": "two minutes of compiling",
}
NEVER = {
    "wormcast demo": "a minute; tests/cli/test_commands.py runs it",
    "wormcast synth": "minutes of synthesis; `make tables` runs them, tests/sim/test_tables.py up to where tools begin",
    "wormcast sweep examples/boppana_8x8": "minutes; `make figures` runs it",
    "wormcast figure 002-fig9": "minutes; tests/cli/test_figure.py runs a small one",
    "wormcast figure 001-cost": "a quarter of an hour of synthesis",
    "wormcast figure 001 --quick": "a quarter of an hour",
    "wormcast figure all": "hours; `make verdicts` runs it",
    "import cocotb": "a bench, run by cocotb: tests/tb/test_docs.py, as is what follows",
    "from cocotb_tools": "builds and runs a bench: tests/tb/test_docs.py",
}

#: What is not the same in every run, and what stands for it in a comparison.
VARIES = ((re.compile(r"\d[\d ]*(?= cycles/s)"), "N"), (re.compile(r"\d+(\.\d+)? s\b"), "N s"))

#: Lines of a table without words may be left out.
RULE = re.compile(r"[─━┄│┃┌┏└┗├┡┠┼╇╪┴┻┐┓┘┛┤┩┨┬┳╋ ]+").fullmatch


def why_not(step, reasons):
    """The reason why a step is left out."""
    text = step.text
    return next((reason for begin, reason in reasons.items() if text.startswith(begin)), None)


def same(line):
    """A printed line without what varies."""
    for pattern, stands in VARIES:
        line = pattern.sub(stands, line)
    return line.rstrip()


def matches(shown, printed):
    """Whether lines are what is shown, where ``...`` leaves lines out."""
    shown = [same(line) for line in shown if not RULE(line)]
    lines = iter([same(line) for line in printed if not RULE(line)])
    leaves_out = False
    for wanted in shown:
        if wanted.strip() == "...":
            leaves_out = True
            continue
        found = next(lines, None)
        while leaves_out and found is not None and found != wanted:
            found = next(lines, None)
        if found != wanted:
            return False
        leaves_out = False
    return leaves_out or next(lines, None) is None


def allowed(command):
    """Exit codes that a command may have, by what the page says of it."""
    shown = command.shown or ()
    if any(line.startswith("wormcast: ") for line in shown):
        return {Exit.BAD_INPUT, Exit.TOOL_MISSING, Exit.UNFINISHED}
    said = " ".join([*shown, command.comment])
    return {Exit.DONE, Exit.DEADLOCK} if "deadlock" in said or "a cycle of" in said else {Exit.DONE}


def follow(page, folder, left_out):
    """Do what a page says in a folder, in order."""
    found = list(steps((ROOT / page).read_text()))
    shutil.copytree(ROOT / "examples", folder / "examples")
    for step in found:
        if isinstance(step, WrittenFile):
            (folder / step.name).write_text(step.text)
    for step in found:
        if isinstance(step, WrittenFile) or why_not(step, left_out):
            continue
        where = f"{page}:{step.line}: {step.text}"
        if isinstance(step, Python):
            done = subprocess.run([sys.executable, "-c", step.text], cwd=folder, capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0, f"{where}\n{done.stderr}"
            continue
        code, out, err = wormcast(*step.words, cwd=folder)
        err = "".join(line for line in err.splitlines(keepends=True) if "is compiled for this machine" not in line)
        printed = out + err
        assert code in allowed(step), f"{where}\nended with {code}\n{printed}"
        assert err == "" or code != Exit.DONE, f"{where}\nsays on stderr:\n{err}"
        assert step.shown is None or matches(step.shown, printed.splitlines()), f"{where}\nprints:\n{printed}"


# the tutorial's steps are those of its notebook, which test_tutorial runs
@pytest.mark.parametrize("page", [slow(page) if page == "docs/tutorial.md" else page for page in PAGES])
def test_commands_of_a_page(page, tmp_path):
    follow(page, tmp_path, SLOW | NEVER)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any(
    not isinstance(step, WrittenFile) and why_not(step, SLOW) for step in steps((ROOT / page).read_text()))])
def test_all_commands_of_a_page(page, tmp_path):
    follow(page, tmp_path, NEVER)


def test_every_reason_is_needed():
    texts = [step for page in PAGES for step in steps((ROOT / page).read_text())]
    for begin in SLOW | NEVER:
        assert any(step.text.startswith(begin) for step in texts), begin


@pytest.mark.parametrize("page", PAGES)
def test_a_file_that_a_page_writes_is_named_before_it_and_used(page):
    """Where pages are read, titles of blocks are not shown."""
    text = (ROOT / page).read_text()
    found = list(steps(text))
    for step in found:
        if isinstance(step, WrittenFile):
            before = text.splitlines()[:step.line - 1]
            paragraph = "\n".join(before).rstrip().rpartition("\n\n")[2]
            assert f"`{step.name}`" in paragraph, f"{page}:{step.line}"
            used = [one for one in found if isinstance(one, Command) and step.name in one.words
                    and not why_not(one, SLOW | NEVER)]
            assert used, f"{page}: nothing reads {step.name}"


PAGE = """# A page

    wormcast list schemes   # what there is

```
$ wormcast plan mesh:2x2 individual --source 0 \\
    --destinations 3
...
provenance: none
$ ls
a  b
```

```toml title="sweep.toml"
rate = [0.1]
```

| `wormcast topology mesh:2x2` | and `wormcast run --json`, `wormcast load TOPOLOGY SCHEME` |

```python
print(1)
```
"""


def test_steps_of_a_page():
    found = list(steps(PAGE))
    assert [type(step) for step in found] == [Command, Command, WrittenFile, Command, Python]
    listed, planned, file, shown, python = found
    assert (listed.words, listed.comment, listed.shown) == (("list", "schemes"), "what there is", None)
    assert planned.words[-2:] == ("--destinations", "3")
    assert planned.shown == ("...", "provenance: none")
    assert (file.name, file.text) == ("sweep.toml", "rate = [0.1]\n")
    assert shown.words == ("topology", "mesh:2x2")
    assert python.text == "print(1)\n"


@pytest.mark.parametrize(("shown", "printed", "agree"), [
    (["a", "b"], ["a", "b"], True),
    (["a"], ["a", "b"], False),
    (["b"], ["a", "b"], False),
    (["a", "..."], ["a", "b", "c"], True),
    (["...", "c"], ["a", "b", "c"], True),
    (["a", "...", "c"], ["a", "b", "c", "d"], False),
    (["a", "c"], ["a", "b", "c"], False),
    (["│ a │"], ["┏━━━┓", "│ a │", "└───┘"], True),
    (["12 000 cycles/s in 3.1 s"], ["9 cycles/s in 12 s"], True),
    (["12 cycles"], ["13 cycles"], False),
])
def test_what_counts_as_shown(shown, printed, agree):
    assert matches(shown, printed) is agree
