"""Reference page of all error messages, extracted from the syntax trees of the source.

If a function builds an error from a text in its arguments, as in ``self.refusal(f"it has {nodes} nodes")``, the
messages are read from the calls of this function. For a class of errors, or a private exception whose text a handler
inserts into a message, the messages are also read from its calls.
"""

import ast
import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import typer

import wormcast
from wormcast.sim.cli import app as application
from wormcast.sim.cli.app import Exit

from .commands import MEANING
from .markdown import cell, code, table
from .wording import replaced, worded

__all__ = ["Refusal", "find_refusals", "refusal_pages"]

ROOMS = "algorithms", "hw", "sim"

APPLICATION = "sim/cli/app.py"


@dataclass(frozen=True, order=True)
class Refusal:
    """An error message.

    Parameters
    ----------
    module : str
        File with the message, relative to the package.
    sentence : str
        Text of the message, with ``{name}`` for a value and ``(one|other)`` for alternatives.
    exit : Exit
        Exit code of a command that ends with this message.
    """

    module: str
    sentence: str
    exit: Exit


@dataclass(frozen=True)
class Maker:
    """A class or function that builds errors from its arguments.

    Parameters
    ----------
    parameters : tuple of str
        Without ``self``.
    made : tuple of (str, Exit)
        Messages with ``{name}`` for a parameter, and exit codes.
    texts : set of str
        Parameters of a function that become parts of messages. Calls that pass no text of several words for any
        parameter in ``texts`` are ignored.
    """

    parameters: tuple[str, ...]
    made: tuple[tuple[str, Exit], ...]
    texts: frozenset[str] = frozenset()

    def values(self, call: ast.Call) -> dict[str, ast.expr]:
        """Return the arguments of a call by parameter."""
        return dict(zip(self.parameters, call.args, strict=False)) | {
            one.arg: one.value for one in call.keywords if one.arg}

    def given(self, call: ast.Call, function: ast.FunctionDef | None) -> dict[str, str]:
        """Return the arguments of a call inside ``function`` as texts, by parameter."""
        return {name: _resolved(value, function) for name, value in self.values(call).items()}

    def has_text(self, given: Mapping[str, str]) -> bool:
        """Return whether a call passes a text of several words for a parameter in ``texts``, or ``texts`` is empty."""
        return not self.texts or any(" " in given[name] for name in self.texts & given.keys())


@dataclass(frozen=True)
class Made:
    """A message, and the call that builds it."""

    call: ast.Call
    function: ast.FunctionDef | None
    sentence: str
    exit: Exit

    def takes(self) -> set[str]:
        """Return the parameters of the function around the call that are values in the message."""
        parameters = _parameters(self.function) if self.function else ()
        return {name for name in parameters if f"{{{name}}}" in self.sentence}


@dataclass(frozen=True)
class Module:
    """A module of the package."""

    file: str
    tree: ast.Module

    @cached_property
    def calls(self) -> dict[str, list[tuple[ast.Call, ast.FunctionDef | None]]]:
        """Calls by the name of the called function, each with the innermost function around it."""
        found: dict[str, list[tuple[ast.Call, ast.FunctionDef | None]]] = {}
        todo: list[tuple[ast.AST, ast.FunctionDef | None]] = [(child, None) for child in self.tree.body]
        while todo:
            node, function = todo.pop()
            if isinstance(node, ast.Call):
                found.setdefault(_callee(node), []).append((node, function))
            inner = node if isinstance(node, ast.FunctionDef) else function
            todo += [(child, inner) for child in ast.iter_child_nodes(node)]
        return found

    @cached_property
    def returned(self) -> dict[str, list[str]]:
        """Texts of several words that functions return, by function."""
        functions = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef))
        texts = {function.name: [worded(part.value) for part in ast.walk(function)
                                 if isinstance(part, ast.Return) and isinstance(part.value, ast.JoinedStr)]
                 for function in functions}
        return {name: found for name, found in texts.items() if any(" " in text for text in found)}

    @cached_property
    def names(self) -> frozenset[str]:
        """Functions and classes that the module defines at top level or imports."""
        defined = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        imports = (node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom))
        return frozenset(defined | {one.asname or one.name for node in imports for one in node.names})

    def made(self, makers: Mapping[str, Maker]) -> Iterator[Made]:
        """Yield the messages of all errors that the module builds."""
        for name in makers.keys() & self.calls.keys():
            for call, function in self.calls[name]:
                for given in self._given(makers[name], call, function):
                    if makers[name].has_text(given):
                        for sentence, exit in makers[name].made:
                            yield Made(call, function, replaced(sentence, given), exit)

    def _given(self, maker: Maker, call: ast.Call, function: ast.FunctionDef | None) -> Iterator[dict[str, str]]:
        """Yield the arguments of a call as texts, once for each text that a function of this module may return."""
        given = maker.given(call, function)
        returned = {name: self.returned[_callee(value)] for name, value in maker.values(call).items()
                    if isinstance(value, ast.Call) and _callee(value) in self.returned}
        if not returned:
            yield given
        for name, texts in returned.items():
            yield from ({**given, name: text} for text in texts)


