"""Table with a row for each received message, seed by seed. The number of threads does not change the table."""

import functools
import itertools
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from wormcast.algorithms import WormcastError

from ...common.requirements import require
from ...engines.packet_tracker import BUFFER, CONSUMPTION, INJECTION, LINK, NOBODY
from .accounting import NO_REQUEST
from .completed import CompletedMessages
from .experiment import Experiment
from .header_waits import SendingTimes
from .result import SPANS
from .trace import Trace

__all__ = ["COLUMNS", "MessageTable", "require_table"]

#: Bytes of lines that are converted to Parquet at a time.
BLOCK = 1 << 24

#: Columns with waiting cycles of a worm's header, which are fields of `HeaderWaits`.
WAITS = ("injection_wait", "buffer_wait", "link_wait", "consumption_wait")

#: Column that is true if the message was created after the warm-up.
COUNTED = "counted"

#: Columns of the table in their order, with pyarrow's names of their types.
COLUMNS = {
    "seed": "int64", "message": "int64", "source": "int64", "destinations": "string", "multicast": "bool_",
    "length": "int64", "worms": "int64", "created": "int64", "injected": "int64", "handed": "int64", "last": "int64",
    "tail": "int64", "received": "int64", **dict.fromkeys(SPANS, "int64"),
    **dict.fromkeys((
        "last_sent", "last_head", "last_tail", "before_worm", *SendingTimes._fields, "header", *WAITS, "header_moves",
        "serialisation", "tail_stretch", "noting", "hops"), "int64"),
    "behind": "string",
    "reply_to": "int64",
    COUNTED: "bool_",
}

#: All columns except ``counted``, whose cells are known only at the end of the experiment.
KNOWN = tuple(COLUMNS)[:-1]
CREATED = KNOWN.index("created")

#: Words in the column ``behind`` for the kinds of resources that headers wait for.
RESOURCES = {INJECTION: "inj", BUFFER: "buffer", LINK: "link", CONSUMPTION: "cons"}

#: Columns that are fields of `DONE` of the same name.
SAME = ("message", "source", "length", "worms", "created", "injected", "handed", "tail", "received")


