"""Registry of all commands. A command's module is imported when the command is used."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

from wormcast.algorithms.errors import WormcastError, nearest

__all__ = ["COMMANDS", "Commands", "command", "find_command", "find_function", "options_of_program"]

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry:
    """Entry of a command in ``wormcast --help``.

    Parameters
    ----------
    module : str
        Module of this package that declares the command by `command`.
    summary : str
        First paragraph of the command's help.
    """

    module: str
    summary: str


COMMANDS = {
    "check": Entry(
        "checking",
        "Prove that a scheme cannot deadlock, or find a cycle of channels whose worms wait for one another."),
    "run": Entry(
        "running",
        "Simulate one multicast, or a file of messages, on the router hardware; print the times of all deliveries."),
    "load": Entry(
        "loading",
        "Simulate random traffic with several seeds, or a trace: latency, throughput, saturation."),
    "continue": Entry(
        "continuing",
        "Continue a load experiment from its checkpoint. The results equal those of a run without a break."),
    "demo": Entry(
        "demo",
        "Show the main features in two minutes: a plan, a run, a deadlock and its cure, a comparison of five schemes. "
        "Or show a lesson on deadlock."),
    "doctor": Entry(
        "doctor",
        "Test the installation: versions, both engines, simulation speed, and the tools of all extras."),
    "figure": Entry(
        "figuring",
        "Reproduce a figure of a paper: a table, a picture with the paper's axes, and a verdict on each claim."),
    "hunt": Entry(
        "hunting",
        "Simulate random traffic to find messages that deadlock, and reduce these messages to a minimal example."),
    "list": Entry(
        "listing",
        "List schemes, topologies, routing relations, named configurations, hardware components or figures of papers."),
    "topology": Entry(
        "networks",
        "Show a topology: nodes, coordinates, labels, switches and links."),
    "plan": Entry(
        "planning",
        "Plan one multicast: worms, visiting orders and paths. With --random: mean costs of random multicasts."),
    "sweep": Entry(
        "sweeping",
        "Run load for all combinations of option values in a file. Finished points are not run again."),
    "synth": Entry(
        "synthesis",
        "Synthesise a component for an FPGA, and place and route it: area, clock, critical path."),
    "verilog": Entry(
        "verilog",
        "Write a component, or a whole network, as one file of synthesisable Verilog."),
    "wave": Entry(
        "wave",
        "Analyse a waveform: when each worm moved, waited and held channels, as a table or a space-time diagram."),
}
"""All commands by name, in the order of --help."""

_DECLARED: dict[str, typer.Typer] = {}


def options_of_program() -> dict[str, Any]:
    """Return the keyword arguments that all typer applications of this program share."""
    return {"add_completion": False, "rich_markup_mode": "rich", "pretty_exceptions_enable": False}


def command(name: str) -> Callable[[Function], Function]:
    """Declare a function as the command ``name``.

    The command's help is the summary in `COMMANDS`, followed by the function's docstring, if any.
    """
    def declare(function: Function) -> Function:
        details = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        # typer would keep the docstring's line breaks
        paragraphs = [" ".join(paragraph.split()) for paragraph in details]
        alone = typer.Typer(**options_of_program())
        alone.command(name, help="\n\n".join([COMMANDS[name].summary, *paragraphs]))(function)
        _DECLARED[name] = alone
        return function

    return declare


def find_command(name: str) -> Any:
    """Import a command and return its typer object, with all options and help."""
    return typer.main.get_command(_declared(name))


def find_function(name: str) -> Callable[..., Any]:
    """Import a command and return the function that declares its options."""
    function = _declared(name).registered_commands[0].callback
    assert function is not None
    return function


def _declared(name: str) -> typer.Typer:
    importlib.import_module(f"{__package__}.{COMMANDS[name].module}")
    return _DECLARED[name]


class Commands(TyperGroup):
    """Group of all commands. A command has only a name and a summary until it is used."""

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        self.commands = {name: TyperCommand(name, help=entry.summary) for name, entry in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Import the named command, or refuse an unknown name."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise WormcastError(f"command: {args[0]!r} is not valid.{nearest(args[0], COMMANDS)} "
                                f"Allowed: {', '.join(COMMANDS)}.")
        name, found, rest = super().resolve_command(ctx, args)
        return name, found and find_command(name or ""), rest
