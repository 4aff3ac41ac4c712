"""Multistage networks: nodes send through stages of b x b switches, from left to right."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import WormcastError
from .base import Places, Topology
from .parameters import MOST_NODES, MOST_PORTS, MOST_SWITCHES, read_parameters, whole_number

__all__ = ["WIRINGS", "multistage", "stage_digits", "stage_of_switch", "stage_ports"]

Integers = npt.NDArray[np.int32]
Wiring = Callable[[Integers, int], Integers]


@dataclass(frozen=True)
class MinKind:
    """Wiring of the stages of a multistage network.

    Parameters
    ----------
    wiring : function
        Maps the digits of lines, int [lines, stages] with the most significant first, and a number i to the digits of
        the lines to which they lead: from nodes to stage 0 for i=0, else from stage i-1 to stage i, or to nodes.
    digits : function
        Maps the number of stages to a tuple: for each stage the digit of the destination that selects the output port.
        Digit 0 is the most significant.
    """

    wiring: Wiring
    digits: Callable[[int], tuple[int, ...]]


def shuffle(digits: Integers, _: int = 0) -> Integers:
    """Rotate the digits to the left: the perfect shuffle."""
    return np.roll(digits, -1, axis=1)


def exchange(digits: Integers, place: int) -> Integers:
    """Swap the least significant digit with the digit `place` positions before it: the butterfly permutation."""
    swapped = digits.copy()
    swapped[:, [-1, -1 - place]] = digits[:, [-1 - place, -1]]
    return swapped


def narrowing_unshuffle(digits: Integers, stage: int) -> Integers:
    """Rotate the last digits to the right, one digit fewer after each stage: the baseline permutation."""
    if stage == 0:
        return digits
    fixed = stage - 1
    return np.concatenate([digits[:, :fixed], np.roll(digits[:, fixed:], 1, axis=1)], axis=1)


def _cube(digits: Integers, stage: int) -> Integers:
    return shuffle(digits) if stage == 0 else exchange(digits, digits.shape[1] - stage)


def _omega(digits: Integers, stage: int) -> Integers:
    return digits if stage == digits.shape[1] else shuffle(digits)


def _butterfly(digits: Integers, stage: int) -> Integers:
    return digits if stage == digits.shape[1] else exchange(digits, stage)


def _downwards(stages: int) -> tuple[int, ...]:
    return tuple(range(stages))


def _upwards(stages: int) -> tuple[int, ...]:
    return (*range(stages - 2, -1, -1), stages - 1)


WIRINGS: Mapping[str, MinKind] = {
    "baseline": MinKind(narrowing_unshuffle, _downwards),
    "cube": MinKind(_cube, _downwards),
    "omega": MinKind(_omega, _downwards),
    "butterfly": MinKind(_butterfly, _upwards),
}
"""The kinds by name. Source: [Varavithya] (baseline), [Duato97] (others)."""


def multistage(parameters: str) -> Topology:
    """Build the unidirectional multistage network with these parameters: ``"b=4,stages=3,kind=omega"``.

    The network joins b**stages nodes by ``stages`` columns of b**(stages-1) switches with b ports, here with b=2,
    stages=2::

        node 0 --p0 s0 p0-----p0 s2 p0-- node 0       a node injects on the left
        node 1 --p1    p1-. .-p1    p1-- node 1       and consumes on the right
                           x
        node 2 --p0 s1 p0-' '-p0 s3 p0-- node 2
        node 3 --p1    p1-----p1    p1-- node 3

    The switch in row i of stage j is j*rows+i. There is one path from any node to any node, itself included: in each
    stage a base-b digit of the destination selects the output port (`stage_digits`). Port p of a switch in row i is
    line i*b+p of its stage. Lines are joined by their base-b digits:

    baseline (the default)
        node n leads to line n of stage 0; after stage j the last stages-j digits are rotated to the right.
    cube (indirect binary n-cube)
        nodes lead to stage 0 by a perfect shuffle; after stage j the last digit is swapped with digit j, 0 being the
        most significant.
    omega
        lines pass a perfect shuffle, which rotates the digits to the left, before each stage, the first included.
    butterfly
        node n leads to line n of stage 0; after stage j the last digit is swapped with the digit j+1 places before it.

    Line n of the last stage leads to node n.

    Raises
    ------
    WormcastError
        A parameter is unknown, missing or out of its range. A multistage network has at most 4096 nodes and 1024
        switches.
    """
    b, stages, kind = read_min(parameters)
    nodes, rows = b**stages, b ** (stages - 1)
    lines = np.arange(nodes)

    def behind(stage: int) -> Integers:
        digits = np.stack(np.unravel_index(lines, (b,) * stages), axis=1).astype(np.int32)
        return np.ravel_multi_index(tuple(WIRINGS[kind].wiring(digits, stage).T), (b,) * stages)

    def ends(stage: int, line: Integers) -> list[Integers]:
        return [stage * rows + line // b, line % b]

    links = [np.stack(ends(stage - 1, lines) + ends(stage, behind(stage)), axis=1) for stage in range(1, stages)]
    return Topology(
        name=f"min:b={b},stages={stages}" + (f",kind={kind}" if kind != "baseline" else ""),
        kind="min",
        shape=(nodes,),
        ports=(tuple(f"p{port}" for port in range(b)),) * (rows * stages),
        links=np.concatenate(links).astype(np.int32),
        injections=np.stack(ends(0, behind(0)), axis=1).astype(np.int32),
        consumptions=np.stack(ends(stages - 1, lines), axis=1).astype(np.int32),
        coordinates=lines.astype(np.int32).reshape(-1, 1),
        places=_places(b, stages, behind(0)),
    )


def read_min(parameters: str) -> tuple[int, int, str]:
    """Read b, stages and kind from the text after ``min:``, or refuse it."""
    specification = f"min:{parameters}"
    given = read_parameters("min", parameters, {"b": None, "stages": None, "kind": "baseline"}, {"kind": WIRINGS})
    b = whole_number(specification, "b", given["b"], 2, MOST_PORTS)
    most = max(stages for stages in range(2, 13)
               if b**stages <= MOST_NODES and stages * b ** (stages - 1) <= MOST_SWITCHES)
    stages = whole_number(specification, "stages", given["stages"], 2, most, reason=f"with b={b}: up to {MOST_NODES} "
                          f"nodes and {MOST_SWITCHES} switches")
    return b, stages, given["kind"]


def stage_of_switch(topology: Topology) -> Integers:
    """Stage of each switch of a multistage network, int32 [switches]."""
    _, stages, _ = _parameters(topology)
    return np.repeat(np.arange(stages, dtype=np.int32), topology.switches // stages)


def stage_digits(topology: Topology) -> tuple[int, ...]:
    """Return the base-b digit of the destination that selects the output port in each stage; 0 is the most significant.

    Raises
    ------
    WormcastError
        The topology is not a multistage network.
    """
    _, stages, kind = _parameters(topology)
    return WIRINGS[kind].digits(stages)


def stage_ports(topology: Topology) -> Integers:
    """Return the output port towards each node in each stage, int32 [stages, nodes], for all switches of the stage."""
    b, stages, _ = _parameters(topology)
    digits = np.stack(np.unravel_index(np.arange(topology.nodes), (b,) * stages)).astype(np.int32)
    return digits[list(stage_digits(topology))]


def _parameters(topology: Topology) -> tuple[int, int, str]:
    if topology.kind != "min":
        raise WormcastError(f"topology: {topology.name} is not valid: it has no stages. Allowed: min:b=B,stages=S.")
    return read_min(topology.name.partition(":")[2])


def _places(b: int, stages: int, first: Integers) -> Places:
    """Place stages from left to right, lines one cell apart. Nodes inject on the left and consume on the right.

    A shuffle before stage 0 gets as much space as the links between two stages.
    """
    nodes, rows = b**stages, b ** (stages - 1)
    gap = max(2.0, nodes / (2 * stages))
    begin = 2.0 if np.array_equal(first, np.arange(nodes)) else gap
    lines = np.arange(nodes, dtype=float)
    across = begin + np.repeat(np.arange(stages), rows) * gap
    down = np.tile(np.arange(rows) * b + (b - 1) / 2, stages)
    columns = [(across, down), (np.zeros(nodes), lines), (np.full(nodes, across[-1] + 2), lines)]
    return Places(*(np.round(np.stack(column, axis=1), 4) for column in columns))
