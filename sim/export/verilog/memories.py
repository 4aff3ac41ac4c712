"""Modules of memories: each memory of a netlist becomes an instance of a module that a RAM macro can replace."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from wormcast.algorithms import WormcastError

from .modules import PIN, NetlistModule

__all__ = ["take_out_memories"]

MEMORY = re.compile(r"^  memory width (\d+) size (\d+) \\(\S+)$", re.MULTILINE)
OF_MEMORY = re.compile(r"^  cell \$mem(init|wr|rd)_v2 .*\n(?:.*\n)*?    parameter \\MEMID \"\\\\(\S+)\"$", re.MULTILINE)

#: Name of the memory in its module.
WORDS = "words"


class _Port(NamedTuple):
    """A port of the module of a memory, and the bits at the port in the module that contains the memory."""

    way: str
    name: str
    width: int
    bits: str


def take_out_memories(module: NetlistModule) -> Iterator[NetlistModule]:
    """Replace the memories of a module by instances, and yield the modules of these instances.

    A memory of one word has no address, and becomes a register of the module. Any other memory has one write port, for
    whole words. The read ports of a memory have a latency of no cycle or of one cycle. With a latency of one cycle, a
    read in the cycle in which the word is written returns the word's former value.

    Raises
    ------
    WormcastError
        A memory has other ports.
    """
    for block in list(module.blocks):
        found = MEMORY.search(block)
        if found is None or found[2] == "1":
            continue
        cells = [cell for cell in module.blocks if (of := OF_MEMORY.search(cell)) and of[2] == found[3]]
        inner, instance = _take_out(module, found[3], int(found[1]), int(found[2]), block, cells)
        module.blocks = [one for one in module.blocks if one != block and one not in cells] + [instance]
        yield inner


def _take_out(module: NetlistModule, name: str, width: int, depth: int, block: str,
              cells: list[str]) -> tuple[NetlistModule, str]:
    """Return the module of a memory, and the instance that replaces the memory in ``module``."""
    kinds = [OF_MEMORY.search(cell)[1] for cell in cells]  # type: ignore[index]
    latencies = {int("\\CLK_ENABLE 1" in cell) for cell, kind in zip(cells, kinds, strict=True) if kind == "rd"}
    reads = kinds.count("rd")
    writes = [dict(PIN.findall(cell)) for cell, kind in zip(cells, kinds, strict=True) if kind == "wr"]
    enables = {tuple(re.findall(r"[\\$]\S+ \[\d+\]", pins["EN"])) for pins in writes}
    if len(writes) != 1 or len(latencies) != 1 or any(len({*bits}) != 1 for bits in enables) or any(
            re.search(r"\\TRANSPARENCY_MASK \d+'0*1", cell) for cell in cells):
        raise WormcastError(f"verilog: memory {module.type}.{name} is not valid. Allowed: one write port for whole "
                            "words, and read ports of one latency, which do not see a word while it is written.")
    [latency], [[enable, *_]] = latencies, enables
    clocks = {dict(PIN.findall(cell))["CLK"] for cell, kind in zip(cells, kinds, strict=True)
              if kind == "rd" and latency}
    apart = bool(clocks) and clocks != {writes[0]["CLK"]}  # words are read with another clock
    bits = (depth - 1).bit_length()
    ports = [_Port("input", "clk", 1, writes[0]["CLK"]), _Port("input", "write_en", 1, enable),
             _Port("input", "write_addr", bits, writes[0]["ADDR"]),
             _Port("input", "write_data", width, writes[0]["DATA"]),
             *(_Port("input", "read_clk", 1, clock) for clock in clocks if apart)]
    inside = [block.replace(f"\\{name}", f"\\{WORDS}")]
    number = 0
    for cell, kind in zip(cells, kinds, strict=True):
        pins, own = dict(PIN.findall(cell)), {}
        if kind == "wr":
            own = {"CLK": "\\clk", "EN": "{ " + "\\write_en " * width + "}", "ADDR": "\\write_addr",
                   "DATA": "\\write_data"}
        elif kind == "rd":
            suffix = f"_{number}" if reads > 1 else ""
            number += 1
            own = {"ADDR": f"\\read_addr{suffix}", "DATA": f"\\read_data{suffix}"}
            if latency:
                own["CLK"] = "\\read_clk" if apart else "\\clk"
                if pins["EN"] != "1'1":
                    own["EN"] = f"\\read_en{suffix}"
                    ports.append(_Port("input", f"read_en{suffix}", 1, pins["EN"]))
            ports += [_Port("input", f"read_addr{suffix}", bits, pins["ADDR"]),
                      _Port("output", f"read_data{suffix}", width, pins["DATA"])]
        cell = PIN.sub(lambda pin, own=own: f"    connect \\{pin[1]} {own.get(pin[1], pin[2])}", cell)  # type: ignore
        cell = re.sub(r"(?<=_v2 )\S+$", f"${kind}{len(inside)}", cell, count=1, flags=re.MULTILINE)
        inside.append(cell.replace(f'\\MEMID "\\\\{name}"', f'\\MEMID "\\\\{WORDS}"'))
    kind_name = f"memory_{width}x{depth}" + (f"_{reads}r" if reads > 1 else "") + ("_latency1" if latency else "") + (
        "_2clk" if apart else "")
    wires = [f"  wire width {port.width} {port.way} {place} \\{port.name}" for place, port in enumerate(ports, start=1)]
    inner = NetlistModule((*module.path, name), wires + inside, kind_name=kind_name,
                   comment=_describe(width, depth, reads, latency, apart=apart),
                   ports={port.name: port.name for port in ports})
    pins_of = "".join(f"    connect \\{port.name} {port.bits}\n" for port in ports)
    return inner, f"  cell \\{inner.type} \\{name}\n{pins_of}  end"


def _describe(width: int, depth: int, reads: int, latency: int, *, apart: bool) -> str:
    several = f"Each of the {reads} read ports" if reads > 1 else "The read port"
    if apart:
        when = "has the word at read_addr after the next rising edge of read_clk."
    elif latency:
        when = ("has the word at read_addr in the next cycle. If a word is read in the cycle of its write, "
                "read_data is the old word.")
    else:
        when = "has the word at read_addr in the same cycle."
    return (f"Memory of {depth} words of {width} bits, read latency {latency}. With write_en, write_data is stored at "
            f"write_addr at the rising edge of clk. {several} {when} No reset. A RAM macro with these ports and this "
            "latency can replace this module.")
