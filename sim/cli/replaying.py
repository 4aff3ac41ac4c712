"""Replay page of a run."""

import tempfile
from pathlib import Path

from ..experiments.run import Run
from ..waves.record import find_instances
from ..waves.view import read_waveform
from ..waves.view.replay import write_replay

__all__ = ["replay_run"]

#: Cycles recorded after the last flit that a host sent or received: enough for all blocked worms to come to rest.
REST = 500


def replay_run(result: Run, file: Path) -> None:
    """Write the replay page of a run, from a temporary waveform of all routers and interfaces.

    Raises
    ------
    WormcastError
        The file cannot be written, or the waveform would have too many signals and cycles.
    """
    sent = result.host.injected[result.host.injected >= 0]
    first = int(sent.min()) if len(sent) else 0
    end = min(result.cycles, int(result.host.touched.max()) + REST)
    with tempfile.TemporaryDirectory() as folder:
        waveform = Path(folder, "run.vcd")
        result.record(waveform, first, end, find_instances(result.network, "all"))
        write_replay(read_waveform(waveform).trimmed(), file)
