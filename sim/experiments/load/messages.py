"""A table of messages, a row for each that is through: seed by seed, whichever threads they share."""

import functools
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from wormcast.algorithms import WormcastError

from ...common.requirements import require
from .load import Experiment
from .result import SPANS
from .through import Through
from .trace import Trace

__all__ = ["COLUMNS", "MessageTable", "require_table"]

#: Bytes of lines that are turned into Parquet at a time.
BLOCK = 1 << 24

#: The columns of the table in their order, and what each holds, as pyarrow names it.
COLUMNS = {
    "seed": "int64", "message": "int64", "source": "int64", "destinations": "string", "multicast": "bool_",
    "length": "int64", "worms": "int64", "created": "int64", "injected": "int64", "handed": "int64", "last": "int64",
    "tail": "int64", "received": "int64", **dict.fromkeys(SPANS, "int64"),
    **dict.fromkeys(("last_sent", "last_head", "last_tail", "before_worm", "header", "serialisation", "tail_stretch",
                     "noting"), "int64"),
}

#: Those that are fields of `DONE`, under the same name.
SAME = ("message", "source", "length", "worms", "created", "injected", "handed", "tail", "received")


def require_table(path: Path) -> None:
    """Refuse a file that `MessageTable.write` cannot write.

    Raises
    ------
    WormcastError
        Its name has another ending.
    ToolMissing
        It is to be Parquet, and pyarrow is not installed.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise WormcastError(f"messages-out: {path} is given, allowed endings are .csv, .parquet")
    if path.suffix == ".parquet":
        require("pyarrow", "parquet")


class MessageTable:
    """Rows of all messages of an experiment that are through, on disk as they come; memory does not grow with them.

    Until they are written where they are wanted, they lie in the folder of temporary files, which is gone when this is.

    Parameters
    ----------
    experiment : Experiment
        In its first cycle; it tells this of its messages from now on.
    """

    def __init__(self, experiment: Experiment):
        self._experiment = experiment
        self._folder = tempfile.TemporaryDirectory(prefix="wormcast-messages-")
        self._failed: OSError | None = None
        random = not isinstance(experiment.traffic, Trace)
        for k, group in enumerate(experiment.groups):
            experiment.tell[k] = functools.partial(self._add, group.seeds, random)

    def _add(self, seeds: Sequence[int], random: bool, through: Through) -> None:
        """Add the rows of messages of a group with these seeds; what goes wrong is told by `write`."""
        if self._failed:
            return
        try:
            for lane in np.unique(through.done["lane"]).tolist():
                mine = np.flatnonzero(through.done["lane"] == lane)
                with self._part(seeds[lane]).open("a") as file:
                    file.writelines(_lines(through, mine, str(seeds[lane]) if random else ""))
        except OSError as error:
            self._failed = error

    def _part(self, seed: int) -> Path:
        return Path(self._folder.name, str(seed))

    def write(self, path: Path, *, parquet: bool) -> None:
        """Write all rows as CSV, or else as Parquet; once, after the last cycle.

        Raises
        ------
        OSError
            They could not be written, here or on the way.
        """
        self._experiment.tell_rest()
        if self._failed:
            raise self._failed
        parts = [part for seed in self._experiment.seeds if (part := self._part(seed)).exists()]
        (_write_parquet if parquet else _write_csv)(parts, path)
        self._folder.cleanup()


def _lines(through: Through, mine: np.ndarray, seed: str) -> Iterator[str]:
    """These messages as lines of CSV."""
    done = through.done[mine]
    columns = {name: done[name].tolist() for name in SAME}
    columns |= {span: (done[end] - done[begin]).tolist() for span, (begin, end) in SPANS.items()}
    sent, head, tail = (cycles[mine] for cycles in (through.sent, through.head, through.end))
    columns |= {name: cycles.tolist() for name, cycles in {
        "last_sent": sent, "last_head": head, "last_tail": tail,
        # these add up to the latency
        "before_worm": sent - done["created"], "header": head - sent, "serialisation": done["length"] - 1,
        "tail_stretch": tail - head - (done["length"] - 1), "noting": done["received"] - tail}.items()}
    columns |= {
        "seed": [seed] * len(mine), "last": through.last[mine].tolist(),
        "multicast": ["true" if one else "false" for one in done["multicast"].tolist()],
        "destinations": [" ".join(map(str, through.destinations[first:end].tolist())) for first, end in zip(
            through.offsets[mine].tolist(), through.offsets[mine + 1].tolist(), strict=True)],
    }
    for row in zip(*(columns[name] for name in COLUMNS), strict=True):
        yield ",".join(map(str, row)) + "\n"


def _write_csv(parts: Sequence[Path], path: Path) -> None:
    """Write a line of names, and these lines behind it."""
    with path.open("wb") as table:
        table.write((",".join(COLUMNS) + "\n").encode())
        for part in parts:
            with part.open("rb") as lines:
                shutil.copyfileobj(lines, table)


def _write_parquet(parts: Sequence[Path], path: Path) -> None:
    """Write these lines as Parquet, some megabytes at a time."""
    pyarrow, csv, parquet = (require(name, "parquet") for name in ("pyarrow", "pyarrow.csv", "pyarrow.parquet"))
    types = {name: getattr(pyarrow, kind)() for name, kind in COLUMNS.items()}
    reading = csv.ReadOptions(column_names=list(COLUMNS), block_size=BLOCK)
    with parquet.ParquetWriter(path, pyarrow.schema(list(types.items()))) as table:
        for part in parts:
            with csv.open_csv(part, reading, convert_options=csv.ConvertOptions(column_types=types)) as batches:
                for batch in batches:
                    table.write_batch(batch)
