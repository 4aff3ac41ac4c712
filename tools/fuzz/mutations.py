"""Random mutations of values, texts, source code and bytes."""

import copy
import json
import math
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

__all__ = ["NUMBERS", "TEXTS", "format_toml", "make_user_code", "mutate", "mutate_bytes", "mutate_code", "mutate_lines",
           "mutate_text"]

#: Values that programs often handle wrongly, by type.
NUMBERS: tuple[float, ...] = (
    0, -1, 1, 2, 3, 7, 255, 65_536, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.0, -0.0, 0.5, 1e-300,
    1e300, -1.5, math.nan, math.inf, -math.inf,
)
TEXTS = (
    "", " ", "\n", "\t", "x", "0", "-1", "1e999", "nan", "inf", "9" * 400, "1_000", "0x10", "１２", "é", "日本",
    "\u202etxt", "\ufeff", "\x00", "\x1b[31m", "../x", "../../../escaped", "/etc/passwd", "/dev/null", "a/b", ".", "..",
    "~", "$HOME", "{here}", "{plot}", "{}", "{0}", "%s", "[", "]", "'", '"', "\\", ";", ",", ",,", ":", "=", "@", "@0",
    "#", "--json", "-", "true", "null", "None", "all", "mesh:0x0", "mesh:1x1", "mesh:2x2", "mesh:-1x3", "mesh:3",
    "mesh:99999x99999", "ring:2", "torus:2x2", "min:b=2,stages=2", "min:b=0,stages=0", "irregular:seed=1",
    "irregular:switches=1,ports=1,nodes=1", "dual-path", "individual", "tree", "atbm", "e-cube", "a" * 3000,
    "a " * 3000, "0.0", "0.0.0", "0,0", "1:2", "1/0", "9999/1",
)
OTHER_VALUES: tuple[Any, ...] = (True, False, [], {}, [[]], [{}], {"": 0}, {"a": {"b": {}}}, [0, "x", None], None)

#: Fragments of expressions, for texts that are parsed as expressions.
FRAGMENTS = (
    "(", ")", "'", '"', "not ", " and ", " or ", "==", "<", "1/0", "**", "9**9**9", "lambda: 0", "__import__('os')",
    "output('", "[", "]", "{", "}", ",", ".", "-", "--", " ", "\n", "0", "None", "x", ":", "/#", "#", "\\",
)


def mutate(value: Any, rng: Random) -> Any:
    """Return a copy of a value (nested tables, lists, texts and numbers) with one random change."""
    root = [copy.deepcopy(value)]
    places = list(_find_places(root))
    container, key = rng.choice(places[1:] or places)
    choices: list[Callable[[], None]] = [lambda: _put(container, key, _other_value(container[key], rng))] * 5
    choices += [
        lambda: _drop(container, key),
        lambda: _repeat(container, key, rng),
        lambda: _exchange(places, rng),
        lambda: _put(container, key, [container[key]]),
        lambda: _put(container, key, {"x": container[key]}),
    ]
    rng.choice(choices)()
    return root[0] if root else None


