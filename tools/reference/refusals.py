"""A page with the sentences of all refusals, read from the source by its syntax trees.

A function that makes an error of a text which it is given, as ``self.refusal(f"it has {nodes} nodes")``, is looked at
where it is called; so is a class of errors, and a private exception whose text a handler puts into a sentence.
"""

import ast
import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
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
    """A sentence that a user may get.

    Parameters
    ----------
    module : str
        File that has it, from the package on.
    sentence : str
        With ``{name}`` for a value, ``(one|other)`` for alternatives.
    exit : Exit
        Exit code of a command that ends with it.
    """

    module: str
    sentence: str
    exit: Exit


@dataclass(frozen=True)
class Maker:
    """A class or function that makes errors of what it is given.

    Parameters
    ----------
    parameters : tuple of str
        Without ``self``.
    made : tuple of (str, Exit)
        Sentences with ``{name}`` for a parameter, and exit codes.
    texts : set of str
        Parameters of a function that are parts of sentences: a call that gives no text for them says nothing new.
    """

    parameters: tuple[str, ...]
    made: tuple[tuple[str, Exit], ...]
    texts: frozenset[str] = frozenset()

    def values(self, call: ast.Call) -> dict[str, ast.expr]:
        """Arguments of a call by its parameters."""
        return dict(zip(self.parameters, call.args, strict=False)) | {
            one.arg: one.value for one in call.keywords if one.arg}

    def given(self, call: ast.Call, function: ast.FunctionDef | None) -> dict[str, str]:
        """Arguments of a call, which is in a function, as texts."""
        return {name: _resolved(value, function) for name, value in self.values(call).items()}

    def is_told(self, given: Mapping[str, str]) -> bool:
        """Whether arguments are texts: more than a word."""
        return not self.texts or any(" " in given[name] for name in self.texts & given.keys())


@dataclass(frozen=True)
class Made:
    """A sentence where it is made."""

    call: ast.Call
    function: ast.FunctionDef | None
    sentence: str
    exit: Exit

    def takes(self) -> set[str]:
        """Parameters of its function that are in it."""
        parameters = _parameters(self.function) if self.function else ()
        return {name for name in parameters if f"{{{name}}}" in self.sentence}


@dataclass(frozen=True)
class Module:
    """A module of the package."""

    file: str
    tree: ast.Module

    @cached_property
    def calls(self) -> dict[str, list[tuple[ast.Call, ast.FunctionDef | None]]]:
        """All calls by what is called, each with the innermost function that it is in."""
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
        """Texts of several words that functions return."""
        functions = (node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef))
        texts = {function.name: [worded(part.value) for part in ast.walk(function)
                                 if isinstance(part, ast.Return) and isinstance(part.value, ast.JoinedStr)]
                 for function in functions}
        return {name: found for name, found in texts.items() if any(" " in text for text in found)}

    @cached_property
    def names(self) -> frozenset[str]:
        """Functions and classes that it defines, outside of others, or imports from other modules."""
        defined = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        imports = (node for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom))
        return frozenset(defined | {one.asname or one.name for node in imports for one in node.names})

    def made(self, makers: Mapping[str, Maker]) -> Iterator[Made]:
        """Sentences of all errors that are made here."""
        for name in makers.keys() & self.calls.keys():
            for call, function in self.calls[name]:
                for given in self._given(makers[name], call, function):
                    if makers[name].is_told(given):
                        for sentence, exit in makers[name].made:
                            yield Made(call, function, replaced(sentence, given), exit)

    def _given(self, maker: Maker, call: ast.Call, function: ast.FunctionDef | None) -> Iterator[dict[str, str]]:
        """Arguments of a call as texts: of one that a function of this module returns, each that it may be."""
        given = maker.given(call, function)
        returned = {name: self.returned[_callee(value)] for name, value in maker.values(call).items()
                    if isinstance(value, ast.Call) and _callee(value) in self.returned}
        if not returned:
            yield given
        for name, texts in returned.items():
            yield from ({**given, name: text} for text in texts)


def refusal_pages() -> dict[str, str]:
    """The page, by its file."""
    rows: dict[str, list[list[str]]] = {}
    for refusal in find_refusals(Path(wormcast.__file__).parent):
        room = "/".join(Path(refusal.module).parent.parts[:2])
        rows.setdefault(room, []).append([str(int(refusal.exit)), cell(refusal.sentence), code(refusal.module)])
    return {"refusals.md": "\n".join([
        "# Refusals\n",
        ("What cannot be done ends with one sentence on stderr, `wormcast: ...`, and an exit code; from Python it is a "
         "`WormcastError` with the same sentence. Here `{name}` stands for a value, `(one|other)` for alternatives.\n"),
        table(["exit code", ""], [[str(int(exit)), MEANING[exit]] for exit in Exit]),
        ("[Typer](https://typer.tiangolo.com), the library that reads the command line, refuses unknown options, "
         "missing arguments and values of another type in sentences of its own, with exit code 2. Errors of the "
         "operating system end with 2 too, and name the file.\n"),
        *(f"## {room}\n\n{table(['exit code', 'sentence', 'module'], rows[room])}" for room in rows),
    ])}


