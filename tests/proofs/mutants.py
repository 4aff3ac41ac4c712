"""Mutants: a component with one expression changed, for a proof to find."""

import __future__

import importlib
import inspect
import textwrap
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Mutant"]


@dataclass(frozen=True)
class Mutant:
    """A change of one expression in a method.

    Parameters
    ----------
    where : str
        The method, as ``module.Class.method`` below ``wormcast.hw``.
    old, new : str
        The expression as it is in the source, where it must occur once, and what is put in its place.
    """

    where: str
    old: str
    new: str

    def __str__(self):
        return f"{self.where}: {self.old} -> {self.new}"

    @property
    def place(self) -> str:
        """The method, behind the path of its file: ``hw/module.py: Class.method``."""
        module, owner, method = self.where.rsplit(".", 2)
        return f"hw/{module.replace('.', '/')}.py: {owner}.{method}"

    @contextmanager
    def applied(self):
        """Change the expression of the method in this context."""
        module_name, class_name, method_name = self.where.rsplit(".", 2)
        module = importlib.import_module(f"wormcast.hw.{module_name}")
        owner = getattr(module, class_name)
        kept = owner.__dict__[method_name]
        source = textwrap.dedent(inspect.getsource(kept))
        if source.count(self.old) != 1:
            raise ValueError(f"{self.where} has {self.old!r} {source.count(self.old)} times, a mutant needs it once")
        # `super` without arguments needs a variable ``__class__`` around the method
        source = textwrap.indent(source.replace(self.old, self.new), "    ")
        code = compile(f"def build(__class__):\n{source}\n    return {method_name}", f"<mutant of {self.where}>",
                       "exec", __future__.annotations.compiler_flag)
        names: dict = {}
        exec(code, module.__dict__, names)
        setattr(owner, method_name, names["build"](owner))
        try:
            yield
        finally:
            setattr(owner, method_name, kept)