def require_table(path: Path) -> None:
    """Refuse a file that `MessageTable.write` cannot write.

    Raises
    ------
    WormcastError
        The name ends in neither .csv nor .parquet.
    ToolMissing
        The file is Parquet, and pyarrow is not installed.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise WormcastError(f"messages-out: {path} is not valid. Allowed: names that end in .csv, .parquet.")
    if path.suffix == ".parquet":
        require("pyarrow", "parquet")


class MessageTable:
    """Rows of all received messages of an experiment, in files on disk.

    Until `write`, rows are in unnamed temporary files, which disappear with the process.

    Parameters
    ----------
    experiment : Experiment
        An experiment before its first cycle. The table registers callbacks in the experiment.
    """

    def __init__(self, experiment: Experiment):
        self._experiment = experiment
        self._failed: OSError | None = None
        # rows of each seed: file, position of the first byte, number of bytes
        self._places: dict[int, list[tuple[BinaryIO, int, int]]] = {seed: [] for seed in experiment.seeds}
        random = not isinstance(experiment.traffic, Trace)
        for k, group in enumerate(experiment.groups):
            group.follow()
            file = tempfile.TemporaryFile()  # noqa: SIM115  the file closes with the last reference to it
            experiment.on_received[k] = functools.partial(self._add, file, group.seeds, random)

    def _add(self, file: BinaryIO, seeds: Sequence[int], random: bool, through: CompletedMessages) -> None:
        """Add the rows of the messages of a group of seeds to the group's file. An error is stored, and `write` raises
        it."""
        if self._failed:
            return
        try:
            lines = _lines(through, [str(seed) if random else "" for seed in seeds])
            for lane in np.unique(through.done["lane"]).tolist():
                rows = "".join(lines[k] for k in np.flatnonzero(through.done["lane"] == lane)).encode()
                self._places[seeds[lane]].append((file, file.tell(), len(rows)))
                file.write(rows)
            file.flush()
        except OSError as error:
            self._failed = error

    def write(self, path: Path, *, parquet: bool, warmup: int) -> None:
        """Write all rows as CSV or Parquet, once, after the last cycle. ``warmup`` determines the column ``counted``.

        Raises
        ------
        OSError
            Rows could not be written, by this call or earlier.
        """
        self._experiment.report_rest()
        if self._failed:
            raise self._failed
        (_write_parquet if parquet else _write_csv)(self._rows(warmup), path)

    def _rows(self, warmup: int) -> Iterator[bytes]:
        """Yield all rows as lines of CSV, seed by seed."""
        for file, start, size in itertools.chain.from_iterable(self._places.values()):
            file.seek(start)
            for line in file.read(size).splitlines():
                counted = int(line.split(b",", CREATED + 1)[CREATED]) >= warmup
                yield line + (b",true\n" if counted else b",false\n")


def _lines(through: CompletedMessages, seeds: Sequence[str]) -> list[str]:
    """Return messages as lines of CSV. ``seeds`` has the seed of each lane."""
    done, sent, head, tail = through.done, through.sent, through.head, through.end
    cycles = {name: done[name] for name in SAME}
    cycles |= {span: done[end] - done[begin] for span, (begin, end) in SPANS.items()}
    cycles |= through.sending._asdict() | {
        "last": through.last, "last_sent": sent, "last_head": head, "last_tail": tail,
        # the five columns before_worm, header, serialisation, tail_stretch and noting add up to the latency
        "before_worm": sent - done["created"], "header": head - sent, "serialisation": done["length"] - 1,
        "tail_stretch": tail - head - (done["length"] - 1), "noting": done["received"] - tail,
    }
    columns: dict[str, Sequence[object]] = {name: values.tolist() for name, values in cycles.items()}
    columns |= _way(through)
    columns |= {
        "seed": [seeds[lane] for lane in done["lane"].tolist()],
        "multicast": ["true" if one else "false" for one in done["multicast"].tolist()],
        "destinations": _joined(map(str, through.destinations.tolist()), through.offsets),
        "reply_to": ["" if one == NO_REQUEST else one for one in done["request"].tolist()],
    }
    return [",".join(map(str, row)) + "\n" for row in zip(*(columns[name] for name in KNOWN), strict=True)]


def _way(through: CompletedMessages) -> dict[str, Sequence[object]]:
    """Return the columns of a `HeaderWaits`. The cells of these columns are empty if worms are not followed."""
    way = through.way
    if way is None:
        return dict.fromkeys(("hops", *WAITS, "header_moves", "behind"), [""] * len(through.done))
    waits = {name: getattr(way, name) for name in WAITS}
    behind = (f"{RESOURCES[kind]}@{switch}:{'-' if message == NOBODY else message}:{cycles}"
              for kind, switch, message, cycles in way.waits.tolist())
    return {"hops": way.hops.tolist(), **{name: cycles.tolist() for name, cycles in waits.items()},
            "header_moves": (through.head - through.sent - sum(waits.values())).tolist(),
            "behind": _joined(behind, way.offsets)}


def _joined(texts: Iterable[str], offsets: np.ndarray) -> list[str]:
    """Join the texts of each message with blanks."""
    texts = list(texts)
    return [" ".join(texts[first:end]) for first, end in itertools.pairwise(offsets.tolist())]


def _write_csv(rows: Iterable[bytes], path: Path) -> None:
    """Write a line of column names, and then the rows."""
    with path.open("wb") as table:
        table.write((",".join(COLUMNS) + "\n").encode())
        table.writelines(rows)


def _write_parquet(rows: Iterable[bytes], path: Path) -> None:
    """Write rows as Parquet, some megabytes at a time."""
    pyarrow, csv, parquet = (require(name, "parquet") for name in ("pyarrow", "pyarrow.csv", "pyarrow.parquet"))
    types = {name: getattr(pyarrow, kind)() for name, kind in COLUMNS.items()}
    reading = csv.ReadOptions(column_names=list(COLUMNS), block_size=BLOCK)
    with (parquet.ParquetWriter(path, pyarrow.schema(list(types.items()))) as table,
          tempfile.TemporaryFile() as lines):
        lines.writelines(rows)
        if not lines.tell():
            return  # pyarrow does not read an empty file
        lines.seek(0)
        with csv.open_csv(lines, reading, convert_options=csv.ConvertOptions(column_types=types)) as batches:
            for batch in batches:
                table.write_batch(batch)