def refusal_pages() -> dict[str, str]:
    """Return a dict with the page of error messages; the key is the name of its file."""
    rows: dict[str, list[list[str]]] = {}
    for refusal in find_refusals(Path(wormcast.__file__).parent):
        room = "/".join(Path(refusal.module).parent.parts[:2])
        rows.setdefault(room, []).append([str(int(refusal.exit)), cell(refusal.sentence), code(refusal.module)])
    return {"refusals.md": "\n".join([
        "# Refusals\n",
        ("An error ends a command with one message on stderr, `wormcast: ...`, and an exit code. In Python it raises a "
         "`WormcastError` with the same message. In this list `{name}` is a value, `(one|other)` are alternatives.\n"),
        table(["exit code", ""], [[str(int(exit)), MEANING[exit]] for exit in Exit]),
        ("[Typer](https://typer.tiangolo.com), the library for the command line, has its own messages for unknown "
         "options, missing arguments and values of a wrong type, with exit code 2. Errors of the operating system also "
         "have exit code 2, and name the file.\n"),
        *(f"## {room}\n\n{table(['exit code', 'sentence', 'module'], rows[room])}" for room in rows),
    ])}


@cache
def find_refusals(folder: Path) -> Sequence[Refusal]:
    """Return all error messages of the package whose root is ``folder``, sorted by module."""
    modules = [Module(path.relative_to(folder).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
               for room in ROOMS for path in sorted((folder / room).rglob("*.py"))]
    classes = _classes(modules)
    shared = {name: maker for module in modules for name, maker in _functions(module, classes, modules).items()
              if name in module.names}
    found = {Refusal(module.file, made.sentence, made.exit) for module in modules for made in _of_module(
        module, classes | {name: maker for name, maker in shared.items() if name in module.names}, modules)}
    return sorted(found | {Refusal(APPLICATION, sentence, exit) for sentence, exit in _of_the_application()})


def _of_module(module: Module, makers: Mapping[str, Maker], modules: Iterable[Module]) -> Iterator[Made]:
    """Yield the messages of a module, without those whose text comes from the callers of a function."""
    private, handled = _private(module, makers)
    known = {**makers, **private}
    known |= _functions(module, known, [module])
    for made in module.made(known):
        if made.call in handled:
            continue
        function = made.function.name if made.function and made.takes() else ""
        if function not in known or not all(
                known[function].has_text(known[function].given(call, caller)) for one in modules
                if one is module or function in one.names for call, caller in one.calls.get(function, ())):
            yield made


def _functions(module: Module, makers: Mapping[str, Maker], callers: Iterable[Module]) -> dict[str, Maker]:
    """Return the functions of a module that build errors from texts in their arguments."""
    found: dict[str, Maker] = {}
    for _ in range(2):  # second pass: functions that call functions of the first pass
        by_function: dict[ast.FunctionDef, list[Made]] = {}
        for made in module.made({**makers, **found}):
            if made.function and made.function.name != "__init__" and made.takes():
                by_function.setdefault(made.function, []).append(made)
        for function, sentences in by_function.items():
            maker = Maker(_parameters(function), tuple((made.sentence, made.exit) for made in sentences),
                          frozenset().union(*(made.takes() for made in sentences)))
            if any(maker.has_text(maker.given(call, caller)) for one in callers
                   if one is module or function.name in one.names for call, caller in one.calls.get(function.name, ())):
                found[function.name] = maker
    return found


def _private(module: Module, makers: Mapping[str, Maker]) -> tuple[dict[str, Maker], set[ast.Call]]:
    """Return the exceptions that handlers of the module turn into errors, and the calls in these handlers."""
    classes = {node.name for node in module.tree.body if isinstance(node, ast.ClassDef)}
    made = {one.call: one for one in module.made(makers)}
    found: dict[str, Maker] = {}
    calls = set()
    for handler in ast.walk(module.tree):
        if isinstance(handler, ast.ExceptHandler) and isinstance(handler.type, ast.Name) and handler.name \
                and handler.type.id in classes - makers.keys():
            for call in ast.walk(handler):
                if isinstance(call, ast.Call) and call in made and f"{{{handler.name}}}" in made[call].sentence:
                    sentence = replaced(made[call].sentence, {handler.name: "{sentence}"})
                    found[handler.type.id] = Maker(("sentence",), ((sentence, made[call].exit),))
                    calls.add(call)
    return found, calls


def _classes(modules: Iterable[Module]) -> dict[str, Maker]:
    """Return the classes of errors that end a command with a message, by name."""
    handled = list(_handled())
    template = typer.BadParameter("{message}", param_hint="{param_hint}").format_message()
    found = {"BadParameter": Maker(("message",), ((template, Exit.BAD_INPUT),))}
    for module in modules:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and any("Error" in one or "Exception" in one or "Missing" in one
                                                      for one in map(ast.unparse, node.bases)):
                exit = _exit_code(class_of(module.file, node.name), handled)
                if exit is not None:
                    parameters, sentence = _constructor(node)
                    found[node.name] = Maker(parameters, ((sentence, exit),))
    return found


def class_of(file: str, name: str) -> type[BaseException]:
    """Return a class of a module of wormcast."""
    found: type[BaseException] = getattr(importlib.import_module(f"wormcast.{file[:-3].replace('/', '.')}"), name)
    return found


def _constructor(node: ast.ClassDef) -> tuple[tuple[str, ...], str]:
    """Return the parameters of a class of errors, and its message."""
    for made in node.body:
        if isinstance(made, ast.FunctionDef) and made.name == "__init__":
            [call] = [part for part in ast.walk(made) if isinstance(part, ast.Call) and _callee(part) == "__init__"]
            attributes = {part.targets[0].attr: worded(part.value) for part in ast.walk(made)
                          if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute)}
            return _parameters(made), replaced(worded(call.args[0]), attributes)
    return ("sentence",), "{sentence}"


