"""Reference pages of schemes, routing relations, topologies and named configurations."""

import contextlib
import io
import tempfile
from collections.abc import Iterable
from pathlib import Path

from wormcast.algorithms import RELATIONS, SCHEMES, TOPOLOGIES, MeshScheme, Scheme, Topology, WormcastError, topology
from wormcast.algorithms.multicast_plan import PlannedWorm, plan
from wormcast.sim.build.configurations import CONFIGURATIONS
from wormcast.sim.cli.app import app
from wormcast.sim.common.text import count

from .markdown import cell, code, of_docstring, sentence, table

__all__ = ["scheme_pages"]

EXAMPLE = "mesh:4x4", "1.1", "0.2,1.3,2.0,3.1,3.3"
"""Example multicast for schemes on meshes."""

DEEP = "mesh:3x3x3", "1.1.1", "0.0.0,2.2.2,0.2.1,2.0.1,1.0.2,2.1.0"
"""Example multicast for mesh schemes that do not support two dimensions."""


def scheme_pages() -> dict[str, str]:
    """Return the pages and their pictures, by file."""
    pages = {"schemes.md": _schemes(), "topologies.md": _topologies(), "configurations.md": _configurations()}
    for name in SCHEMES:
        pages |= _picture(f"schemes/{name}.svg", *_planning(SCHEMES[name]))
    return pages | _picture("topologies/mesh.svg", "topology", EXAMPLE[0])


TORI = ("torus:4x4", "0.0", "all"), ("torus:5x5", "0.0", "all")
"""Example broadcasts for schemes on tori with sides of 2^d nodes, and of 5^s nodes."""

STAGES = "min:b=2,stages=3", "0", "1,2,4,5,6"
"""Example multicast for schemes on multistage networks."""

IRREGULAR = "irregular:seed=1", "1", "0,5,9,12,17,22,30"
"""Example multicast for schemes on networks with up and down links."""


def _example(scheme: Scheme) -> tuple[str, str, str]:
    """Return network, source and destinations of the first example that a scheme supports."""
    for example in (IRREGULAR,) if scheme.both_ways else (EXAMPLE, DEEP, *TORI, STAGES):
        with contextlib.suppress(WormcastError):
            scheme.check(topology(example[0]))
            return example
    raise WormcastError(f"scheme {scheme.name}: no example network supports it")


def _planning(scheme: Scheme) -> list[str]:
    network, source, destinations = _example(scheme)
    return ["plan", network, scheme.name, "--source", source, "--destinations", destinations]


def _picture(file: str, command: str, *words: str) -> dict[str, str]:
    """Return the drawing of a command, by file."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        drawing = Path(folder, "drawn.svg")
        app([command, *words, "--plot", str(drawing)], standalone_mode=False)
        return {file: drawing.read_text()}


def _schemes() -> str:
    return "\n".join([
        "# Schemes\n",
        ("A scheme turns a multicast into worms, each with a visiting order of its destinations. A routing relation "
         "routes a worm from one destination to the next; `--relation` replaces the scheme's relation. The terms are "
         "those of [`wormcast plan`](../results.md#output-of-plan).\n"),
        *(_scheme(SCHEMES[name]) for name in SCHEMES),
        "## Routing relations\n",
        table(["relation", ""], [[code(name), cell(RELATIONS[name].description)] for name in RELATIONS]),
    ])


def _scheme(scheme: Scheme) -> str:
    name = scheme.name
    where, source, destinations = _example(scheme)
    network = topology(where)
    found = plan(network, scheme, source, destinations)
    return "\n".join([
        f"## {name}\n", sentence(scheme.description) + "\n", of_docstring(type(scheme)),
        table(["", ""], _facts(scheme, network)),
        f"    wormcast {' '.join(_planning(scheme))}\n",
        (f"{count(found.copies, 'worm')}, {count(found.hops, 'hop')} on {count(found.channels, 'link')}, "
         f"{count(found.start_ups, 'start-up')}, {count(found.phases, 'phase')}:\n"),
        table(["worm", "after", "from", "visits", "path"], (
            [worm.id, "" if worm.after is None else worm.after, *_way(worm, network)] for worm in found.worms)),
        f"![{name} on {where}](schemes/{name}.svg)\n",
    ])


def _way(worm: PlannedWorm, network: Topology) -> Iterable[str]:
    yield network.node_name(worm.source)
    yield " ".join(map(network.node_name, worm.destinations))
    switches = [int(network.injections[worm.source, 0]), *(end for _, end in worm.links)]
    yield " ".join(map(network.switch_title, switches))


def _facts(scheme: Scheme, network: Topology) -> Iterable[list[str]]:
    yield ["provenance", cell(scheme.provenance)]
    if isinstance(scheme, MeshScheme):
        yield ["in two dimensions", cell(scheme.in_two_dimensions or "not defined")]
        if scheme.in_three_dimensions:
            yield ["in three dimensions", cell(scheme.in_three_dimensions)]
        yield ["in more dimensions", cell(scheme.in_more_dimensions or "not defined")]
    else:
        yield ["defined on", scheme.networks]
    if scheme.parameters:
        yield ["parameters", code(f"{scheme.name}:" + ",".join(f"{one}=..." for one in scheme.parameters))]
    yield ["relation", code(scheme.relation.name)]
    yield ["header", f"{code(scheme.header.__name__)}: {cell(of_docstring(scheme.header).partition('.')[0])}"]
    classes = scheme.classes_on(network)
    yield ["consumption classes", f"{len(classes)} on {network.name}: {code(str(classes))}" if len(classes)
           else f"none on {network.name}"]


def _topologies() -> str:
    return "\n".join([
        "# Topologies\n",
        ("In a command, a number is a node's id, dotted numbers are its coordinates, and `@25` is the node with "
         "Hamiltonian label 25. `wormcast topology` lists nodes, labels, switches and links.\n"),
        table(["topology", ""], [[code(kind.syntax), cell(kind.description)] for kind in TOPOLOGIES.values()]),
        f"![{EXAMPLE[0]}](topologies/mesh.svg)\n",
    ])


def _configurations() -> str:
    rows = []
    for name, named in CONFIGURATIONS.items():
        options = [f"--{field.replace('_', '-')} {value}" for field, value in named.options.items()]
        options += [f"--buffer {flits} with --vcs {vcs}" for vcs, flits in named.buffers.items()]
        rows.append([code(name), cell(named.description), ", ".join(map(code, options))])
    return "\n".join([
        "# Named configurations\n",
        "Named sets of hardware options for `--configuration`. Other options on the command line take precedence.\n",
        table(["configuration", "", "options"], rows),
    ])
