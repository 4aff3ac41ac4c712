"""Check of a hosts' program from a file. Compiled code uses the program's numbers as array indices without a check."""

import numpy as np

from .constants import FAULT, FREED, NEXT, NONE, RECEIPT, TAG, UNDELIVERED, UNDER_WAY
from .program_layout import Host

__all__ = ["require_program"]

#: Fields of the records of `Host` that are indices, and the array for which each field is an index.
#: A question mark after the array's name allows the index -1.
#: A task is the index of a worm, or stands for the receipt of a delivery.
NUMBERS: dict[str, dict[str, str]] = {
    "nodes": {"task": "task", "first": "task", "last": "task", "first_held": "worms?", "last_held": "worms?"},
    "streams": {"worm": "worms?", "first": "worms?", "last": "worms?", "before": "worms?"},
    "channels": {"delivery": "deliveries?", "worm": "worms?"},
    "worms": {"source": "nodes", "stream": "streams", "delivery": "deliveries", "previous": "worms?", "tag": "tagged?",
              "behind": "task", "root": "worms?", "posting": "worms?", "sibling": "worms?",
              "asks": "exchanges?", "answers": "exchanges?"},
    "smart": {"first_waiting": "worms?", "task": "task", "first": "task", "child": "worms?"},
    "asks": {"at": "control"},
    "deliveries": {"node": "nodes", "worm": "worms", "packets": "begun", "release": "releases?",
                   "last_release": "releases?", "behind": "task", "child": "worms?"},
    "releases": {"worm": "worms", "delivery": "deliveries", "next": "releases?"},
}


def require_program(host: Host) -> None:
    """Refuse arrays that are not a program: an index is out of range, or the arrays contradict each other.

    Raises
    ------
    ValueError
        Names the first array that is not valid.
    """
    sizes = {field: len(array) for field, array in host._asdict().items()}
    receipts = RECEIPT - sizes["deliveries"] + 1
    for field, names in NUMBERS.items():
        for name, of in names.items():
            least, what = (receipts, "worms") if of == "task" else (NONE if of.endswith("?") else 0, of.rstrip("?"))
            _require(f"host.{field}.{name}", getattr(host, field)[name], least, sizes[what])
    _require("host.agenda", host.agenda, 0, sizes["worms"])
    _require("host.tagged", host.tagged, NONE, sizes["worms"])
    worms, deliveries = host.worms, host.deliveries
    ends = np.concatenate([[0], worms["delivery_end"]])
    worm_of = np.repeat(np.arange(len(worms)), np.maximum(np.diff(ends), 0))
    for name, right in (
        ("worms.delivery", np.array_equal(worms["delivery"], ends[:-1]) and ends[-1] == len(deliveries)),
        ("deliveries.worm", np.array_equal(deliveries["worm"], worm_of)),
        ("worms.length", (worms["length"] >= 1).all()),
        ("worms.header_at", _within(worms["header_at"], worms["header_at"] + worms["headers"], len(host.header))),
        ("worms.waits", (worms["waits"] >= 0).all()),
        ("releases", _lists(host)),
        ("deliveries.due", (deliveries["due"] >= 0).all()),
        ("exchanges.due", (host.exchanges["due"] >= 0).all()),
        ("counters", 0 <= host.counters[NEXT] <= len(host.agenda) and 0 <= host.counters[TAG] < len(host.tagged)
         and not host.counters[FREED] and not host.counters[FAULT] and 0 <= host.counters[UNDER_WAY] <= len(host.tagged)
         and host.counters[UNDELIVERED] == (deliveries["received"] < 0).sum()),
    ):
        if not right:
            raise ValueError(f"host.{name} has values that are not valid in a hosts' program")


def _require(name: str, numbers: np.ndarray, least: int, size: int) -> None:
    if len(numbers) and not least <= numbers.min() <= numbers.max() < size:
        raise ValueError(f"{name}: numbers from {numbers.min()} to {numbers.max()} are not valid. Allowed: {least} to "
                         f"{size - 1}.")


def _lists(host: Host) -> bool:
    """Return whether each delivery's rows of ``releases`` form one linked list, in order, up to ``last_release``."""
    releases, deliveries = host.releases, host.deliveries
    of, goes_on = releases["delivery"], np.flatnonzero(releases["next"] >= 0)
    following = releases["next"][goes_on]
    some = np.flatnonzero(deliveries["release"] >= 0)
    first, last = deliveries["release"][some], deliveries["last_release"][some]
    return bool((following > goes_on).all() and (of[following] == of[goes_on]).all() and (of[first] == some).all()
                and (of[last] == some).all() and (releases["next"][last] < 0).all())


def _within(first: np.ndarray, end: np.ndarray, size: int) -> bool:
    return bool(((first >= 0) & (first <= end) & (end <= size)).all())
