"""Elaboration of a component by Amaranth, for netlists and for Amaranth's simulator, without steps that take long.

This module uses private parts of Amaranth 0.5.x. The netlist of `elaborated` equals the result of Amaranth's
``build_netlist``, with three differences. The netlist has no ports of modules and no fields of signals, as the lowering
does not read them. An expression that is used several times is one cell, where ``build_netlist`` may emit a cell for
each use.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from importlib.metadata import version
from typing import Any

import amaranth.hdl._ast as _ast
import amaranth.hdl._dsl as _dsl
import amaranth.hdl._ir as _ir
import amaranth.hdl._nir as _nir
import amaranth.hdl._xfrm as _xfrm
from amaranth.hdl import ClockDomain, Const, Fragment, Shape, Signal, Value

from .errors import LoweringError

__all__ = ["check_amaranth", "elaborated", "make_simulator"]

USED = {
    _ast: ("Concat", "Operator", "Part", "SignalDict", "SignalKey", "Slice", "SwitchValue"),
    _dsl: ("_check_rhs",),
    _ir: ("Design", "NetlistEmitter", "PortDirection"),
    _nir: (
        "AssignmentList", "AsyncReadPort", "CombinationalCycle", "FlipFlop", "Matches", "Memory", "Netlist", "Operator",
        "Part", "PriorityMatch", "SyncReadPort", "SyncWritePort", "Top", "Value",
    ),
    _xfrm: ("DomainLowerer",),
}  # fmt: skip


def check_amaranth() -> None:
    """Check that the installed Amaranth has the private netlist that the lowering uses.

    Raises
    ------
    LoweringError
        The version is not 0.5.x, or a class that the lowering uses is missing.
    """
    amaranth = version("amaranth")
    if not amaranth.startswith("0.5."):
        raise LoweringError(
            f"Amaranth: version {amaranth} is not valid, because wormcast reads its internal netlist. Needed: 0.5.x."
        )
    for module, used in USED.items():
        for name in used:
            if not hasattr(module, name):
                raise LoweringError(
                    f"Amaranth: version {amaranth} is not valid, because it has no {module.__name__}.{name}, which "
                    "wormcast reads. Needed: another version 0.5.x, as published."
                )


def elaborated(component: Any, ports: Mapping[str, tuple[Value, Any]],
               missing_domain: Callable[[str], ClockDomain]) -> tuple[Any, Any]:
    """Elaborate a component, and return its fragment and netlist.

    Parameters
    ----------
    ports : mapping
        Value and direction of each port, by the port's name in the netlist.
    missing_domain : callable
        Makes a clock domain that the component uses and does not define.

    Raises
    ------
    amaranth.hdl._nir.CombinationalCycle
    """
    netlist: Any = _nir.Netlist()
    with _quick():
        fragment = Fragment.get(component, None)
        design = _design(fragment, ports, missing_domain)
        _Emitter(netlist, design).emit_fragment(design.fragment, None)
        if _may_have_cycle(netlist):
            netlist.check_comb_cycles()
        netlist.resolve_all_nets()
    return fragment, netlist


def make_simulator(component: Any) -> Any:
    """Return Amaranth's simulator of a component, constructed with the faster functions of `_quick`.

    The construction takes about three quarters of the time that it takes with Amaranth's own functions.
    """
    from amaranth.sim import Simulator  # not needed for netlists

    check_amaranth()
    with _quick():
        return Simulator(component)


def _may_have_cycle(netlist: Any) -> bool:
    """Return whether cells, each taken as a whole, depend on themselves in the same cycle.

    Amaranth's check, which follows single bits, takes longer.
    """
    users: list[list[int]] = [[] for _ in netlist.cells]
    missing = [0] * len(users)
    for index, cell in enumerate(netlist.cells):
        if isinstance(cell, _nir.Top | _nir.FlipFlop | _nir.SyncReadPort):
            continue
        for source in {netlist.resolve_net(net) >> 16 for net in cell.input_nets()}:
            users[source].append(index)
            missing[index] += 1
    known = [index for index, count in enumerate(missing) if not count]
    for index in known:
        for user in users[index]:
            missing[user] -= 1
            if not missing[user]:
                known.append(user)
    return len(known) < len(users)


class _Emitter(_ir.NetlistEmitter):
    """Emitter of netlists without the fields of signals."""

    def emit_signal_fields(self) -> None:
        pass


def _design(fragment: Any, ports: Mapping[str, tuple[Value, Any]],
            missing_domain: Callable[[str], ClockDomain]) -> Any:
    """Return the design that ``fragment.prepare`` returns, with each shared expression still shared."""
    found = fragment._prepare_ports(dict(ports))
    for domain in fragment._propagate_domains(missing_domain):
        signals = (domain.clk,) if domain.rst is None else (domain.clk, domain.rst)
        found += [(None, signal, _ir.PortDirection.Input) for signal in signals]
    return _ir.Design(_SharingLowerer()(fragment), found, hierarchy=("top",))


class _SharingLowerer(_xfrm.DomainLowerer):
    """Lowerer that replaces `ClockSignal` and `ResetSignal` in all statements, and makes one copy of each expression.

    Amaranth's own lowerer copies an expression at each use, and the netlist then has a cell for each use.
    """

    domains: Any

    def __init__(self) -> None:
        super().__init__()
        self.made: dict[tuple[int, int], tuple[Any, Any, Any]] = {}

    def on_value(self, value: Any) -> Any:
        if type(value) in (Const, Signal):
            return value
        key = id(value), id(self.domains)
        if key not in self.made:
            # the entry keeps the objects alive whose ids are in the key
            self.made[key] = value, self.domains, super().on_value(value)
        return self.made[key][2]


_lock = threading.Lock()


@contextmanager
def _quick() -> Iterator[None]:
    """Replace functions of Amaranth by faster ones with the same results.

    Amaranth computes the shape of a value from its operands whenever it asks for the shape, checks each net of each
    value in a netlist, and makes a new key of a signal for each look-up. If an expression is used several times,
    Amaranth visits it once for each use: to check it, to collect its signals, and to replace `ClockSignal` and
    `ResetSignal`.
    """
    replaced: dict[tuple[Any, str], Any] = {(kind, "shape"): _once(kind.shape) for kind in (
        Const, Signal, _ast.Concat, _ast.Operator, _ast.Part, _ast.Slice, _ast.SwitchValue)}
    replaced[_nir.Value, "__new__"] = _new_value
    replaced[_ast.SignalDict, "_map_key"] = _key
    replaced[_ast.SignalDict, "__contains__"] = _contains
    for place, name, once in ((_dsl, "_check_rhs", _checked_once),
                              (_ir.Design, "_collect_used_signals_value", _collected_once)):
        replaced[place, name] = once(vars(place)[name])
    replaced[_xfrm, "DomainLowerer"] = _SharingLowerer
    with _lock:
        before = {place: vars(place[0]).get(place[1]) for place in replaced}
        try:
            for (kind, name), function in replaced.items():
                setattr(kind, name, function)
            yield
        finally:
            for (kind, name), function in before.items():
                if function is None:  # a method of a base class
                    delattr(kind, name)
                else:
                    setattr(kind, name, function)


def _once(shape: Callable[[Any], Shape]) -> Callable[[Any], Shape]:
    @wraps(shape)
    def kept(value: Any) -> Shape:
        found: Shape | None = value.__dict__.get("_wormcast_shape")
        if found is None:
            found = value._wormcast_shape = shape(value)
        return found

    return kept


def _checked_once(check: Callable[[Any], None]) -> Callable[[Any], None]:
    def checked(value: Any) -> None:
        if "_wormcast_checked" not in value.__dict__:
            check(value)  # raises an error if the value is not valid
            value._wormcast_checked = True

    return checked


def _collected_once(collect: Callable[[Any, Any, Any], None]) -> Callable[[Any, Any, Any], None]:
    done: dict[tuple[int, int], tuple[Any, Any]] = {}

    def collected(design: Any, fragment: Any, value: Any) -> None:
        key = id(fragment), id(value)
        if key not in done:
            done[key] = fragment, value  # what an id names must stay alive
            collect(design, fragment, value)

    return collected


def _new_value(kind: type, nets: Any = ()) -> Any:
    return tuple.__new__(kind, (nets,) if isinstance(nets, _nir.Net) else nets)


def _key(signals: Any, signal: Any) -> Any:
    found = signal.__dict__.get("_wormcast_key")
    if found is None:
        found = signal._wormcast_key = _ast.SignalKey(signal)
    return found


def _contains(signals: Any, signal: Any) -> bool:
    return signals._map_key(signal) in signals._storage
