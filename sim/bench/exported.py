"""Verilator on a whole network: driven by the recorded words of the hosts, every answer compared.

Two ways, each kind of component being translated and compiled once:

``hierarchical``
    One Verilog module for the network, in which routers and interfaces are Verilator's hierarchical blocks.
``joined``
    A model for each router and interface, joined by loops in C++: no more work than the models themselves.
"""

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ..engines.bulk import BulkEngine
from ..engines.words import credit_word, data_word
from ..network import HOST, Join, Network
from ..tools import scratch_folder
from .verilator import compile_program, cpp_name, export, ports, run, timed_program, translate

__all__ = ["WAYS", "network_speeds", "record"]

WAYS = ("hierarchical", "joined")

#: Words recorded of a node in a cycle.
WORDS = 6

#: The hosts' links are words of a file, cycle after cycle: what goes in, then what must have come out before.
PROGRAM = """
{models}
static std::vector<uint32_t> words;
static const long SIZE = {words}, CYCLES = {cycles};
static void setup(const char* traffic) {{
    words.resize(SIZE * CYCLES);
    FILE* file = std::fopen(traffic, "rb");
    if (!file || std::fread(words.data(), 4, words.size(), file) != words.size()) std::exit(3);
    start();
}}
static void cycle(long number) {{
    if (number % CYCLES == 0) {{ reset(1); tick(); reset(0); }}  // the recording begins after reset
    const uint32_t* now = &words[number % CYCLES * SIZE];
    {drive}
    {check}
    tick();
}}
"""

HIERARCHICAL = """
static VerilatedContext context;
static Vtop* top;
static void reset(int on) {{ top->rst = on; }}
static void start() {{ top = new Vtop(&context, "top"); reset(0); top->clk = 0; top->eval(); }}
static void tick() {{
    top->clk = 0; top->eval();
    top->clk = 1; top->eval();
}}
"""

JOINED = """
static VerilatedContext context;
{models}
static void start() {{
    for (int k = 0; k < {instances}; ++k) {{ {make} }}
    {straps}
}}
static void reset(int on) {{ {reset} }}
static void tick() {{
    {joins}
    {ticks}
}}
"""


def record(engine: BulkEngine, cycles: int) -> np.ndarray:
    """Run an engine, and record its hosts' links: uint32 [cycles, nodes, words] from reset.

    The words are, of what the hosts drive: marks, data, credits; and of what the interfaces drive, the same.
    """
    result = np.zeros((cycles, engine.network.instances, WORDS), np.uint32)
    sides = [("out", "tx"), ("out", data_word("tx")), ("out", credit_word("rx")),
             ("in", "rx"), ("in", data_word("rx")), ("in", credit_word("tx"))]
    for cycle in range(cycles):
        # what the interfaces drive in a cycle reaches the hosts' words as the cycle begins
        driven = [engine._host_word(*side)[0, 0].copy() for side in sides[:3]]
        engine.run(1, beyond=True)
        seen = [engine._host_word(*side)[0, 0] for side in sides[3:]]
        result[cycle] = np.stack([*driven, *seen], axis=1)
    return result


def network_speeds(network: Network, way: str, traffic: Mapping[str, np.ndarray]) -> tuple[dict[str, float], float]:
    """Cycles per second of a whole network, by processor time, with each recording; and seconds to build it.

    Parameters
    ----------
    way : str
        One of `WAYS`.
    traffic : mapping of str to uint32 array [cycles, nodes, words]
        Recordings of `record`, all equally long.

    Raises
    ------
    WormcastError
        A tool failed, or the network answered otherwise than as recorded: the program then ends with 4.
    """
    started = time.perf_counter()
    cycles, *shape = next(iter(traffic.values())).shape
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        at = Path(folder)
        verilog = [export(at, kind.build(), f"a_{kind.name}") for kind in network.kinds.values()]
        names = [f"a_{kind}" for kind in network.kinds]
        if way == "hierarchical":
            (at / "top.v").write_text("".join(verilog) + "\n".join(_top(network)))
            blocks = "".join(f'hier_block -module "{name}"\n' for name in names)
            (at / "blocks.vlt").write_text("`verilator_config\n" + blocks)
            made = translate(at, "top", "--hierarchical", "blocks.vlt", "top.v")
            folders, classes = [made, *(made / f"V{name}" for name in names)], ["top"]
            models, port = HIERARCHICAL.format(), "top->interface_{name}_{node}"
        else:
            folders, classes = [translate(at, name, f"{name}.v") for name in names], names
            models, port = _joined(network), "interface[{node}]->{name}"
        program = PROGRAM.format(models=models, words=np.prod(shape), cycles=cycles, **_hosts(network, port))
        compile_program(at, timed_program(program, *classes), folders)
        built = time.perf_counter() - started
        speeds = {}
        for name, words in traffic.items():
            words.astype(np.uint32).tofile(at / "traffic")
            speeds[name] = max(float(run(at, "./bench", "traffic")) for _ in range(2))
    return speeds, built


def _members(network: Network, join: Join) -> list[tuple[str, bool]]:
    """Signals of a link, and whether each goes forward."""
    found = ports(network.components[join.to_kind])
    return [(name.removeprefix(f"{join.to_port}__"), inward) for name, inward, _ in found
            if name.startswith(f"{join.to_port}__")]


