"""Running external tools."""

import sys

import pytest

from wormcast.algorithms import WormcastError
from wormcast.sim.common.external import run_tool

#: As YoWASP's runtime begins, then what a tool does.
TOOL = """
import sys
print("Preparing to run yowasp-tool. This might take a while...", file=sys.stderr)
text = sys.stdin.read()
print(len(text))
print("x" * 100_000)
sys.exit(int(text[:1]))
"""


def test_a_tool_that_compiles_itself_first_is_announced():
    said = []
    out = run_tool([sys.executable, "-c", TOOL], who="test", text="0" * 200_000, progress=said.append)
    assert out == f"200000\n{'x' * 100_000}\n"
    [line] = said
    assert line.endswith(" is compiled for this machine, once: a minute or two")


def test_a_tool_that_fails_is_one_error_with_the_end_of_what_it_said():
    with pytest.raises(WormcastError, match=r"test: python.* ended with 3: xxx") as refused:
        run_tool([sys.executable, "-c", TOOL], who="test", text="3")
    assert len(str(refused.value)) < 1100
