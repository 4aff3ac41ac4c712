"""``continue``: a load experiment goes on from its checkpoint."""

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
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What load --checkpoint has written.")],
    cycles: Annotated[int | None, typer.Option(
        help="Cycles of each seed from the very start; default: as load was told.", show_default=False)] = None,
    *,
    kept: Given,
    json: Json = False,
) -> int:
    """With more cycles than it was made for, slices of time of the same length are added, and a warm-up that was not
    given is found anew among all of them.
    """
    from ..experiments.load import Trace, resume
    from .experiments import Outputs, drive
    from .load_report import tell

    with stdout_for_results():
        outputs = Outputs(kept)
        # FILE may be written again, by what goes on from it
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
    return tell(result, origin, outputs, cycles=experiment.cycles, warmup=experiment.warmup, json=json)
