"""Reference page of input files, with the JSON Schema by which wormcast checks each kind of file."""

import json

from wormcast.algorithms.file_schema import FileSchema, noun
from wormcast.algorithms.topologies.network_file import NETWORK
from wormcast.sim.build.limits import MOST_LOAD_CYCLES, MOST_RUN_CYCLES, MOST_RUN_LENGTH
from wormcast.sim.build.traffic import LONGEST
from wormcast.sim.experiments.energy_table import ENERGY
from wormcast.sim.experiments.figure.schema import FIGURE
from wormcast.sim.experiments.load.checkpoint import CONTENT
from wormcast.sim.experiments.message_file import message_schema
from wormcast.sim.experiments.sweep import SWEEP

from .markdown import cell, code, table

__all__ = ["FORMATS", "format_pages"]

#: Schema of each kind of input files, with text about format and use, by name.
FORMATS: dict[str, tuple[FileSchema, str]] = {
    "network": (NETWORK, "TOML, in place of a topology: `wormcast plan net.toml ...`"),
    "messages": (message_schema(MOST_RUN_CYCLES, MOST_RUN_LENGTH),
                 ("a line of JSON per message, for `--messages` and `--trace`; in a JSON list, `at` replaces `cycle`. "
                  f"Traces have cycles up to {MOST_LOAD_CYCLES - 1} and lengths up to {LONGEST}")),
    "sweep": (SWEEP, "TOML, `wormcast sweep study.toml`"),
    "figure": (FIGURE, "TOML, `wormcast figure mine.toml`"),
    "energy": (ENERGY, "TOML, `wormcast load ... --energy costs.toml`"),
    "checkpoint": (CONTENT, "`content` of `manifest.json` in a file of `wormcast load --checkpoint`"),
}


def format_pages() -> dict[str, str]:
    """Return a dict with the page of input files and the JSON Schemas; the keys are the names of their files."""
    schemas = {f"schemas/{name}.json": json.dumps(schema.document, indent=1, ensure_ascii=False) + "\n"
               for name, (schema, _) in FORMATS.items()}
    return {"formats.md": _page()} | schemas


def _page() -> str:
    parts = ["# File formats\n",
             ("Each input file is checked against a JSON Schema (draft 4, which editors for TOML support). An error "
              "message names the file, the key, its value and the allowed values.\n")]
    for name, (schema, what) in FORMATS.items():
        needed = schema.document.get("required", ())
        rows = [[code(key), cell("a table" if "$ref" in one else noun(one)), "needed" if key in needed else "",
                 cell(one.get("description", ""))]
                for key, one in schema.document["properties"].items()]
        parts += [f"## {name.capitalize()}\n", f"{what}. Schema: [{name}.json](schemas/{name}.json)\n",
                  table(["key", "value", "", ""], rows)]
    return "\n".join(parts)