def _handled() -> Iterator[tuple[type[BaseException] | tuple[type[BaseException], ...], Exit]]:
    """Yield the errors that end the application with their message, with exit codes, in the order of its handlers."""
    for handler in ast.walk(ast.parse(inspect.getsource(application._run))):
        if isinstance(handler, ast.ExceptHandler) and handler.type and handler.name:
            [exit] = [Exit[call.args[0].attr] for call in ast.walk(handler) if isinstance(call, ast.Call)
                      and _callee(call) == "_fail" and isinstance(call.args[0], ast.Attribute)]
            yield eval(ast.unparse(handler.type), vars(application)), exit


def _exit_code(kind: type[BaseException], handled: Iterable[tuple[type | tuple[type, ...], Exit]]) -> Exit | None:
    return next((exit for caught, exit in handled if issubclass(kind, caught)), None)


def _of_the_application() -> Iterator[tuple[str, Exit]]:
    """Yield the messages of the application itself, with exit codes."""
    for call in ast.walk(ast.parse(inspect.getsource(application._run))):
        if isinstance(call, ast.Call) and _callee(call) == "_fail" and isinstance(call.args[0], ast.Attribute) \
                and isinstance(call.args[1], ast.Constant | ast.JoinedStr):
            yield worded(call.args[1]), Exit[call.args[0].attr]


def _callee(call: ast.Call) -> str:
    """Return the name of the called function, without its module or object."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return tuple(one.arg for one in given if one.arg not in ("self", "cls"))


def _resolved(value: ast.expr, function: ast.FunctionDef | None) -> str:
    """Return the text of an argument. A name is replaced by the texts that the function assigns to it."""
    if isinstance(value, ast.Name) and function:
        texts = [worded(part.value) for part in ast.walk(function) if isinstance(part, ast.Assign)
                 and any(isinstance(target, ast.Name) and target.id == value.id for target in part.targets)]
        texts = [text for text in texts if " " in text]
        if texts:
            return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"
    return worded(value)
