"""Schemes and routing relations by name: of this package, of other packages, and of users' Python files."""

import hashlib
import inspect
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from .errors import FAILURES, WormcastError, describe_error
from .headers.base import Header
from .python_file import is_defined_in, run_file, split_file
from .registry import Registry
from .routing import RELATIONS, Relation
from .routing.parallel import PARALLEL, spread_over_parallel_links
from .schemes import SCHEMES, Scheme, ask, check_scheme, classes_of, require_new_names
from .topologies import Topology
from .topologies.parameters import read_parameters
from .typecheck import require_kind

__all__ = ["RELATIONS", "file_digest", "find_scheme", "load_relation", "load_scheme", "user_file"]

T = TypeVar("T", Relation, Scheme)

#: Meaning of each attribute that users' schemes and relations must have, with an example.
NEEDED_ATTRIBUTES = {
    "name": "its name on the command line, for example name = 'mine'",
    "kinds": "the kinds of topology on which the scheme is defined, for example kinds = ('mesh',), or () for all kinds",
    "relation": "the routing relation of its worms, for example relation = E_CUBE, from wormcast.algorithms",
    "header": "the header format of its worms, for example header = AddressList, from wormcast.algorithms",
}


def find_scheme(text: str | Scheme, topology: Topology, relation: str | Relation | None = None) -> Scheme:
    """Find a scheme by name, with a relation by name, and bind it to a topology.

    Parameters
    ----------
    text : str or Scheme
        A name as for `load_scheme`, or the scheme itself.
    relation : str or Relation, optional
        A name as for `load_relation`, or the relation itself. By default, the scheme keeps its own relation.
    """
    require_kind("topology", topology, Topology)
    require_kind("scheme", text, str, Scheme)
    scheme = text if isinstance(text, Scheme) else load_scheme(text)
    if type(scheme).__hash__ is None:
        raise WormcastError(f"scheme: class {type(scheme).__name__} has no hash, because its objects are compared by "
                            "value. Needed: a hash, for example by @dataclass(eq=False).")
    if relation is not None:
        require_kind("relation", relation, str, Relation)
        scheme = ask(scheme, "routed_by", relation if isinstance(relation, Relation) else load_relation(relation))
    check_scheme(scheme, topology)
    classes_of(scheme, topology)
    return scheme.on(topology)


def load_scheme(text: str) -> Scheme:
    """Find a scheme: ``dual-path``, or ``FILE.py[:NAME]`` for a subclass of `Scheme` or an instance of one.

    Parameters of a scheme follow its name: ``k-binomial:k=2,order=id``. Python files are run as by `load_relation`.
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
        A name, as ``e-cube``. ``NAME:parallel=destination``, ``NAME:parallel=input`` and ``NAME:parallel=turns`` spread
        the worms of the relation NAME over parallel links. ``FILE.py`` or ``FILE.py:NAME`` names a subclass of
        `Relation` (called without arguments) or an instance in this file. A file with a single relation needs no name.
        The file is run as a Python module.
    """
    require_kind("relation", text, str)
    name, colon, parameters = text.partition(":")
    if not colon or name not in RELATIONS:
        return _load(RELATIONS, text)
    given = read_parameters(name, parameters, {"parallel": None}, {"parallel": PARALLEL}, what="relation")
    return spread_over_parallel_links(RELATIONS[name], given["parallel"])


def user_file(text: str | None) -> str | None:
    """Return the file part of the name of a topology, scheme or relation, as written; None if the name has no file."""
    if text is None or text in SCHEMES or text in RELATIONS:
        return None
    return text if text.endswith(".toml") else split_file(text)[0]


