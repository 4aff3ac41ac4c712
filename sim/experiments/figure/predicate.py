"""Predicates: a paper's statements on curves as formulas: ``1.5 * latency('multipath') < latency('column-path')``."""

import ast
import copy
import math
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from wormcast.algorithms import WormcastError
from wormcast.algorithms.file_schema import given
from wormcast.algorithms.parse_fault import FAULTS, parse_fault

from .evidence import HELD, LEVEL, NOT_HELD, Evidence, joined
from .quantity import Quantity, Truth

__all__ = ["CURVE_WORDS", "POINT_WORDS", "RUN_WORDS", "SATURATED", "Measured", "Number", "Predicate",
           "require_command"]

Measured = Callable[[str, str], Quantity]
"""Function of a word (`WORDS`) and a series' name, which returns the word's measurement for the series."""

CommandValue = Callable[[str, str], Any]
"""Function from a command of wormcast, and a path in its JSON, to the value at this path."""

#: Words of formulas with a value at each load below saturation; a second argument selects the value at one load.
POINT_WORDS = ("latency", "multicast_latency", "unicast_latency", "queue", "source", "transit", "p50", "p95", "p99",
               "link_wait", "consumption_wait", "vc_occupancy", "consumption_occupancy", "delivered", "accepted",
               "token_wait", "longest_token_wait", "token_hold", "token_walk", "token_holders", "token_ceiling",
               "blocked_early")

#: Words of formulas with one value per curve over the load.
#: In figures over an option, ``hops``, ``copies`` and ``vc_ratio`` have a value at each point.
CURVE_WORDS = ("throughput", "saturation", "hops", "copies", "vc_ratio")

#: Words of formulas in figures of single runs. Each word has a value at each point.
RUN_WORDS = ("latency", "formula", "bound", "others_wait", "own_wait", "arbitration_wait", "worms", "phases")

#: Word of formulas with a truth value: ``saturated('S', 60)``.
SATURATED = "saturated"

#: All names of measurements in formulas, called words. The first argument of each word is the name of a series.
WORDS = tuple(dict.fromkeys((*POINT_WORDS, *CURVE_WORDS, *RUN_WORDS, SATURATED)))

#: Functions of formulas with a truth value as their result.
DECIDED = ("within", "comparable")

FUNCTIONS = ("abs", "max", "min", "precision", *DECIDED, "count", "output")

OPERATORS: dict[type, Callable[[Quantity, Quantity], Quantity]] = {
    ast.Add: Quantity.__add__, ast.Sub: Quantity.__sub__, ast.Mult: Quantity.__mul__, ast.Div: Quantity.__truediv__}

#: Operators of Python that are not allowed in formulas, and their spelling for error messages.
FOREIGN: dict[type, str] = {
    ast.Pow: "**", ast.Mod: "%", ast.FloorDiv: "//", ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&", ast.Invert: "~", ast.UAdd: "+ as a sign", ast.LtE: "<=",
    ast.GtE: ">=", ast.NotEq: "!=", ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}

#: Allowed parts of formulas, as error messages list them.
PARTS = "numbers, texts, + - * /, < > ==, and, or, not, and calls such as latency('S')"

#: Greatest ratio of two values, either way, for which ``comparable`` holds without a third argument.
COMPARABLE = 1.25

MANY = 100

#: Reasons why a comparison has no load.
NO_VALUE = ("one side of the statement has no value: it was not measured, it is saturated, or a repetition received no "
            "message")
NO_COMMON_LOAD = "both sides of the statement were measured at different loads"
BOTH_SATURATED = "both sides of the statement are saturated wherever they are compared"
NO_BOUND = "one side of the statement is saturated wherever both are compared, and then a latency has no upper bound"

#: Upper limit of numbers in predicates.
LARGEST = 1e100

#: Least and greatest number of arguments of functions. Words of `WORDS` have one or two arguments: series and load.
ARGUMENTS = {"output": (2, 2), "within": (3, 3), "comparable": (2, 3), SATURATED: (2, 2),
             "count": (1, MANY), "abs": (1, 1), "precision": (1, 1), "max": (1, MANY), "min": (1, MANY)}

