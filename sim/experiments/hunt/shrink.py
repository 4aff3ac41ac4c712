"""Shrinking messages that deadlock: to fewer of them, fewer destinations, shorter payloads, smaller offsets."""

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
"""Gives the first of some lists that deadlocks, None if none does."""

Move = Callable[[Messages, int, int], Iterator[Messages]]
"""Gives lists to try in place of one, with the nodes of the network and the longest payload."""

Core = Callable[[Messages], Messages]
"""Of messages that deadlock, those worms as messages that wait for none but each other."""

#: Of so many messages and fewer, other times and lengths are tried when one is taken away.
FEW = 12

#: How many other times: of them, and of worms that wait for none but each other, if they are no more than these.
RETIMED, CORE_RETIMED, MOST_CORE = 28, 1500, 24


def cost(messages: Messages) -> tuple[int, int, int, int]:
    """What is made smaller, the first first: messages, destinations, payload flits, cycles of creation."""
    return (len(messages), sum(len(message.destinations) for message in messages),
            sum(message.length for message in messages), sum(message.at for message in messages))


def shrink(messages: Messages, first: First, *, nodes: int, longest: int, core: Core = lambda messages: messages
           ) -> Messages:
    """Make messages that deadlock smaller until nothing below leads to smaller ones that deadlock.

    What is returned is 1-minimal: it deadlocks no longer without any one of its messages or of their destinations, with
    any one payload a flit shorter, or with any one message created a cycle earlier. Neither does anything else of what
    `MOVES` tries; a smaller deadlock of another kind there may be.

    Parameters
    ----------
    messages : tuple of Message
        They deadlock; none waits for a receipt.
    first : callable
        The first of some lists that deadlocks, None if none does.
    nodes : int
        Of the network; payloads get shorter where destinations move together.
    longest : int
        Payload flits that messages may have while others are taken away.
    core : callable
        Tried alone before messages are taken away one after the other: it is much faster, and seldom leads to more.
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
    """The same messages, and with other times and lengths, at random but always the same ones.

    ``tries`` says with how many for each of two lengths: that of the longest of them, and ``longest``.
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
    """Messages that are left of others, with other times if they are few."""
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
    """A node takes another's part in all messages, and one of them, or all, is a flit shorter."""
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
    """Things without some of them, as delta debugging has it: without halves, quarters, ... and one by one."""
    piece = len(things) // 2
    while piece:
        for start in range(0, len(things), piece):
            yield things[:start] + things[start + piece:]
        piece //= 2


def _with(messages: Messages, place: int, message: Message) -> Messages:
    return (*messages[:place], message, *messages[place + 1:])


def _below(value: int, least: int) -> Sequence[int]:
    """Numbers from ``least`` to below a value, the smallest first: few of many, the next one below among them."""
    powers = [1 << k for k in range((value - least).bit_length())]
    return sorted({one for step in powers for one in (least + step - 1, value - step)})
