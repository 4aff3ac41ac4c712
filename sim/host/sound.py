"""Whether a host's program from a file is one: compiled code takes its numbers for places in arrays."""

import numpy as np

from .layout import Host
from .program import NEXT, NONE, TAG, UNDELIVERED, UNDER_WAY

__all__ = ["require_program"]

#: What the fields of records are numbers of, by the fields of `Host`, with ? where there may be none; a task is a worm,
#: or a delivery behind all worms.
NUMBERS: dict[str, dict[str, str]] = {
    "nodes": {"task": "task?", "first": "task?", "last": "task?"},
    "streams": {"worm": "worms?", "first": "worms?", "last": "worms?", "before": "worms?"},
    "channels": {"delivery": "deliveries?", "worm": "worms?"},
    "worms": {"source": "nodes", "stream": "streams", "delivery": "deliveries", "previous": "worms?", "tag": "tagged?"},
    "deliveries": {"node": "nodes", "worm": "worms", "packets": "begun"},
}


def require_program(host: Host) -> None:
    """Refuse arrays that are no program: a number leads out of them, or they do not fit together.

    Raises
    ------
    ValueError
        The first thing that does not.
    """
    sizes = {field: len(array) for field, array in host._asdict().items()}
    sizes["task"] = sizes["worms"] + sizes["deliveries"]
    for field, names in NUMBERS.items():
        for name, of in names.items():
            _require(f"host.{field}.{name}", getattr(host, field)[name], sizes[of.rstrip("?")], of.endswith("?"))
    for field, of in (("agenda", "worms"), ("releases", "worms")):
        _require(f"host.{field}", getattr(host, field), sizes[of], none=False)
    for field, of in (("chain", "task"), ("tagged", "worms")):
        _require(f"host.{field}", getattr(host, field), sizes[of], none=True)
    worms, deliveries = host.worms, host.deliveries
    ends = np.concatenate([[0], worms["delivery_end"]])
    worm_of = np.repeat(np.arange(len(worms)), np.maximum(np.diff(ends), 0))
    for name, right in (
        ("chain", sizes["chain"] == sizes["task"]),
        ("worms.delivery", np.array_equal(worms["delivery"], ends[:-1]) and ends[-1] == len(deliveries)),
        ("deliveries.worm", np.array_equal(deliveries["worm"], worm_of)),
        ("worms.length", (worms["length"] >= 1).all()),
        ("worms.header_at", _within(worms["header_at"], worms["header_at"] + worms["headers"], len(host.header))),
        ("worms.waits", (worms["waits"] >= 0).all()),
        ("deliveries.release", _within(deliveries["release"], deliveries["release_end"], len(host.releases))),
        ("deliveries.due", (deliveries["due"] >= 0).all()),
        ("counters", 0 <= host.counters[NEXT] <= len(host.agenda) and 0 <= host.counters[TAG] < len(host.tagged)
         and 0 <= host.counters[UNDER_WAY] <= len(host.tagged)
         and host.counters[UNDELIVERED] == (deliveries["received"] < 0).sum()),
    ):
        if not right:
            raise ValueError(f"host.{name} is that of no program")


def _require(name: str, numbers: np.ndarray, size: int, none: bool) -> None:
    if len(numbers) and not (NONE if none else 0) <= numbers.min() <= numbers.max() < size:
        raise ValueError(f"{name} has {numbers.min()} to {numbers.max()}, of {size}")


def _within(first: np.ndarray, end: np.ndarray, size: int) -> bool:
    return bool(((first >= 0) & (first <= end) & (end <= size)).all())
