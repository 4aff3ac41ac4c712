"""Groups of options that a command receives as one dictionary, and options that fields declare (`as_typer`)."""

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from wormcast.algorithms import WormcastError

from ..common.figure_file import files_of_picture
from ..common.option import Option
from ..common.picture_style import DECLARED, PictureOptions
from .app import say

__all__ = ["PICTURE", "EnergyOption", "EventsOption", "Given", "as_typer", "picture_options", "picture_paths",
           "say_files", "takes"]

EventsOption = Annotated[bool, typer.Option(
    "--events", help="Count events in routers and interfaces: buffer writes and reads, crossbar passes, flits on "
    "links.")]

EnergyOption = Annotated[Path | None, typer.Option(
    metavar="FILE.toml", help="Count events, and compute their energy from the costs in this file.",
    show_default=False)]

Given = dict[str, Any]
"""Options given by the user, by name."""


def as_typer(option: Option) -> Any:
    """Return the typer annotation of an option. The value of an option that is not given is None, not its default."""
    kind: Any = str if option.words else option.kind
    return Annotated[kind | None, typer.Option(
        help=option.help, rich_help_panel=option.panel, show_default=False, metavar=option.values)]


#: Typer annotations of the options of pictures.
PICTURE: dict[str, Any] = {name: as_typer(declared) for name, declared in DECLARED.items()} | {
    "label": Annotated[list[str] | None, typer.Option(
        help=DECLARED["label"].help, rich_help_panel=DECLARED["label"].panel, show_default=False,
        metavar=DECLARED["label"].metavar)]}


def picture_options(given: Mapping[str, Any], plot: object) -> PictureOptions:
    """Return the options of a picture from those of the command line. Refuse options of pictures if no picture is
    drawn."""
    look = dict(given)
    if look and plot is None:
        name, value = next(iter(look.items()))
        raise WormcastError(f"{name}: {value[0] if isinstance(value, list) else value} is not valid without --plot. "
                            "Needed: --plot FILE.")
    if "label" in look:
        labels = dict[str, str]()
        for text in look["label"]:
            name, equals, label = text.partition("=")
            if not name or not equals:
                raise WormcastError(f"label: {text!r} is not valid. Allowed: SCHEME=NAME, for example "
                                    "dual-path=DP.")
            if name in labels:
                raise WormcastError(f"label: {text!r} is not valid: {name} has a name already. Allowed: one name for "
                                    "each scheme.")
            labels[name] = label
        look["label"] = labels
    return PictureOptions.of(look)


def picture_paths(plot: Path | None, options: PictureOptions) -> dict[str, Path | None]:
    """Return the files of a picture by their names in error messages."""
    if plot is None:
        return {}
    return {"--plot" if name == "picture" else f"the {name} of --plot": file
            for name, file in files_of_picture(plot, options).items()}


def say_files(plot: Path, options: PictureOptions) -> None:
    """Print the files of a picture."""
    for name, file in files_of_picture(plot, options).items():
        say(f"{name}: {file}")


def takes(into: str, options: Mapping[str, Any]) -> Callable[[Callable], Callable]:
    """Add options to a command, in place of its parameter ``into``, which receives the given options by name.

    Parameters
    ----------
    options : mapping of str to annotation
        Typer annotations, in the order of --help. Options with the value None or False count as not given.
    """
    def decorate(command: Callable) -> Callable:
        @functools.wraps(command)
        def taking(**arguments: Any) -> Any:
            found = {name: arguments.pop(name) for name in options}
            given = {name: value for name, value in found.items() if value is not None and value is not False}
            return command(**{into: given}, **arguments)

        signature = inspect.signature(command)
        own = list(signature.parameters.values())
        place = list(signature.parameters).index(into)
        own[place:place + 1] = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for name, annotation in options.items()]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        taking.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        taking.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return taking

    return decorate
