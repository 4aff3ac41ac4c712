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
    """The predicate needs as many flits as nodes lie between: node 1 replaces node 9 in both messages."""
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


def test_what_is_made_smaller_the_first_first():
    assert cost((message(0, 1, 2, length=30, at=7), message(1, 3, length=40, at=5))) == (2, 3, 70, 12)


def test_other_times_and_lengths():
    """As they are, at once, and both with two lengths; then anywhere in twice the length, and at another pace."""
    tried = list(retimed((message(1, 2, length=30), message(2, 3, length=40, at=200)), 64, tries=40))
    times = [[one.at for one in messages] for messages in tried]
    lengths = [[one.length for one in messages] for messages in tried]
    assert (times[:2], lengths[:2]) == ([[0, 200], [0, 0]], [[30, 40]] * 2)
    assert lengths[2:] == [[40, 40]] * 42 + [[64, 64]] * 42
    for length, some in ((40, times[2:44]), (64, times[44:])):
        assert some[:2] == [[0, 200], [0, 0]]
        anywhere = [at for ats in some[2::2] for at in ats]
        assert 0 <= min(anywhere) < length // 2 < 3 * length // 2 < max(anywhere) < 2 * length
        first, second = zip(*some[3::2], strict=True)
        assert min(first) == 0 < len(set(first) & set(range(1, 20))) <= max(first) <= 20
        assert min(second) < 150 < 200 < max(second) <= 220


@pytest.mark.parametrize(("count", "retimes"), [(13, True), (14, False)])
def test_other_times_are_tried_where_few_are_left(count, retimes):
    asked = []
    messages = tuple(message(source, 20, length=1) for source in range(count))
    shrink(messages, first_by(lambda some: len(some) == count, asked), nodes=21, longest=40)
    left = [some for some in asked if len(some) == count - 1]
    assert len(left) > 5 * count if retimes else len(left) == count


@pytest.mark.parametrize(("rule", "before", "left"), [
    (lambda a, b, c: a == b >= 20 and c == 10, (40, 40, 10), (20, 20, 10)),
    (lambda a, b, c: a == b, (40, 40, 9), (1, 1, 1)),
    (lambda a, b, c: b == 5, (9, 5, 7), (1, 5, 1)),
])
def test_payloads_get_shorter_together_and_one_by_one(rule, before, left):
    messages = tuple(message(source, 9, length=length) for source, length in enumerate(before))
    found = shrink(messages, first_by(lambda some: len(some) == 3 and rule(*(one.length for one in some))),
                   nodes=10, longest=40)
    assert tuple(one.length for one in found) == left


@pytest.mark.parametrize(("rule", "before", "left"), [
    (lambda a, b: (a, b) in [(5, 8), (0, 0)], (5, 8), (0, 0)),
    (lambda a, b: b - a == 3, (5, 8), (0, 3)),
    (lambda a, b: a == 5, (5, 8), (5, 0)),
])
def test_messages_are_created_earlier_together_and_one_by_one(rule, before, left):
    messages = tuple(message(source, 9, at=at) for source, at in enumerate(before))
    found = shrink(messages, first_by(lambda some: len(some) == 2 and rule(*(one.at for one in some))),
                   nodes=10, longest=40)
    assert tuple(one.at for one in found) == left


def test_a_source_moves_where_its_payload_gets_shorter():
    [left] = shrink((message(0, 5, length=5),), first_by(
        lambda some: some[0].length >= abs(5 - some[0].source)), nodes=6, longest=40)
    assert (left.source, left.destinations, left.length) == (4, (5,), 1)


@pytest.mark.parametrize("count", [12, 13])
def test_nodes_move_where_messages_are_few(count):
    asked = []
    messages = tuple(message(source, 20, length=2) for source in range(count))
    shrink(messages, first_by(lambda some: len(some) == count and all(one.length == 2 for one in some), asked),
           nodes=22, longest=40)
    assert any(21 in one.destinations for some in asked for one in some) == (count == 12)


def test_fewer_messages_may_need_other_times():
    messages = message(0, 9, at=5), message(1, 9, at=8), message(2, 9, at=3)

    def rule(some):
        ats = [one.at for one in some]
        return ats == [5, 8, 3] if len(some) == 3 else len(some) == 2 and ats == [0, 0]

    assert len(shrink(messages, first_by(rule), nodes=10, longest=40)) == 2


@pytest.mark.parametrize("size", [24, 25])
def test_of_many_worms_that_wait_for_each_other_no_other_times_are_tried(size):
    asked = []
    messages = tuple(message(source, 40) for source in range(30))
    shrink(messages, first_by(lambda some: len(some) in (30, size), asked), nodes=41, longest=40,
           core=lambda some: some[:size])
    assert any(len(some) == size for some in asked) == (size == 24)


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
