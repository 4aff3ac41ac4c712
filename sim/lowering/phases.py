"""Order of computation of a program, and its division into phases.

A program computes thousands of values, most in vector registers, so a value that is not used again soon has to go to
memory. The order of computation is therefore depth first from the stores. The computation is cut into phases, each a
function of its own, because LLVM's time to allocate registers grows with the square of a function's size. Values that
cross from one phase to another are kept in memory between phases. State is usually not kept in the memory between
phases: each phase loads the state that it needs.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from .graph import Node
from .program import Read, Write

__all__ = ["Move", "Phase", "Step", "Store", "flag_runs", "needs", "phases"]

LINE = 64
LOGIC = {"and", "or", "xor", "select"}

#: Number of steps among which `flag_runs` looks for the next step. Larger windows keep more values live.
WINDOW = 50

#: Least number of steps in a run of flags. A run of fewer steps becomes a part of the run before.
SHORTEST = 6


@dataclass(frozen=True)
class Store:
    """Store of ``value`` to ``place``: a slot of the state, or a part or bit of an output word."""

    place: int | tuple[str, int]
    value: Node


Reads = tuple[Read, ...]
"""Reads of memories of equal depth, with the same row number and the same enabling flag."""

Move = Store | Reads | Write
Step = Node | Move


@dataclass
class Phase:
    """Computations, stores, and reads and writes of deep memories in a phase, in order.

    ``taken`` has the values of earlier phases that this phase uses, ``kept`` the values of this phase that later phases
    use. ``taken`` and ``kept`` have the values' byte offsets in the memory between phases.
    """

    steps: list[Step] = field(default_factory=list)
    taken: dict[Node, int] = field(default_factory=dict)
    kept: dict[Node, int] = field(default_factory=dict)


def phases(stores: Sequence[Move], size: int, room: Callable[[Node], int]) -> tuple[list[Phase], int]:
    """Cut everything that ``stores`` need into phases of about ``size`` steps.

    Return the phases, and the size in bytes of the memory between them. A `Store` to a slot is in the last phase that
    reads the slot's present value, or in a later phase.

    Parameters
    ----------
    room : function of a node that returns the bytes of its value, a power of two
    """
    result = [Phase()]
    where: dict[Node, int] = {}
    for step in _depth_first(stores):
        if len(result[-1].steps) == size:
            result.append(Phase())
        result[-1].steps.append(step)
        if isinstance(step, Node):
            where[step] = len(result) - 1
    _put_off(result, where)

    last: dict[Node, int] = {}
    for number, phase in enumerate(result):
        for node in (node for step in phase.steps for node in needs(step)):
            if where.get(node, number) < number:
                last[node] = number
                phase.taken[node] = -1
    free: dict[int, list[int]] = {}
    places: dict[Node, int] = {}
    end = 0
    for number, phase in enumerate(result):
        phase.taken = {node: places[node] for node in phase.taken}
        for step in phase.steps:
            if isinstance(step, Node) and step in last:
                bytes_ = room(step)
                if not free.get(bytes_):
                    end = -(-end // LINE) * LINE
                    free[bytes_] = list(range(end, end + max(bytes_, LINE), bytes_))[::-1]
                    end += max(bytes_, LINE)
                phase.kept[step] = places[step] = free[bytes_].pop()
        for node, place in phase.taken.items():
            if last[node] == number:
                free[room(node)].append(place)
    return result, end


def flag_runs(steps: Sequence[Step]) -> list[tuple[bool, list[Step]]]:
    """Order the steps of a phase into runs, and return each run with whether it computes and stores only flags.

    Each step still follows the steps whose values it needs. Reads and writes of deep memories keep their places.
    """
    runs: list[tuple[bool, list[Step]]] = []

    def add(flags: bool, run: list[Step]) -> None:
        flags = flags and len(run) >= SHORTEST
        if runs and runs[-1][0] == flags:
            runs[-1][1].extend(run)
        elif run:
            runs.append((flags, run))

    for fixed, group in groupby(steps, lambda step: isinstance(step, Write | tuple)):
        pending = list(group)
        if fixed:
            add(False, pending)
            continue
        waiting = {step for step in pending if isinstance(step, Node)}
        ahead = [(step, _is_flags(step), needs(step)) for step in pending]
        flags = True
        while ahead:
            run: list[Step] = []
            left = []
            for one in ahead[:WINDOW]:
                step, on_flags, used = one
                if on_flags == flags and waiting.isdisjoint(used):
                    run.append(step)
                    if isinstance(step, Node):
                        waiting.discard(step)
                else:
                    left.append(one)
            ahead[:WINDOW] = left
            add(flags, run)
            flags = not flags
    return runs


def _is_flags(step: Step) -> bool:
    """Return whether a step computes or stores flags, from flags alone. Flags of inputs are parts of vectors."""
    if isinstance(step, Node) and (step.op not in LOGIC or step.width > 1):
        return False
    if isinstance(step, Write | tuple) or (isinstance(step, Store) and not isinstance(step.place, int)):
        return False
    return all(node.width == 1 and node.op != "input" for node in needs(step))


def needs(step: Step) -> tuple[Node, ...]:
    """Return the graph nodes that a step uses; instead of a complement, the node that the complement inverts."""
    if isinstance(step, Node):
        return step.sources
    if isinstance(step, Store):
        return (step.value.plain,)
    if isinstance(step, Write):
        return step.enable.plain, step.address.plain, step.data.plain
    return step[0].enable.plain, step[0].address.plain


def _depth_first(stores: Sequence[Move]) -> Iterator[Step]:
    """Yield all steps: the stores in their order, and before each the computations that it needs."""
    moved = {read.into for store in stores if isinstance(store, tuple) for read in store}
    present = [node for node in _used(stores) if node.op == "state" and node.data in moved]
    done: set[Node] = set()

    def leaf(node: Node) -> bool:
        """Return whether every phase can load the graph node's value directly, from state, inputs or constants."""
        return node.op in ("const", "input", "copied") or (node.op == "state" and node.data not in moved)

    for store in stores:
        stack = list(needs(store)[::-1])
        if isinstance(store, tuple):  # reads overwrite registers whose present values later steps may need
            stack = [*present, *stack]
        while stack:
            node = stack[-1]
            if node in done or leaf(node):
                stack.pop()
                continue
            missing = [arg for arg in needs(node) if not leaf(arg) and arg not in done]
            stack += reversed(missing)
            if not missing:
                done.add(node)
                yield stack.pop()
        yield store


