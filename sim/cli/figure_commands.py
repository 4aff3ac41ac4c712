"""Check of the commands in a figure's file: no command may name an output other than its picture."""

import inspect
import shlex
from pathlib import Path
from typing import Any, get_args

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import naming

from ..experiments.figure import Figure
from ..experiments.figure.substitution import PLOT
from .commands import COMMANDS, find_command, find_function

__all__ = ["default_folders", "output_options", "require_only_pictures", "require_valid_commands"]

#: Options with a path of a file that is read. All other options with a path name outputs.
INPUTS = {"--messages"}

#: Option that may name the picture of a command.
DRAWS = "--plot"


def output_options(name: str) -> dict[str, Path | None]:
    """Return the options of a command that name a file or folder to write, as typed, with their defaults.

    Options that name an output are all options that are declared with a path, except `INPUTS`.
    """
    declared = inspect.signature(find_function(name)).parameters.values()
    paths = {one.name: one.default for one in declared if _has_path(one.annotation)}
    return {word: paths[one.name] for one in find_command(name).params if one.name in paths
            for word in one.opts if word.startswith("-") and word not in INPUTS}


def _has_path(annotation: Any) -> bool:
    return annotation is Path or any(map(_has_path, get_args(annotation)))


def default_folders(command: str) -> list[str]:
    """Return the options whose outputs a command writes by default, for example the output folder of `sweep`."""
    name = next(iter(shlex.split(command)), "")
    outputs = output_options(name) if name in COMMANDS else {}
    return [option for option, default in outputs.items() if default is not None]


def require_valid_commands(figure: Figure) -> None:
    """Refuse a figure with an unknown command, or with a command that names an output other than its picture."""
    for command in sorted(figure.commands):
        with naming(f"{figure.name}: told"):
            require_only_pictures(command, drawn=False)
    for number, picture in enumerate(figure.pictures):
        with naming(f"{figure.name}: pictures[{number}].command"):
            require_only_pictures(picture.command, drawn=True)


def require_only_pictures(command: str, *, drawn: bool) -> None:
    """Refuse a command with an option that names an output. ``drawn``: ``--plot {plot}`` is allowed."""
    name, *words = shlex.split(command)
    if name not in COMMANDS:
        raise WormcastError(f"{name!r} is not a command of wormcast. Allowed: {', '.join(COMMANDS)}.")
    outputs = output_options(name)
    for number, word in enumerate(words):
        option, equals, value = word.partition("=")
        if not word.startswith("--"):
            option, value = word[:2], word[2:]
        if option not in outputs:
            continue
        if not value and not equals:
            value = words[number + 1] if number + 1 < len(words) else ""
        if not drawn or (option, value) != (DRAWS, PLOT):
            allowed = f"{DRAWS} {PLOT} as the only output" if drawn else "commands without output files"
            raise WormcastError(f"{option}: {value!r} is not valid: a figure's file must not choose the files that its "
                                f"commands write. Allowed: {allowed}.")
