"""Detection of signal changes in observed instances."""

from collections.abc import Iterator
from itertools import chain

import numpy as np

from wormcast.algorithms.compiled import compiled

from ...lowering import Block, Observer

__all__ = ["Changes"]


class Changes:
    """Values of all observed words in some instances, which are in one tile, and their changes from cycle to cycle.

    Word w of the observer in the instance at index p of ``instances`` has the number w x len(instances) + p.

    Parameters
    ----------
    observer : Observer
    block : Block
        State of the observed component.
    instances : list of int
        Numbers of the instances, which are all in one tile.
    """

    def __init__(self, observer: Observer, block: Block, instances: list[int]):
        self._observer = observer
        self._block = block
        self._first = instances[0] // observer.vector_width * observer.vector_width
        self._lanes = np.array(instances, np.int64) - self._first
        self._out = observer.allocate()
        self._names = list(observer.words)
        # the words of one size are adjacent in memory, and are read as one array, with a row for each part of a word
        self._groups: list[tuple[np.ndarray, np.ndarray, int, int]] = []
        words = list(observer.words.values())
        for bytes_ in dict.fromkeys(word.bytes for word in words):
            group = [word for word in words if word.bytes == bytes_]
            start, end = (at * observer.vector_width for at in (group[0].per_instance, group[-1].per_instance + bytes_))
            now = self._out[start:end].view(group[0].dtype).reshape(-1, observer.vector_width)
            before = np.zeros((len(now), len(instances)), now.dtype)
            self._groups.append((now, before, words.index(group[0]), group[0].parts))
        self._found = np.zeros((2, sum(before.size for _, before, _, _ in self._groups)), np.uint64)

    def look(self) -> None:
        """Read the values of all observed words in the present cycle.

        Before this call the engine must gather the signals of links (`gather`).
        """
        self._observer.observe(self._block, self._first, self._out)

    def value(self, number: int) -> int:
        """Return the value, read by `look`, of the word and instance with this number (see `Changes`)."""
        word, place = divmod(number, len(self._lanes))
        parts = self._observer.word(self._out, self._names[word]).reshape(-1, self._observer.vector_width)
        return sum(int(part) << 64 * index for index, part in enumerate(parts[:, self._lanes[place]]))

    def new(self) -> Iterator[tuple[int, int]]:
        """Yield number and value of each word that has changed since the last call.

        The first call yields the words that are not 0.
        """
        found: list[Iterator[tuple[int, int]]] = []
        for now, before, first, parts in self._groups:
            count = compare(now, before, self._lanes, first, parts, self._found)
            numbers, values = self._found[:, :count].tolist()
            if parts > 1:
                numbers = list(dict.fromkeys(numbers))
                values = map(self.value, numbers)
            found.append(zip(numbers, values, strict=True))
        return chain.from_iterable(found)


@compiled
def compare(now, before, lanes, first, parts, found):
    """Copy the columns ``lanes`` of ``now`` to ``before`` [rows, instances]; return the number of values that changed.

    For each changed value, the number of its word and instance (see `Changes`) and the value are written to the next
    column of ``found``. In ``now`` a word has ``parts`` rows; the first row belongs to word ``first``.
    """
    count = 0
    for row in range(len(now)):
        for place in range(len(lanes)):
            value = now[row, lanes[place]]
            if value != before[row, place]:
                before[row, place] = value
                found[0, count] = (first + row // parts) * len(lanes) + place
                found[1, count] = value
                count += 1
    return count
