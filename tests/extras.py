"""An installation with some of wormcast's extras, made by hiding in a process what only the others bring."""

import functools
import importlib.metadata
import re
import shutil
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["Hidden", "hidden", "named"]

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

#: The line that installs extras: ``pip install "wormcast[verilog]"``.
INSTALLS = re.compile(r'pip install "wormcast\[([\w,]+)\]"')


def named(text: str) -> frozenset[str]:
    """Extras that a text says how to install."""
    return frozenset(extra for extras in INSTALLS.findall(text) for extra in extras.split(","))


@dataclass(frozen=True)
class Hidden:
    """Modules and programs that a process shall not find."""

    modules: frozenset[str]
    programs: frozenset[str]

    def hide(self) -> None:
        """Hide them from this process, for good."""
        sys.modules.update(dict.fromkeys(self.modules))
        which = shutil.which

        def visible(command, *arguments, **options):
            found = which(command, *arguments, **options)
            return None if found and Path(found).name in self.programs else found

        shutil.which = visible


@functools.cache
def hidden(installed: frozenset[str] = frozenset()) -> Hidden:
    """Find the installed packages that an installation with only these extras lacks.

    The requirements in pyproject.toml say it, so that a package which wormcast itself needs is never hidden.
    """
    there = _closure(PROJECT["dependencies"]) | _closure([f"wormcast[{','.join(installed)}]"] if installed else [])
    lacking = _closure([f"wormcast[{','.join(EXTRAS)}]"]) - there
    modules = [module for module, packages in _modules().items()
               if {canonicalize_name(package) for package in packages} <= lacking]
    programs = [Path(file).name for package in lacking for file in importlib.metadata.files(package) or ()
                if Path(file).parent.name == "bin"]
    return Hidden(frozenset(modules), frozenset(programs))


@functools.cache
def _modules() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


def _closure(requirements: Iterable[str]) -> frozenset[str]:
    """Packages that requirements lead to, of those that are installed here."""
    found, todo = set[tuple[str, str]](), [(requirement, "") for requirement in requirements]
    while todo:
        text, extra = todo.pop()
        requirement = Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in {"", *requirement.extras} if (name, "") not in found else requirement.extras:
            if (name, wanted) not in found:
                found.add((name, wanted))
                todo += [(needed, wanted) for needed in _requirements(name, wanted)]
    return frozenset(name for name, _ in found if name != "wormcast")


def _requirements(package: str, extra: str) -> list[str]:
    if package == "wormcast":
        return EXTRAS[extra] if extra else []
    try:
        return importlib.metadata.requires(package) or []
    except importlib.metadata.PackageNotFoundError:
        return []
