"""Groups of options that a command receives as one dictionary, and options that fields declare (`as_typer`)."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from ..common.option import Option

__all__ = ["Given", "as_typer", "takes"]

Given = dict[str, Any]
"""Options given by the user, by name."""


def as_typer(option: Option) -> Any:
    """Return the typer annotation of an option. The value of an option that is not given is None, not its default."""
    kind: Any = option.kind
    return Annotated[kind | None, typer.Option(
        help=option.help, rich_help_panel=option.panel, show_default=False, metavar=option.values)]


def takes(into: str, options: Mapping[str, Any]) -> Callable[[Callable], Callable]:
    """Add options to a command, in place of its parameter ``into``, which receives the given ones by name.

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
