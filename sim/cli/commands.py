"""The commands of ``wormcast``: a command's module is imported when the command is asked for."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["COMMANDS", "Commands", "command", "find_command", "options_of_program"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry:
    """A command as ``wormcast --help`` lists it.

    Parameters
    ----------
    module : str
        Module of this package that declares it by `command`.
    summary : str
        First paragraph of its help.
    """

    module: str
    summary: str


COMMANDS = {
    "check": Entry(
        "checking",
        "Look for a cycle among the links and consumption channels that worms hold and ask for."),
    "run": Entry(
        "running",
        "Send one multicast, or a file of messages, through the routers; report when each destination has it."),
    "load": Entry(
        "loading",
        "Run traffic through the routers, random traffic with several seeds: latency, throughput, saturation."),
    "continue": Entry(
        "continuing",
        "Continue a load experiment, on this machine or another, as if it had never paused; the report is that of "
        "load."),
    "demo": Entry(
        "demo",
        "Plan and send a multicast, run into a deadlock and cure it, compare five schemes; with files to look at."),
    "doctor": Entry(
        "doctor",
        "Tell what is installed, try both engines, look for the tools of all extras, and measure the speed."),
    "figure": Entry(
        "figuring",
        "Measure a figure of a paper anew: a table, a picture in the paper's axes, and verdicts on what the paper "
        "says."),
    "hunt": Entry(
        "hunting",
        "Look for messages that deadlock: random ones, in many networks side by side; and make them few and small."),
    "list": Entry(
        "listing",
        "List schemes, topologies, routing relations, named configurations, hardware components or figures of papers."),
    "topology": Entry(
        "networks",
        "Show a topology: nodes, coordinates, labels, switches and links."),
    "plan": Entry(
        "planning",
        "Plan one multicast: worms, their visiting orders and their paths; or tell what random ones cost on average."),
    "sweep": Entry(
        "sweeping",
        "Run load for all combinations of the values in a file; points that are finished already are not run again."),
    "synth": Entry(
        "synthesis",
        "Synthesise a component, and place and route it: look-up tables, flip-flops, memories, clock, critical path."),
    "verilog": Entry(
        "verilog",
        "Write a component, or a whole network, as one file of synthesisable Verilog."),
    "wave": Entry(
        "wave",
        "Tell from a waveform alone what its worms did: a table, or by --plot or --text a space-time diagram."),
}
"""All commands by name, in the order of --help."""

_DECLARED: dict[str, typer.Typer] = {}


def options_of_program() -> dict[str, Any]:
    """Return what all applications of this program are made with."""
    return {"add_completion": False, "rich_markup_mode": "rich", "pretty_exceptions_enable": False}


def command(name: str) -> Callable[[Function], Function]:
    """Declare a function as the command of this name.

    Its help is the summary in `COMMANDS`, and below that the function's docstring, if it has one.
    """
    def declare(function: Function) -> Function:
        details = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        # without the docstring's line breaks, which typer would keep
        paragraphs = [" ".join(paragraph.split()) for paragraph in details]
        alone = typer.Typer(**options_of_program())
        alone.command(name, help="\n\n".join([COMMANDS[name].summary, *paragraphs]))(function)
        _DECLARED[name] = alone
        return function

    return declare


def find_command(name: str) -> Any:
    """Return a command with its options and its whole help, as typer has it."""
    importlib.import_module(f"{__package__}.{COMMANDS[name].module}")
    return typer.main.get_command(_DECLARED[name])


class Commands(TyperGroup):
    """All commands; each has its name and summary alone until it is asked for."""

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=entry.summary) for name, entry in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the command that is asked for, or refuse one that there is not."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and find_command(name or ""), rest
