"""Mutations of values, texts and bytes, by a random generator that is given."""

import copy
import json
import math
import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

__all__ = ["NUMBERS", "TEXTS", "mutated", "mutated_bytes", "mutated_code", "mutated_lines", "mutated_text", "toml"]

#: Values of each type that readers rarely expect.
NUMBERS: tuple[float, ...] = (
    0,
    -1,
    1,
    2,
    3,
    7,
    255,
    65_536,
    2**31,
    2**32,
    2**63,
    2**64,
    -(2**63),
    10**30,
    10**400,
    0.0,
    -0.0,
    0.5,
    1e-300,
    1e300,
    -1.5,
    math.nan,
    math.inf,
    -math.inf,
)
TEXTS = (
    "",
    " ",
    "\n",
    "\t",
    "x",
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "9" * 400,
    "1_000",
    "0x10",
    "１２",
    "é",
    "日本",
    "\u202etxt",
    "\ufeff",
    "\x00",
    "\x1b[31m",
    "../x",
    "../../../escaped",
    "/etc/passwd",
    "/dev/null",
    "a/b",
    ".",
    "..",
    "~",
    "$HOME",
    "{here}",
    "{plot}",
    "{}",
    "{0}",
    "%s",
    "[",
    "]",
    "'",
    '"',
    "\\",
    ";",
    ",",
    ",,",
    ":",
    "=",
    "@",
    "@0",
    "#",
    "--json",
    "-",
    "true",
    "null",
    "None",
    "all",
    "mesh:0x0",
    "mesh:1x1",
    "mesh:2x2",
    "mesh:-1x3",
    "mesh:3",
    "mesh:99999x99999",
    "ring:2",
    "torus:2x2",
    "min:b=2,stages=2",
    "min:b=0,stages=0",
    "irregular:seed=1",
    "irregular:switches=1,ports=1,nodes=1",
    "dual-path",
    "individual",
    "tree",
    "atbm",
    "e-cube",
    "a" * 3000,
    "a " * 3000,
    "0.0",
    "0.0.0",
    "0,0",
    "1:2",
    "1/0",
    "9999/1",
)
OTHERS: tuple[Any, ...] = (True, False, [], {}, [[]], [{}], {"": 0}, {"a": {"b": {}}}, [0, "x", None], None)

#: Pieces of expressions, for texts that are read as such.
PIECES = (
    "(",
    ")",
    "'",
    '"',
    "not ",
    " and ",
    " or ",
    "==",
    "<",
    "1/0",
    "**",
    "9**9**9",
    "lambda: 0",
    "__import__('os')",
    "told('",
    "[",
    "]",
    "{",
    "}",
    ",",
    ".",
    "-",
    "--",
    " ",
    "\n",
    "0",
    "None",
    "x",
    ":",
    "/#",
    "#",
    "\\",
)


def mutated(value: Any, rng: Random) -> Any:
    """Return a value made of tables, lists, texts and numbers that differs in one place."""
    root = [copy.deepcopy(value)]
    places = list(_places(root))
    holder, key = rng.choice(places[1:] or places)
    choices: list[Callable[[], None]] = [lambda: _put(holder, key, _other(holder[key], rng))] * 5
    choices += [
        lambda: _drop(holder, key),
        lambda: _twice(holder, key, rng),
        lambda: _exchange(places, rng),
        lambda: _put(holder, key, [holder[key]]),
        lambda: _put(holder, key, {"x": holder[key]}),
    ]
    rng.choice(choices)()
    return root[0] if root else None


def _places(value: Any) -> Any:
    """Yield where each value is: its holder and its key there."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def _other(value: Any, rng: Random) -> Any:
    """Return another value, often of the same type."""
    if isinstance(value, str) and rng.random() < 0.6:
        return mutated_text(value, rng)
    if isinstance(value, int | float) and not isinstance(value, bool) and rng.random() < 0.6:
        return rng.choice([*NUMBERS, value + 1, value - 1, -value, value * 2])
    return rng.choice([rng.choice(NUMBERS), rng.choice(TEXTS), copy.deepcopy(rng.choice(OTHERS))])


def _put(holder: Any, key: Any, value: Any) -> None:
    holder[key] = value


def _drop(holder: Any, key: Any) -> None:
    del holder[key]


def _twice(holder: Any, key: Any, rng: Random) -> None:
    """Repeat an entry of a list, or give an entry of a table a second name."""
    if isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    else:
        holder[mutated_text(key, rng)] = copy.deepcopy(holder[key])


def _exchange(places: list[tuple[Any, Any]], rng: Random) -> None:
    """Put two values into each other's places."""
    (one, first), (other, second) = rng.choice(places), rng.choice(places)
    value = copy.deepcopy(one[first])
    one[first] = copy.deepcopy(other[second])
    if second in other if isinstance(other, dict) else second < len(other):
        other[second] = value


def mutated_text(text: str, rng: Random) -> str:
    """Return a text that differs in a few characters, in a number or altogether."""
    at, size = rng.randint(0, len(text)), rng.randint(1, 6)
    numbers = list(re.finditer(r"\d+", text))
    match rng.randrange(7):
        case 0:
            return rng.choice(TEXTS)
        case 1:
            return text[:at] + text[at + size :]
        case 2:
            return text[:at] + rng.choice(PIECES) + text[at:]
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


def mutated_lines(text: str, rng: Random) -> str:
    """Return a text in which a line is dropped, repeated, moved or changed."""
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
            lines[at] = mutated_text(lines[at].rstrip("\n"), rng) + "\n"
    return "".join(lines)


def mutated_bytes(data: bytes, rng: Random) -> bytes:
    """Return bytes that are cut, or differ in a bit, or have some in them that no text has."""
    at, size = rng.randint(0, len(data)), rng.choice((1, 1, 2, 16, 200))
    inserted = rng.choice(
        (
            b"\xef\xbb\xbf",
            b"\x00",
            b"\xff\xfe",
            b"\xc3",
            b"\r",
            b"\r\n",
            b"\x1a",
            b"\xed\xa0\x80",
            "\u2028".encode(),
            b"\n" * 3,
            data[:20],
        )
    )
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


#: What functions of a user may return in place of what they should.
RETURNED = (
    "None",
    "[]",
    "0",
    "-1",
    "'x'",
    "[[]]",
    "[[None]]",
    "[[-1]]",
    "[[10**9]]",
    "[[0.5]]",
    "float('nan')",
    "object()",
    "[destinations, destinations]",
    "iter(())",
    "{}",
    "1 / 0",
    "[[0, 0]]",
    "10**400",
    "exit(0)",
    "print('x')",
)


def mutated_code(text: str, rng: Random) -> str:
    """Return Python source in which an expression that is returned, a line or some characters differ."""
    returns = list(re.finditer(r"(?<=\breturn ).+", text))
    if returns and rng.random() < 0.5:
        chosen = rng.choice(returns)
        return text[: chosen.start()] + rng.choice(RETURNED) + text[chosen.end() :]
    assigned = list(re.finditer(r"(?<= = ).+", text))
    if assigned and rng.random() < 0.4:
        chosen = rng.choice(assigned)
        return text[: chosen.start()] + rng.choice(RETURNED) + text[chosen.end() :]
    return mutated_lines(text, rng)


def toml(entries: Mapping[str, Any]) -> str:
    """Write a table as TOML, a key a line."""
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
            return (
                "{" + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None) + "}"
            )
        case list():
            return "[" + ", ".join(_value(one) for one in value if one is not None) + "]"
        case str():
            return json.dumps(value, ensure_ascii=False)
    return str(value)
