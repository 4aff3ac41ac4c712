"""Benchmark of Verilator on a whole network, driven by recorded words of the hosts.

The words of the interfaces to the hosts are compared with the recording. In both variants Verilator translates and
compiles each kind of component once.

``hierarchical``
    One Verilog module for the network, with routers and interfaces as Verilator's hierarchical blocks.
``joined``
    A model for each router and interface. Loops in C++ copy the signals of the links between models.
"""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from wormcast.sim.build.network import HOST, Join, Network
from wormcast.sim.common.external import scratch_folder
from wormcast.sim.engines.bulk import BulkEngine
from wormcast.sim.engines.port_packing import credit_word, data_word
from wormcast.sim.export.verilog import ports
from wormcast.sim.export.verilog.network import kind_module, table_words, top

from .verilator import compile_program, export, run, timed_program, translate

__all__ = ["WAYS", "network_speeds", "record"]

WAYS = ("hierarchical", "joined")

#: Number of words that are recorded per node and cycle.
WORDS = 6

#: C++ program that reads a recording from a file: per cycle and node, words to drive, then words to compare.
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
static void tick() {{
    top->clk = 0; top->eval();
    top->clk = 1; top->eval();
}}
static void start() {{
    top = new Vtop(&context, "top"); reset(0); top->clk = 0; top->eval();
    {tables}
}}
"""

JOINED = """
static VerilatedContext context;
{models}
static void start() {{
    {make}
    {straps}
}}
static void reset(int on) {{ {reset} }}
static void tick() {{
    {joins}
    {ticks}
}}
"""


def record(engine: BulkEngine, cycles: int) -> np.ndarray:
    """Run an engine and record its hosts' links: uint32 [cycles, nodes, words] from reset.

    The words are marks, data and credits driven by the host, then marks, data and credits driven by the interface.
    """
    result = np.zeros((cycles, engine.network.hosts, WORDS), np.uint32)
    sides = [("out", "tx"), ("out", data_word("tx")), ("out", credit_word("rx")),
             ("in", "rx"), ("in", data_word("rx")), ("in", credit_word("tx"))]
    for cycle in range(cycles):
        # `run` copies the interfaces' words of a cycle to the hosts, so these words are read after `run`
        driven = [engine._host_word(*side)[0, 0].copy() for side in sides[:3]]
        engine.run(1, beyond=True)
        seen = [engine._host_word(*side)[0, 0] for side in sides[3:]]
        result[cycle] = np.stack([*driven, *seen], axis=1)
    return result


def network_speeds(network: Network, way: str, traffic: Mapping[str, np.ndarray]) -> tuple[dict[str, float], float]:
    """Return a network's cycles per second of processor time for each recording; and seconds to build the program.

    Parameters
    ----------
    way : str
        One of `WAYS`.
    traffic : mapping of str to uint32 array [cycles, nodes, words]
        Recordings of `record`, all of equal length.

    Raises
    ------
    WormcastError
        A tool failed, or the network's output differs from the recording (exit code 4 of the program).
    """
    started = time.perf_counter()
    cycles, *shape = next(iter(traffic.values())).shape
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        at = Path(folder)
        names = [kind_module("top", kind) for kind in network.kinds]
        verilog = [export(at, kind.build(), name) for name, kind in zip(names, network.kinds.values(), strict=True)]
        if way == "hierarchical":
            (at / "top.v").write_text("".join([top(network, "top"), *verilog]))
            blocks = "".join(f'hier_block -module "{name}"\n' for name in names)
            (at / "blocks.vlt").write_text("`verilator_config\n" + blocks)
            made = translate(at, "top", "--hierarchical", "blocks.vlt", "top.v")
            folders, classes = [made, *(made / f"V{name}" for name in names)], ["top"]
            nodes = [network.node_scope(node) for node in range(network.nodes)]
            models, owners = HIERARCHICAL.format(tables=_tables(network)), [f"top->node_{node}_" for node in nodes]
        else:
            folders, classes = [translate(at, name, f"{name}.v") for name in names], names
            models, owners = _joined(network), [f"interface[{node}]->" for node in range(network.hosts)]
        program = PROGRAM.format(models=models, words=np.prod(shape), cycles=cycles, **_hosts(network, owners))
        compile_program(at, timed_program(program, *classes), folders)
        built = time.perf_counter() - started
        speeds = {}
        for name, words in traffic.items():
            words.astype(np.uint32).tofile(at / "traffic")
            speeds[name] = max(float(run(at, "./bench", "traffic")) for _ in range(2))
    return speeds, built


def _tables(network: Network) -> str:
    """Return C++ that writes the routers' tables. The reset after these writes keeps the tables."""
    words = table_words(network)
    listed = ", ".join(f"{word}ULL" for word in words)
    return f"for (uint64_t word : {{{listed}}}) {{ top->tables_in = word; tick(); }}" if words else ""


