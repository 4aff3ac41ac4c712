"""Write the run plans of the catalogue's figures, cut to a number of hours: ``python -m tools.plans out/figures 20``.

The folder must be the output folder of a quick run of all figures. This folder has the uncut run plans, and the speed
of the machine.
"""

import sys
from pathlib import Path

from wormcast.sim.experiments.figure import PLANS, Costs, cut_plans, find_figure, node_cycles, read_plans, written_plans
from wormcast.sim.experiments.sweep import ResultStore

__all__ = ["main"]


def main(folder: Path, hours: float, file: Path = PLANS) -> None:
    """Cut the run plans in a folder of figures to ``hours``, write them into the catalogue, and print each figure's
    hours."""
    plans = [(find_figure(name), plan) for name, plan in read_plans(folder / PLANS.name).items()]
    with ResultStore(folder / "figures.sqlite") as store:
        speed = Costs(store).speed
    cut = [(figure, plan) for (figure, _), plan in zip(plans, cut_plans(plans, hours, speed), strict=True)]
    file.write_text(written_plans({figure.name: plan for figure, plan in cut}), encoding="utf-8")
    for (figure, plan), work in zip(cut, node_cycles(cut), strict=True):
        print(f"{figure.name}: {len(plan.places)} points, {plan.cycles} cycles, {plan.looks} looks, "
              f"{work / speed / 3600:.2f} h, {plan.missing:.2f} h missing")


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