#: Calls as error messages show them.
CALLS = {"output": "output('COMMAND', 'PATH')", SATURATED: f"{SATURATED}('SERIES', LOAD)",
         "within": "within(A, B, SHARE) with a number SHARE: A is between B * (1 - SHARE) and B * (1 + SHARE)",
         "comparable": "comparable(A, B), or comparable(A, B, RATIO) with a number RATIO: A / B is between 1 / RATIO "
                       "and RATIO"}


def require_command(key: str, command: str, example: str = "topology mesh:4x4") -> None:
    """Refuse a command with unclosed quotes, and an empty command. The refusal shows an example."""
    try:
        parts, reason = shlex.split(command), ""
    except ValueError as error:
        parts = []
        reason = f": {'a quotation mark is not closed' if 'quotation' in str(error) else 'a backslash ends it'}"
    if not parts:
        raise WormcastError(f"{key}: {command!r} is not valid{reason}. Allowed: a command of wormcast and its options, "
                            f"as in: {example}.")


@dataclass
class PredicateOutcome:
    """Truth of a predicate, and the values of both sides of each comparison in it."""

    truth: Truth
    numbers: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Text:
    """Base class of formulas, with parsing and checks. ``key`` is the formula's key in a figure's file."""

    text: str
    key: str = field(default="holds", compare=False)
    wanted: ClassVar[str]

    def _tree(self) -> ast.expr:
        try:
            return ast.parse(self.text, mode="eval").body
        except FAULTS as error:
            raise WormcastError(f"{self.key}: {given(self.text)} is not valid: {parse_fault(error)}. "
                                f"Allowed: {self.wanted}.") from error

    def _require(self, tree: ast.expr) -> None:
        allowed = (ast.Compare, ast.BoolOp, ast.And, ast.Or, ast.Not, ast.UnaryOp, ast.USub, ast.BinOp, ast.Call,
                   ast.Name, ast.Load, ast.Constant, ast.Lt, ast.Gt, ast.Eq, *OPERATORS)
        for node in ast.walk(tree):
            if not isinstance(node, allowed):
                part = FOREIGN.get(type(node)) or ast.unparse(node)
                raise WormcastError(f"{self.key}: {given(self.text)} is not valid: formulas have no {part}. "
                                    f"Allowed: {PARTS}.")
        called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._require_call(node)
            if isinstance(node, ast.Name) and id(node) not in called:
                raise WormcastError(f"{self.key}: {given(self.text)} is not valid: {node.id} is neither a number nor a "
                                    f"text in quotes. Allowed: {PARTS}.")
            if isinstance(node, ast.Compare):
                self._require_comparable(node)
            if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not abs(node.value) < LARGEST:
                raise WormcastError(f"{self.key}: {given(self.text)} is not valid: a number is too large. Allowed: "
                                    f"numbers below {LARGEST:g}.")
        for command in self.commands:
            require_command(self.key, command)

    def _require_comparable(self, node: ast.Compare) -> None:
        """Refuse texts and other constants that are not numbers on a side of < or >."""
        sides = [node.left, *node.comparators]
        for operator, *both in zip(node.ops, sides, sides[1:], strict=False):
            for side in both:
                if not isinstance(operator, ast.Eq) and isinstance(side, ast.Constant) and (
                        isinstance(side.value, bool) or not isinstance(side.value, int | float)):
                    raise WormcastError(f"{self.key}: {given(self.text)} is not valid: {ast.unparse(side)} is not a "
                                        "number. Allowed: numbers beside < and >.")

    def _require_call(self, node: ast.Call) -> None:
        """Refuse a call whose name is not in `WORDS` (measurements) or `FUNCTIONS`, or whose arguments are wrong."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in (*WORDS, *FUNCTIONS):
            raise WormcastError(f"{self.key}: {ast.unparse(node)} is not valid. Allowed: "
                                f"{', '.join((*WORDS, *FUNCTIONS))}.")

        def refuse(allowed: str) -> None:
            raise WormcastError(f"{self.key}: {ast.unparse(node)} is not valid. Allowed: {allowed}.")

        texts = [argument for argument in node.args if isinstance(argument, ast.Constant)
                 and isinstance(argument.value, str)]
        wanted = 2 if name == "output" else int(name in WORDS)
        usual = CALLS.get(name, f"{name}('SERIES'), or {name}('SERIES', LOAD)" if wanted else "")
        if len(texts) != wanted or (wanted and node.args[:wanted] != texts):
            refuse(usual if wanted else "numbers, without texts")
        least, most = ARGUMENTS.get(name, (1, 2))
        if not least <= len(node.args) <= most:
            many = f" to {most}" if least < most else ""
            refuse(usual or f"{least}{many} argument{'s' * (most > 1)}")
        # the load at which a measurement is read, and the third argument of DECIDED functions, must be constant numbers
        place = 1 if name in WORDS else 2
        if name in (*WORDS, *DECIDED):
            for argument in node.args[place:]:
                if not isinstance(argument, ast.Constant) or not isinstance(argument.value, int | float):
                    refuse(f"{usual}. Argument {place + 1} is a number without a sign")

    def _require_truth(self, node: ast.expr) -> None:
        """Refuse a part of a formula that has no truth value."""
        if isinstance(node, ast.BoolOp):
            for one in node.values:
                self._require_truth(one)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self._require_truth(node.operand)
        elif isinstance(node, ast.Compare):
            for one in (node.left, *node.comparators):
                if not isinstance(one, ast.Constant):
                    self._require_number(one)
        elif isinstance(node, ast.Call) and _called(node) in DECIDED:
            for one in node.args[:2]:
                self._require_number(one)
        elif not (isinstance(node, ast.Call) and _called(node) == SATURATED):
            raise WormcastError(f"{self.key}: {self._part(node)} is not valid. Allowed: a comparison.")

    def _require_number(self, node: ast.expr) -> None:
        """Refuse a part of a formula whose value is no number. The result of a command may be a number."""
        name = _called(node) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._require_number(node.operand)
        elif isinstance(node, ast.BinOp):
            self._require_number(node.left)
            self._require_number(node.right)
        elif name == "count":
            for one in node.args:  # type: ignore[attr-defined]
                self._require_truth(one)
        elif name in ("abs", "max", "min", "precision"):
            for one in node.args:  # type: ignore[attr-defined]
                self._require_number(one)
        elif not (name in WORDS or name == "output" or (
                isinstance(node, ast.Constant) and isinstance(node.value, int | float))):
            raise WormcastError(f"{self.key}: {self._part(node)} is not valid. Allowed: a number.")

    def _part(self, node: ast.expr) -> str:
        """Return a part of the formula as text for an error message; the whole formula in quotes."""
        part = ast.unparse(node)
        return given(self.text) if part == ast.unparse(self._tree()) else part

    @property
    def measured(self) -> list[tuple[str, str]]:
        """Words of measurements in the formula, each with its series."""
        return [(_called(node), str(node.args[0].value)) for node in ast.walk(self._tree())  # type: ignore[attr-defined]
                if isinstance(node, ast.Call) and _called(node) in WORDS]

    @property
    def series(self) -> list[str]:
        """Names of the series in the formula."""
        return [series for _, series in self.measured]

    @property
    def commands(self) -> list[str]:
        """Commands in the formula."""
        return self._named_by("output")

    def _named_by(self, *words: str) -> list[str]:
        """Return the first arguments of the formula's calls of ``words``."""
        return [str(node.args[0].value) for node in ast.walk(self._tree())
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                and node.func.id in words and isinstance(node.args[0], ast.Constant)]