def _members(network: Network, join: Join) -> list[tuple[str, bool]]:
    """Return the signals of the links of a `Join`, each with True if it goes from the link's sender to its receiver."""
    return [(port.path[1], port.inward) for port in ports(network.components[join.to_kind])
            if port.path[0] == join.to_port]


def _inner_joins(network: Network) -> list[Join]:
    return [join for join in network.joins if HOST not in (join.from_kind, join.to_kind)]


def _joined(network: Network) -> str:
    """Return C++ of the network: a model for each instance, and a loop over the links of each `Join`."""
    kinds = list(network.kinds)
    models = {kind: f"V{kind_module('top', kind)}" for kind in kinds}
    counts = {kind.name: len(kind.instances) for kind in network.kinds.values()}
    every = {kind: f"for (int k = 0; k < {count}; ++k)" for kind, count in counts.items()}
    straps = [f"{kind.name}[{node}]->{name} = {int(value)}ULL;"
              for kind in network.kinds.values() for name, values in kind.straps.items()
              for node, value in enumerate(values)]
    joins = []
    for number, join in enumerate(_inner_joins(network)):
        pairs = ", ".join(f"{{{a}, {b}}}" for a, b in zip(join.from_instances, join.to_instances, strict=True))
        body = []
        for member, inward in _members(network, join):
            near = f"{join.from_kind}[pair[0]]->{join.from_port}_{member}"
            far = f"{join.to_kind}[pair[1]]->{join.to_port}_{member}"
            body.append(f"{far} = {near};" if inward else f"{near} = {far};")
        joins.append(f"static const int pairs_{number}[][2] = {{{pairs}}};\n"
                     f"for (const auto& pair : pairs_{number}) {{ {' '.join(body)} }}")
    return JOINED.format(
        models="\n".join(f"static {models[kind]}* {kind}[{counts[kind]}];" for kind in kinds),
        make="\n".join(f"{every[kind]} {kind}[k] = new {models[kind]}(&context, "
                       f"(\"{kind}\" + std::to_string(k)).c_str());" for kind in kinds),
        straps="\n".join(straps),
        reset=" ".join(f"{every[kind]} {kind}[k]->rst = on;" for kind in kinds),
        joins="\n".join(joins),
        ticks="\n".join(f"{every[kind]} {{ {kind}[k]->clk = 0; {kind}[k]->eval(); "
                        f"{kind}[k]->clk = 1; {kind}[k]->eval(); }}" for kind in kinds),
    )


def _hosts(network: Network, owners: list[str]) -> dict[str, str]:
    """Return C++ that drives the interfaces' inputs from ``now``, and compares their outputs to hosts with ``now``.

    Virtual channel and flit are compared only in cycles with a flit. ``owners``: for each node, the C++ prefix of its
    interface's port names.
    """
    widths = {port.name: port.width for port in ports(network.components["interface"])}
    drive, check = [], []
    for node in range(network.hosts):
        for link, side, into in (("host_in_0", 0, True), ("host_out_0", 3, False)):
            first = node * WORDS + side
            valid, vc, flit, credit = (f"{link}_{member}" for member in ("valid", "vc", "flit", "credit"))
            channel = widths.get(vc, 0)
            marks = {valid: f"now[{first}] & 1", vc: f"now[{first}] >> 1 & {(1 << channel) - 1}",
                     flit: f"(now[{first}] >> {1 + channel} & 3) | uint64_t(now[{first + 1}]) << 2",
                     credit: f"now[{node * WORDS + (5 if into else 2)}]"}
            for port, value in marks.items():
                name = owners[node] + port
                if port in widths and into == (port != credit):
                    drive.append(f"{name} = {value};")
                elif port in widths:
                    given = f"(now[{first}] & 1) && " if port in (vc, flit) else ""
                    check.append(f"if ({given}{name} != ({value})) std::exit(4);")
    return {"drive": "\n".join(drive), "check": "\n".join(check)}
