"""Selection and colours of the worms in a drawing."""

import itertools
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from wormcast.algorithms import WormcastError

from ...common.frame import COLOURS
from ...common.text import count
from .history import History

__all__ = ["colours_of", "of_worms", "shown_worms"]


#: Largest number of worms that a refusal lists.
LISTED = 20


def of_worms(history: History, worms: Iterable[int]) -> History:
    """Return the part of a history that concerns the worms ``worms`` only."""
    chosen = set(worms)
    unknown = sorted(chosen - set(history.worms))
    if unknown:
        numbers = sorted(history.worms)
        whole = numbers == [*range(numbers[0], numbers[-1] + 1)] if numbers else False
        listed = (f"numbers from {numbers[0]} to {numbers[-1]}" if whole and len(numbers) > 1 else
                  ", ".join(map(str, numbers[:LISTED])) + (", ..." if len(numbers) > LISTED else ""))
        raise WormcastError(f"worms: {unknown[0]} is not valid: the waveform has {count(len(numbers), 'worm')}."
                            + (f" Allowed: {listed}." if numbers else ""))
    deadlock = history.deadlock
    if deadlock is not None and not chosen.issuperset(one["worm"] for one in deadlock["cycle"]):
        deadlock = None
    return replace(
        history, worms={number: worm for number, worm in history.worms.items() if number in chosen},
        holds=tuple(hold for hold in history.holds if hold.worm in chosen),
        waits=tuple(wait for wait in history.waits if wait.worm in chosen), deadlock=deadlock,
        chunks=tuple(chunk for chunk in history.chunks if chunk.worm in chosen),
        readings=tuple(reading for reading in history.readings if reading.worm in chosen))


def shown_worms(history: History) -> list[int]:
    """Return the numbers of the worms that hold a channel or wait at the end of one, sorted."""
    return sorted({hold.worm for hold in history.holds} | {wait.worm for wait in history.waits})


def colours_of(history: History) -> dict[int, str]:
    """Assign a colour to each worm, by its number: a worm has the same colour in two runs of the same few messages.

    Consecutive worms on a virtual channel get different colours if possible; so do the worms of the deadlock's cycle,
    and all worms if there are no more worms than colours.
    """
    by_channel: dict[tuple[int, int], list[int]] = defaultdict(list)
    for hold in sorted(history.holds, key=lambda hold: hold.first):
        by_channel[hold.link, hold.vc].append(hold.worm)
    beside: dict[int, set[int]] = defaultdict(set)
    for worms in by_channel.values():
        for one, other in itertools.pairwise(worms):
            beside[one].add(other)
            beside[other].add(one)
    found: dict[int, str] = {}
    stuck = {one["worm"] for one in history.deadlock["cycle"]} if history.deadlock else set()
    shown = shown_worms(history)
    apart = {*shown} if len(shown) <= len(COLOURS) else stuck
    for worm in sorted(shown, key=lambda worm: worm not in stuck):
        turn = worm % len(COLOURS)
        rotated = COLOURS[turn:] + COLOURS[:turn]
        others = beside[worm] | (apart if worm in apart else set())
        taken = {found[other] for other in others - {worm} if other in found}
        found[worm] = next((colour for colour in rotated if colour not in taken), rotated[0])
    return found