@dataclass(frozen=True)
class Number(_Text):
    """Numeric formula on results of commands: ``8 * output('synth router', 'lut4')``."""

    key: str = field(default="number", compare=False)
    wanted: ClassVar[str] = "a formula whose value is a number"

    def __post_init__(self) -> None:
        tree = self._tree()
        self._require(tree)
        if isinstance(tree, ast.Compare | ast.BoolOp):
            raise WormcastError(f"{self.key}: {self.text!r} is not valid: it is a comparison. Allowed: {self.wanted}.")
        self._require_number(tree)
        for word, series in self.measured:
            raise WormcastError(f"{self.key}: {word}({series!r}) is not valid. Allowed: results of commands.")

    def ends(self, output: CommandValue) -> tuple[float, float, float]:
        """Return lower end, value and upper end. The formula may contain results of commands, but no measurements.

        Raises
        ------
        WormcastError
            A command fails, or a result is not a number.
        """
        def none(word: str, series: str) -> Quantity:
            raise AssertionError(word, series)

        found = _Evaluation(none, output, [], self.key).number(self._tree()).values
        if None not in found or not math.isfinite(found[None][1]):
            raise WormcastError(f"{self.key}: {self.text!r} is not valid: it has no finite value. Allowed: "
                                f"{self.wanted}.")
        low, value, high = found[None]
        return low, value, high


