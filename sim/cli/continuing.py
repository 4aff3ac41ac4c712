"""``continue``: continue a load experiment from its checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from ..common.path_conflicts import require_apart
from .app import Json, stdout_for_results
from .commands import command
from .named import user_files
from .options import Given, takes
from .outputs import OUTPUTS


@command("continue")
@takes("kept", OUTPUTS)
def continue_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Checkpoint, written by load --checkpoint.")],
    cycles: Annotated[int | None, typer.Option(
        help="Total cycles of each seed, those before the checkpoint included. Default: as given to load.",
        show_default=False)] = None,
    *,
    kept: Given,
    json: Json = False,
) -> int:
    """A checkpoint can be continued on another machine.

    If --cycles is larger than in load, the warm-up is determined again over all cycles, unless it was given to load.
    """
    from ..api.measurement import LoadResult
    from ..experiments.load import Trace, resume
    from .experiments import Outputs, drive
    from .load_report import report_load

    with stdout_for_results():
        outputs = Outputs(kept)
        # --checkpoint may overwrite FILE
        require_apart({"FILE": file}, {word: path for word, path in outputs.writes.items() if word != "--checkpoint"})
        experiment, origin = resume(file, rewind=True)
        trace = experiment.traffic.path if isinstance(experiment.traffic, Trace) else None
        named = user_files(origin.scheme, origin.relation, experiment.topology.origin)
        require_apart({**named, "the trace": trace}, outputs.writes)
        outputs.drawing.require(experiment.topology)
        if cycles is not None:
            experiment.extend(cycles)
        outputs.begin(experiment)
        result = drive(experiment, origin, outputs)
        outputs.finish(experiment, origin, result)
    whole = LoadResult.of(result, origin, cycles=experiment.cycles, warmup=experiment.warmup, links=outputs.links)
    return report_load(whole, outputs, json=json)
