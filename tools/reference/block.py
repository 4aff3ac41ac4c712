"""A component drawn as a block with its ports: what comes in on the left, what goes out on the right."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import groupby

from amaranth.lib import wiring

from wormcast.sim.export.verilog import Port, ports

__all__ = ["draw_block"]

#: Pixels: of a character of either size, of an arrow, round the block, and between both sides' names.
WIDE, SMALL, ARROW, EDGE, GAP = 7.3, 6.1, 46, 12, 36

STYLE = ("text{font-family:monospace;font-size:12px;fill:#111}.small{font-size:10px;fill:#555}"
         ".name{font-weight:bold;font-size:14px}path{fill:none;stroke:#111}.link{stroke-width:3}.back{stroke:#777}")


@dataclass(frozen=True)
class _Pin:
    """A link, or a port that is none.

    Parameters
    ----------
    name : str
    inward : bool
        Of a link: flits come in.
    forward, backward : str
        A link's members with their widths: in its direction, and against it.
    link : bool
    """

    name: str
    inward: bool
    forward: str
    backward: str
    link: bool

    @property
    def width(self) -> float:
        return max(WIDE * len(self.name), SMALL * len(self._said))

    @property
    def height(self) -> int:
        return 34 if self.link else 20

    @property
    def _said(self) -> str:
        return f"{self.forward}; back: {self.backward}" if self.backward else self.forward

    def draw(self, x: float, y: float) -> Iterable[str]:
        """Arrows and names, with the block's edge at ``x``."""
        side = -1 if self.inward else 1
        outside = x + side * ARROW
        ends = (outside, x - 4) if self.inward else (x, outside - 4)
        kind = "link" if self.link else "wire"
        yield f'<path class="{kind}" marker-end="url(#head)" d="M{ends[0]:g} {y}H{ends[1]:g}"/>'
        if self.backward:
            back = (x, outside + 4) if self.inward else (outside, x + 4)
            yield f'<path class="back" marker-end="url(#back)" d="M{back[0]:g} {y + 10}H{back[1]:g}"/>'
        anchor = "start" if self.inward else "end"
        at = f'x="{x - side * 8:g}" text-anchor="{anchor}"'
        yield f'<text {at} y="{y + 4}">{escape(self.name)}</text>'
        if self._said:
            yield f'<text class="small" {at} y="{y + 16}">{escape(self._said)}</text>'


def draw_block(component: wiring.Component, name: str) -> str:
    """Draw a component as SVG, link by link, with the widths of ports of more than one bit."""
    pins = list(_pins(ports(component)))
    left, right = ([pin for pin in pins if pin.inward is inward] for inward in (True, False))
    widths = [max((pin.width for pin in side), default=0) for side in (left, right)]
    block = max(sum(widths) + GAP + 16, WIDE * 1.3 * len(name) + 24)
    top = EDGE + 24
    height = max(sum(pin.height for pin in side) for side in (left, right)) + 8
    x = EDGE + ARROW
    lines = [
        f'<rect x="{x}" y="{top}" width="{block:g}" height="{height}" fill="#f4f4f4" stroke="#111"/>',
        f'<text class="name" x="{x + block / 2:g}" y="{top - 8}" text-anchor="middle">{escape(name)}</text>',
    ]
    for side, edge in ((left, x), (right, x + block)):
        y = top + 18
        for pin in side:
            lines += pin.draw(edge, y)
            y += pin.height
    return _svg(2 * x + block, top + height + EDGE, lines)


def _pins(found: Iterable[Port]) -> Iterable[_Pin]:
    for name, group in groupby(found, lambda port: port.path[0]):
        members = list(group)
        if len(members[0].path) == 1:
            [port] = members
            yield _Pin(name + _bits(port), port.inward, "", "", link=False)
            continue
        ways = {way: ", ".join(port.path[-1] + _bits(port) for port in members if port.inward is way)
                for way in (True, False)}
        inward = members[0].inward
        yield _Pin(name, inward, ways[inward], ways[not inward], link=True)


def _bits(port: Port) -> str:
    return f"[{port.width - 1}:0]" if port.width > 1 else ""


def _svg(width: float, height: float, lines: Iterable[str]) -> str:
    heads = "".join(
        f'<marker id="{name}" markerUnits="userSpaceOnUse" markerWidth="10" markerHeight="10" refX="5" refY="5" '
        f'orient="auto"><path d="M1 1L9 5L1 9z" style="fill:{colour};stroke:none"/></marker>'
        for name, colour in (("head", "#111"), ("back", "#777")))
    return "\n".join([
        (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
         f'height="{height:g}">'),
        f"<style>{STYLE}</style><defs>{heads}</defs>",
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>',
        *lines, "</svg>", "",
    ])
