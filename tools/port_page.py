"""Generated parts of docs/ports.md (``make ports``): the contract of the ports, and the networks, schemes and decoders.

In the page a part stands between two comments::

    <!-- made: errors, path router -->
    ...
    <!-- end -->
"""

import re
import textwrap
from collections.abc import Mapping
from functools import cache
from itertools import chain
from pathlib import Path

from wormcast.algorithms import SCHEMES, TOPOLOGIES, WormcastError
from wormcast.hw.router import Blueprint
from wormcast.sim.build.components import blueprint_of, build_component
from wormcast.sim.common.atomic_write import whole_file
from wormcast.sim.export.verilog.contract import (
    ENABLE_RULES,
    REPORTED,
    WORDS,
    credit_cycles,
    incoming,
    rules,
    violation_table,
)
from wormcast.sim.export.verilog.links import links

from . import timing

__all__ = ["EXAMPLES", "NETWORKS", "filled", "part"]

Options = Mapping[str, str | int]

#: Examples of hardware by description: component and options. Each header format and each kind of switch occurs.
EXAMPLES: dict[str, tuple[str, Options]] = {
    "path worms": ("router", {"topology": "mesh:8x8", "scheme": "dual-path"}),
    "unicasts": ("router", {"topology": "mesh:8x8", "scheme": "individual"}),
    "tree worms": ("router", {"topology": "min:b=2,stages=3", "scheme": "atbm"}),
    "tree worms, tags": ("router", {"topology": "min:b=2,stages=3", "scheme": "atbm:unicasts=tag"}),
    "deep, trees": ("router", {"topology": "irregular:switches=4,nodes=6,ports=6", "scheme": "tree",
                               "configuration": "sivaram_32"}),
    "deep, pairs": ("router", {"topology": "irregular:switches=4,nodes=6,ports=6", "scheme": "path-lg",
                               "configuration": "sivaram_32"}),
    "deep, mixed": ("router", {"topology": "irregular:switches=4,nodes=6,ports=6",
                               "scheme": "mixed:few=path-lg,limit=3", "configuration": "sivaram_32"}),
    "interface": ("interface", {"topology": "mesh:8x8", "scheme": "dual-path"}),
    "interface, packets": ("interface", {"topology": "mesh:8x8", "scheme": "dual-path", "packet": 16}),
    "smart interface": ("interface", {"topology": "mesh:8x8", "scheme": "k-binomial", "packet": 16, "ni": "fpfs"}),
    "smart interface with requests": ("interface", {
        "topology": "mesh:8x8", "scheme": "k-binomial", "packet": 16, "ni": "fpfs", "admission": "messages"}),
}

#: Networks of each kind, the smallest one first.
NETWORKS: dict[str, tuple[str, ...]] = {
    "mesh": ("mesh:2x3", "mesh:2x2x3"),
    "torus": ("torus:3x3", "torus:4x4", "torus:5x5"),
    "ring": ("ring:4",),
    "cmesh": ("cmesh:2x2x2",),
    "fat-tree": ("fat-tree:k=2,levels=2",),
    "dragonfly": ("dragonfly:p=1,a=2,h=1",),
    "min": ("min:b=2,stages=2",),
    "irregular": ("irregular:switches=4,nodes=6,ports=6",),
}

#: Schemes with parameters that change the header, beside the schemes by name.
WITH_PARAMETERS = ("atbm:unicasts=tag",)

#: Options with which routers decode a scheme's headers, in the order in which they are tried.
TRIED: tuple[Options, ...] = ({}, {"configuration": "sivaram_32"})


def part(name: str) -> str:
    """Return a generated part of the page, in Markdown."""
    kind, *of = name.split(", ")
    if kind == "errors":
        return violation_table(of[0], without=of[1].removeprefix("without ") if of[1:] else None)
    return {"rules": _rules, "headers": _headers, "credits": _credits, "networks": _networks,
            "refused": _refused, "words": lambda: _filled(f"{REPORTED} {WORDS}"),
            "clock enable": lambda: _filled(ENABLE_RULES)}[name]()


def filled(text: str) -> str:
    """Return the text of the page with all parts made anew."""
    return re.sub(r"<!-- made: (.+?) -->\n.*?<!-- end -->",
                  lambda found: f"<!-- made: {found[1]} -->\n\n{part(found[1])}\n<!-- end -->", text, flags=re.DOTALL)


def _filled(text: str) -> str:
    return f"{textwrap.fill(text, 120, break_on_hyphens=False)}\n"


@cache
def _blueprint(example: str) -> Blueprint:
    return blueprint_of(EXAMPLES[example][1])


