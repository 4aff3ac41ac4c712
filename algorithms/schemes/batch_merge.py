"""Merging of the worms of several groups of messages, in the order of all messages."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..worms import AT_ONCE, Worms, select_entries

__all__ = ["merge_batches"]


def merge_batches(parts: Sequence[Worms], messages: Sequence[npt.NDArray[np.int64]]) -> Worms:
    """Merge the worms of several groups of messages. Each message is in one of the groups.

    The merged worms are sorted by the indices of their messages among all messages.

    Parameters
    ----------
    messages : sequence of int64 array
        For each part, the indices of its messages among all messages.
    """
    places = np.concatenate(messages)
    bases = np.cumsum([0, *map(len, parts)])
    # concatenate the parts, then sort the worms into the order of all messages
    message_offsets = np.concatenate([[0], *(part.message_offsets[1:] + base
                                             for part, base in zip(parts, bases, strict=False))])
    rows, offsets = select_entries(np.argsort(places), message_offsets)
    now_at = np.empty(len(rows), np.int64)
    now_at[rows] = np.arange(len(rows))
    after = np.concatenate([np.where(part.after == AT_ONCE, AT_ONCE, part.after + base)
                            for part, base in zip(parts, bases, strict=False)])[rows]
    visits = np.cumsum([0, *(len(part.destinations) for part in parts)])
    destination_offsets = np.concatenate([[0], *(part.destination_offsets[1:] + base
                                                 for part, base in zip(parts, visits, strict=False))])
    chosen, destination_offsets = select_entries(rows, destination_offsets)

    def joined(name: str, order: npt.NDArray[np.int64]) -> npt.NDArray | None:
        some = [getattr(part, name) for part in parts]
        return None if any(one is None for one in some) else np.concatenate(some)[order]

    fields: dict[str, Any] = {name: joined(name, rows) for name in ("source", "rank", "steps", "tier")}
    fields |= {name: joined(name, chosen) for name in ("destinations", "signs")}
    return Worms(message_offsets=offsets, after=np.where(after == AT_ONCE, AT_ONCE, now_at[after]),
                 destination_offsets=destination_offsets, **fields)
