"""The table of messages that ``load`` leaves behind."""

from pathlib import Path

from wormcast.algorithms import WormcastError

from ..common.atomic_write import require_writable, whole_file
from ..experiments.load import Experiment, MessageTable, require_table
from .options import Given

__all__ = ["Messages"]


class Messages:
    """Where to write a row for each message, if anywhere, and whether it is written, or why not.

    Parameters
    ----------
    given : mapping of str to Any
        Options that are given.

    Raises
    ------
    WormcastError
        The file cannot be written, or options do not go together.
    """

    def __init__(self, given: Given):
        self.path: Path | None = given.get("messages_out")
        self.written = False
        self.refused: str | None = None
        self.told: str | None = None  # to whoever reads the report
        self._table: MessageTable | None = None
        if self.path is None:
            return
        require_table(self.path)
        if "checkpoint" in given:
            raise WormcastError("messages-out: given with --checkpoint, what goes on from there knows no messages of "
                                "before; give one of them")
        require_writable(self.path)

    def begin(self, experiment: Experiment) -> None:
        """Note the messages of an experiment from now on, which must be its first cycle."""
        if self.path is None:
            return
        if experiment.source is not None:
            raise WormcastError(f"messages-out: {self.path} is given to continue, which knows no messages of before; "
                                "give it to load")
        self._table = MessageTable(experiment)

    def finish(self, warmup: int) -> None:
        """Write the file of an experiment with this warm-up, or note why there is none: the results are told first."""
        if self._table is None or self.path is None:
            return
        try:
            with whole_file(self.path) as unfinished:
                self._table.write(unfinished, parquet=self.path.suffix == ".parquet", warmup=warmup)
            self.written, self.told = True, f"messages: {self.path}"
        except WormcastError as error:
            self.refused = str(error)

    def leave_out(self) -> None:
        """Write no file, as there is a deadlock."""
        if self.path is not None:
            self.told = "no table of messages, as nothing is measured in a deadlock"
