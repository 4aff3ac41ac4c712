"""Shrinking of messages that deadlock: fewer messages, fewer destinations, shorter payloads, earlier creation."""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ...host import Message

__all__ = ["FEW", "Messages", "cost", "retimed", "shrink"]

Thing = TypeVar("Thing")

Messages = tuple[Message, ...]

First = Callable[[Iterable[Messages]], Messages | None]
"""Function of lists of messages, which returns the first list that deadlocks; None if no list does."""

Move = Callable[[Messages, int, int], Iterator[Messages]]
"""Function of a list of messages, the number of nodes and the longest payload, which yields lists to try in its
place."""

Core = Callable[[Messages], Messages]
"""Function from messages that deadlock to their worms that wait only for each other, in the form of messages."""

#: Greatest number of messages in a list that is tried with other creation times and lengths, too.
FEW = 12

#: RETIMED: number of random sets of creation times that are tried for a list, with each of two message lengths.
#: CORE_RETIMED: number of random sets of creation times that are tried for a core (see `Core`), with each length.
#: MOST_CORE: greatest number of worms of a core (see `Core`) that is tried.
RETIMED, CORE_RETIMED, MOST_CORE = 28, 1500, 24


def cost(messages: Messages) -> tuple[int, int, int, int]:
    """Return the numbers to minimise, most important first: messages, destinations, payload flits, creation cycles."""
    return (len(messages), sum(len(message.destinations) for message in messages),
            sum(message.length for message in messages), sum(message.at for message in messages))


def shrink(messages: Messages, first: First, *, nodes: int, longest: int, core: Core = lambda messages: messages
           ) -> Messages:
    """Shrink a list of messages that deadlocks until no change by `MOVES` leads to a smaller list that deadlocks.

    The result is 1-minimal: it does not deadlock after any one small change. A small change removes a message or a
    destination, shortens a payload by a flit, or creates a message a cycle earlier. If the function ``first`` stops
    before it has tried all lists, the result may not be 1-minimal. Even a 1-minimal result may be larger than a
    deadlock of another kind.

    Parameters
    ----------
    messages : tuple of Message
        List of messages that deadlocks. No message of the list may wait for the receipt of another message.
    first : callable
        Function that finds the first list that deadlocks (`First`).
    nodes : int
        Nodes of the network.
    longest : int
        Number of payload flits to which messages may be lengthened while messages or destinations are removed.
    core : callable
        Function that returns the core of a list: the worms that wait only for each other (`Core`). The core of a list
        that deadlocks is tried in place of the list, before messages are removed one by one. Trying the core of a list
        first makes shrinking much faster, and seldom makes its result larger.
    """
    def smaller(move: Move) -> Iterator[Messages]:
        alone = core(messages)
        if len(alone) < len(messages) and len(alone) <= MOST_CORE:
            yield from retimed(alone, longest, CORE_RETIMED)
        yield from (one for one in move(messages, nodes, longest) if cost(one) < cost(messages))

    while True:
        before = messages
        for move in MOVES:
            while found := first(smaller(move)):
                messages = found
        if messages == before:
            return messages


def retimed(messages: Messages, longest: int, tries: int = RETIMED) -> Iterator[Messages]:
    """Yield the messages unchanged, then all created in cycle 0, and then with other creation times and lengths.

    In the lists with other lengths, all messages of a list have the same length: first the length of the longest
    message, then ``longest`` payload flits. Each of these lengths is tried with about ``tries`` sets of creation times.
    Random creation times have a fixed seed.
    """
    rng = random.Random(0)
    yield messages
    yield tuple(replace(message, at=0) for message in messages)
    for length in (max(message.length for message in messages), longest):
        long = [replace(message, length=length) for message in messages]
        yield tuple(long)
        yield tuple(replace(message, at=0) for message in long)
        for _ in range(tries // 2):
            yield tuple(replace(message, at=rng.randrange(2 * length)) for message in long)
            pace = rng.choice((1, rng.random()))
            yield tuple(replace(message, at=max(0, int(pace * message.at) + rng.randint(-20, 20))) for message in long)


def _tried(messages: Messages, longest: int) -> Iterator[Messages]:
    """Yield the messages; if there are at most `FEW`, also the messages with other creation times and lengths."""
    return retimed(messages, longest) if len(messages) <= FEW else iter((messages,))


def _fewer_messages(messages: Messages, nodes: int, longest: int) -> Iterator[Messages]:
    for rest in _without_some(messages):
        yield from _tried(rest, longest)


def _fewer_destinations(messages: Messages, nodes: int, longest: int) -> Iterator[Messages]:
    for place, message in enumerate(messages):
        for left in _without_some(message.destinations):
            yield from _tried(_with(messages, place, replace(message, destinations=left)), longest)


def _shorter(messages: Messages, nodes: int, longest: int) -> Iterator[Messages]:
    for length in _below(max(message.length for message in messages), 1):
        yield tuple(replace(message, length=min(length, message.length)) for message in messages)
    for place, message in enumerate(messages):
        for length in _below(message.length, 1):
            yield _with(messages, place, replace(message, length=length))


def _earlier(messages: Messages, nodes: int, longest: int) -> Iterator[Messages]:
    yield tuple(replace(message, at=0) for message in messages)
    least = min(message.at for message in messages)
    yield tuple(replace(message, at=message.at - least) for message in messages)
    for place, message in enumerate(messages):
        for at in _below(message.at, 0):
            yield _with(messages, place, replace(message, at=at))


def _nearer(messages: Messages, nodes: int, longest: int) -> Iterator[Messages]:
    """Replace a node by an unused one in all messages, and make one message a flit shorter."""
    if len(messages) > FEW:
        return
    used = sorted({node for message in messages for node in (message.source, *message.destinations)})
    for node, other in itertools.product(used, range(nodes)):
        if other in used:
            continue
        moved = tuple(replace(
            message, source=other if message.source == node else message.source,
            destinations=tuple(other if one == node else one for one in message.destinations)) for message in messages)
        for place, message in enumerate(moved):
            if message.length > 1:
                yield _with(moved, place, replace(message, length=message.length - 1))


MOVES = (_fewer_messages, _fewer_destinations, _shorter, _earlier, _nearer)


def _without_some(things: tuple[Thing, ...]) -> Iterator[tuple[Thing, ...]]:
    """Yield the things without each half of them, without each quarter, and so on (delta debugging)."""
    piece = len(things) // 2
    while piece:
        for start in range(0, len(things), piece):
            yield things[:start] + things[start + piece:]
        piece //= 2


def _with(messages: Messages, place: int, message: Message) -> Messages:
    return (*messages[:place], message, *messages[place + 1:])


def _below(value: int, least: int) -> Sequence[int]:
    """Return some numbers from ``least`` to ``value`` - 1 in rising order, fewer towards the middle of this range."""
    powers = [1 << k for k in range((value - least).bit_length())]
    return sorted({one for step in powers for one in (least + step - 1, value - step)})
