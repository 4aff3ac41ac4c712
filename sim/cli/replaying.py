"""The page that replays a run."""

import tempfile
from pathlib import Path

from ..experiments.run import Run
from ..waves.record import find_instances
from ..waves.view import read_waveform
from ..waves.view.replay import write_replay

__all__ = ["replay_run"]

#: Cycles after the last flit that a host has sent or received: by then all that has to wait waits.
REST = 500


def replay_run(result: Run, file: Path) -> None:
    """Write the page that replays a run; it is read from a waveform of its own, of all routers and interfaces.

    Raises
    ------
    WormcastError
        The file cannot be written, or there are too many signals and cycles for a waveform.
    """
    sent = result.host.injected[result.host.injected >= 0]
    first = int(sent.min()) if len(sent) else 0
    end = min(result.cycles, int(result.host.touched.max()) + REST)
    with tempfile.TemporaryDirectory() as folder:
        waveform = Path(folder, "run.vcd")
        result.record(waveform, first, end, find_instances(result.network, "all"))
        write_replay(read_waveform(waveform).trimmed(), file)
