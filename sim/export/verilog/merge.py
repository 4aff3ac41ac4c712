"""Merging of equal modules: one module for each distinct netlist, whatever its signals are named."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice

from .modules import TOKEN, NetlistModule, renamed

__all__ = ["ModuleGroup", "merge"]


@dataclass(frozen=True)
class ModuleGroup:
    """A distinct module, and the modules of the netlist that are equal to it.

    Parameters
    ----------
    name : str
        Name of the module in Verilog.
    modules : list of NetlistModule
        Equal modules in their order. Only the first module in ``modules`` is written.
    text : str
        The module in RTLIL.
    """

    name: str
    modules: list[NetlistModule]
    text: str


def merge(modules: Sequence[NetlistModule], prefix: str) -> list[ModuleGroup]:
    """Return the distinct modules, each before the modules inside it.

    Top modules keep their names. Other modules are named ``PREFIX_CLASS`` after the class of their component. If a
    class has several distinct modules, all but the first one are also named after their first instance. Where equal
    modules name a signal after different ports of the router, the ports are numbered: ``p0``, ``p1``.
    """
    kinds: dict[str, int] = {}
    groups: dict[str, list[NetlistModule]] = {}
    by_type = {module.type: module for module in modules}
    for module in reversed(modules):  # modules inside another one come after it
        key = _shape(module, by_type, kinds)
        groups.setdefault(key, []).insert(0, module)
        kinds[module.type] = list(groups).index(key)
    found = list(groups.values())
    names: dict[int, str] = {}
    wires: dict[int, dict[str, str]] = {}
    for module in modules:
        kind = kinds[module.type]
        if kind not in names:
            names[kind] = _name(module, prefix, set(names.values()))
            wires[kind] = _common_names(found[kind])
    pins = {module.type: dict(zip(module.ports.values(), (
        wires[kinds[module.type]][name] for name in found[kinds[module.type]][0].ports.values()), strict=True))
        for module in modules}
    types = {module.type: names[kinds[module.type]] for module in modules}
    units = []
    for kind, name in names.items():
        first = found[kind][0]
        first.rename(wires[kind], pins.__getitem__)
        units.append(ModuleGroup(name, found[kind], first.text(name, types)))
    return units


def _shape(module: NetlistModule, by_type: Mapping[str, NetlistModule], kinds: Mapping[str, int]) -> str:
    """Return the text of a module with numbers in place of names of signals, pins and types of instances."""
    places = {kind: {name: str(place) for place, name in enumerate(by_type[kind].ports.values())}
              for kind, _, _ in module.instances()}
    names = dict.fromkeys(token for block in module.blocks for token in TOKEN.findall(block))
    signals = {name: str(number) for number, name in enumerate(names)}
    text = module.type if len(module.path) == 1 else ""  # a top module is merged with no other
    text += "\n".join(renamed(block, signals, places.__getitem__) for block in module.blocks)
    text = re.sub(r"^  cell \\(\S+)", lambda cell: f"  cell {kinds[cell[1]]}", text, flags=re.MULTILINE)
    return re.sub(r"^ *attribute \\src .*\n", "", text, flags=re.MULTILINE)


def _name(module: NetlistModule, prefix: str, taken: set[str]) -> str:
    """Return a name for a module that is not in ``taken``."""
    if len(module.path) == 1:
        return module.path[0]
    plain = f"{prefix}_{module.kind}"
    named = f"{plain}_{'_'.join(module.path[1:])}"
    numbered = (f"{named}_{number}" for number in count(2))  # modules of several kinds of router may share a path
    return next(name for name in (plain, named, *islice(numbered, len(taken) + 1)) if name not in taken)


def _common_names(modules: Sequence[NetlistModule]) -> dict[str, str]:
    """Return, for each signal of the first of several equal modules, a name that suits all these modules."""
    first, *others = ([wire.name for wire in module.wires] for module in modules)
    names = dict(zip(first, first, strict=True))
    if not others:
        return names
    words = [re.split("(_+)", name) for name in first]
    varied: dict[tuple[str | None, ...], None] = {}
    for place, mine in enumerate(words):
        theirs = [re.split("(_+)", other[place]) for other in others]
        if any(len(one) != len(mine) for one in theirs):
            return names
        pattern = tuple(word if all(one[k] == word for one in theirs) else None for k, word in enumerate(mine))
        if None in pattern:
            varied[pattern] = None
    ports: dict[str, str] = {}
    for name, mine in zip(first, words, strict=True):
        for pattern in varied:
            if len(pattern) == len(mine) and all(word in (None, own) for word, own in zip(pattern, mine, strict=True)):
                mine = [own if word is not None else ports.setdefault(own, f"p{len(ports)}")
                        for word, own in zip(pattern, mine, strict=True)]
                names[name] = "".join(mine)
                break
    return names if len(set(names.values())) == len(names) else dict(zip(first, first, strict=True))
