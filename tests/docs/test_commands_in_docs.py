"""All commands of the README and of docs/ are run, page by page: they print what is shown, and do what the text says.

Each is run on an installation that has no more than `make demo` installs, and the extras that the page names before it.
"""

import functools
import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cases import slow
from command import wormcast
from extras import hidden, named

from wormcast.sim.cli.app import Exit

from .said import exit_code, files, forms, is_printed, numbers, of_itself, verdicts
from .steps import Command, Python, WrittenFile, steps

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]

#: Slow commands, by the beginning of their text, with the reason. The first entry that fits decides.
SLOW = {
    "wormcast verilog": "Yosys takes seconds for each file",
    "wormcast doctor": "compiles and runs both engines; tests/cli/test_doctor.py runs it",
    "wormcast hunt": "half a minute; tests/cli/test_hunt.py hunts",
    # other tests have the same hardware with fewer ports or nodes
    "wormcast run irregular:": "half a minute of compiling; tests/cli/test_irregular.py",
    "wormcast load irregular:": "half a minute of compiling; tests/sim/experiments/load/test_any_network.py",
    "wormcast run torus:8x8": "seconds of compiling; tests/cli/test_broadcast.py",
    "wormcast load mesh:8x8 individual": "half a minute; the page shows other loads",
}
NEVER = {
    "wormcast wave figure4.fst": "GTKWave's vcd2fst makes the file; tests/sim/waves/view/test_fst.py reads one",
    "wormcast demo --out": "a minute; tests/cli/test_commands.py runs it",
    **dict.fromkeys(("wormcast demo ring", "wormcast demo consumption", "wormcast demo tokens"),
                    "tests/cli/test_commands.py runs them"),
    "wormcast synth": "minutes of synthesis; `make tables` runs them, tests/tools/test_tables.py tests the rest",
    "wormcast sweep examples/boppana_8x8": "minutes; `make figures` runs it",
    "wormcast figure 004-fig8": "minutes; tests/cli/test_figure.py runs a small one",
    "wormcast figure 001-cost": "a quarter of an hour of synthesis",
    "wormcast figure 001 --quick": "a quarter of an hour",
    "wormcast figure all": "hours; `make verdicts` runs it",
    "import cocotb": "a bench, run by cocotb: tests/tb/test_docs.py, as is what follows",
    "from cocotb_tools": "builds and runs a bench: tests/tb/test_docs.py",
}

#: Commands that begin with a tool of an extra: without it they end at once.
BY_TOOLS = ("synth", "verilog")

#: Files that pages name and none of the commands that are run here writes.
ELSEWHERE = {
    "out/deadlock.html": "of `make demo`",
    **dict.fromkeys(("ring.html", "ring-cured.html", "ring.svg", "ring.vcd", "ring-cured.vcd"),
                    "of `demo ring`"),
    "index.html": "of `figure 001`", "papers.md": "of `figure 001`", "plans.toml": "of the catalogue",
    "manifest.json": "within a checkpoint",
    "wormcast-deadlock.vcd": "of a deadlock without `--vcd`: tests/cli/test_waveform.py",
}

#: Text that differs between runs, and its replacement in comparisons.
VARIES = ((re.compile(r"\d[\d ]*(?= cycles/s)"), "N"), (re.compile(r"\d+(\.\d+)? s\b"), "N s"))

#: Fenced blocks, and inline code outside of them.
BLOCKS = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")

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
    """Return whether printed lines are the shown ones; ``...`` stands for any lines."""
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


def follow(page, folder, left_out):
    """Do what a page says in a folder, in order."""
    text = (ROOT / page).read_text()
    found = list(steps(text))
    shutil.copytree(ROOT / "examples", folder / "examples")
    for step in found:
        if isinstance(step, WrittenFile):
            (folder / step.name).write_text(step.text)
    printed = dict[int, str]()
    for step in found:
        if isinstance(step, WrittenFile) or why_not(step, left_out):
            continue
        where = f"{page}:{step.line}: {step.text}"
        if isinstance(step, Python):
            run_python(step, folder, where)
            continue
        code, out, err = run(step, folder, where)
        printed[step.line] = printed.get(step.line, "") + out + err
        assert code == exit_code(step), f"{where}\nended with {code}\n{out}{err}"
        assert err == "" or code != Exit.DONE, f"{where}\nsays on stderr:\n{err}"
        assert step.shown is None or matches(step.shown, (out + err).splitlines()), f"{where}\nprints:\n{out}{err}"
        for name in files(" ".join([*step.words, *(step.shown or ())])):
            assert (folder / name).exists(), f"{where}\nwrites no {name}"
        for name in files(step.comment):
            assert (folder / name).exists() or of_the_repository(name), f"{where}\nwrites no {name}"
        for number in numbers(step):
            assert is_printed(number, printed[step.line]) or is_printed(number, in_json(step, folder, where)), (
                f"{where}\nprints no {number}:\n{printed[step.line]}")
        if claims := verdicts(of_itself(step.behind)) if step.words[0] == "figure" else {}:
            assert given(step, folder, where) | claims == given(step, folder, where), where
        for form, code_said, claims in forms(step):
            if why_not(form, left_out):
                continue
            where = f"{page}:{step.line}: {form.text}"
            code = run(form, folder, where)[0]
            assert code == (Exit.DONE if code_said is None else code_said), where
            assert not claims or given(form, folder, where) | claims == given(form, folder, where), where
    for name in named_files(text) - set(ELSEWHERE) - files(" ".join(
            step.text for step in found if why_not(step, left_out))):
        assert list(folder.rglob(name)) or of_the_repository(name), f"{page}: nothing writes {name}"


