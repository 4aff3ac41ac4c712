"""Translation of an Amaranth component to a `Design`.

This module uses Amaranth's private netlist (``amaranth.hdl._ir`` and ``_nir``, as of 0.5.x).
"""

from collections import Counter
from dataclasses import replace
from typing import Any

import amaranth.hdl._ir as _ir
import amaranth.hdl._nir as _nir
from amaranth.hdl import ClockDomain, Shape, Value, ValueCastable
from amaranth.lib import data, wiring

from . import cells
from .elaboration import check_amaranth, elaborated
from .errors import LoweringError
from .names import names

__all__ = ["port_name", "read", "read_visible"]


def port_name(path: tuple[str | int, ...]) -> str:
    """Return a port's name: members of ``path`` joined by dots, dimensions by underscores, as in ``in_0.valid``."""
    name = ""
    for step in path:
        name += f"_{step}" if isinstance(step, int) else f".{step}" if name else step
    return name


def read(component: Any) -> cells.Design:
    """Elaborate ``component`` and return its cells.

    The only clock domain is ``sync``, and its reset is never asserted: ``rst`` is the constant 0.

    Raises
    ------
    LoweringError
        The component has no signature, a combinational cycle, another clock domain, an asynchronous reset, or a cell
        that cannot be lowered. If a cell cannot be lowered, the message has the cell's kind and source line.
    """
    return _elaborate(component).design()


def read_visible(component: Any) -> tuple[cells.Design, tuple[cells.Variable, ...]]:
    """Elaborate ``component`` as `read` does, and return also the signals that a waveform shows.

    The design has an additional read port for each row of its memories.
    """
    reader = _elaborate(component)
    variables, reads = reader.variables()
    design = reader.design()
    return replace(design, cells=(*design.cells, *reads)), variables


def _elaborate(component: Any) -> "_Reader":
    check_amaranth()
    signature = getattr(component, "signature", None)
    if not isinstance(signature, wiring.Signature):
        raise LoweringError(f"{type(component).__name__}: the component has no signature, so its ports are unknown. "
                            "Needed: a component of amaranth.lib.wiring.")

    ports: dict[str, tuple[Value, Any]] = {}
    port_names: dict[str, str] = {}
    fields: dict[str, dict[str, tuple[int, int]]] = {}
    for path, member, value in signature.flatten(component):
        key = "__".join(map(str, path))
        fields[key] = _fields(port_name(path), value.shape(), 0)
        if isinstance(value, ValueCastable):
            value = value.as_value()
        flow = _ir.PortDirection.Input if member.flow == wiring.In else _ir.PortDirection.Output
        ports[key] = (value, flow)
        port_names[key] = port_name(path)
    if len(set(port_names.values())) < len(port_names):
        twice = next(name for name, number in Counter(port_names.values()).items() if number > 1)
        raise LoweringError(f"{type(component).__name__}: two ports are named {twice}. Needed: a different name for "
                            "each port.")

    domains: dict[str, ClockDomain] = {}

    def domain(name: str) -> ClockDomain:
        domains[name] = ClockDomain(name)
        return domains[name]

    try:
        fragment, netlist = elaborated(component, ports, domain)
    except _nir.CombinationalCycle as cycle:
        raise LoweringError(f"{type(component).__name__}: the component has a combinational cycle, and needs a "
                            f"flip-flop in it: {cycle}") from None
    for name in domains:
        if name != "sync":
            raise LoweringError(
                f"{type(component).__name__}: clock domain {name!r} is not valid. Allowed: sync."
            )
    values = [value for value, _ in ports.values()]
    return _Reader(netlist, port_names, fields, domains.get("sync"), fragment, values)


def _fields(name: str, shape: Any, start: int) -> dict[str, tuple[int, int]]:
    """Return first bit and width of every field in a layout, including nested ones."""
    found: dict[str, tuple[int, int]] = {}
    try:
        layout = data.Layout.cast(shape)
    except TypeError:
        return found
    for key, field in layout:
        inner = f"{name}_{key}" if isinstance(key, int) else f"{name}.{key}"
        found[inner] = (start + field.offset, field.width)
        found |= _fields(inner, field.shape, start + field.offset)
    return found


def _line(source: Any) -> str:
    return f"{source[0]}:{source[1]}" if source else ""


def _place(cell: Any) -> str:
    """Return the line of a cell for an error message. The line of a register or a memory is that of its declaration."""
    declared = isinstance(cell, _nir.FlipFlop | _nir.SyncReadPort | _nir.SyncWritePort)
    return f", {'declared ' * declared}at {_line(cell.src_loc) or 'an unknown line'}"


