"""Recording of some cycles of a program, which is run from its start."""

from collections.abc import Sequence
from pathlib import Path

from wormcast.algorithms import WormcastError

from ...build.network import Network
from ...engines.bulk import BulkEngine, observer
from ...host import Host
from ...lowering import vector_bytes
from .heading import RecordingFacts
from .recorder import record

__all__ = ["record_window", "require_size"]

#: Largest number of values in a waveform: signals x cycles.
#: A waveform file has only the changes: about 4 % of the values, in about 8 bytes each.
MOST_VALUES = 1_000_000_000
#: Number of cycles whose values take about as much space in the file as the names of the signals.
NAMES = 1000


def record_window(
    network: Network, host: Host, path: Path, first: int, end: int, instances: Sequence[tuple[str, int]],
    about: RecordingFacts
) -> None:
    """Run a program from its start and write the waveform of cycles ``first`` to ``end`` - 1, as `record` does.

    Parameters
    ----------
    host : Host
        A program that has not begun, and that this function runs.
    instances : sequence of (str, int)
        Kind of component and number of the instance.
    about : RecordingFacts

    Raises
    ------
    WormcastError
        The waveform would have more than 10^9 values: signals x cycles. For the limit on the values of a waveform,
        fewer than 1000 cycles count as 1000.
    """
    engine = BulkEngine(network, host, vector_width=vector_bytes())
    require_size(engine, end - first, instances)
    if first:
        engine.run(first, beyond=True)
    record(engine, path, end - first, instances, about, first=first)


def require_size(engine: BulkEngine, cycles: int, instances: Sequence[tuple[str, int]]) -> None:
    """Refuse a waveform of more than 10^9 values: signals x cycles, where fewer than 1000 cycles count as 1000."""
    kinds = engine.network.kinds
    shown = {kind: observer(kinds[kind], engine.kernels[kind]) for kind in {kind for kind, _ in instances}}
    signals = sum(len(shown[kind].words) for kind, _ in instances)
    if signals * max(cycles, NAMES) > MOST_VALUES:
        raise WormcastError(
            f"waveform: {signals} signals in {cycles} cycles are not valid: too many values. Allowed: at most "
            f"{MOST_VALUES} values: signals x cycles, where fewer than {NAMES} cycles count as {NAMES}. Reduce them "
            "with --window A:B and --instances NAME,NAME."
        )