@dataclass(frozen=True)
class Predicate(_Text):
    """Comparison of measurements, or several comparisons joined by ``and``, ``or``, ``not``.

    - ``latency('S')`` and other words of `POINT_WORDS`: values of series S at its measured loads below saturation.
    - ``latency('S', 0.1)``: value of series S at the load 0.1 only.
    - ``throughput('S')`` and other words of `CURVE_WORDS`: one value of the curve of series S over the load.
    - ``formula('S')`` and other words of `RUN_WORDS`: in a figure of single runs, a value at each point of series S.
    - ``+ - * /``, ``abs``, ``max``, ``min``: arithmetic of measured values and of numbers.
    - ``precision(x)``: half the width of the 95 % interval of x, divided by the mean of x.
    - ``<``, ``>``: comparison. Numbers with repetitions are compared by a paired test, other numbers by their
      intervals: if the intervals overlap, the comparison is undecided.
    - ``==``: the comparison can hold only for exact values.
    - ``within(x, value, share)``: x is between value * (1 - share) and value * (1 + share).
    - ``comparable(x, y)``: x / y is between 0.8 and 1.25; ``comparable(x, y, k)``: between 1 / k and k.
    - ``saturated('S', 60)``: series S is saturated at the load or value 60, in every repetition.
    - ``count(p, q, ...)``: number of the listed predicates p, q and so on that hold.
    - ``output('COMMAND', 'worms/0/hops')``: value at the path ``worms/0/hops`` in the JSON of ``wormcast COMMAND``.
    - ``output('COMMAND', 'worms/0/links/#')``: number of entries of the list at the path ``worms/0/links``.
    - ``output('COMMAND', 'exit')``: exit code of ``wormcast COMMAND``.

    A mean with its half_width in a command's JSON counts as a number with an interval, and so does a median with its
    range (keys ``least`` and ``most``). S is the name of a series of the figure, or FIGURE:SERIES for a series of
    another figure.
    """

    wanted: ClassVar[str] = "a comparison"

    def __post_init__(self) -> None:
        tree = self._tree()
        self._require(tree)
        self._require_truth(tree)

    @property
    def limit(self) -> float | None:
        """Limit that stands for a word of the paper, such as 1.5 for *much*; None if there is no limit, or several.

        Limits are constant factors of measurements, the share of ``within`` and the ratio of ``comparable``.
        """
        found = {_limit_of(node) for node in ast.walk(self._tree())} - {None}
        return found.pop() if len(found) == 1 else None

    def with_limit(self, limit: float) -> "Predicate":
        """Return the predicate with another limit."""
        tree = self._tree()
        for node in ast.walk(tree):
            if _limit_of(node) is None:
                continue
            if isinstance(node, ast.BinOp):
                name = "left" if isinstance(node.left, ast.Constant) else "right"
                setattr(node, name, ast.Constant(limit))
            elif isinstance(node, ast.Call):
                node.args[2:] = [ast.Constant(limit)]
        return Predicate(ast.unparse(tree), self.key)

    @property
    def orders(self) -> list[list[str]]:
        """For each comparison by < or >, the names of its series, and its commands."""
        return [[str(one.args[0].value) for one in ast.walk(node)  # type: ignore[attr-defined]
                 if isinstance(one, ast.Call) and _called(one) in (*WORDS, "output")]
                for node in ast.walk(self._tree()) if isinstance(node, ast.Compare)
                and any(isinstance(operator, ast.Lt | ast.Gt) for operator in node.ops)]

    @property
    def loads(self) -> set[float]:
        """Loads or values that the predicate names, such as 0.1 in ``latency('S', 0.1)``."""
        return {float(one.args[1].value) for one in ast.walk(self._tree()) if isinstance(one, ast.Call)  # type: ignore[arg-type]
                and _called(one) in WORDS and len(one.args) > 1 and isinstance(one.args[1], ast.Constant)}

    def evaluate(self, measured: Measured, output: CommandValue, level: float = LEVEL) -> PredicateOutcome:
        """Evaluate the predicate.

        ``level``: two-sided level at which ``count`` counts its predicates.

        Raises
        ------
        WormcastError
            A series or a command is not valid, or values cannot be compared.
        """
        outcome = PredicateOutcome(Truth({}))
        outcome.truth = _Evaluation(measured, output, outcome.numbers, self.key, level).truth(self._tree())
        return outcome


