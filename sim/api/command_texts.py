"""Commands as texts, ``plan mesh:8x8 dual-path --source 0 --destinations 1,2``, called as functions of this package."""

import importlib
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from wormcast.algorithms import WormcastError
from wormcast.algorithms.errors import naming, nearest, options_named
from wormcast.algorithms.typecheck import kinds_of, parameters_of

from ..experiments.figure import HERE
from ..experiments.figure.substitution import PLOT

if TYPE_CHECKING:
    from ..experiments.figure import Figure
    from .results import CommandResult

__all__ = ["COMMANDS", "Call", "module_of", "read_command", "require_only_pictures", "require_valid_commands"]


@dataclass(frozen=True)
class _Function:
    """Function of a command.

    Parameters
    ----------
    module, name : str
        Module of this package, and the function in it.
    words : tuple of str
        Parameters for the words that follow no option, in their order.
    renamed : mapping of str to str
        Parameters by the names of their options, where the two names differ.
    flags : tuple of str
        Options without value that select the function, and that the function itself does not have.
    """

    module: str
    name: str
    words: tuple[str, ...] = ("topology", "scheme")
    renamed: Mapping[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    @property
    def called(self) -> "Callable[..., CommandResult]":
        """The function, imported."""
        return vars(importlib.import_module(f"{__package__}.{self.module}"))[self.name]

    def options(self, parameters: Iterable[str]) -> dict[str, str]:
        """Return the options that a figure's file may set, as the command line spells them, with their parameters."""
        spelt = {parameter: option for option, parameter in self.renamed.items()}
        named = [one for one in parameters if one not in self.words and one not in NO_OPTIONS]
        return {f"--{spelt.get(one, one).replace('_', '-')}": one for one in (*named, *self.flags, PICTURE)}


#: Functions of each command that a figure's file may use. The key of a function is the option that selects the
#: function, or "" for the function without such an option.
COMMANDS: dict[str, dict[str, _Function]] = {
    "check": {"": _Function("checking", "check", renamed={"with": "with_"})},
    "hunt": {"": _Function("simulation", "hunt")},
    "load": {"": _Function("measurement", "load"),
             "find_saturation": _Function("measurement", "find_saturation", flags=("find_saturation",))},
    "plan": {"": _Function("planning", "plan"),
             "random": _Function("planning", "plan_random", renamed={"random": "multicasts"})},
    "run": {"": _Function("simulation", "run")},
    "sweep": {"": _Function("measurement", "sweep", ("options",))},
    "synth": {"": _Function("hardware_cost", "synth", ("what",)),
              "sweep": _Function("hardware_cost", "synth_sweep", ("what",))},
    "topology": {"": _Function("description", "describe", ("topology",))},
}

#: Parameters that no figure's file may set: outputs, where to run, and what is shown during the run.
NO_OPTIONS = {"vcd", "window", "instances", "out", "scheduler", "progress", "on_step"}

#: Option that may name the picture of a command.
PICTURE = "plot"

#: Names of types in error messages.
NOUNS: dict[type, str] = {int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class Call:
    """Call of a function, as a command's text describes it.

    Parameters
    ----------
    function : callable
    arguments : mapping of str to Any
        Arguments by name.
    plot : str or None
        Value of the option ``--plot``.
    """

    function: "Callable[..., CommandResult]"
    arguments: Mapping[str, Any]
    plot: str | None = None

    def result(self, *, progress: bool = True) -> "CommandResult":
        """Call the function. ``progress``: announce long work on a terminal."""
        shown = {"progress": progress} if "progress" in parameters_of(self.function) else {}
        with options_named():
            return self.function(**self.arguments, **shown)


def module_of(command: str) -> str:
    """Return the full name of the module that a command's text calls."""
    return f"{__package__}.{_function_of(shlex.split(command)).module}"


def read_command(command: str) -> Call:
    """Read a command's text. In the text, {here} stands for the folder of wormcast's own figures.

    Raises
    ------
    WormcastError
        The command is none of `COMMANDS`, an option is unknown, an option's value is no number, or there are too many
        words.
    """
    name, *words = shlex.split(command.replace("{here}", shlex.quote(str(HERE))))
    found = _function_of([name, *words])
    function, arguments, places = found.called, dict[str, Any](), [*found.words]
    hints, plot = parameters_of(function), None
    known = found.options(hints)
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            if not places:
                raise WormcastError(f"{name}: {word!r} is not valid: there are too many arguments. Allowed: "
                                    f"{' '.join(found.words).upper()}.")
            arguments[places.pop(0)] = word
            continue
        typed, equals, value = word.partition("=")
        if typed not in known:
            near = nearest(typed, known) or f" See: wormcast {name} --help. Options for output files are not allowed."
            raise WormcastError(f"{typed} is not an option of {name} in a figure.{near}")
        parameter = known[typed]
        kinds = kinds_of(hints[parameter]) if parameter in hints else (str,)
        if parameter in found.flags or bool in kinds:
            if equals:
                raise WormcastError(f"{typed}: {value!r} is not valid: the option has no value. Allowed: {typed}.")
            if parameter in hints:
                arguments[parameter] = True
            continue
        if not equals:
            if not words:
                raise WormcastError(f"{typed}: the value is missing. Needed: {typed} VALUE.")
            value = words.pop(0)
        if parameter == PICTURE:
            if plot is not None:
                raise WormcastError(f"{typed}: {value!r} is not valid: the option is given twice. Allowed: once.")
            plot = value
        elif parameter in arguments:
            # only options with several values may be repeated: the function refuses other lists
            before = arguments[parameter]
            arguments[parameter] = [*(before if isinstance(before, list) else [before]), value]
        else:
            arguments[parameter] = _converted(typed.removeprefix("--").replace("-", "_"), value, kinds)
    return Call(function, arguments, plot)


def require_valid_commands(figure: "Figure") -> None:
    """Refuse a figure with a command that is not valid, or that names an output other than its picture."""
    for command in sorted(figure.commands):
        with naming(f"output('{command}') in {figure.place}"):
            require_only_pictures(command, drawn=False)
    for number, picture in enumerate(figure.pictures):
        with naming(f"pictures[{number}].command in {figure.place}"):
            require_only_pictures(picture.command, drawn=True)


def require_only_pictures(command: str, *, drawn: bool) -> None:
    """Refuse a command that names an output; with ``drawn``, a command whose only output is not ``--plot {plot}``."""
    plot = read_command(command).plot
    if plot != (PLOT if drawn else None):
        allowed = f"--plot {PLOT} as the only output" if drawn else "commands without output files"
        given = "--plot is missing" if plot is None else f"--plot: {plot!r} is not valid"
        raise WormcastError(f"{given}: a figure's file must not choose the files that its commands write. Allowed: "
                            f"{allowed}.")


def _function_of(words: Sequence[str]) -> _Function:
    name = words[0]
    if name not in COMMANDS:
        raise WormcastError(f"{name!r} is not a command that a figure can use. Allowed: {', '.join(COMMANDS)}.")
    given = {word.partition("=")[0].removeprefix("--").replace("-", "_") for word in words[1:] if word[:2] == "--"}
    functions = COMMANDS[name]
    return next((function for option, function in functions.items() if option in given), functions[""])


def _converted(option: str, text: str, kinds: Sequence[type]) -> Any:
    """Return the value of an option in the first type that the option allows: text, whole number or number."""
    kind: Any = next((kind for kind in (str, int, float) if kind in kinds), str)
    try:
        return kind(text)
    except ValueError as error:
        raise WormcastError(f"{option}: {text!r} is not valid. Allowed: {NOUNS[kind]}.") from error
