"""Table of messages, written by ``load``."""

from pathlib import Path

from wormcast.algorithms import WormcastError

from ..common.atomic_write import require_writable, whole_file
from ..experiments.load import Experiment, MessageTable, require_table
from .options import Given

__all__ = ["MessagesOutput"]


class MessagesOutput:
    """File with a row for each received message, if requested, and the error if it could not be written.

    Parameters
    ----------
    given : mapping of str to Any
        The options given by the user.
    """

    def __init__(self, given: Given):
        self.path: Path | None = given.get("messages_out")
        self.written = False
        self.refused: str | None = None
        self.summary: str | None = None  # line of the report
        self._table: MessageTable | None = None
        if self.path is None:
            return
        require_table(self.path)
        if "checkpoint" in given:
            raise WormcastError(f"messages-out: {self.path} is not valid with --checkpoint: a checkpoint does not "
                                "store received messages. Allowed: one of the two options.")
        require_writable(self.path)

    def begin(self, experiment: Experiment) -> None:
        """Begin to record the messages of an experiment, in its first cycle."""
        if self.path is None:
            return
        if experiment.source is not None:
            raise WormcastError(f"messages-out: {self.path} is not valid with continue: a checkpoint does not store "
                                "received messages. Allowed: with load.")
        self._table = MessageTable(experiment)

    def finish(self, warmup: int) -> None:
        """Write the table of messages of an experiment with this warm-up. An error is stored, and reported later."""
        if self._table is None or self.path is None:
            return
        try:
            with whole_file(self.path) as unfinished:
                self._table.write(unfinished, parquet=self.path.suffix == ".parquet", warmup=warmup)
            self.written, self.summary = True, f"messages: {self.path}"
        except WormcastError as error:
            self.refused = str(error)

    def leave_out(self) -> None:
        """Write no file, because of a deadlock."""
        if self.path is not None:
            self.summary = "no table of messages, as a deadlock has no measurements"