def file_digest(text: str | None) -> str | None:
    """Return a digest of the content of a user's file; None if there is no file."""
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
        known = [other for other, one in vars(module).items() if isinstance(one, kind)]
        raise WormcastError(f"{file} has no {name!r}. {_offer(registry, file, module, known)}")
    thing = getattr(module, name)
    label = f"class {name}" if inspect.isclass(thing) else name
    if inspect.isclass(thing) and issubclass(thing, kind):
        _require_methods(file, name, thing)
        try:
            thing = thing()
        except FAILURES as error:
            sentence = describe_error(error, module.__name__)
            raise WormcastError(f"{file}: {label} cannot be called without arguments ({sentence}). Needed: a class "
                                "that needs no arguments, or an instance.") from error
    if inspect.isclass(thing):
        raise WormcastError(f"{file}: {label} is no {kind.__name__}. Allowed: a subclass of {kind.__name__}, or an "
                            "instance.")
    if not isinstance(thing, kind):
        raise WormcastError(f"{file}: {name} has type {type(thing).__name__}. Allowed: a subclass of "
                            f"{kind.__name__}, or an instance.")
    if not isinstance(getattr(thing, "name", None), str) or not thing.name:
        raise WormcastError(f"{file}: {label} has no valid attribute 'name'. Needed: {NEEDED_ATTRIBUTES['name']}.")
    if not thing.name.isprintable():
        raise WormcastError(f"{file}: {label} has name {thing.name!r}, which is not valid. Allowed: printable "
                            "characters and plain spaces, on one line.")
    if thing.name in registry and thing is not registry[thing.name]:
        raise WormcastError(f"{file}: {label} has the name {thing.name!r} of another {what}. Needed: another name.")
    _require_parameters(file, thing)
    if isinstance(thing, Scheme):
        require_new_names(thing, str(file))
    for stated in kind.__annotations__:
        if not hasattr(thing, stated):
            raise WormcastError(f"{file}: {label} has no attribute {stated!r}. Needed: {NEEDED_ATTRIBUTES[stated]}.")
    if isinstance(thing, Scheme) and not isinstance(thing.relation, Relation):
        raise WormcastError(f"{file}: {label} has relation {_shown(thing.relation)}. Allowed: an instance of Relation, "
                            "as E_CUBE or HAMILTONIAN.")
    if isinstance(thing, Scheme) and not (inspect.isclass(thing.header) and issubclass(thing.header, Header)):
        raise WormcastError(f"{file}: {label} has header {_shown(thing.header)}. Allowed: a subclass of Header, as "
                            "AddressList or Unicast.")
    return thing


def _shown(value: object) -> str:
    """Return a value as text for a refusal: a class by its name."""
    return f"class {value.__name__}" if inspect.isclass(value) else repr(value)


def _require_parameters(file: Path, thing: object) -> None:
    """Refuse a method that cannot be called with the parameters of the abstract method."""
    for base in type(thing).__mro__[1:]:
        for name, needed in vars(base).items():
            if not getattr(needed, "__isabstractmethod__", False) or not inspect.isfunction(needed):
                continue
            parameters, given = [*inspect.signature(needed).parameters][1:], inspect.signature(getattr(thing, name))
            try:
                given.bind(*parameters)
            except TypeError:
                raise WormcastError(f"{file}: method {name} of class {type(thing).__name__} has the parameters "
                                    f"{', '.join(given.parameters) or 'none'}. Needed: {name}({', '.join(parameters)})."
                                    ) from None


def _names(registry: Registry[T], module: ModuleType) -> list[str]:
    """Return the names under which a user's file defines objects of a registry's kind, or classes of such objects."""
    own = [registry[name] for name in registry.own]
    return [
        name
        for name, thing in vars(module).items()
        if (isinstance(thing, registry.kind) and not any(thing is one for one in own) and is_defined_in(module, thing))
        or (_is_class(registry, thing) and not inspect.isabstract(thing) and is_defined_in(module, thing))
    ]


def _is_class(registry: Registry[T], thing: object) -> bool:
    return inspect.isclass(thing) and issubclass(thing, registry.kind)


def _only_name(registry: Registry[T], file: Path, module: ModuleType) -> str:
    names = _names(registry, module)
    instances = [name for name in names if isinstance(getattr(module, name), registry.kind)]
    for choice in (instances, names):
        if len(choice) == 1:
            return choice[0]
    if names:
        raise WormcastError(f"{file} has more than one {registry.what}. {_offer(registry, file, module)}")
    for name, thing in vars(module).items():
        if _is_class(registry, thing) and is_defined_in(module, thing):
            _require_methods(file, name, thing)
    raise WormcastError(f"{file} has no {registry.what}. {_offer(registry, file, module)}")


def _offer(registry: Registry[T], file: Path, module: ModuleType, known: Sequence[str] = ()) -> str:
    """Return the end of a refusal: the names in a file that a user may type; ``known``: names in a file that defines
    no object of the registry's kind."""
    names = _names(registry, module) or known
    if names:
        return f"Allowed: {', '.join(f'{file}:{name}' for name in names)}."
    return f"Needed: a subclass of {registry.kind.__name__}, or an instance."


def _require_methods(file: Path, name: str, thing: type) -> None:
    lacks = sorted(getattr(thing, "__abstractmethods__", ()))
    if lacks:
        needed = {one: getattr(thing, one) for one in lacks}
        methods = (f"{one}({', '.join([*inspect.signature(method).parameters][1:])})" for one, method in needed.items())
        described = ", ".join(method.__qualname__ for method in needed.values())
        raise WormcastError(f"{file}: class {name} has no method {', '.join(methods)}. Needed: "
                            f"{'this method' if len(lacks) == 1 else 'these methods'}, as in the docstring of "
                            f"{described}.")
