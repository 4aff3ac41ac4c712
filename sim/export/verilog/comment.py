"""Head comment of a Verilog file."""

import textwrap
from collections.abc import Iterable
from importlib.metadata import version

import wormcast

__all__ = ["CLOCK", "NO_CLOCK", "RESET", "comment"]

WIDTH = 110

CLOCK = "Clock: clk, rising edge."
RESET = ("Reset: rst, synchronous, high for a cycle at least. Registers have the same values at power-up, where the "
         "device loads them.")
NO_CLOCK = "Clock: none, the outputs follow the inputs."


def comment(module: str, summary: str, *, command: str, yosys: str, facts: Iterable[tuple[str, str]],
            promises: Iterable[str]) -> str:
    """Return a comment with a module's summary, origin, parameters and promises."""
    listed = list(facts)
    widest = max(len(name) for name, _ in listed)
    lines = [
        "SPDX-License-Identifier: Apache-2.0", "",
        *_wrapped(f"{module}: {summary}"), "",
        f"Made by wormcast {wormcast.__version__} with Amaranth {version('amaranth')} and {yosys}:",
        *("  " + line for line in _wrapped(command, "  ")), "",
        *(line for name, value in listed
          for line in _wrapped(f"{name.ljust(widest)}  {value}", " " * (widest + 2))), "",
        *(line for said in promises for line in _wrapped(said, "  ")),
    ]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + "\n"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
