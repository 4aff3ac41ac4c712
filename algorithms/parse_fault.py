"""Errors of parsers of users' texts, in plain words."""

import json
import re

__all__ = ["FAULTS", "parse_fault"]

#: Errors that Python's parsers of JSON, TOML and formulas raise for a text.
FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError)

#: Largest number of characters of the text that an error message quotes.
SHOWN = 20

#: Pattern of Python's message for a number that is too long to read.
DIGITS = re.compile(r"Exceeds the limit \(\d+ digits\)")

#: Pattern of the table's name in an error message of Python's TOML reader: ``('a', 'b')`` for the table a.b.
TABLE = re.compile(r"(?<=Cannot declare )\(('.*'),?\)")


def parse_fault(error: BaseException, *, one_line: bool = False) -> str:
    """Describe why a text cannot be read. With ``one_line`` the description does not contain the line's number."""
    text = str(error)
    if isinstance(error, RecursionError | MemoryError) or "nested parentheses" in text:
        return "it has too many brackets inside one another"
    if DIGITS.search(text):
        return "a number has too many digits"
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is not UTF-8"
    if isinstance(error, SyntaxError):
        line, character, ends = error.lineno, error.offset, not error.offset
        rest = (error.text or "")[max(character or 1, 1) - 1:]
    elif isinstance(error, json.JSONDecodeError):
        line, character, ends = error.lineno, error.colno, error.pos >= len(error.doc.rstrip())
        rest = error.doc[error.pos:]
    else:  # an error of the TOML reader, whose messages are plain English
        return TABLE.sub(lambda found: ".".join(re.findall(r"'([^']*)'", found[1])), text.splitlines()[0])
    if ends:
        return "it ends too early"
    shown = rest.split("\n")[0].strip()
    shown = f"{shown[:SHOWN]}..." if len(shown) > SHOWN else shown
    return (f"it cannot be read from character {character}{'' if one_line else f' of line {line}'} on"
            + (f" ({shown!r})" if shown else ""))