def _find_places(value: Any) -> Any:
    """Yield the container and the key of each nested value."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _find_places(value[key])


def _other_value(value: Any, rng: Random) -> Any:
    """Return another value, often of the same type."""
    if isinstance(value, str) and rng.random() < 0.6:
        return mutate_text(value, rng)
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.6:
        return rng.choice([*NUMBERS, value + 1, value - 1, -value, value * 2])
    return rng.choice([rng.choice(NUMBERS), rng.choice(TEXTS), copy.deepcopy(rng.choice(OTHER_VALUES))])


def _put(container: Any, key: Any, value: Any) -> None:
    container[key] = value


def _drop(container: Any, key: Any) -> None:
    del container[key]


def _repeat(container: Any, key: Any, rng: Random) -> None:
    """Repeat an item of a list, or copy an entry of a table to another key."""
    if isinstance(container, list):
        container.insert(key, copy.deepcopy(container[key]))
    else:
        container[mutate_text(key, rng)] = copy.deepcopy(container[key])


def _exchange(places: list[tuple[Any, Any]], rng: Random) -> None:
    """Exchange two values."""
    (container_a, key_a), (container_b, key_b) = rng.choice(places), rng.choice(places)
    value = copy.deepcopy(container_a[key_a])
    container_a[key_a] = copy.deepcopy(container_b[key_b])
    if key_b in container_b if isinstance(container_b, dict) else key_b < len(container_b):
        container_b[key_b] = value


def mutate_text(text: str, rng: Random) -> str:
    """Return another text, or the text with a removed, repeated or inserted piece, another number or shuffled words."""
    at, size = rng.randint(0, len(text)), rng.randint(1, 6)
    numbers = list(re.finditer(r"\d+", text))
    match rng.randrange(7):
        case 0:
            return rng.choice(TEXTS)
        case 1:
            return text[:at] + text[at + size :]
        case 2:
            return text[:at] + rng.choice(FRAGMENTS) + text[at:]
        case 3:
            return text[:at] + text[at : at + size] * 2 + text[at + size :]
        case 4 if numbers:
            number = rng.choice(numbers)
            return text[: number.start()] + str(rng.choice(NUMBERS)) + text[number.end() :]
        case 5:
            return text[:at]
        case _:
            words = text.split(" ")
            rng.shuffle(words)
            return " ".join(words)


def mutate_lines(text: str, rng: Random) -> str:
    """Return a text with one line deleted, repeated, moved or changed."""
    lines = text.splitlines(keepends=True) or [""]
    at = rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines.insert(rng.randrange(len(lines)), lines.pop(at))
        case _:
            lines[at] = mutate_text(lines[at].rstrip("\n"), rng) + "\n"
    return "".join(lines)


def mutate_bytes(data: bytes, rng: Random) -> bytes:
    """Return bytes that are cut short, lack a piece, have a flipped bit or other line ends, or have inserted bytes.

    Most of the inserted bytes are byte order marks, control characters, line ends, or invalid in UTF-8.
    """
    at, size = rng.randint(0, len(data)), rng.choice((1, 1, 2, 16, 200))
    inserted = rng.choice((b"\xef\xbb\xbf", b"\x00", b"\xff\xfe", b"\xc3", b"\r", b"\r\n", b"\x1a", b"\xed\xa0\x80",
                           "\u2028".encode(), b"\n" * 3, data[:20]))
    match rng.randrange(6):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[at + size :]
        case 2:
            flipped = bytearray(data or b"\x00")
            flipped[min(at, len(flipped) - 1)] ^= 1 << rng.randrange(8)
            return bytes(flipped)
        case 3:
            return inserted + data
        case 4:
            return data.replace(b"\n", rng.choice((b"\r\n", b"\r", b"")))
        case _:
            return data[:at] + inserted + data[at:]


#: Expressions that replace the results of a user's functions.
RESULTS = (
    "None", "[]", "0", "-1", "'x'", "[[]]", "[[None]]", "[[-1]]", "[[10**9]]", "[[0.5]]", "float('nan')", "object()",
    "[destinations, destinations]", "iter(())", "{}", "1 / 0", "[[0, 0]]", "10**400", "exit(0)", "print('x')",
)


def mutate_code(text: str, rng: Random) -> str:
    """Return Python source with another returned or assigned expression, or a changed line."""
    returns = list(re.finditer(r"(?<=\breturn ).+", text))
    if returns and rng.random() < 0.5:
        chosen = rng.choice(returns)
        return text[: chosen.start()] + rng.choice(RESULTS) + text[chosen.end() :]
    assigned = list(re.finditer(r"(?<= = ).+", text))
    if assigned and rng.random() < 0.4:
        chosen = rng.choice(assigned)
        return text[: chosen.start()] + rng.choice(RESULTS) + text[chosen.end() :]
    return mutate_lines(text, rng)


#: A scheme and a relation with wrong arrays.
USER_CODE = """\
import numpy as np
from wormcast.algorithms import E_CUBE, SCHEMES, Relation, Scheme, Worms

OURS = SCHEMES["{scheme}"]


class Own(Scheme):
    name = "own"
    kinds = ("mesh",)
    relation, header, classes_on = OURS.relation, OURS.header, OURS.classes_on

    def worms(self, *messages):
        fields = dict(vars(OURS.worms(*messages)))
        a = fields["{field}"]
        fields["{field}"] = {array}
        return Worms(**fields)


class Turning(Relation):
    name = "turning"

    def table(self, topology):
        return E_CUBE.table(topology)

    def turns(self, topology):
        a = super().turns(topology)
        return {turns}
"""
FIELDS = ("message_offsets", "source", "rank", "after", "destination_offsets", "destinations", "signs", "steps", "tier")

#: Expressions that replace an array ``a``.
ARRAYS = (
    "None", "[]", "0", "object()", "1 / 0", "exit(0)", "a", "a.tolist()", "a.astype(float)", "a.astype(object)",
    "a.astype(np.int8)", "a.astype(np.uint64)", "a.astype(bool)", "a[:-1]", "a[:0]", "a[:3]", "a[::-1]", "a[None]",
    "a.T", "a * 0", "a * 7", "a + 1", "a - 1", "a - 5", "a + 10**9", "a + 2**40", "np.append(a, a[-1:])",
    "np.roll(a, 1)", "np.sort(a)", "np.zeros(len(messages[1]), int)", "np.arange(len(a))", "np.full(3, 9)",
    "np.ones((3, 3), bool)", "np.where(np.arange(len(a)) == 2, {number}, a)", "~a",
)


def make_user_code(rng: Random) -> str:
    """Return Python source of a scheme and of a relation, each with a randomly replaced array."""
    chosen = [rng.choice(ARRAYS).format(number=rng.choice((-7, -1, 0, 1, 5, 5000, 2**31, 2**62))) for _ in range(2)]
    return USER_CODE.format(scheme=rng.choice(("individual", "dual-path", "u-mesh", "k-binomial")),
                            field=rng.choice(FIELDS), array=chosen[0], turns=chosen[1])


def format_toml(entries: Mapping[str, Any]) -> str:
    """Return a table as TOML text, one line per key."""
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in entries.items() if value is not None)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items()
                                   if entry is not None) + "}"
        case list():
            return "[" + ", ".join(_value(item) for item in value if item is not None) + "]"
        case str():
            return json.dumps(value, ensure_ascii=False)
    return str(value)
