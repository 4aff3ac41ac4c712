"""Reference pages of commands, generated from their declarations."""

import functools
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from wormcast.sim.cli.app import Exit
from wormcast.sim.cli.commands import COMMANDS, find_command

from .markdown import cell, code, listing, plain, table

__all__ = ["command_pages", "commands"]

#: Largest number of characters of an option's values that are kept on one line.
LONG = 24

MEANING = {
    Exit.DONE: "done",
    Exit.INTERNAL: "error: the routers found an error, or an internal error of wormcast",
    Exit.BAD_INPUT: "bad input, or a file or stdout that cannot be read or written: a message on stderr names what is "
                    "not valid, and what is allowed",
    Exit.DEADLOCK: "deadlock, or a cycle that allows one",
    Exit.TOOL_MISSING: "an external tool or an extra is missing: the message on stderr has the command that installs "
                       "it",
    Exit.UNFINISHED: "not finished in time",
    Exit.UNDECIDED: "`check` could not decide",
    Exit.INTERRUPTED: "interrupted",
}


@functools.cache
def commands() -> Mapping[str, Any]:
    """Return all commands by name, in the order of ``wormcast --help``."""
    return {name: find_command(name) for name in COMMANDS}


def command_pages() -> dict[str, str]:
    """Return the pages of all commands and a list of them, by file."""
    found = commands()
    return {"commands.md": _overview(found)} | {f"commands/{name}.md": _page(name, found[name]) for name in found}


def _overview(found: Mapping[str, Any]) -> str:
    rows = [[f"[`wormcast {name}`](commands/{name}.md)", cell(_paragraphs(found[name])[0])] for name in sorted(found)]
    codes = [[str(int(exit)), MEANING[exit]] for exit in Exit]
    return "\n".join([
        "# Commands\n",
        ("`python -m wormcast` is the same as `wormcast`. With `--json`, a command prints only JSON to stdout. The "
         "JSON has the `version`, the `configuration` (all options, with defaults) and the `seed`. Progress is printed "
         "to stderr.\n"),
        table(["command", ""], rows), table(["exit code", ""], codes),
        "All error messages: [Refusals](refusals.md).\n",
        listing("", [f"commands/{name}" for name in sorted(found)]),
    ])


def _page(name: str, command: Any) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    parameters = [parameter for parameter in command.params if not parameter.hidden]
    arguments = [parameter for parameter in parameters if parameter.param_type_name == "argument"]
    usage = " ".join(["wormcast", name, *(_argument(argument) for argument in arguments), "[OPTIONS]"])
    parts = [f"# wormcast {name}\n", *(plain(said) + "\n" for said in _paragraphs(command)), f"    {usage}\n"]
    if arguments:
        rows = [[code(argument.metavar or argument.name.upper()), cell(argument.help or "")] for argument in arguments]
        parts += [table(["argument", ""], rows)]
    panels: dict[str, list[Any]] = {}
    for parameter in parameters:
        if parameter not in arguments:
            panels.setdefault(parameter.rich_help_panel or "Options", []).append(parameter)
    for title, options in panels.items():
        parts += [f"## {title}\n", _options(options, context)]
    return "\n".join(parts)


def _options(options: Iterable[Any], context: Any) -> str:
    """Return a table of options, with a column for defaults if there are any."""
    rows = [[", ".join(map(code, [*option.opts, *option.secondary_opts])) + (" (needed)" if option.required else ""),
             _values(option, context), cell(option.help or ""), _default(option)] for option in options]
    columns = ["option", "value", "", *(["default"] if any(row[-1] for row in rows) else [])]
    return table(columns, [row[:len(columns)] for row in rows])


def _values(option: Any, context: Any) -> str:
    if option.is_flag:
        return ""
    if option.metavar is None and (option.min, option.max) != (None, None):
        bounds = [None if bound is None else str(bound) for bound in (option.min, option.max)]
        return code("..".join(bound or "" for bound in bounds))
    value = option.display_type_rich(context)
    # long lists of values may be wrapped
    return f"`{value}`".replace("|", "\\|") if len(value) > LONG else code(value)


def _default(option: Any) -> str:
    if option.is_flag or not option.show_default or option.default is None:
        return ""
    return code(str(getattr(option.default, "value", option.default)))


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _paragraphs(command: Any) -> list[str]:
    return [" ".join(said.split()) for said in inspect.cleandoc(command.help or "").split("\n\n")]