def _inner_joins(network: Network) -> list[Join]:
    return [join for join in network.joins if HOST not in (join.from_kind, join.to_kind)]


def _top(network: Network) -> Iterator[str]:
    """Verilog of the network: a wire for each port of each instance, those of the hosts' links as ports."""
    nodes = range(network.instances)
    sides = {kind: list(ports(component)) for kind, component in network.components.items()}
    wires = [(f"{kind}_{name}_{node}", "input" if inward else "output", width,
              kind == "interface" and name.startswith(("host_in_0__", "host_out_0__")))
             for kind, entries in sides.items() for name, inward, width in entries for node in nodes]
    outside = {name for name, _, _, open_ in wires if open_}
    listed = [f"{way} [{width - 1}:0] {name}" for name, way, width, _ in wires if name in outside]
    yield f"module top({', '.join(['input clk', 'input rst', *listed])});"
    yield from (f"  wire [{width - 1}:0] {name};" for name, _, width, _ in wires if name not in outside)
    driven = set(outside)
    for join in _inner_joins(network):
        for start, end in zip(join.from_instances.tolist(), join.to_instances.tolist(), strict=True):
            for member, inward in _members(network, join):
                near = f"{join.from_kind}_{join.from_port}__{member}_{start}"
                far = f"{join.to_kind}_{join.to_port}__{member}_{end}"
                driven.add(far if inward else near)
                yield f"  assign {far if inward else near} = {near if inward else far};"
    for kind, entries in sides.items():
        straps = network.kinds[kind].straps
        for name, inward, width in entries:
            for node in nodes:
                wire = f"{kind}_{name}_{node}"
                if inward and wire not in driven:
                    yield f"  assign {wire} = {width}'d{int(straps[name][node]) if name in straps else 0};"
        for node in nodes:
            links = [f".{name}({kind}_{name}_{node})" for name, _, _ in entries]
            yield f"  a_{kind} {kind}_{node}({', '.join(['.clk(clk)', '.rst(rst)', *links])});"
    yield "endmodule"


def _joined(network: Network) -> str:
    """C++ of the network: a model for each instance, and a loop for each join."""
    kinds, every = list(network.kinds), f"for (int k = 0; k < {network.instances}; ++k)"
    straps = [f"{kind.name}[{node}]->{cpp_name(name)} = {int(value)}ULL;"
              for kind in network.kinds.values() for name, values in kind.straps.items()
              for node, value in enumerate(values)]
    joins = []
    for number, join in enumerate(_inner_joins(network)):
        pairs = ", ".join(f"{{{a}, {b}}}" for a, b in zip(join.from_instances, join.to_instances, strict=True))
        body = []
        for member, inward in _members(network, join):
            near = f"{join.from_kind}[pair[0]]->{cpp_name(f'{join.from_port}__{member}')}"
            far = f"{join.to_kind}[pair[1]]->{cpp_name(f'{join.to_port}__{member}')}"
            body.append(f"{far} = {near};" if inward else f"{near} = {far};")
        joins.append(f"static const int pairs_{number}[][2] = {{{pairs}}};\n"
                     f"for (const auto& pair : pairs_{number}) {{ {' '.join(body)} }}")
    return JOINED.format(
        models="\n".join(f"static Va_{kind}* {kind}[{network.instances}];" for kind in kinds),
        instances=network.instances,
        make=" ".join(f"{kind}[k] = new Va_{kind}(&context, (\"{kind}\" + std::to_string(k)).c_str());"
                      for kind in kinds),
        straps="\n".join(straps),
        reset=f"{every} {{ {' '.join(f'{kind}[k]->rst = on;' for kind in kinds)} }}",
        joins="\n".join(joins),
        ticks="\n".join(f"{every} {{ {kind}[k]->clk = 0; {kind}[k]->eval(); {kind}[k]->clk = 1; {kind}[k]->eval(); }}"
                        for kind in kinds),
    )


def _hosts(network: Network, spelling: str) -> dict[str, str]:
    """C++ that drives the hosts' links from ``now``, and compares what they answer where there is a flit."""
    widths = {name: width for name, _, width in ports(network.components["interface"])}
    drive, check = [], []
    for node in range(network.instances):
        for link, side, into in (("host_in_0", 0, True), ("host_out_0", 3, False)):
            first = node * WORDS + side
            valid, vc, flit, credit = (f"{link}__{member}" for member in ("valid", "vc", "flit", "credit"))
            channel = widths.get(vc, 0)
            marks = {valid: f"now[{first}] & 1", vc: f"now[{first}] >> 1 & {(1 << channel) - 1}",
                     flit: f"(now[{first}] >> {1 + channel} & 3) | uint64_t(now[{first + 1}]) << 2",
                     credit: f"now[{node * WORDS + (5 if into else 2)}]"}
            for port, value in marks.items():
                name = spelling.format(name=cpp_name(port), node=node)
                if port in widths and into == (port != credit):
                    drive.append(f"{name} = {value};")
                elif port in widths:
                    given = f"(now[{first}] & 1) && " if port in (vc, flit) else ""
                    check.append(f"if ({given}{name} != ({value})) std::exit(4);")
    return {"drive": "\n".join(drive), "check": "\n".join(check)}
