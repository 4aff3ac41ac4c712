"""What each feature of the hardware costs: operations of the kernel, and area (``make costs``)."""

import sys
from collections.abc import Iterator

from wormcast.algorithms import SCHEMES, topology

from .configuration import Configuration
from .engines.bulk import kernels
from .network import Network
from .synthesis import synthesise

__all__ = ["ROUTERS", "costs"]

MESH = "mesh:8x8"
AREA_DELAY = 4250

#: What is compared: a name, a scheme, and what differs from dual-path with 2 VCs x 4 flits, 2 consumption channels.
ROUTERS: list[tuple[str, str, dict]] = [
    ("dual-path, 2 VCs x 4, C = 2", "dual-path", {}),
    ("no class rule (any channel for all)", "dual-path", {"classes": ":next"}),
    ("1 consumption channel", "dual-path", {"consumption": 1}),
    ("4 consumption channels: 2 of a class, 2 for all", "dual-path", {"consumption": 4}),
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

INTERFACES: list[tuple[str, str, dict]] = [
    ("one port, shared link, C = 2", "dual-path", {}),
    ("separate consumption links, C = 2", "dual-path", {"consumption_links": "separate"}),
    ("all-port injection", "dual-path", {"ports": "all"}),
    ("packets of 16 flits", "dual-path", {"packet": 16}),
    ("t_ns = t_nr = 100", "dual-path", {"t_ns": 100, "t_nr": 100}),
]


def costs() -> Iterator[list[object]]:
    """Yield rows: component, what it has, operations, bytes of state, LUT4, flip-flops, DPR16X4."""
    mesh = topology(MESH)
    for kind, rows in (("router", ROUTERS), ("interface", INTERFACES)):
        for name, scheme, options in rows:
            network = Network(mesh, SCHEMES[scheme], Configuration(**{"consumption": 2, **options}))
            kernel = kernels(network)[kind]
            area = synthesise(network.kinds[kind].build(), seeds=(), area_delay=AREA_DELAY)
            yield [kind, name, kernel.operations, round(kernel.state_bytes), area.lut4, area.ff, area.dpr16x4]


def main() -> None:
    """Print the table as Markdown, row by row."""
    print(f"{MESH}, 32 bits, coupled readers, `paper` delays unless said otherwise; ECP5, abc9.D = {AREA_DELAY}\n")
    print("| component | with | operations | bytes | LUT4 | FF | DPR16X4 |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for row in costs():
        print("| " + " | ".join(map(str, row)) + " |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
