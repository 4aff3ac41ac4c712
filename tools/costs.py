"""Cost of each hardware feature: operations of the kernel, and area (``make costs``)."""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from wormcast.sim.build.network import Network
from wormcast.sim.common.text import markdown_table
from wormcast.sim.engines.bulk import kernels
from wormcast.sim.export.synthesis import SynthesisPoint, build, run

__all__ = ["INTERFACES", "PAIRS", "ROUTERS", "costs"]

#: Options of all rows of the table, unless a row has other values.
BASE: dict[str, Any] = {"topology": "mesh:8x8", "consumption": 2, "area_delay": 4250}

#: Rows of routers: name, scheme, and options that differ from 2 VCs x 4 flits and 2 consumption channels.
ROUTERS: list[tuple[str, str, dict[str, Any]]] = [
    ("dual-path, 2 VCs x 4, C = 2", "dual-path", {}),
    ("unicasts only, same relation", "individual", {"relation": "hamiltonian"}),
    ("no class rule (all channels for all worms)", "dual-path", {"classes": ":next"}),
    ("1 consumption channel", "dual-path", {"consumption": 1}),
    ("4 consumption channels: 2 owned by a class, 2 for all", "dual-path", {"consumption": 4}),
    ("separate consumption links, C = 2", "dual-path", {"consumption_links": "separate"}),
    ("separate consumption links, C = 4", "dual-path", {"consumption": 4, "consumption_links": "separate"}),
    ("all-port injection", "dual-path", {"ports": "all"}),
    ("1 virtual channel", "dual-path", {"vcs": 1}),
    ("4 virtual channels", "dual-path", {"vcs": 4}),
    ("independent readers", "dual-path", {"readers": "independent"}),
    ("fast delays", "dual-path", {"delays": "fast"}),
    ("unicast e-cube, C = 2", "individual", {}),
    ("column-path (class of the next hop)", "column-path", {}),
    ("e-mcast, C = 4", "e-mcast", {"consumption": 4}),
    ("e-mcast, three classes, C = 3", "e-mcast", {"consumption": 3, "classes": "1+,0+/1-/0-:last"}),
]

INTERFACES: list[tuple[str, str, dict[str, Any]]] = [
    ("one port, shared link, C = 2", "dual-path", {}),
    ("separate consumption links, C = 2", "dual-path", {"consumption_links": "separate"}),
    ("all-port injection", "dual-path", {"ports": "all"}),
    ("packets of 16 flits", "dual-path", {"packet": 16}),
    ("t_ns = t_nr = 100", "dual-path", {"t_ns": 100, "t_nr": 100}),
]

#: Rows to compare: a router with multicast, and an otherwise equal router for unicasts only.
PAIRS = [
    ("dual-path, 2 VCs x 4, C = 2", "unicasts only, same relation"),
    ("column-path (class of the next hop)", "unicast e-cube, C = 2"),
]


def costs() -> Iterator[tuple[str, str, Mapping[str, int]]]:
    """Yield kind and name of each component, with its operations, bytes of state, and cells of its netlist."""
    names = [(kind, *entry) for kind, entries in (("router", ROUTERS), ("interface", INTERFACES)) for entry in entries]
    points = [build(kind, None, {**BASE, "scheme": scheme, **options}) for kind, _, scheme, options in names]
    results = run(points, (), lambda step: None)
    for (kind, name, _, _), point, result in zip(names, points, results, strict=True):
        yield kind, name, {**_simulated(kind, point), **result.area}


def _simulated(kind: str, point: SynthesisPoint) -> dict[str, int]:
    """Return the number of operations, and the bytes of state, of a component's kernel."""
    made = point.blueprint
    kernel = kernels(Network(made.topology, made.scheme, made.configuration))[kind]
    return {"operations": kernel.operations, "bytes": round(kernel.state_bytes)}


def main() -> None:
    """Print the table as Markdown, row by row, and the relative cost of multicast."""
    print(f"{BASE['topology']}, 32 bits, coupled readers, `paper` delays unless a row differs; ECP5, "
          f"abc9.D = {BASE['area_delay']}\n")
    columns = ("operations", "bytes", "LUT4", "FF", "DPR16X4")
    found: dict[tuple[str, str], Mapping[str, int]] = {}

    def rows() -> Iterator[list[object]]:
        for kind, name, figures in costs():
            found[kind, name] = figures
            yield [kind, name, *(figures[column] for column in columns)]

    for line in markdown_table(["component", "with", *columns], [False] * 2 + [True] * len(columns), rows()):
        print(line)
        sys.stdout.flush()
    print()
    for with_it, without in PAIRS:
        shares = ", ".join(f"{name} {found['router', with_it][name] / found['router', without][name] - 1:+.1%}"
                           for name in ("LUT4", "FF", "operations"))
        print(f"- {with_it}, against {without}: {shares}")


if __name__ == "__main__":
    main()
