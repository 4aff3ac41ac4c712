"""Space-time diagram in characters, for a terminal."""

import string
import textwrap
from collections import Counter, defaultdict
from collections.abc import Sequence

from rich.text import Text

from ...common.text import count
from .descriptions import describe, describe_deadlock, describe_worm
from .history import History
from .rows import ChannelRow
from .worm_choice import colours_of, shown_worms

__all__ = ["spacetime_text"]

LEAST = 10  # smallest number of characters of a line that represent cycles
FINE, COARSE = 10, 5  # cycles per character: any number up to FINE, above FINE multiples of COARSE
TICK = 10  # characters between two numbers of the axis
EJECTED, WAITS = "*", "~"


def spacetime_text(history: History, rows: Sequence[ChannelRow], width: int) -> list[Text]:
    """Draw a line per virtual channel with its holder in each cycle, for a terminal of ``width`` characters.

    Each worm has a letter; the 27th worm reuses the first letter. A capital marks a flit on the link, a small letter a
    channel that is held without a flit. If the cycles do not fit, a character represents several cycles, and a flit in
    any of these cycles makes the letter a capital. Below the lines are a list of worms, the meaning of the signs and
    the deadlock's description.

    Parameters
    ----------
    rows : sequence of ChannelRow
        Virtual channels from top to bottom.
    """
    margin = max((len(row.label) for row in rows), default=0) + 1
    step = _step(history, max(LEAST, width - margin))
    origin, places = history.first // step, range(-(-history.end // step) - history.first // step)
    worms = shown_worms(history)
    letters = {worm: string.ascii_uppercase[place % 26] for place, worm in enumerate(worms)}
    colours = colours_of(history)
    cells = _cells(history, step)
    lines = [Text(" " * margin + _axis(origin, step, len(places)))]
    before = None
    for row in rows:
        kind = history.links[row.link].kind
        if before is not None and "consumption" in (kind, before) and kind != before:
            lines.append(Text())
        before = kind
        line = Text(row.label.rjust(margin - 1) + " ")
        for place in places:
            sign, worm = cells.get((row.link, row.vc, origin + place), ("\N{MIDDLE DOT}", None))
            if worm is not None and sign in "Ff":
                sign = letters[worm] if sign == "F" else letters[worm].lower()
            line.append(sign, style=colours[worm] if worm is not None else "dim")
        lines.append(line)
    lines.append(Text())
    for worm in worms:
        lines.append(Text.assemble((letters[worm], colours[worm]), f" {describe_worm(history, worm)}"))
    signs = (f"a character is {count(step, 'cycle')}; A: flit of worm A, a: held without flit, {WAITS}: tail has "
             f"passed, header waits; {EJECTED}: tail ejected")
    notes = [signs, *describe(history), *describe_deadlock(history)]
    return [*lines, *(Text(line) for text in notes for line in textwrap.wrap(text, max(LEAST, width)))]


def _step(history: History, room: int) -> int:
    """Return the smallest number of cycles per character, of 1 to 10, 15, 20, ..., with which all cycles fit."""
    step = 1
    while -(-history.end // step) - history.first // step > room:
        step += 1 if step < FINE else COARSE
    return step


def _axis(origin: int, step: int, places: int) -> str:
    """Return the axis: numbers of some cycles, each starting at the column of its cycle."""
    line = ""
    for place in range(places):
        number = str((origin + place) * step)
        due = place == 0 or (origin + place) % TICK == 0
        line += " " * (place - len(line))
        if due and place == len(line) and place + len(number) <= places:
            line += number + " "
    return line.rstrip()


def _cells(history: History, step: int) -> dict[tuple[int, int, int], tuple[str, int]]:
    """Return sign and worm of each character that is not empty; ``F``: held with a flit, ``f``: held without a flit.

    If several worms share a character, the worm with the most flits is shown; if none has a flit, the first worm.
    """
    flits: dict[tuple[int, int, int], Counter[int]] = defaultdict(Counter)
    found: dict[tuple[int, int, int], tuple[str, int]] = {}
    for wait in history.waits:
        for place in range(wait.first // step, wait.last // step + 1):
            found.setdefault((wait.link, wait.vc, place), (WAITS, wait.worm))
    held: dict[tuple[int, int, int], tuple[str, int]] = {}
    for hold in history.holds:
        for place in range(hold.first // step, hold.last // step + 1):
            held.setdefault((hold.link, hold.vc, place), ("f", hold.worm))
        for cycle in hold.flits:
            flits[hold.link, hold.vc, cycle // step][hold.worm] += 1
    found |= held
    found |= {key: ("F", worms.most_common(1)[0][0]) for key, worms in flits.items()}
    for hold in history.deliveries:
        found[hold.link, hold.vc, hold.last // step] = EJECTED, hold.worm
    return found
