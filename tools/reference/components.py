"""A page for each hardware component: what it promises, and its ports."""

from wormcast.sim.build.components import COMPONENTS, blueprint_of, build_component
from wormcast.sim.build.setup import DEFAULTS
from wormcast.sim.export.verilog import component_tables, entries, is_clocked

from .markdown import cell, code, listing, of_docstring, sentence, table

__all__ = ["component_pages"]


def component_pages() -> dict[str, str]:
    """Pages of all components by their files, and a page that lists them."""
    pages = {"components.md": _overview()}
    for name in COMPONENTS:
        pages[f"components/{name}.md"] = _page(name)
    return pages


def _overview() -> str:
    rows = [[f"[{name}](components/{name}.md)", cell(part.description)] for name, part in COMPONENTS.items()]
    return "\n".join([
        "# Hardware components\n",
        ("As `wormcast verilog` writes and `wormcast synth` measures them. Links, headers and delays are in "
         "[links.md](../links.md#link), what the files look like in [verilog.md](../verilog.md).\n"),
        table(["component", ""], rows), listing("", [f"components/{name}" for name in COMPONENTS]),
    ])


def _page(name: str) -> str:
    options = COMPONENTS[name].options
    blueprint = blueprint_of(options)
    built_for = {**DEFAULTS, **options}
    having = "".join(f"`--{option} {value}` and " for option, value in options.items() if option not in DEFAULTS)
    component = build_component(blueprint, name)
    kind = type(component)
    parameters = [_parameter(head, said) for head, said in entries(kind, "Parameters")]
    return "\n".join([
        f"# {name}\n",
        f"{sentence(COMPONENTS[name].description)} In Python `{kind.__module__}.{kind.__name__}`.\n",
        of_docstring(kind),
        *(["## Parameters\n", table(["parameter", "", ""], parameters)] if parameters else []),
        "## Ports\n",
        (f"Built for {built_for['scheme']} on {built_for['topology']} with {having}the hardware options as they are by "
         "default, it has these ports; `wormcast verilog --doc` writes the same table for other options.\n"),
        component_tables(blueprint, component, clocked=is_clocked(component)),
    ])


def _parameter(head: str, said: str) -> list[str]:
    names, _, kind = head.partition(" : ")
    return [", ".join(code(name.strip()) for name in names.split(",")), cell(kind), cell(said)]
