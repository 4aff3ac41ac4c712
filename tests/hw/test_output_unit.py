"""The sending end of a link: credits, owners, and channels that two classes share."""

import pytest

from wormcast.hw import PortSpec
from wormcast.hw.output_unit import OutputUnit

from . import bench


def drive(unit, cycles, inputs):
    """Set ``inputs(cycle) -> {port: value}``, all others 0; return what each output port shows, by cycle."""
    [send], [link], offer = unit.sends, unit.links, unit.offer
    driven = {"vc_active": send.vc_active, "send": send.send, "vc": send.vc, "tail": send.tail,
              "vc_allocate": unit.vc_allocate}
    shown = {"free": offer.free, "vc_free_next": offer.vc_free_next, "ready": offer.ready,
             "ready_after": offer.ready_after, "credit_error": unit.credit_error, "valid": link.valid,
             **{f"candidate_{k}": vc for k, vc in enumerate(offer.vc_candidate)}}
    seen = []

    def step(cycle, context):
        given = inputs(cycle)
        for name, port in driven.items():
            context.set(port, given.get(name, 0))
        context.set(link.credit, given.get("credit", 0))
        context.set(send.flit.tail, given.get("tail", 0))
        seen.append({name: context.get(port) for name, port in shown.items()})

    bench.simulate(unit, cycles, step)
    return seen


def sent(tail):
    return {"vc_active": 1, "send": 1, "tail": tail, "vc_allocate": not tail}


@pytest.mark.parametrize("extra_stage", [False, True])
def test_virtual_channel_is_free_two_cycles_after_the_send_of_its_tail(extra_stage):
    unit = OutputUnit(PortSpec("east", vcs=1, depth=4), width=8, classes=[1], extra_stage=extra_stage)
    seen = drive(unit, 12, lambda cycle: {2: sent(False), 5: sent(True)}.get(cycle, {}))
    assert [cycle for cycle, shown in enumerate(seen) if not shown["free"]] == [3, 4, 5, 6]
    assert [cycle for cycle, shown in enumerate(seen) if shown["valid"]] == [3 + extra_stage, 6 + extra_stage]


def test_credits_are_spent_by_sends_and_come_back():
    unit = OutputUnit(PortSpec("east", vcs=1, depth=2), width=8, classes=[1])
    events = {1: sent(False), 2: sent(False), 6: {"credit": 1}}
    seen = drive(unit, 10, lambda cycle: events.get(cycle, {}))
    # in cycle 2 the send of cycle 1 is counted; another one now leaves none for cycle 3
    assert [shown["ready"] for shown in seen] == [1, 1, 1, 0, 0, 0, 1, 1, 1, 1]
    assert [shown["ready_after"] for shown in seen] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_send_and_returned_credit_in_one_cycle_leave_the_credits_as_they_are():
    """A send of cycle c is counted in c + 1: a credit of that cycle makes up for it."""
    unit = OutputUnit(PortSpec("east", vcs=1, depth=2), width=8, classes=[1])
    events = {1: sent(False), 2: sent(False), 6: {"credit": 1}, 7: sent(False), 8: {"credit": 1}, 10: {"credit": 1}}
    seen = drive(unit, 14, lambda cycle: events.get(cycle, {}))
    assert [shown["ready"] for shown in seen] == [1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert [shown["ready_after"] for shown in seen] == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert not any(shown["credit_error"] for shown in seen)


@pytest.mark.parametrize("extra_stage", [False, True])
@pytest.mark.parametrize("port", [PortSpec("east", vcs=1, depth=1), PortSpec("east", vcs=1, depth=4),
                                  PortSpec("east", vcs=1, depth=8, chunk=4)], ids=str)
def test_credit_may_come_while_its_flit_is_on_the_link(port, extra_stage):
    """The sink's credit is the link's ``valid``: no credit is missing or too many, whatever the number of worms."""
    unit = OutputUnit(port, width=8, classes=[1], extra_stage=extra_stage)
    [send], [link] = unit.sends, unit.links
    worms = []

    def step(cycle, context):
        begins = cycle % 8 == 1
        context.set(unit.vc_allocate, begins)
        for signal in (send.vc_active, send.send, send.tail, send.flit.tail):
            context.set(signal, begins)
        context.set(link.credit, context.get(link.valid))
        worms.append(context.get(link.valid))
        assert context.get(unit.credit_error) == 0
        assert cycle % 8 or context.get(unit.offer.ready)

    bench.simulate(unit, 100, step)
    assert sum(worms) == 13


def test_channel_that_one_class_took_is_not_offered_to_the_other():
    """Classes 0 and 1 own channels 0 and 1, and share channel 2: with 0 and 1 busy both look at it."""
    unit = OutputUnit(PortSpec("local", vcs=3, depth=4), width=8, classes=[0b101, 0b110])
    events = {1: {"vc_active": 1, "vc": 0, "vc_allocate": 1}, 4: {"vc_active": 1, "vc": 1, "vc_allocate": 1}}

    def inputs(cycle):
        return {"vc_active": 1, "vc": 2, "vc_allocate": 1} if cycle == 9 else events.get(cycle, {})

    seen = drive(unit, 14, inputs)
    assert (seen[9]["candidate_0"], seen[9]["candidate_1"], seen[9]["free"]) == (2, 2, 0b11)
    assert all(shown["free"] == 0 for shown in seen[10:])


@pytest.mark.parametrize("extra_stage", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_behind_a_credit_for_no_flit_no_credit_is_shown(depth, extra_stage):
    """From the next cycle on, after any flits and credits; and only the other channel is offered to headers."""
    unit = OutputUnit(PortSpec("east", vcs=2, depth=depth), width=8, classes=[0b11], extra_stage=extra_stage)
    events = {4: {"credit": 0b01}, 6: {"vc_active": 1, "send": 1, "tail": 1}, 9: {"credit": 0b01}, 10: {"credit": 0b01}}
    seen = drive(unit, 20, lambda cycle: events.get(cycle, {}))
    assert all(shown["ready"] & 0b01 and shown["ready_after"] & 0b01 == (depth > 1) for shown in seen[:4])
    assert all(not shown["ready"] & 0b01 for shown in seen[5:])
    assert all(not shown["ready_after"] & 0b01 for shown in seen[5:])
    assert all(shown["candidate_0"] == 1 for shown in seen[6:])
    for name in ("ready", "ready_after"):
        assert all(shown[name] >> 1 == (name == "ready" or depth > 1) for shown in seen)


def test_behind_a_credit_for_no_chunk_no_credit_is_shown():
    """The channel stays stopped after later credits."""
    unit = OutputUnit(PortSpec("east", vcs=1, depth=8, chunk=4), width=8, classes=[1])
    events = {4: {"credit": 1}, 6: {"vc_active": 1, "send": 1, "tail": 1}, 9: {"credit": 1}}
    seen = drive(unit, 16, lambda cycle: events.get(cycle, {}))
    assert [shown["credit_error"] for shown in seen] == [0] * 5 + [1] * 11
    assert not any(shown["ready"] or shown["ready_after"] for shown in seen[5:])
