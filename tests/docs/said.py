"""Results of a command that the text of a page states, in wording that pages use anyway.

- *Exit code*: ``exit code 3``, ``the exit code is 3``, ``exits with 3``, ``exit 3``; ``a deadlock``, ``in deadlock``
  and ``a cycle of 4 resources`` are 3, a line ``wormcast: ...`` is 2. Where nothing is said it is 0.
- *Another form of the command*: a sentence ``with `--places 6` it arrives``, ``without `--quick` `mine-2` is held`` is
  of the same command with this option, or without it.
- *Verdict*: ```mine-2` is held``, ``not held`` or ``undecided``, each with its claim.
- *Numbers*, in the paragraph behind a block that shows what is printed: ``170 cycles``, ``cycle 139``, ``2.66 copies``,
  ``31 %``, ``0.4 flits a cycle``, ``110 of them``. They are printed, with as many digits or more, or in ``--json``.
- *Files*: names in code, that end as files do.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from tools.reference.commands import commands
from wormcast.sim.cli.app import Exit

from .steps import Command

__all__ = ["exit_code", "files", "forms", "is_printed", "numbers", "of_itself", "verdicts"]

EXPLICIT = re.compile(r"\bexit(?:s with| code(?: is)?)? (\d+)", re.IGNORECASE)
STUCK = re.compile(r"\ba deadlock\b|\bdeadlock(?: after \d|, proved\b)|(?<!\d )\bin deadlock\b|"
                   r"\ba cycle of \d+ resources\b")
ARRIVES = re.compile(r"\b(?:it arrives|they arrive)\b")

WITH = re.compile(r"\b(with|without) `(--[\w-]+)(?: ([^\s`]+))?`", re.IGNORECASE)
VERDICT = re.compile(r"(?:(?:`([\w-]+)`|\w+) )?(?:is )?\b(held|not held|undecided)\b")
NUMBER = re.compile(r"\bcycle (\d+)\b(?! \d)|(?<![+*/^-] )(?<![\w.`])(\d+(?:\.\d+)?)(?: \+- [\d.]+)?"
                    r"(?: cycles\b| copies\b| %| flits a cycle\b| of them\b)")
FILE = re.compile(r"(?<![\w./*-])\w[\w./-]*\.(?:vcd|gtkw|sucl|svg|png|html|csv|parquet|checkpoint|sqlite|jsonl?|"
                  r"toml|v|md)(?![\w/*-])")


def exit_code(step: Command) -> int:
    """Exit code that a command has, by what its page says."""
    shown = step.shown or ()
    if any(line.startswith("wormcast: ") for line in shown):
        return Exit.BAD_INPUT
    said = [*shown, *_of_itself(step.comment)]
    return _code_said(" ".join([*said, *(one for one in _of_itself(step.behind) if EXPLICIT.search(one))])) or Exit.DONE


def forms(step: Command) -> Iterator[tuple[Command, int | None, dict[str, str]]]:
    """Other forms of a command that its page speaks of, each with the exit code and the verdicts that it has there."""
    for sentence in _sentences(f"{step.comment}. {step.behind}"):
        if found := WITH.search(sentence):
            code = _code_said(sentence)
            if code is None and ARRIVES.search(sentence):
                code = Exit.DONE
            if code is not None or verdicts(sentence):
                changed = _changed(step, found[1].lower() == "with", found[2], found[3])
                yield changed, code, verdicts(sentence)


def verdicts(text: str) -> dict[str, str]:
    """Verdicts by claims; of a verdict without its claim this is an empty text."""
    return dict(VERDICT.findall(text))


def of_itself(text: str) -> str:
    """A text without the sentences about other forms of the command."""
    return " ".join(_of_itself(text))


def numbers(step: Command) -> list[str]:
    """Numbers in the paragraph behind a command, a percentage with its sign."""
    if step.shown is None:
        return []
    return [f"{found[1] or found[2]}{' %' * found[0].endswith('%')}"
            for found in NUMBER.finditer(of_itself(step.behind))]


def is_printed(number: str, text: str) -> bool:
    """Return whether a text has a number, rounded to the number's digits."""
    value, _, percent = number.partition(" ")
    half = 0.5 * 10 ** -len(value.partition(".")[2])
    printed = [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)]
    return any(abs(one * factor - float(value)) <= half * (1 + 1e-9) for one in printed
               for factor in ((1, 100) if percent else (1,)))


def files(text: str) -> set[str]:
    """Names of files, without those with words in capitals, which stand for others."""
    return {name for name in FILE.findall(text) if not re.search("[A-Z]{2}", name)}


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.;:])\s+", text)


def _of_itself(text: str) -> list[str]:
    return [sentence for sentence in _sentences(text) if not WITH.search(sentence)]


def _code_said(text: str) -> int | None:
    if found := EXPLICIT.search(text):
        return int(found[1])
    return Exit.DEADLOCK if STUCK.search(text) else None


def _changed(step: Command, given: bool, option: str, value: str | None) -> Command:
    """A command with an option, in the place of another value of it, or without it."""
    words, at = list(step.words), step.words.index(option) if option in step.words else None
    takes = next(not one.is_flag for one in commands()[words[0]].params if option in one.opts)
    if at is not None:
        del words[at:at + 1 + takes]
    if given:
        words += [option, value] if takes else [option]
    return replace(step, words=tuple(words), shown=None, comment="", behind="")