def named_files(text):
    """Files that the text of a page names, outside of blocks."""
    return files(" ".join(CODE.findall(BLOCKS.sub("", text))))


def of_the_repository(name):
    """Return whether the repository has a file of this name."""
    return (ROOT / name).exists() or any(file for part in ("docs", "examples", "sim", "tb", "tests")
                                         for file in (ROOT / part).rglob(Path(name).name)
                                         if file.as_posix().endswith(f"/{name}"))


def run(step, folder, where):
    """Run a command with the extras that are installed by then; its exit code, and what it prints."""
    code, out, err = wormcast(*step.words, cwd=folder, lacking=hidden(step.installed))
    err = "".join(line for line in err.splitlines(keepends=True) if "(first use only" not in line)
    assert code != Exit.TOOL_MISSING, f"{where}\nneeds an extra that is not named before it: {err}"
    return code, out, err


def run_python(step, folder, where):
    """Run Python with the extras that are installed by then."""
    code = f"import sys; sys.modules.update(dict.fromkeys({sorted(hidden(step.installed).modules)!r}))\n{step.text}"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{where}\n{done.stderr}"


@functools.cache
def in_json(step, folder, where):
    """JSON of a command, which is run once for all that the text says of it."""
    return run(replace(step, words=(*step.words, "--json")), folder, where)[1]


def given(step, folder, where):
    """Verdicts of a figure, by claims."""
    return {one["claim"]: one["verdict"] for one in json.loads(in_json(step, folder, where))["verdicts"]}


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
    named_there = set().union(*(named_files((ROOT / page).read_text()) for page in PAGES))
    assert set(ELSEWHERE) <= named_there


@pytest.mark.parametrize("page", PAGES)
def test_the_extra_of_a_tool_is_named_before_it_is_needed(page, tmp_path):
    """Of commands that take long, too: without their tools they end at once."""
    found = list(steps((ROOT / page).read_text()))
    tried = {(step.words[0], step.installed): step for step in found
             if isinstance(step, Command) and step.words[0] in BY_TOOLS}
    for step in found:
        if isinstance(step, WrittenFile):
            (tmp_path / step.name).write_text(step.text)
    for step in tried.values():
        code, _, err = wormcast(*step.words, cwd=tmp_path, lacking=hidden())
        assert code == Exit.TOOL_MISSING, err
        assert named(err) <= step.installed, f"{page}:{step.line}: {step.text}\n{err}"


@pytest.mark.parametrize("page", PAGES)
def test_a_file_that_a_page_writes_is_named_before_it_and_used(page):
    """Pages do not show the titles of blocks to their readers."""
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

| `wormcast verilog router -o router.v` | needs `pip install "wormcast[verilog]"` |

```python
print(1)
```

With `pip install "wormcast[cocotb,prove]"`

    wormcast verilog router -o router.v
    wormcast check mesh:2x2 individual --consumption 1

it is so: exit code 3. Without `--consumption` it exits with 0.
"""


def test_steps_of_a_page():
    found = list(steps(PAGE))
    listed, planned, file, shown, verilog, python, again, last = found
    assert [type(step) for step in found if not isinstance(step, Command)] == [WrittenFile, Python]
    assert (listed.words, listed.comment, listed.shown) == (("list", "schemes"), "what there is", None)
    assert planned.words[-2:] == ("--destinations", "3")
    assert planned.shown == ("...", "provenance: none")
    assert (file.name, file.text) == ("sweep.toml", "rate = [0.1]\n")
    assert shown.words == ("topology", "mesh:2x2")
    assert python.text == "print(1)\n"
    assert (shown.installed, verilog.installed) == (set(), {"verilog"})
    assert again.installed == {"verilog", "cocotb", "prove"}
    assert again.behind == ""
    assert last.behind == "it is so: exit code 3. Without `--consumption` it exits with 0."
    assert exit_code(last) == Exit.DEADLOCK
    [(form, code, _)] = forms(last)
    assert (form.words, code) == (("check", "mesh:2x2", "individual"), Exit.DONE)


SAID = """Latency is 170 cycles, 110 of them after t_ns + 4 cycles. From cycle 12 on 31 % wait; `mine-2` is not held,
and 2.66 +- 0.04 copies are sent. With `--places 6` 99 cycles pass, and it arrives. See `out/a.vcd` and `FILE.svg`."""


def test_what_a_text_says():
    step = Command(("run", "mesh:2x2"), 1, "a deadlock; with `--vcs 2` it arrives", (), SAID)
    assert numbers(step) == ["170", "110", "12", "31 %", "2.66"]
    assert verdicts(of_itself(SAID)) == {"mine-2": "not held"}
    assert verdicts("so it is held") == {"": "held"}
    assert [(form.words[2:], code) for form, code, _ in forms(step)] == [
        (("--vcs", "2"), Exit.DONE), (("--places", "6"), Exit.DONE)]
    assert exit_code(step) == Exit.DEADLOCK
    assert files(SAID) == {"out/a.vcd"}


@pytest.mark.parametrize(("number", "text", "printed"), [
    ("170", "latency 170.5", True), ("170", "latency 171.6", False), ("3.6", "3.56", True), ("3.60", "3.56", False),
    ("31 %", "share 0.312", True), ("31", "share 0.312", False), ("12", "cycle 123", False)])
def test_what_counts_as_printed(number, text, printed):
    assert is_printed(number, text) is printed


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
