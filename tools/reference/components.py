"""Reference pages of hardware components: description, parameters and ports of each component."""

from wormcast.sim.build.components import COMPONENTS, blueprint_of, build_component
from wormcast.sim.build.setup import DEFAULTS
from wormcast.sim.export.clocking import is_clocked
from wormcast.sim.export.verilog import component_tables, entries

from .markdown import cell, code, listing, of_docstring, sentence, table

__all__ = ["component_pages"]


def component_pages() -> dict[str, str]:
    """Return the pages of all components and a list of them, by file."""
    pages = {"components.md": _overview()}
    for name in COMPONENTS:
        pages[f"components/{name}.md"] = _page(name)
    return pages


def _overview() -> str:
    rows = [[f"[{name}](components/{name}.md)", cell(part.description)] for name, part in COMPONENTS.items()]
    return "\n".join([
        "# Hardware components\n",
        ("`wormcast verilog` exports these components, `wormcast synth` synthesises them. "
         "[links.md](../links.md#link) describes links, headers and delays, "
         "[verilog.md](../verilog.md) the exported files.\n"),
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
        (f"Ports for {built_for['scheme']} on {built_for['topology']}, with {having}the default hardware options. "
         "`wormcast verilog --doc` writes this table for other options.\n"),
        component_tables(blueprint, component, clocked=is_clocked(component)),
    ])


def _parameter(head: str, said: str) -> list[str]:
    names, _, kind = head.partition(" : ")
    return [", ".join(code(name.strip()) for name in names.split(",")), cell(kind), cell(said)]