def _rules() -> str:
    """Return the rules that hold for all components, then those that differ, by example."""
    found = {name: dict(rules(_blueprint(name), build_component(_blueprint(name), what)))
             for name, (what, _) in EXAMPLES.items()}
    first = next(iter(found.values()))
    common = [subject for subject in first if len({rules[subject] for rules in found.values()}) == 1]
    rows = [f"| {subject} | all | {first[subject]} |\n" for subject in common]
    for subject in dict.fromkeys(chain(*found.values())):
        if subject not in common:
            by_rule: dict[str, list[str]] = {}
            for name, listed in found.items():
                if subject in listed:
                    by_rule.setdefault(listed[subject], []).append(name)
            rows += [f"| {subject} | {'; '.join(names)} | {rule} |\n" for rule, names in by_rule.items()]
    return "| | hardware | rule |\n|---|---|---|\n" + "".join(rows)


def _headers() -> str:
    """Return the bits of the header flit of each header format."""
    rows = []
    for name, (what, options) in EXAMPLES.items():
        if what == "router":
            blueprint, named = _blueprint(name), f"{options['topology']} {options['scheme']}"
            for low, high, said in blueprint.header.fields(up_and_down=blueprint.scheme.needs_whole_packet):
                rows.append(f"| {name} | {named} | {low if low == high else f'{high}:{low}'} | {said} |\n")
                name = named = ""
    return ("| hardware | network and scheme | bits of `data` | meaning |\n|---|---|---:|---|\n"
            + "".join(rows).replace("|  |", "| |"))


def _credits() -> str:
    """Return, for each kind of component, the least cycles from a flit to its credit, and from a credit to the flit
    that uses it."""
    rows = []
    for name in ("path worms", "tree worms", "deep, trees", "interface"):
        what, options = EXAMPLES[name]
        found = []
        for delays in ("paper", "fast") if name in ("path worms", "tree worms") else ("paper",):
            component = build_component(blueprint_of({**options, **({"delays": delays} if delays != "paper" else {})}),
                                        what)
            arriving = incoming(component)
            leaving = [link for link in links(component) if link not in arriving]
            found += [max(credit_cycles(component, link) for link in one) for one in (arriving, leaving)]
        fast = str(found[3]) if len(found) > 2 else "-"
        rows.append(f"| {name if what == 'interface' else f'router, {name}'} | {found[0]} | {found[1]} | {fast} |\n")
    return ("| component | input: flit to its credit | output: credit to the flit | the same with `--delays fast` |\n"
            "|---|---:|---:|---:|\n" + "".join(rows))


@cache
def _combinations() -> tuple[dict[tuple[str, ...], list[tuple[str, str]]], dict[tuple[str, str], list[str]]]:
    """Build a router for each scheme on each kind of network, on the first of `NETWORKS` on which it can be built.

    Returns
    -------
    dict of (network, header, relation, decoder) to list of (scheme, options)
        Options of ``wormcast verilog router``.
    dict of (scheme, refusal) to list of kinds
    """
    built: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    refused: dict[tuple[str, str], list[str]] = {}
    for kind in TOPOLOGIES.own:
        for scheme in (*SCHEMES.own, *WITH_PARAMETERS):
            refusal = ""
            for topology, options in ((one, options) for one in NETWORKS[kind] for options in TRIED):
                given = {"topology": topology, "scheme": scheme, **options}
                try:
                    blueprint = blueprint_of(given)
                    decoder = type(blueprint.decoder())
                except WormcastError as error:
                    refusal = refusal if options else str(error)
                    continue
                file = decoder.__module__.removeprefix("wormcast.").replace(".", "/") + ".py"
                words = " ".join(f"--{name} {value}" for name, value in given.items())
                key = (topology, type(blueprint.header).__name__, blueprint.relation.name, file)
                built.setdefault(key, []).append((scheme, words))
                break
            else:
                refused.setdefault((scheme, refusal.rpartition("Allowed: ")[2].rstrip(".")), []).append(kind)
    return built, refused


def _networks() -> str:
    """Return the table of networks, schemes, headers and decoders, each with a small example."""
    rows = []
    for (network, header, relation, decoder), schemes in sorted(
            _combinations()[0].items(), key=lambda row: list(chain(*NETWORKS.values())).index(row[0][0])):
        names = ", ".join(scheme for scheme, _ in schemes)
        rows.append(f"| {network} | {names} | {header} | {relation} | `{decoder}` | "
                    f"`wormcast verilog router {schemes[0][1]}` |\n")
    return "| network | schemes | header | relation | decoder | example |\n|---|---|---|---|---|---|\n" + "".join(rows)


def _refused() -> str:
    """Return the table of schemes that kinds of networks do not support, with the networks that the refusal allows."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for (scheme, allowed), kinds in _combinations()[1].items():
        by_reason.setdefault((", ".join(kinds), allowed), []).append(scheme)
    return "| schemes | not on | allowed |\n|---|---|---|\n" + "".join(
        f"| {', '.join(schemes)} | {kinds} | {allowed} |\n" for (kinds, allowed), schemes in by_reason.items())


def main(page: Path) -> None:
    """Make the parts of the page, and the timing diagrams beside it."""
    text = filled(page.read_text())
    with whole_file(page) as unfinished:
        unfinished.write_text(text)
    timing.main(page.parent)


if __name__ == "__main__":
    main(Path("docs/ports.md"))
