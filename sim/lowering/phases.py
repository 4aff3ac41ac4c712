"""In which order a program over single bits is computed, and how it is cut into phases.

Every value of a bit is a whole vector register here, and there are thousands of them: what is not used again soon
has to go to memory. So the order goes depth first from what is stored, and is cut into phases, each a function of its
own. Values that cross from one to another lie in memory between; state is read again by each that needs it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .graph import Node
from .program import Program

__all__ = ["Phase", "Store", "needs", "phases"]

#: Operations of a phase: larger ones have too many values at a time, smaller ones hand too many on.
SIZE = 300

LEAVES = ("const", "input", "state")


@dataclass(frozen=True)
class Store:
    """``value`` goes to ``place``: a slot of the state, or a bit of an output word."""

    place: int | tuple[str, int]
    value: Node


@dataclass
class Phase:
    """What a phase computes and stores, in order.

    ``taken`` are the values of earlier phases that it uses, ``kept`` those that later ones use, with their places in
    the memory between phases.
    """

    steps: list[Node | Store] = field(default_factory=list)
    taken: dict[Node, int] = field(default_factory=dict)
    kept: dict[Node, int] = field(default_factory=dict)


def phases(program: Program, stores: Sequence[Store]) -> tuple[list[Phase], int]:
    """Cut what ``stores`` need into phases; also how many places there are between them.

    A slot is stored when all that read it have been computed.
    """
    result = [Phase()]
    where: dict[Node, int] = {}
    for step in _depth_first(stores):
        if len(result[-1].steps) == SIZE:
            result.append(Phase())
        result[-1].steps.append(step)
        if isinstance(step, Node):
            where[step] = len(result) - 1
    _put_off(result)

    last: dict[Node, int] = {}
    for number, phase in enumerate(result):
        for node in (node for step in phase.steps for node in needs(step)):
            if where.get(node, number) < number:
                last[node] = number
                phase.taken[node] = -1
    free: list[int] = []
    places: dict[Node, int] = {}
    count = 0
    for number, phase in enumerate(result):
        phase.taken = {node: places[node] for node in phase.taken}
        for step in phase.steps:
            if isinstance(step, Node) and step in last:
                if not free:
                    free.append(count)
                    count += 1
                phase.kept[step] = places[step] = free.pop()
        free += [place for node, place in phase.taken.items() if last[node] == number]
    return result, count


def plain(node: Node) -> Node:
    """What ``node`` is the complement of, or itself: complements cost nothing, and are made wherever they are used."""
    while node.op == "not":
        node = node.args[0]
    return node


def needs(step: Node | Store) -> list[Node]:
    """What a step uses, complements looked through."""
    return [plain(step.value)] if isinstance(step, Store) else [plain(arg) for arg in step.args]


def _depth_first(stores: Sequence[Store]) -> Iterator[Node | Store]:
    """Each store after all that it needs."""
    done: set[Node] = set()
    for store in stores:
        stack = [plain(store.value)]
        while stack:
            node = stack[-1]
            if node in done or node.op in LEAVES:
                stack.pop()
                continue
            missing = [arg for arg in needs(node) if arg.op not in LEAVES and arg not in done]
            stack += reversed(missing)
            if not missing:
                done.add(node)
                yield stack.pop()
        yield store


def _put_off(result: list[Phase]) -> None:
    """Move stores of state behind the last phase that reads what is there now.

    A store of a bare bit of state reads that one in its own phase, so moving it may put off others. Within a phase,
    state is read before it is stored.
    """
    moving = True
    while moving:
        moving = False
        readers: dict[int, int] = {}
        for number, phase in enumerate(result):
            for node in (node for step in phase.steps for node in needs(step)):
                if node.op == "state":
                    readers[node.data] = number
        for number, phase in enumerate(result):
            for step in list(phase.steps):
                if isinstance(step, Store) and isinstance(step.place, int) and readers.get(step.place, -1) > number:
                    phase.steps.remove(step)
                    result[readers[step.place]].steps.append(step)
                    moving = True