@dataclass(frozen=True)
class _Evaluation:
    measured: Measured
    output: CommandValue
    numbers: list[str]
    key: str
    level: float = LEVEL

    def truth(self, node: ast.expr) -> Truth:
        if isinstance(node, ast.BoolOp):
            parts = [self.truth(one) for one in node.values]
            return Truth.every(parts) if isinstance(node.op, ast.And) else Truth.some(parts)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ~self.truth(node.operand)
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            values = [self.value(one) for one in sides]
            self.numbers.append(", ".join(f"{_named(one)}: {value}" for one, value in zip(sides, values, strict=True)
                                          if not isinstance(one, ast.Constant)))
            return Truth.every(_explained(self.compared(operator, *both), *both) for operator, *both
                               in zip(node.ops, values, values[1:], strict=False))
        if isinstance(node, ast.Call):
            name = _called(node)
            if name == SATURATED:
                found = self._call(name, node)
                self.numbers.append(f"{_named(node)}: {_share(found)}")
                return Truth({load: Evidence.certain(_agreed(value[1])) for load, value in found.values.items()},
                             NO_VALUE)
            if name in DECIDED:
                first, second = (self.number(one) for one in node.args[:2])
                self.numbers.append(", ".join(f"{_named(one)}: {value}" for one, value in zip(
                    node.args, (first, second), strict=False) if not isinstance(one, ast.Constant)))
                limit = node.args[2].value if len(node.args) > 2 else COMPARABLE  # type: ignore[attr-defined]
                return _explained((first / second).between(*((1 / limit, limit) if name == "comparable" else
                                                             (1 - limit, 1 + limit))), first, second)
        raise AssertionError(ast.unparse(node))

    def compared(self, operator: ast.cmpop, first: Any, second: Any) -> Truth:
        both = isinstance(first, Quantity) and isinstance(second, Quantity)
        if isinstance(operator, ast.Eq):
            return first.same(second) if both else Truth.of(first == second)
        if not both:
            raise WormcastError(f"{self.key}: a comparison of {_value(first)} and {_value(second)} by < or > is not "
                                "valid. Allowed: numbers.")
        return first.below(second) if isinstance(operator, ast.Lt) else second.below(first)

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression: a `Quantity`, or a constant or JSON value that is not a number."""
        if isinstance(node, ast.Constant) and (isinstance(node.value, bool) or not isinstance(node.value, int | float)):
            return node.value
        if isinstance(node, ast.Call) and node.func.id == "output":  # type: ignore[attr-defined]
            found = self.output(*(one.value for one in node.args))  # type: ignore[attr-defined]
            if isinstance(found, Mapping) and found.keys() == {"mean", "half_width"} and found["mean"] is not None:
                return Quantity.of(found["mean"], math.inf if found["half_width"] is None else found["half_width"])
            if isinstance(found, Mapping) and found.keys() == {"least", "median", "most"}:
                return Quantity.range(found["least"], found["median"], found["most"])
            return Quantity.of(found) if isinstance(found, int | float) and not isinstance(found, bool) else found
        return self.number(node)

    def number(self, node: ast.expr) -> Quantity:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            return Quantity.of(float(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return Quantity.of(0.0) - self.number(node.operand)
        if isinstance(node, ast.BinOp):
            return OPERATORS[type(node.op)](self.number(node.left), self.number(node.right))
        if isinstance(node, ast.Call):
            return self._call(node.func.id, node)  # type: ignore[attr-defined]
        raise AssertionError(ast.unparse(node))

    def _call(self, name: str, node: ast.Call) -> Quantity:
        if name in WORDS:
            found = self.measured(name, node.args[0].value)  # type: ignore[attr-defined]
            return found.at(self.number(node.args[1]).values[None][1]) if len(node.args) > 1 else found
        if name == "count":
            signs = [self.truth(one).verdict(self.level) for one in node.args]
            held, possible = signs.count(HELD), len(signs) - signs.count(NOT_HELD)
            return Quantity({None: (held, held, possible)})
        if name == "output":
            found = self.value(node)
            if not isinstance(found, Quantity):
                raise WormcastError(f"{self.key}: {ast.unparse(node)} is not valid: its value is {given(found)}. "
                                    "Allowed: a number.")
            return found
        first, *others = (self.number(one) for one in node.args)
        if name == "abs":
            return abs(first)
        if name == "precision":
            return first.precision
        for other in others:
            first = first.combine(other, np.maximum if name == "max" else np.minimum)
        return first


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _value(side: Any) -> str:
    """Return one side of a comparison as text for an error message."""
    return str(side) if isinstance(side, Quantity) else given(side)


def _limit_of(node: ast.AST) -> float | None:
    """Return the limit that a part of a predicate has: a factor of a measurement, a share, a ratio."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Constant) and isinstance(other, ast.Call) and _called(other) in WORDS:
                return float(one.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Call) and _called(node) in DECIDED:
        limit = node.args[2] if len(node.args) > 2 else ast.Constant(COMPARABLE)
        return float(limit.value) if isinstance(limit, ast.Constant) else None  # type: ignore[arg-type]
    return None


