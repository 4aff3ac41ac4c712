"""Schemes and routing relations that a user names: ours, those of other packages, or one in a Python file."""

import hashlib
import inspect
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from .errors import FAILURES, WormcastError, told
from .old_names import RENAMED
from .python_file import run_file, split_file
from .registry import Registry
from .routing import RELATIONS, Relation
from .routing.parallel import PARALLEL, spread_over_parallel_links
from .schemes import SCHEMES, Scheme, ask, classes_of
from .topologies import Topology
from .topologies.parameters import read_parameters
from .typecheck import require_kind

__all__ = ["RELATIONS", "file_digest", "find_scheme", "load_relation", "load_scheme", "user_file"]

T = TypeVar("T", Relation, Scheme)


def find_scheme(text: str, topology: Topology, relation: str | None = None) -> Scheme:
    """Find the scheme that a user names, on a topology.

    Parameters
    ----------
    text, relation : str
        As for `load_scheme` and `load_relation`; without a relation its worms are routed by the scheme's own.

    Raises
    ------
    WormcastError
        One of them is not found, or not defined on the topology.
    """
    require_kind("topology", topology, Topology)
    scheme = load_scheme(text)
    if relation is not None:
        scheme = ask(scheme, "routed_by", load_relation(relation))
    ask(scheme, "check", topology)
    classes_of(scheme, topology)
    return scheme.on(topology)


def load_scheme(text: str) -> Scheme:
    """Find a scheme: ``dual-path``, or ``FILE.py[:NAME]`` for a subclass of `Scheme` or an instance of one.

    Behind the name of one that has parameters they are given as a topology's are: ``k-binomial:k=2,order=id``. See
    `load_relation`.
    """
    require_kind("scheme", text, str)
    name, colon, parameters = text.partition(":")
    if colon and name in SCHEMES:
        return ask(SCHEMES[name], "with_parameters", parameters)
    return _load(SCHEMES, text)


def load_relation(text: str) -> Relation:
    """Find the relation that a user names.

    Parameters
    ----------
    text : str
        ``e-cube``, ``hamiltonian``; ``up-down:parallel=destination``, ``=input`` or ``=turns`` spreads worms over
        parallel links. Or ``FILE.py`` or ``FILE.py:NAME`` for a subclass of `Relation` (which is called without
        arguments) or an instance of one. A
        file with a single one needs no name. The file is run, as any Python program.

    Raises
    ------
    WormcastError
        There is no such file or name, the file cannot be run, or what is there is no relation.
    """
    require_kind("relation", text, str)
    name, colon, parameters = text.partition(":")
    if not colon or name not in RELATIONS:
        return _load(RELATIONS, text)
    how = read_parameters(name, parameters, {"parallel": None}, what="relation")["parallel"]
    if how not in PARALLEL:
        raise WormcastError(f"relation: parallel {how!r} is given, allowed are {', '.join(PARALLEL)}")
    return spread_over_parallel_links(RELATIONS[name], how)


def user_file(text: str | None) -> str | None:
    """The file that a user names for a topology, scheme or relation, as it is written; None of one that has none."""
    if text is None or text in SCHEMES or text in RELATIONS:
        return None
    return text if text.endswith(".toml") else split_file(text)[0]


def file_digest(text: str | None) -> str | None:
    """Tell one text of a user's file from another; None of what has no file, or whose file is gone."""
    file = Path(user_file(text) or "")
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _load(registry: Registry[T], text: str) -> T:
    require_kind(registry.what, text, str)
    path, name = split_file(text)
    if text in registry or path is None:
        return registry[text]
    what, kind, file = registry.what, registry.kind, Path(path)
    module = run_file(what, file)
    if name is None:
        name = _only_name(registry, file, module)
    elif not hasattr(module, name):
        raise WormcastError(f"{what}: {file} has no {name!r}, {_offer(registry, module)}")
    thing = getattr(module, name)
    if inspect.isclass(thing) and issubclass(thing, kind):
        try:
            thing = thing()
        except FAILURES as error:
            sentence = told(error, module.__name__)
            raise WormcastError(f"{what}: {name} of {file} cannot be made ({sentence})") from error
    if not isinstance(thing, kind):
        raise WormcastError(f"{what}: {name} of {file} is a {type(thing).__name__}, it must be a {kind.__name__}")
    if not isinstance(getattr(thing, "name", None), str) or not thing.name:
        raise WormcastError(f"{what}: {name} of {file} has no name, it must state one as text")
    if thing.name in registry and thing is not registry[thing.name]:
        raise WormcastError(f"{what}: {name} of {file} is called {thing.name!r} as another is, it must have a name of "
                            "its own")
    if isinstance(thing, Scheme):
        _require_new_names(file, thing)
    for stated in kind.__annotations__:
        if not hasattr(thing, stated):
            raise WormcastError(f"{what}: {name} of {file} has no {stated}, it must state it")
    if isinstance(thing, Scheme) and not isinstance(thing.relation, Relation):
        raise WormcastError(f"{what}: the relation of {name} of {file} is {thing.relation!r}, it must be a Relation, "
                            "as E_CUBE or HAMILTONIAN")
    return thing


def _require_new_names(file: Path, scheme: Scheme) -> None:
    for old, new in RENAMED.items():
        if inspect.getattr_static(scheme, old, None) is not None:
            raise WormcastError(f"{file}: class {type(scheme).__name__} has the old attribute {old}. New name: {new}.")


def _names(registry: Registry[T], module: ModuleType) -> list[str]:
    """Names in a file that stand for what is made there."""
    kind, ours = registry.kind, list(registry.values())
    return [
        name
        for name, thing in vars(module).items()
        if (isinstance(thing, kind) and thing not in ours)
        or (inspect.isclass(thing) and issubclass(thing, kind) and not inspect.isabstract(thing)
            and thing.__module__ == module.__name__)
    ]


def _only_name(registry: Registry[T], file: Path, module: ModuleType) -> str:
    names = _names(registry, module)
    instances = [name for name in names if isinstance(getattr(module, name), registry.kind)]
    for choice in (instances, names):
        if len(choice) == 1:
            return choice[0]
    raise WormcastError(f"{registry.what}: {file} does not say which by itself, {_offer(registry, module)}")


def _offer(registry: Registry[T], module: ModuleType) -> str:
    names = _names(registry, module)
    if names:
        return f"allowed are {', '.join(names)}"
    for name, thing in vars(module).items():
        if inspect.isclass(thing) and issubclass(thing, registry.kind) and thing.__module__ == module.__name__:
            return f"its {name} lacks {', '.join(sorted(thing.__abstractmethods__))}"
    return f"it must have a subclass of {registry.kind.__name__}, or an instance"
