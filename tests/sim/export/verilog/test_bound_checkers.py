"""Checkers bound to networks under traffic: no assertion fails, and with a faulty link its assertion does."""

from dataclasses import replace
from functools import partial

import pytest
from cases import slow

from wormcast_tb import Flit

from ....hw.smart import posted, train
from .cases import blueprint
from .checked import Fault, Program, traffic

#: Faults of the first link between routers, and of the first link from a router to an interface.
TAIL_LOST = Fault(r"\w+_in_flit", "{} & ~2", "ends_with_tail")
OF_FLITS = [
    Fault(r"\w+_in_flit", "{} & ~1", "begins_with_header"),
    Fault(r"\w+_in_flit", "{} | 3", "is_not_cut_off"),
    Fault(r"network_in_0_flit", "{} | 3", "is_not_cut_off"),
]
WITHOUT_FLITS = [
    Fault(r"\w+_out_credit", "{} | 1", "credit_was_spent"),
    Fault(r"network_in_0_valid", "1'b1", "flit_has_credit"),
]
FAULTS = [TAIL_LOST, *OF_FLITS, *WITHOUT_FLITS]


def row(*, clock_enable=False):
    """A row of two nodes with one virtual channel."""
    made = traffic(blueprint("mesh:1x2", flit_width=8, vcs=1, consumption=1), worms=20)
    return replace(made, clock_enable=clock_enable)


def smart():
    """Interfaces that forward: the node 0 posts packets, the others pass them on to the next node."""
    case = traffic(blueprint("mesh:1x3", "u-mesh", ni="fpfs", packet=4, rows=2, places=2, flit_width=12), worms=0)
    scope, encode, nodes = case.network.node_scope, case.blueprint.header.encode, case.network.nodes
    for node in range(nodes - 1):
        case.flits[f"node_{scope(node)}_table_in"] = [Flit(*flit) for flit in train(0, encode([node + 1]))]
    packets = 12
    case.flits.setdefault(f"node_{scope(0)}_host_in_0", []).extend(
        Flit(*flit) for _ in range(packets) for flit in posted(0, 4))
    case.copies += packets * (nodes - 1)
    return case


def on(*network, **options):
    """Build the traffic of a network of this hardware, later."""
    return lambda: traffic(blueprint(*network, **options))


# a model takes a quarter of a minute of processor time to build, and more with the number of routers
CASES = [
    pytest.param((row, FAULTS), id="row"),
    slow((partial(row, clock_enable=True), FAULTS), id="clock enable"),
    slow((on("mesh:2x2", delays="fast", readers="independent", vcs=3, consumption=3), FAULTS), id="paths"),
    # after a worm without a tail no other worm comes: the network is blocked
    slow((on("min:b=2,stages=2", "atbm", flit_width=4), [*OF_FLITS, *WITHOUT_FLITS]), id="trees with tokens"),
    slow((on("min:b=2,stages=2", "atbm", buffer_kind="deep", vcs=1, consumption=1, buffer=16, chunk=4, flit_width=9),
          FAULTS), id="deep"),
    slow((on("mesh:1x3", absorb="1", slot=20, consumption=2, flit_width=8), FAULTS), id="slots"),
    # no flit comes by the first link, on the way to the node that posts
    slow((smart, WITHOUT_FLITS), id="smart"),
]


@pytest.fixture(scope="module", params=CASES)
def bound(request, tmp_path_factory):
    make, faults = request.param
    case = make()
    return case, Program(case, tmp_path_factory.mktemp("bound"), faults)


def test_network_keeps_to_its_contract(bound):
    case, program = bound
    assert program.run() == (set(), case.copies)


def test_each_fault_fails_its_assertion(bound):
    _, program = bound
    failed = {fault: {assertion for _, _, assertion in program.run(fault)[0]} for fault in program.faults}
    assert [(fault, found) for fault, found in failed.items() if fault.fails not in found] == []
