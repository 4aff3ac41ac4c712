"""Reference pages have all that the code declares."""

import re
from pathlib import Path

import pytest
from cases import some

from tools.reference import command_pages, component_pages, scheme_pages, words_page
from tools.reference.commands import commands
from tools.reference.glossary_index import Term, find_words
from wormcast.algorithms import RELATIONS, SCHEMES, TOPOLOGIES
from wormcast.sim.build.components import COMPONENTS, blueprint_of, build_component
from wormcast.sim.build.configurations import CONFIGURATIONS
from wormcast.sim.cli.app import Exit
from wormcast.sim.export.clocking import is_clocked
from wormcast.sim.export.verilog import ports


def built(name):
    """A component of hardware that has it."""
    return build_component(blueprint_of(COMPONENTS[name].options), name)


@pytest.fixture(scope="module")
def told():
    return command_pages()


@pytest.mark.parametrize("name", commands())
def test_page_of_a_command(told, name):
    page = told[f"commands/{name}.md"]
    assert f"(commands/{name}.md)" in told["commands.md"]
    assert f"\ncommands/{name}\n" in told["commands.md"]
    for parameter in commands()[name].params:
        shown = [parameter.metavar or parameter.name.upper()] if parameter.param_type_name == "argument" \
            else parameter.opts
        for word in shown:
            assert f"`{word}`" in page
        assert re.sub(r"\W", "", parameter.help or "") in re.sub(r"\W", "", page)
        if panel := getattr(parameter, "rich_help_panel", None):
            assert f"## {panel}\n" in page


def test_values_and_defaults_of_options(told):
    page = told["commands/run.md"]
    assert re.search(r"^\| `--engine`\S* \| `bulk\\\|amaranth`\S* \| .* Default: bulk\. \|", page, re.MULTILINE)
    assert re.search(r"^\| `--seed`\S* \| `0\.\.`\S* \|", page, re.MULTILINE)
    assert re.search(r"^\| `--json`\S* \|  \|", page, re.MULTILINE)


def test_exit_codes(told):
    assert re.findall(r"^\| (\d+) \|", told["commands.md"], re.MULTILINE) == [str(int(code)) for code in Exit]


def test_schemes_relations_topologies_and_configurations():
    pages = scheme_pages()
    for name in SCHEMES:
        section = pages["schemes.md"].partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        scheme = SCHEMES[name]
        for said in (scheme.provenance, scheme.relation.name, scheme.header.__name__):
            assert re.sub(r"\W", "", said) in re.sub(r"\W", "", section)
        assert "| consumption classes |" in section
        assert re.search(r"^\| 0 \|  \| [01](\.[01]|  *\|)", section, re.MULTILINE)
        assert f"](schemes/{name}.svg)" in section
        assert pages[f"schemes/{name}.svg"].startswith("<?xml")
    for name in RELATIONS:
        assert f"| `{name}`" in pages["schemes.md"]
    for name in TOPOLOGIES:
        assert TOPOLOGIES[name].syntax in pages["topologies.md"]
    for name, named in CONFIGURATIONS.items():
        [row] = re.findall(rf"^\| `{name}`.*$", pages["configurations.md"], re.MULTILINE)
        assert all(f"--{option.replace('_', '-')} {value}`" in row for option, value in named.options.items())


@pytest.mark.slow
def test_pages_of_components():
    pages = component_pages()
    for name in COMPONENTS:
        page, component = pages[f"components/{name}.md"], built(name)
        assert f"(components/{name}.md)" in pages["components.md"]
        assert type(component).__name__ in page
        for port in ports(component):
            assert f"| `{port.name}` | {'in' if port.inward else 'out'} | {port.width} |" in page


# to know it a component is elaborated
@pytest.mark.parametrize("name", some(COMPONENTS, "decoder", "output-unit"))
def test_only_the_decoder_has_no_clock(name):
    assert is_clocked(built(name)) == (name != "decoder")


PAGE = """# Page

| key | |
|---|---|
| `a` | no word |

## Output of `load`

| word (`--json`) | formula | excluded |
|---|---|---|
| `mean`, `width` | of [all](#page) `x\\|y` | none |
| **flit** | what is on a link | |
"""


def test_words_of_a_page():
    heading = "Output of `load`"
    said = "of [all](p.md#page) `x\\|y`; excluded: none"
    assert list(find_words("p.md", PAGE)) == [
        Term("`mean`", said, "p.md", heading), Term("`width`", said, "p.md", heading),
        Term("**flit**", "what is on a link", "p.md", heading)]
    rows = re.findall(r"^\| (\S+) \| .* \| (.*) \|$", words_page({"p.md": PAGE}), re.MULTILINE)
    assert [row[0] for row in rows[1:]] == ["**flit**", "`mean`", "`width`"]
    assert rows[1][1] == "[Output of `load`](p.md#output-of-load)"


def test_every_row_of_a_table_of_words_has_all_its_columns():
    pages = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
    assert sum(len(list(find_words(page.name, page.read_text(encoding="utf-8")))) for page in pages) > 100
