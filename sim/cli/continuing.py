"""``continue``: a load experiment goes on from its checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from ..load import resume
from .app import Json, app, stdout_for_results
from .experiments import (
    CheckpointEvery,
    CheckpointOption,
    Drawing,
    Instances,
    Keeping,
    LinksOption,
    PlotOption,
    Recording,
    Vcd,
    WindowOption,
    drive,
    finish,
)
from .loading import tell


@app.command("continue")
def continue_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What load --checkpoint has written.")],
    cycles: Annotated[int | None, typer.Option(
        help="Cycles of each seed from the very start; default: as load was told.", show_default=False)] = None,
    checkpoint: CheckpointOption = None,
    checkpoint_every: CheckpointEvery = None,
    vcd: Vcd = None,
    window: WindowOption = None,
    instances: Instances = None,
    links: LinksOption = False,
    plot: PlotOption = None,
    json: Json = False,
) -> int:
    """Continue a load experiment, on this machine or another, as if it had never paused; the report is that of load.

    With more cycles than it was made for, slices of time of the same length are added, and a warm-up that was not given
    is found anew among all of them.
    """
    with stdout_for_results():
        keeping, drawing = Keeping(checkpoint, checkpoint_every), Drawing(plot)
        experiment, origin = resume(file, rewind=True)
        drawing.require(experiment.topology)
        if cycles is not None:
            experiment.extend(cycles)
        recording = Recording.parse(vcd, window, instances, experiment)
        drive(experiment, origin, keeping, recording)
        result = finish(experiment, origin, keeping, recording)
    return tell(result, origin, keeping, recording, drawing, cycles=experiment.cycles, warmup=experiment.warmup,
                links=links, json=json)