def _agreed(repetitions: Any) -> bool | None:
    """Return what all repetitions agree on; None if they differ."""
    found = {bool(one) for one in np.atleast_1d(repetitions)}
    return found.pop() if len(found) == 1 else None


def _share(saturated: Quantity) -> str:
    """Return in how many repetitions a series is saturated, as text."""
    return "; ".join(f"in {int(np.sum(value[1]))} of {np.size(value[1])} repetitions"
                     for value in saturated.values.values()) or "-"


def _named(node: ast.expr) -> str:
    """Return a value's name for output: its formula, in which the path stands for a command's result."""
    if isinstance(node, ast.Call) and _called(node) == "output":
        return str(node.args[1].value)  # type: ignore[attr-defined]
    named = copy.deepcopy(node)
    for one in ast.walk(named):
        if isinstance(one, ast.Call) and _called(one) == "output":
            one.args = [ast.Name(str(one.args[1].value))]  # type: ignore[attr-defined]
            one.func = ast.Name("")
    return ast.unparse(named)


def _explained(truth: Truth, first: Any, second: Any) -> Truth:
    """Return the truth of a comparison of both sides, with the reason if it has no load."""
    if truth.at or not isinstance(first, Quantity) or not isinstance(second, Quantity):
        return truth
    if not first.values or not second.values:
        return Truth({}, NO_VALUE)
    common = joined(first.values, second.values).values()
    saturated = all(np.isinf(value[1]).all() for both in common for value in both)
    return Truth({}, NO_COMMON_LOAD if not common else BOTH_SATURATED if saturated else NO_BOUND)