def _used(stores: Sequence[Move]) -> list[Node]:
    """Return all graph nodes that the stores use, directly or through other nodes, each once."""
    found: dict[Node, None] = {}
    ahead = [node for store in stores for node in needs(store)]
    while ahead:
        node = ahead.pop()
        if node not in found:
            found[node] = None
            ahead += needs(node)
    return list(found)


def _put_off(result: list[Phase], where: dict[Node, int]) -> None:
    """Move stores of state to the end of the last phase that reads the old value.

    If the value of a store is itself a piece of state, the store reads this piece in its phase. If such a store moves
    to a later phase, stores to the piece that it reads may have to move, too. Within a phase, state is read before it
    is stored. Pieces of state in ``where`` are loaded by an earlier phase, which stores their values in the memory
    between phases. Later phases read the memory between phases, not the register.
    """
    moving = True
    while moving:
        moving = False
        readers: dict[int, int] = {}
        for number, phase in enumerate(result):
            for node in (node for step in phase.steps for node in needs(step)):
                if node.op == "state" and node not in where:
                    readers[node.data] = number
        for number, phase in enumerate(result):
            stay: list[Step] = []
            for step in phase.steps:
                reader = readers.get(step.place, -1) if isinstance(step, Store) and isinstance(step.place, int) else -1
                (result[reader].steps if reader > number else stay).append(step)
            moving = moving or len(stay) < len(phase.steps)
            phase.steps = stay
