"""A table of messages, a row for each that is through: seed by seed, whichever threads they share."""

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
from .completed import Through
from .experiment import Experiment
from .header_waits import Sending
from .result import SPANS
from .trace import Trace

__all__ = ["COLUMNS", "MessageTable", "require_table"]

#: Bytes of lines that are turned into Parquet at a time.
BLOCK = 1 << 24

#: What a worm's header waits for, as in `Way`.
WAITS = ("injection_wait", "buffer_wait", "link_wait", "consumption_wait")

#: Whether a message was created after the warm-up.
COUNTED = "counted"

#: The columns of the table in their order, and what each holds, as pyarrow names it.
COLUMNS = {
    "seed": "int64", "message": "int64", "source": "int64", "destinations": "string", "multicast": "bool_",
    "length": "int64", "worms": "int64", "created": "int64", "injected": "int64", "handed": "int64", "last": "int64",
    "tail": "int64", "received": "int64", **dict.fromkeys(SPANS, "int64"),
    **dict.fromkeys((
        "last_sent", "last_head", "last_tail", "before_worm", *Sending._fields, "header", *WAITS, "header_moves",
        "serialisation", "tail_stretch", "noting", "hops"), "int64"),
    "behind": "string",
    COUNTED: "bool_",
}

#: The columns but for the last, which is known in the end.
KNOWN = tuple(COLUMNS)[:-1]
CREATED = KNOWN.index("created")

#: What `Way.waits` are for, in the column ``behind``.
RESOURCES = {INJECTION: "inj", BUFFER: "buffer", LINK: "link", CONSUMPTION: "cons"}

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

    Until they are written where they are wanted, they lie in files without a name in the folder of temporary files:
    nothing is left of them, however the process ends.

    Parameters
    ----------
    experiment : Experiment
        In its first cycle; it tells this of its messages from now on.
    """

    def __init__(self, experiment: Experiment):
        self._experiment = experiment
        self._failed: OSError | None = None
        # where rows of each seed are: in which file, from which byte on, and how many bytes
        self._places: dict[int, list[tuple[BinaryIO, int, int]]] = {seed: [] for seed in experiment.seeds}
        random = not isinstance(experiment.traffic, Trace)
        for k, group in enumerate(experiment.groups):
            group.follow()
            file = tempfile.TemporaryFile()  # noqa: SIM115  it is closed with the last who knows it
            experiment.tell[k] = functools.partial(self._add, file, group.seeds, random)

    def _add(self, file: BinaryIO, seeds: Sequence[int], random: bool, through: Through) -> None:
        """Add the rows of messages of a group with these seeds to its file; what goes wrong is told by `write`."""
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
        """Write all rows as CSV, or else as Parquet; once, after the last cycle. What is created after warm-up counts.

        Raises
        ------
        OSError
            They could not be written, here or on the way.
        """
        self._experiment.tell_rest()
        if self._failed:
            raise self._failed
        (_write_parquet if parquet else _write_csv)(self._rows(warmup), path)

    def _rows(self, warmup: int) -> Iterator[bytes]:
        """All rows as lines of CSV, seed by seed."""
        for file, start, size in itertools.chain.from_iterable(self._places.values()):
            file.seek(start)
            for line in file.read(size).splitlines():
                counted = int(line.split(b",", CREATED + 1)[CREATED]) >= warmup
                yield line + (b",true\n" if counted else b",false\n")


def _lines(through: Through, seeds: Sequence[str]) -> list[str]:
    """These messages as lines of CSV; their seeds by lane."""
    done, sent, head, tail = through.done, through.sent, through.head, through.end
    cycles = {name: done[name] for name in SAME}
    cycles |= {span: done[end] - done[begin] for span, (begin, end) in SPANS.items()}
    cycles |= through.sending._asdict() | {
        "last": through.last, "last_sent": sent, "last_head": head, "last_tail": tail,
        # these add up to the latency
        "before_worm": sent - done["created"], "header": head - sent, "serialisation": done["length"] - 1,
        "tail_stretch": tail - head - (done["length"] - 1), "noting": done["received"] - tail,
    }
    columns: dict[str, Sequence[object]] = {name: values.tolist() for name, values in cycles.items()}
    columns |= _way(through)
    columns |= {
        "seed": [seeds[lane] for lane in done["lane"].tolist()],
        "multicast": ["true" if one else "false" for one in done["multicast"].tolist()],
        "destinations": _joined(map(str, through.destinations.tolist()), through.offsets),
    }
    return [",".join(map(str, row)) + "\n" for row in zip(*(columns[name] for name in KNOWN), strict=True)]


def _way(through: Through) -> dict[str, Sequence[object]]:
    """Columns of what worms have waited for on their way; empty cells where they are not followed."""
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
    """Texts of each message, with blanks between them."""
    texts = list(texts)
    return [" ".join(texts[first:end]) for first, end in itertools.pairwise(offsets.tolist())]


def _write_csv(rows: Iterable[bytes], path: Path) -> None:
    """Write a line of names, and these lines behind it."""
    with path.open("wb") as table:
        table.write((",".join(COLUMNS) + "\n").encode())
        table.writelines(rows)


def _write_parquet(rows: Iterable[bytes], path: Path) -> None:
    """Write these lines as Parquet, some megabytes at a time."""
    pyarrow, csv, parquet = (require(name, "parquet") for name in ("pyarrow", "pyarrow.csv", "pyarrow.parquet"))
    types = {name: getattr(pyarrow, kind)() for name, kind in COLUMNS.items()}
    reading = csv.ReadOptions(column_names=list(COLUMNS), block_size=BLOCK)
    with (parquet.ParquetWriter(path, pyarrow.schema(list(types.items()))) as table,
          tempfile.TemporaryFile() as lines):
        lines.writelines(rows)
        if not lines.tell():
            return  # what is read must not be empty
        lines.seek(0)
        with csv.open_csv(lines, reading, convert_options=csv.ConvertOptions(column_types=types)) as batches:
            for batch in batches:
                table.write_batch(batch)
