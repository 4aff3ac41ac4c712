"""Picture of a network under load: utilisation of each link."""


import numpy as np
import numpy.typing as npt

from wormcast.algorithms import Topology

from ...build.configuration import CHANNEL_FIELDS, unusual
from ...build.traffic import Traffic
from ...common.text import consumption_text, count
from ...drawing import Sheet, layout_of, scheme_on, utilisation_sheet
from .result import Load

__all__ = ["load_sheet"]

Floats = npt.NDArray[np.float64]


def load_sheet(result: Load) -> Sheet:
    """Draw a network in which the colour and width of each link show its flits per cycle.

    The two directions of a link are drawn side by side, each on the right in its direction. The left half of a node has
    the colour of its injection link, the right half that of its consumption link. In layouts that draw each node twice,
    the left drawing has the colour of the injection link, the right one that of the consumption link. If a node has
    several links of a kind, the colour shows their mean. The same result gives the same file.

    Parameters
    ----------
    result : Load
        Result for a topology that `wormcast.sim.drawing.require_drawable` accepts. The result must have no deadlock,
        because after a deadlock there is no utilisation.
    """
    links = np.array([link[2] for link in result.link_table("network")])
    return utilisation_sheet(result.topology, links, (_by_node(result, "injection"), _by_node(result, "consumption")),
                             "flits per cycle on a link", _caption(result))


def _caption(result: Load) -> list[str]:
    """Return the lines of the caption."""
    topology, traffic, mean, busiest = (result.topology, result.traffic, result.utilisation("network").mean,
                                        result.busiest("network"))
    hardware = f"{count(result.configuration.vcs, 'VC')} x {count(result.configuration.buffer, 'flit')}"
    length = f"{result.cycles} cycles, the first {result.warmup} not counted"
    if isinstance(traffic, Traffic):  # in a trace nothing is random
        seeds = f"seeds {result.seeds[0]} to {result.seeds[-1]}, each"
        length = f"{seeds if len(result.seeds) > 1 else f'seed {result.seeds[0]},'} {length}"
    said = [f"{scheme_on(result.scheme, topology)}, {traffic.words}" + ", saturated" * result.saturated,
            ", ".join([hardware, consumption_text(result.configuration.consumption, result.configuration.ejection),
                       *unusual(result.configuration.to_dict(), CHANNEL_FIELDS), length])]
    if mean == 0:
        said.append("no flits")
    elif mean is not None and busiest is not None:
        first, second, flits = busiest
        said.append(f"links between routers: mean {mean:.3f}, most {flits:.3f} from {_named(topology, first)} to "
                    f"{_named(topology, second)}")
    halves = ("node: on the left its injection link, on the right its consumption link"
              if layout_of(topology).drawn_twice else "node: left half injection link, right half consumption link")
    return [*said, halves]


def _named(topology: Topology, switch: int | str) -> str:
    """Return an end of a link in `Load.link_table` as text."""
    return topology.node_name(switch) if isinstance(switch, int) else switch


def _by_node(result: Load, kind: str) -> Floats:
    """Return the mean flits per cycle on each node's links of a kind, [nodes]."""
    table = result.link_table(kind)
    nodes = np.array([int(link[0]) for link in table])
    flits = np.bincount(nodes, [link[2] for link in table], result.topology.nodes)
    return flits / np.bincount(nodes, minlength=result.topology.nodes)
