"""Head comment of a Verilog file."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

from amaranth.lib import wiring

import wormcast

from .docstrings import entries, summary
from .merge import ModuleGroup

__all__ = ["CLOCK", "CLOCK_ENABLE", "COMMIT", "CROSSING_CLOCK", "CROSSING_RESET", "NO_CLOCK", "RESET", "comment",
           "module_comment"]

WIDTH = 110

#: Begins the line with the git commit of wormcast. Only this line differs between commits with equal hardware.
COMMIT = "Commit of wormcast: "

CLOCK = "Clock: clk, rising edge."
POWER_UP = "Registers have the same values at power-up, where the device loads them."
RESET = {
    "sync": f"Reset: rst, synchronous, high for a cycle at least. {POWER_UP}",
    "async": "Reset: rst, asynchronous, active high. rst may rise at any time. The design around this module makes rst "
             f"fall in step with clk, so that all registers leave reset in the same cycle. {POWER_UP}",
}
CROSSING_CLOCK = "Clocks: upstream_clk and downstream_clk, rising edges, without a relation."
CROSSING_RESET = ("Resets: upstream_rst and downstream_rst, asynchronous, active high. Raise both together, at any "
                  "time. The design around this module makes each of them fall in step with its own clock. "
                  f"{POWER_UP}")
CLOCK_ENABLE = ("Clock enable: enable. At a rising edge of clk with enable 0, no input but rst has an effect, and all "
                "registers keep their values. Connect the same enable to both ends of each link.")
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
        *("  " + line for line in _wrapped(command, "  ")),
        f"{COMMIT}{wormcast.__commit__ or 'unknown'}", "",
        *(line for name, value in listed
          for line in _wrapped(f"{name.ljust(widest)}  {value}", " " * (widest + 2))), "",
        *(line for said in promises for line in _wrapped(said, "  ")),
    ]
    return "".join(f"// {line}".rstrip() + "\n" for line in lines) + "\n"


def module_comment(unit: ModuleGroup) -> str:
    """Return the comment at the head of a module inside a component: its docstring, parameters and instances."""
    first = unit.modules[0]
    if len(first.path) == 1:
        return ""
    said = first.comment or ("" if first.component is None else summary(type(first.component)))
    places = ", ".join(".".join(module.path[1:]) for module in unit.modules)
    lines = [*_wrapped(f"{unit.name}: {said}" if said else unit.name, "  ")]
    values = list(_parameters([module.component for module in unit.modules]))
    if values:
        lines += _wrapped("Parameters: " + ", ".join(f"{name} {value}" for name, value in values), "  ")
    lines += _wrapped(f"Instances: {places}", "  ")
    return "".join(f"// {line}\n" for line in lines)


def _parameters(components: Sequence[wiring.Component | None]) -> Iterator[tuple[str, str]]:
    """Yield the documented parameters that are numbers or words, and equal in all components: name and value."""
    if components[0] is None:
        return
    for head, _ in entries(type(components[0]), "Parameters"):
        for name in head.partition(":")[0].replace(" ", "").split(","):
            values = [vars(one).get(name) for one in components]
            if isinstance(values[0], int | str) and all(value == values[0] for value in values):
                yield name, {True: "yes", False: "no"}[values[0]] if isinstance(values[0], bool) else str(values[0])


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