class _Reader:
    def __init__(
        self,
        netlist: Any,
        names: dict[str, str],
        fields: dict[str, dict[str, tuple[int, int]]],
        sync: ClockDomain | None,
        fragment: Any,
        ports: list[Value],
    ) -> None:
        self.netlist = netlist
        self.fragment = fragment
        self.ports = ports
        self.port_names = names
        self.fields = fields
        self.clocks = [] if sync is None else [signal for signal in (sync.clk, sync.rst) if signal is not None]
        self.clock = self.reset = None
        if sync is not None and sync.clk in netlist.signals:
            (self.clock,) = netlist.signals[sync.clk]
        if sync is not None and sync.rst is not None and sync.rst in netlist.signals:
            (self.reset,) = netlist.signals[sync.rst]
        self.read_init: dict[int, int] = {}
        for late, net in netlist.connections.items():
            if net > 1 and isinstance(netlist.cells[net.cell], _nir.SyncReadPort):
                signal, bit = netlist.late_to_signal[late]
                self.read_init[net.cell] = self.read_init.get(net.cell, 0) | (signal.init >> bit & 1) << net.bit
        self.signal_names: dict[int, str] = {}
        for module in netlist.modules:
            for signal, name in module.signal_names.items():
                value = netlist.signals[signal]
                for bit, net in enumerate(value):
                    full = ".".join((*module.name[1:], name)) + (f"[{bit}]" if len(value) > 1 else "")
                    self.signal_names.setdefault(int(net), full)

    def design(self) -> cells.Design:
        top = self.netlist.top
        converted = tuple(self.cell(index, cell) for index, cell in enumerate(self.netlist.cells))
        inputs, outputs = {}, {}
        for key, (start, width) in top.ports_i.items():
            if key in self.port_names:
                name = self.port_names[key]
                nets = tuple(cells.net(0, start + bit) for bit in range(width))
                inputs[name] = cells.Port(name, nets, self.fields[key])
        for key, value in top.ports_o.items():
            name = self.port_names[key]
            outputs[name] = cells.Port(name, self.nets(value), self.fields[key])
        return cells.Design(converted, inputs, outputs, self.registers(), self.signal_names)

    def variables(self) -> tuple[tuple[cells.Variable, ...], list[cells.AsyncRead]]:
        """Return the signals that a waveform shows, and additional cells: a read port for each memory row shown."""
        memories = [index for index, cell in enumerate(self.netlist.cells) if isinstance(cell, _nir.Memory)]
        cell_of_row: dict[tuple[int, int], int] = {}
        reads: list[cells.AsyncRead] = []
        found = []
        for name in names(self.fragment, self.ports, self.clocks):
            bits = slice(name.start, name.start + name.width)
            if name.signal is None:
                memory = memories[name.memory]
                width = self.netlist.cells[memory].width
                if (memory, name.row) not in cell_of_row:
                    cell_of_row[memory, name.row] = len(self.netlist.cells) + len(reads)
                    address = tuple(name.row >> bit & 1 for bit in range(name.row.bit_length() or 1))
                    reads.append(cells.AsyncRead(source="", width=width, memory=memory, address=address))
                cell = cell_of_row[memory, name.row]
                nets = tuple(cells.net(cell, bit) for bit in range(width))[bits]
                found.append(cells.Variable(name.scope, name.name, nets, name.labels))
                continue
            value = self.netlist.signals[name.signal]
            clock = self.clock is not None and tuple(value) == (self.clock,)
            nets = () if clock else self.nets(value[bits])
            found.append(cells.Variable(name.scope, name.name, nets, name.labels, clock))
        return tuple(found), reads

    def net(self, net: Any) -> int:
        if net == self.clock:
            raise LoweringError("the clock of domain 'sync' is used as data. Needed: a clock that only flip-flops and "
                                "memories use.")
        return 0 if net == self.reset else int(net)

    def nets(self, value: Any) -> cells.Nets:
        return tuple(self.net(net) for net in value)

    def cell(self, index: int, cell: Any) -> cells.Cell:
        source = _line(cell.src_loc)
        match cell:
            case _nir.Top():
                return cells.Inputs(source=source, width=2 + sum(width for _, width in cell.ports_i.values()))
            case _nir.Operator():
                inputs = tuple(self.nets(value) for value in cell.inputs)
                return cells.Operator(source=source, width=cell.width, operator=cell.operator, inputs=inputs)
            case _nir.Part():
                return cells.Part(
                    source=source, width=cell.width, value=self.nets(cell.value), signed=cell.value_signed,
                    offset=self.nets(cell.offset), stride=cell.stride,
                )  # fmt: skip
            case _nir.Matches():
                return cells.Matches(source=source, width=1, value=self.nets(cell.value), patterns=cell.patterns)
            case _nir.PriorityMatch():
                return cells.PriorityMatch(
                    source=source, width=len(cell.inputs), enable=self.net(cell.en), inputs=self.nets(cell.inputs)
                )
            case _nir.AssignmentList():
                assignments = tuple(
                    cells.Assignment(self.net(a.cond), a.start, self.nets(a.value)) for a in cell.assignments
                )
                return cells.AssignmentList(
                    source=source, width=len(cell.default), default=self.nets(cell.default), assignments=assignments
                )
            case _nir.FlipFlop():
                self.check_clock(index, cell)
                if self.net(cell.arst) != 0:
                    self.refuse(index, cell, "an asynchronous reset", "synchronous resets")
                return cells.FlipFlop(source=source, width=len(cell.data), data=self.nets(cell.data), init=cell.init)
            case _nir.Memory():
                return cells.Memory(
                    source=source, width=0, name=self.path(cell.module_idx, cell.name), columns=cell.width,
                    depth=cell.depth, init=tuple(row & (1 << cell.width) - 1 for row in cell.init),
                )  # fmt: skip
            case _nir.SyncWritePort():
                self.check_clock(index, cell)
                return cells.WritePort(
                    source=source, width=0, memory=cell.memory, data=self.nets(cell.data),
                    address=self.nets(cell.addr), enable=self.nets(cell.en),
                )  # fmt: skip
            case _nir.AsyncReadPort():
                return cells.AsyncRead(
                    source=source, width=cell.width, memory=cell.memory, address=self.nets(cell.addr)
                )
            case _nir.SyncReadPort():
                self.check_clock(index, cell)
                return cells.SyncRead(
                    source=source, width=cell.width, memory=cell.memory, address=self.nets(cell.addr),
                    enable=self.net(cell.en), transparent=cell.transparent_for, init=self.read_init.get(index, 0),
                )  # fmt: skip
        return self.refuse(index, cell, f"a cell of kind {type(cell).__name__}", "logic, registers and memories alone")

    def check_clock(self, index: int, cell: Any) -> None:
        if cell.clk_edge != "pos":
            self.refuse(index, cell, "a falling clock edge", "domain 'sync' with rising clock edges")
        if self.clock is None or cell.clk != self.clock:
            name = self.signal_names.get(int(cell.clk), "a constant")
            self.refuse(index, cell, f"a clock other than that of domain 'sync' ({name})",
                        "domain 'sync' alone")

    def refuse(self, index: int, cell: Any, what: str, needed: str) -> Any:
        """Raise an error with the unsupported part, its signals, its line (of a register: the line that declares it),
        and the supported parts."""
        module = self.path(cell.module_idx, "").rstrip(".") or "the top level"
        nets = sorted({*cell.output_nets(index), *cell.input_nets()})
        known = [self.signal_names[int(net)] for net in nets if int(net) in self.signal_names]
        known += [str(name) for name in (getattr(cell, "type", None), getattr(cell, "name", None)) if name]
        signals = f" (with {', '.join(dict.fromkeys(known))})" if known else ""
        raise LoweringError(
            f"{what} in {module}{signals}{_place(cell)}, is not valid in a component that is compiled. Needed: "
            f"{needed}."
        )

    def path(self, module: int, name: str) -> str:
        return ".".join((*self.netlist.modules[module].name[1:], name))

    def registers(self) -> tuple[cells.Register, ...]:
        """Return all registers, memories and synchronous read ports.

        A flip-flop has the name of its signal in the module that assigns the signal.
        """
        bits: dict[str, list[tuple[int, int, int]]] = {}
        width: dict[str, int] = {}
        named = set()
        for late, net in self.netlist.connections.items():
            if net < 2 or not isinstance(self.netlist.cells[net.cell], _nir.FlipFlop):
                continue
            signal, bit = self.netlist.late_to_signal[late]
            module = self.netlist.cells[net.cell].module_idx
            local = self.netlist.modules[module].signal_names.get(signal, signal.name) or f"register_{net.cell}"
            name = self.path(module, local)
            bits.setdefault(name, []).append((bit, net.cell, net.bit))
            width[name] = Shape.cast(signal.shape()).width
            named.add(net.cell)
        registers = [cells.Register(name, width[name], tuple(sorted(bits[name]))) for name in bits]

        ports: dict[int, int] = {}
        for index, cell in enumerate(self.netlist.cells):
            if isinstance(cell, _nir.FlipFlop) and index not in named:
                name = self.path(cell.module_idx, f"register_{index}")
                size = len(cell.data)
                registers.append(cells.Register(name, size, tuple((bit, index, bit) for bit in range(size))))
            elif isinstance(cell, _nir.Memory):
                name = self.path(cell.module_idx, cell.name)
                registers.append(cells.Register(name, cell.width, memory=index))
            elif isinstance(cell, _nir.SyncReadPort):
                number = ports[cell.memory] = ports.get(cell.memory, -1) + 1
                memory = self.netlist.cells[cell.memory]
                name = self.path(memory.module_idx, f"{memory.name}.read_{number}")
                registers.append(
                    cells.Register(name, cell.width, tuple((bit, index, bit) for bit in range(cell.width)))
                )
        return tuple(registers)
