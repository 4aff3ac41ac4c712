"""Checkers bound to networks under traffic: no assertion fails, and with a faulty link its assertion does."""

import pytest
from cases import slow

from wormcast_tb import Flit

from ....hw.smart import posted, train
from .cases import blueprint
from .checked import Fault, Program, traffic

#: Faults of the first link between routers, and of the first link from a router to an interface.
FAULTS = [
    Fault(r"\w+_in_flit", "{} & ~2", "ends_with_tail"),
    Fault(r"\w+_in_flit", "{} & ~1", "begins_with_header"),
    Fault(r"\w+_in_flit", "{} | 3", "is_not_cut_off"),
    Fault(r"\w+_out_credit", "{} | 1", "credit_was_spent"),
    Fault(r"network_in_0_valid", "1'b1", "flit_has_credit"),
    Fault(r"network_in_0_flit", "{} | 3", "is_not_cut_off"),
]


def row():
    """A row of two nodes with one virtual channel."""
    return traffic(blueprint("mesh:1x2", flit_width=8, vcs=1, consumption=1), worms=20)


def smart():
    """Interfaces that forward: the node 0 posts packets, the others pass them on to the next node."""
    case = traffic(blueprint("mesh:1x3", "u-mesh", ni="fpfs", packet=4, rows=2, places=2, flit_width=12), worms=10)
    scope, encode, nodes = case.network.node_scope, case.blueprint.header.encode, case.network.nodes
    for node in range(nodes - 1):
        case.flits[f"node_{scope(node)}_table_in"] = [Flit(*flit) for flit in train(0, encode([node + 1]))]
    packets = 3
    case.flits.setdefault(f"node_{scope(0)}_host_in_0", []).extend(
        Flit(*flit) for _ in range(packets) for flit in posted(0, 4))
    case.copies += packets * (nodes - 1)
    return case


CASES = [
    pytest.param(row, id="row"),
    slow(lambda: traffic(blueprint("mesh:3x3")), id="paths"),
    slow(lambda: traffic(blueprint("mesh:2x2", delays="fast", readers="independent", vcs=3, consumption=3)), id="fast"),
    slow(lambda: traffic(blueprint("min:b=2,stages=2", "atbm", flit_width=4)), id="trees with tokens"),
    slow(lambda: traffic(blueprint("min:b=2,stages=2", "atbm", buffer_kind="deep", vcs=1, consumption=1, buffer=16,
                                   chunk=4, flit_width=9)), id="deep"),
    slow(lambda: traffic(blueprint("mesh:1x3", absorb="1", slot=20, consumption=2, flit_width=8)), id="slots"),
    slow(smart, id="smart"),
    slow(lambda: traffic(blueprint("irregular:switches=3,ports=5,nodes=5,connectivity=0.8,seed=4", "individual",
                                   flit_width=12)), id="tables"),
]


@pytest.fixture(scope="module", params=CASES)
def bound(request, tmp_path_factory):
    case = request.param()
    return case, Program(case, tmp_path_factory.mktemp("bound"), FAULTS)


def test_network_keeps_to_its_contract(bound):
    case, program = bound
    assert program.run() == (set(), case.copies)


def test_each_fault_fails_its_assertion(bound):
    _, program = bound
    failed = {fault: {assertion for _, _, assertion in program.run(fault)[0]} for fault in FAULTS}
    assert [fault for fault in FAULTS if fault.fails not in failed[fault]] == []
