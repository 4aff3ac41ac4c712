"""Area by block: synthesis that keeps the hierarchy of a component."""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amaranth.hdl import Fragment
from amaranth.lib import wiring

from ...common.external import find_tool, scratch_folder
from .flow import run_yosys, write_rtlil
from .targets import find_target

__all__ = ["AreaBlock", "BlockKind", "Breakdown", "breakdown"]

Name = tuple[str, ...]


@dataclass(frozen=True)
class AreaBlock:
    """An instance of a block.

    Attributes
    ----------
    name : tuple of str
        Path from the component, which is ``()``.
    kinds : tuple of str
        Names of the Python classes on the path from the component to the block, the component's class first.
    area : mapping of str to int
        Cells as in `Synthesis.area`, without the cells of inner blocks.
    """

    name: Name
    kinds: tuple[str, ...]
    area: Mapping[str, int]


@dataclass(frozen=True)
class BlockKind:
    """All blocks with the same Python classes on their paths from the component (`AreaBlock.kinds`).

    Attributes
    ----------
    kinds : tuple of str
    instances : int
    area : mapping of str to int
        Sum over all instances.
    least, most : int
        Number of LUT4 cells of the smallest and of the largest instance.
    """

    kinds: tuple[str, ...]
    instances: int
    area: Mapping[str, int]
    least: int
    most: int


@dataclass(frozen=True)
class Breakdown:
    """Area of the blocks of a component.

    Each block is optimised separately, so the sum of the blocks' areas differs from the area of the flattened
    component.

    Attributes
    ----------
    target : str
    blocks : tuple of AreaBlock
        Each block is before its inner blocks.
    """

    target: str
    blocks: tuple[AreaBlock, ...]

    @property
    def total(self) -> dict[str, int]:
        """Sum of all blocks."""
        return _sum(self.blocks)

    def groups(self) -> list[BlockKind]:
        """Return the blocks grouped by `AreaBlock.kinds`, each group before the groups of its inner blocks."""
        found: dict[tuple[str, ...], list[AreaBlock]] = {}
        for block in self.blocks:
            found.setdefault(block.kinds, []).append(block)
        return [BlockKind(kinds, len(blocks), _sum(blocks), min(block.area["LUT4"] for block in blocks),
                      max(block.area["LUT4"] for block in blocks))
                for kinds, blocks in sorted(found.items(), key=lambda entry: _order(entry[0], list(found)))]

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain data for JSON, with cell names in small letters."""
        return {
            "sum": _small(self.total),
            "blocks": [{"name": ".".join(block.name), "kind": block.kinds[-1], **_small(block.area)}
                       for block in self.blocks],
        }


def breakdown(component: wiring.Component, *, target: str = "ecp5", storage: str = "lutram",
              area_delay: int | None = None, reset: str = "sync",
              progress: Callable[[str], None] = lambda step: None) -> Breakdown:
    """Synthesise ``component`` block by block, without placement.

    The parameters and errors are as in `synthesise`, which has more parameters.
    """
    kind = find_target(target)
    kind.require(storage)
    commands = kind.synthesis("top", storage=storage, area_delay=area_delay, options="-noflatten")
    yosys = find_tool("yosys", "synth")
    progress("area: synthesis block by block")
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        write_rtlil(component, "top", Path(folder), reset)
        run_yosys(yosys, "top", f"{commands}; tee -q -o stat.json stat -json", Path(folder), progress)
        found = json.loads(Path(folder, "stat.json").read_text())
    modules = {_path(module): cells["num_cells_by_type"] for module, cells in found["modules"].items()}
    classes = dict(_classes(Fragment.get(component, None), ()))
    blocks = tuple(AreaBlock(name, tuple(classes[name[:depth]] for depth in range(len(name) + 1)),
                         kind.count(modules[name]))
                   for name in classes if name in modules)
    return Breakdown(target, blocks)


def _path(module: str) -> Name:
    """Return the path of a block from the name of its module in Amaranth, without the ``$`` numbers."""
    return tuple(part.partition("$")[0] for part in module.lstrip("\\").split(".")[1:])


def _classes(fragment: Fragment, name: Name) -> Iterator[tuple[Name, str]]:
    """Yield path and class of each block in an elaborated design, outer blocks first."""
    yield name, type((fragment.origins or (fragment,))[0]).__name__
    for inside, part, _ in fragment.subfragments:
        yield from _classes(inside, (*name, part))


def _sum(blocks: list[AreaBlock] | tuple[AreaBlock, ...]) -> dict[str, int]:
    cells: Counter[str] = Counter()
    for block in blocks:
        cells.update(block.area)
    return dict(cells)


def _small(area: Mapping[str, int]) -> dict[str, int]:
    return {name.lower(): number for name, number in area.items()}


def _order(kinds: tuple[str, ...], found: list[tuple[str, ...]]) -> tuple[int, ...]:
    """Return the sort key of a block's ``kinds``: for each prefix of ``kinds``, its index in ``found``."""
    return tuple(found.index(kinds[:depth + 1]) for depth in range(len(kinds)))