def find_refusals(folder: Path) -> list[Refusal]:
    """All sentences in the package in a folder, by module."""
    modules = [Module(path.relative_to(folder).as_posix(), ast.parse(path.read_text(encoding="utf-8")))
               for room in ROOMS for path in sorted((folder / room).rglob("*.py"))]
    classes = _classes(modules)
    shared = {name: maker for module in modules for name, maker in _functions(module, classes, modules).items()
              if name in module.names}
    found = {Refusal(module.file, made.sentence, made.exit) for module in modules for made in _of_module(
        module, classes | {name: maker for name, maker in shared.items() if name in module.names}, modules)}
    return sorted(found | {Refusal(APPLICATION, sentence, exit) for sentence, exit in _of_the_application()})


def _of_module(module: Module, makers: Mapping[str, Maker], modules: Iterable[Module]) -> Iterator[Made]:
    """Sentences of a module, as users get them."""
    private, handled = _private(module, makers)
    known = {**makers, **private}
    known |= _functions(module, known, [module])
    for made in module.made(known):
        if made.call in handled:
            continue
        function = made.function.name if made.function and made.takes() else ""
        if function not in known or not all(
                known[function].is_told(known[function].given(call, caller)) for one in modules
                if one is module or function in one.names for call, caller in one.calls.get(function, ())):
            yield made


def _functions(module: Module, makers: Mapping[str, Maker], callers: Iterable[Module]) -> dict[str, Maker]:
    """Functions of a module that make errors of texts which they are given somewhere."""
    found: dict[str, Maker] = {}
    for _ in range(2):  # one may call another
        by_function: dict[ast.FunctionDef, list[Made]] = {}
        for made in module.made({**makers, **found}):
            if made.function and made.function.name != "__init__" and made.takes():
                by_function.setdefault(made.function, []).append(made)
        for function, sentences in by_function.items():
            maker = Maker(_parameters(function), tuple((made.sentence, made.exit) for made in sentences),
                          frozenset().union(*(made.takes() for made in sentences)))
            if any(maker.is_told(maker.given(call, caller)) for one in callers
                   if one is module or function.name in one.names for call, caller in one.calls.get(function.name, ())):
                found[function.name] = maker
    return found


def _private(module: Module, makers: Mapping[str, Maker]) -> tuple[dict[str, Maker], set[ast.Call]]:
    """Exceptions that handlers of the module turn into errors, and the calls that do it."""
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
    """Classes of errors that end a command with a sentence, by name."""
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
    """A class of a module of wormcast."""
    found: type[BaseException] = getattr(importlib.import_module(f"wormcast.{file[:-3].replace('/', '.')}"), name)
    return found


def _constructor(node: ast.ClassDef) -> tuple[tuple[str, ...], str]:
    """Parameters of a class of errors, and the sentence that it makes of them."""
    for made in node.body:
        if isinstance(made, ast.FunctionDef) and made.name == "__init__":
            [call] = [part for part in ast.walk(made) if isinstance(part, ast.Call) and _callee(part) == "__init__"]
            attributes = {part.targets[0].attr: worded(part.value) for part in ast.walk(made)
                          if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Attribute)}
            return _parameters(made), replaced(worded(call.args[0]), attributes)
    return ("sentence",), "{sentence}"


def _handled() -> Iterator[tuple[type[BaseException] | tuple[type[BaseException], ...], Exit]]:
    """Errors that the application ends with a sentence of theirs, and with which exit code, in its order."""
    for handler in ast.walk(ast.parse(inspect.getsource(application._run))):
        if isinstance(handler, ast.ExceptHandler) and handler.type and handler.name:
            [exit] = [getattr(Exit, call.args[0].attr) for call in ast.walk(handler) if isinstance(call, ast.Call)
                      and _callee(call) == "_fail" and isinstance(call.args[0], ast.Attribute)]
            yield eval(ast.unparse(handler.type), vars(application)), exit


def _exit_code(kind: type[BaseException], handled: Iterable[tuple[type | tuple[type, ...], Exit]]) -> Exit | None:
    return next((exit for caught, exit in handled if issubclass(kind, caught)), None)


def _of_the_application() -> Iterator[tuple[str, Exit]]:
    """Sentences that the application itself ends with."""
    for call in ast.walk(ast.parse(inspect.getsource(application._run))):
        if isinstance(call, ast.Call) and _callee(call) == "_fail" and isinstance(call.args[0], ast.Attribute) \
                and isinstance(call.args[1], ast.Constant | ast.JoinedStr):
            yield worded(call.args[1]), getattr(Exit, call.args[0].attr)


def _callee(call: ast.Call) -> str:
    """Name of what is called, without where it is from."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _parameters(function: ast.FunctionDef) -> tuple[str, ...]:
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return tuple(one.arg for one in given if one.arg not in ("self", "cls"))


def _resolved(value: ast.expr, function: ast.FunctionDef | None) -> str:
    """The text of an argument; of a name what the function gives it, where that is a text."""
    if isinstance(value, ast.Name) and function:
        texts = [worded(part.value) for part in ast.walk(function) if isinstance(part, ast.Assign)
                 and any(isinstance(target, ast.Name) and target.id == value.id for target in part.targets)]
        texts = [text for text in texts if " " in text]
        if texts:
            return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"
    return worded(value)
