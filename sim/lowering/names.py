"""Names that Amaranth's simulator gives to the signals of a component in its waveforms.

Like `netlist`, this module uses private parts of Amaranth 0.5.x: the names in a prepared design, and formats.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import amaranth.hdl._ast as _ast
import amaranth.hdl._mem as _mem
from amaranth.hdl import Cat, Fragment, Shape, ShapeCastable, Signal, Value

__all__ = ["Name", "names", "signal_parts"]

COMPONENT = ("top", "component")


@dataclass(frozen=True)
class Name:
    """Name of some bits in a waveform.

    The name stands for ``width`` bits, from bit ``start`` on, of ``signal``, or of row ``row`` of the component's
    memory number ``memory``. ``scope`` is the path of submodules, ``labels`` as in `Variable`.
    """

    scope: tuple[str, ...]
    name: str
    start: int
    width: int
    labels: dict[int, str] | None
    signal: Any = None
    memory: int = 0
    row: int = 0


def names(fragment: Any, ports: Iterable[Value], clocks: Iterable[Signal]) -> Iterator[Name]:
    """Yield the name of every signal, field and memory row of an elaborated component, as part of a larger design.

    The names are the names in a design that contains the component, uses all ``ports``, and drives ``clocks``: the
    clock and the reset. Values of an enumeration are shown by their names, other values as numbers. A signal with a
    decoder function or a custom format is shown as a number. A field with a custom format gets no name: its bits are
    shown only in the number of the whole layout.
    """
    whole = Fragment()
    whole.add_subfragment(fragment, COMPONENT[-1])
    # names depend on the order in which signals are used
    # a module that contains a component uses the component's ports first
    used = Cat(*ports)
    whole.add_statements("comb", Signal(len(used)).eq(used))
    # the component has been prepared before, and has its clock domain
    design = whole.prepare(ports=list(clocks), hierarchy=COMPONENT[:1], propagate_domains=False)
    memories = 0
    for part, info in design.fragments.items():
        scope = tuple(info.name[len(COMPONENT):])
        if len(info.name) < len(COMPONENT):
            continue
        for signal, name in info.signal_names.items():
            for path, start, width, labels in _parts(signal, signal._format):
                yield Name(scope, _spelled(name, path), start, width, labels, signal=signal)
        if isinstance(part, _mem.MemoryInstance):
            yield from _rows(scope[:-1], scope[-1], part._data, memories)
            memories += 1


def signal_parts(simulator: Any) -> dict[str, Value]:
    """Return the signals and fields in an Amaranth simulator, by the path of submodules and the name, joined by dots.

    The path leaves out the simulated module itself.
    """
    return {".".join((*info.name[1:], _spelled(name, path))): signal[start:start + width]
            for info in simulator._design.fragments.values()
            for signal, name in info.signal_names.items()
            for path, start, width, _ in _parts(signal, signal._format)}


def _rows(scope: tuple[str, ...], name: str, memory: Any, number: int) -> Iterator[Name]:
    """Yield the names of all rows of a memory."""
    shape = memory._shape
    for index, row in enumerate(map(Value.cast, memory)):
        found: Iterable[Any] = [((), 0, Shape.cast(shape).width, None)]
        if isinstance(shape, ShapeCastable):
            found = _parts(row, shape.format(shape(row), ""))
        for path, start, width, labels in found:
            yield Name(scope, _spelled(f"\\{name}[{index}]", path), start, width, labels, memory=number, row=index)


def _spelled(name: str, path: tuple[str | int, ...]) -> str:
    """Return the name of the field at ``path``."""
    fields = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"\\{name}{fields}" if path and not name.startswith("\\") else name + fields


def _parts(whole: Value, form: Any, path: tuple[str | int, ...] = ()) -> Iterator[
        tuple[tuple[str | int, ...], int, int, dict[int, str] | None]]:
    """Yield path, first bit, width and names of values of ``whole`` and of each field that format ``form`` shows."""
    labels = None
    fields: Iterable[tuple[str | int, Any]] = ()
    value = None
    if isinstance(form, _ast.Format.Enum):
        value, labels = form._value, dict(form._variants)
    elif isinstance(form, _ast.Format.Struct):
        value, fields = form._value, form._fields.items()
    elif isinstance(form, _ast.Format.Array):
        value, fields = form._value, enumerate(form._fields)
    elif isinstance(form, _ast.Format) and len(form._chunks) == 1 and form._chunks[0][1:] == ("",):
        value = form._chunks[0][0]
    start = None if value is None else _start(value, whole)
    if value is not None and start is not None:
        yield path, start, len(value), labels
    elif not path:
        yield path, 0, len(whole), None
    for step, field in fields:
        yield from _parts(whole, field, (*path, step))


def _start(value: Any, whole: Value) -> int | None:
    """Return the position of the first bit of ``value`` in ``whole``; None if ``value`` is not a slice of ``whole``."""
    if value is whole:
        return 0
    if isinstance(value, _ast.Slice):
        start = _start(value.value, whole)
        return None if start is None else start + value.start
    if isinstance(value, _ast.Operator) and value.operator in ("u", "s"):
        return _start(value.operands[0], whole)
    return None
