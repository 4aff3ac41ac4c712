"""Latency histograms by time slice and lane, and the slowest messages."""

import numpy as np
import numpy.typing as npt

__all__ = ["KEPT", "WORST", "Latencies", "percentile"]

Integers = npt.NDArray[np.int64]

#: Each latency below `EXACT` cycles has a bin of its own. From `EXACT` on, each octave has `BINS` bins.
#: Therefore a latency is at most 0.8 % away from the middle of its bin.
EXACT = BINS = 64
BINS_OF_ALL = EXACT + BINS * 58

#: Number of messages with the largest latencies that are kept for each slice and lane.
KEPT = 10

#: Record of a slow message. ``message``: the message's number in its lane, in the order of creation.
WORST = np.dtype([(field, np.int64) for field in (
    "at", "lane", "latency", "message", "created", "source", "length", "destinations")])

#: Bin that is not empty: ``key`` encodes slice, lane and bin, ``count`` is the number of messages in the bin.
CELL = np.dtype([(field, np.int64) for field in ("key", "count")])

MOST_PENDING = 1 << 12


class Latencies:
    """Latency histograms by time slice and lane. Memory grows with the number of bins that are not empty."""

    def __init__(self, lanes: int):
        self.lanes = lanes
        self.cells = np.zeros(0, CELL)
        self._worst = np.zeros(0, WORST)
        self._pending = np.zeros(0, WORST)  # messages that are neither in ``cells`` nor in ``_worst`` yet

    @property
    def worst(self) -> np.ndarray:
        """The messages with the largest latencies of each slice and lane, `WORST` records."""
        self.settle()
        return self._worst

    def add(self, at: Integers, done: np.ndarray) -> None:
        """Add received messages (`DONE`). ``at`` has the time slice of each message."""
        rows = np.zeros(len(done), WORST)
        rows["at"], rows["latency"] = at, done["received"] - done["created"]
        for field in ("lane", "message", "created", "source", "length", "destinations"):
            rows[field] = done[field]
        self._pending = np.concatenate([self._pending, rows])
        # pending messages are sorted rarely, because sorting them after each call would take too long
        if len(self._pending) > max(MOST_PENDING, len(self.cells) + len(self._worst)):
            self.settle()

    def settle(self) -> None:
        """Count the pending messages in their bins, and compare them with the slowest messages so far."""
        if not len(self._pending):
            return
        slot = self._pending["at"] * self.lanes + self._pending["lane"]
        fresh, counts = np.unique(slot * BINS_OF_ALL + bin_of(self._pending["latency"]), return_counts=True)
        keys, where = np.unique(np.concatenate([self.cells["key"], fresh]), return_inverse=True)
        cells = np.zeros(len(keys), CELL)
        cells["key"] = keys
        np.add.at(cells["count"], where, np.concatenate([self.cells["count"], counts]))
        self.cells, self._worst = cells, _largest(np.concatenate([self._worst, self._pending]))
        self._pending = np.zeros(0, WORST)

    def require_sound(self, slices: int) -> None:
        """Raise a ValueError if a bin or message has a slice (of ``slices``), a lane or a latency out of range."""
        keys = self.cells["key"]
        if len(keys) and not 0 <= keys.min() <= keys.max() < slices * self.lanes * BINS_OF_ALL:
            raise ValueError("the slice, lane or bin of a latency is out of range")
        rows = np.concatenate([self._worst, self._pending])
        for field, end in (("at", slices), ("lane", self.lanes), ("latency", 1 << 62)):
            if len(rows) and not 0 <= rows[field].min() <= rows[field].max() < end:
                raise ValueError(f"latencies.{field} is out of range")

    def of_lane(self, lane: int, first: int) -> tuple[Integers, Integers]:
        """Return a lane's bins that are not empty, in order, and their counts, over the slices from ``first`` on."""
        self.settle()
        slot, place = np.divmod(self.cells["key"], BINS_OF_ALL)
        mine = (slot % self.lanes == lane) & (slot // self.lanes >= first)
        counts = np.bincount(place[mine], self.cells["count"][mine]).astype(np.int64)
        bins = np.flatnonzero(counts)
        return bins, counts[bins]

    def longest(self, lane: int, first: int) -> int:
        """Return the largest latency of a lane over the slices from ``first`` on, 0 without messages."""
        rows = self.worst
        return int(rows["latency"][(rows["lane"] == lane) & (rows["at"] >= first)].max(initial=0))


def _largest(rows: np.ndarray) -> np.ndarray:
    """Return the slowest messages of each slice and lane, in an order that does not depend on the order of the rows."""
    rows = rows[np.lexsort((rows["message"], -rows["latency"], rows["lane"], rows["at"]))]
    group = np.flatnonzero((np.diff(rows["at"], prepend=-1) != 0) | (np.diff(rows["lane"], prepend=-1) != 0))
    place = np.arange(len(rows)) - np.repeat(group, np.diff(group, append=len(rows)))
    return rows[place < KEPT]



def bin_of(latency: Integers) -> Integers:
    """Return the number of each latency's bin. Latencies are in cycles."""
    octave = np.maximum(0, np.frexp(latency.astype(np.float64))[1] - 7)  # 64 to 127: 0
    return np.where(latency < EXACT, latency, EXACT + BINS * octave + (latency >> octave) - BINS)


def middle_of(place: Integers) -> npt.NDArray[np.float64]:
    """Return the middle of each bin in cycles."""
    octave = np.maximum(0, (place - EXACT) // BINS)
    first = (place - EXACT - BINS * octave + BINS) << octave
    return np.where(place < EXACT, place, first + ((1 << octave) - 1) / 2)


def percentile(bins: Integers, counts: Integers, share: float, largest: int) -> int:
    """Return the least latency that a share of all messages does not exceed.

    The result is exact below 128 cycles. From 128 cycles on, the result is the middle of a bin, rounded down, and at
    most ``largest``. If the share covers all messages, the result is ``largest``. ``bins`` must not be empty.
    """
    below = np.cumsum(counts)
    wanted = share * below[-1] - 1e-9  # least number of messages with at most the resulting latency
    if wanted > below[-1] - 1:
        return largest
    return min(int(middle_of(bins[np.searchsorted(below, wanted)])), largest)
