"""Shrinking, against made-up rules of what deadlocks."""

from dataclasses import replace

import pytest

from wormcast.sim import Message
from wormcast.sim.experiments.hunt.shrink import cost, retimed, shrink


def message(source, *destinations, length=40, at=0):
    return Message(at, source, destinations, length)


def first_by(rule, asked=None):
    """The first list that a rule holds of; what is asked goes into a list."""
    def first(lists):
        for one in lists:
            if asked is not None:
                asked.append(one)
            if rule(one):
                return one
        return None
    return first


MANY = tuple(message(source, *({1, 5, 9, 12} - {source}), length=30 + source, at=7 * source) for source in range(12))


def two_that_meet(messages):
    """Monotone: a worm from 3 to 5 of 11 flits and more, and one from 8 to 5 and 9 with 4 and more."""
    return any(one.source == 3 and 5 in one.destinations and one.length >= 11 for one in messages) and any(
        one.source == 8 and {5, 9} <= set(one.destinations) and one.length >= 4 for one in messages)


def test_what_is_left_is_all_that_is_needed():
    assert shrink(MANY, first_by(two_that_meet), nodes=13, longest=64) == (
        message(3, 5, length=11), message(8, 5, 9, length=4))


def parts_apart(messages):
    """Not monotone: two worms 2 to 4 cycles apart, with other lengths; others only where there are five and more."""
    ats = sorted(one.at for one in messages)
    return (len(messages) >= 5 and len(messages) % 2 == 0) or (
        len(messages) == 2 and 2 <= ats[1] - ats[0] <= 4 and messages[0].length != messages[1].length)


def in_a_row(messages):
    """Not monotone: exactly so many flits for each message, and messages in an odd number."""
    return len(messages) % 2 == 1 and all(one.length in (1, 16, 34, 35) for one in messages[:1])


def short_ones_need_fewer(messages):
    """Not monotone: destinations can go when payloads are short, which is tried later."""
    return len(messages) == 2 and (all(one.length <= 8 for one in messages)
                                   or all(len(one.destinations) > 1 for one in messages))


@pytest.mark.parametrize(("rule", "messages"), [
    (two_that_meet, MANY), (parts_apart, MANY), (in_a_row, MANY[:5]), (short_ones_need_fewer, MANY[:2]),
    (lambda _: True, MANY)])
def test_nothing_less_deadlocks(rule, messages):
    """Whatever the rule: without a message or destination, a flit shorter, a cycle earlier it does not hold."""
    left = shrink(messages, first_by(rule), nodes=13, longest=64)
    assert rule(left)
    assert cost(left) <= cost(messages)
    for place, one in enumerate(left):
        rest = (left[:place], left[place + 1:])
        smaller = [rest[0] + rest[1]] if len(left) > 1 else []
        for changed in (*(replace(one, destinations=one.destinations[:k] + one.destinations[k + 1:])
                          for k in range(len(one.destinations)) if len(one.destinations) > 1),
                        replace(one, length=one.length - 1), replace(one, at=one.at - 1)):
            if changed.length >= 1 and changed.at >= 0:
                smaller.append((*rest[0], changed, *rest[1]))
        assert not any(map(rule, smaller))


def test_nodes_move_together_where_payloads_get_shorter():
    """What is needed is as many flits as nodes lie between: here node 1 takes node 9's part in both messages."""
    def between(messages):
        return len(messages) == 2 and len(set(messages[0].destinations) & set(messages[1].destinations)) == 2 and all(
            one.length >= max(one.destinations) - min(one.destinations) for one in messages)

    left = shrink((message(12, 2, 9), message(0, 9, 2)), first_by(between), nodes=13, longest=64)
    assert [(one.source, one.length) for one in left] == [(12, 1), (0, 1)]
    assert len({*left[0].destinations} & {*left[1].destinations}) == 2


def test_only_messages_that_can_be_sent_are_tried():
    asked = []
    shrink(MANY[:4], first_by(two_that_meet, asked) if two_that_meet(MANY[:4]) else first_by(
        lambda messages: len(messages) == 4 and messages[0].length > 3, asked), nodes=13, longest=64)
    assert len(asked) > 100
    for messages in asked:
        assert messages
        for one in messages:
            assert one.length >= 1 <= len(one.destinations)
            assert one.at >= 0
            assert len({one.source, *one.destinations}) == len(one.destinations) + 1 <= 13


def test_other_times_are_the_same_ones_each_time():
    assert list(retimed(MANY[:3], 64)) == list(retimed(MANY[:3], 64))
    assert len(set(retimed(MANY[:3], 64))) > 40
    assert {(len(one), min(message.at for message in one) >= 0) for one in retimed(MANY, 64)} == {(12, True)}


def test_worms_that_wait_for_none_but_each_other_are_tried_alone():
    """All others go at once, though they could not go one by one: all twelve deadlock, and two of them."""
    core = MANY[5], MANY[2]

    def rule(messages):
        sources = {one.source for one in messages}
        return len(messages) == 12 or sources == {2, 5}

    asked = []
    left = shrink(MANY, first_by(rule, asked), nodes=13, longest=64, core=lambda messages: core)
    assert {one.source for one in left} == {2, 5}
    assert {one.source for one in asked[0]} == {2, 5}
    assert len(shrink(MANY, first_by(rule), nodes=13, longest=64)) == 12
